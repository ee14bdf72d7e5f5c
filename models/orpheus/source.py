"""Where Orpheus' weights lie: a folder, or the cache of the Hugging Face hub. Imports no torch, reads no weights.

A folder DIR holds the language model (config.json, tokenizer.json, *.safetensors) and in DIR/snac the codec
(config.json, and pytorch_model.bin or model.safetensors); without DIR/snac the hub's codec is used.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from models import hub
from models.errors import MissingExtra
from models.orpheus import tokens

LM_REPO = "canopylabs/orpheus-3b-0.1-ft"
CODEC_REPO = "hubertsiuzdak/snac_24khz"
CODEC_FOLDER = "snac"
PACKAGES = {
    "torch": "torch",
    "safetensors": "safetensors",
    "tokenizers": "tokenizers",
    "huggingface_hub": "huggingface-hub",
}
"""What the model imports, and what it is installed as."""
INSTALL_HINT = "pip install 'tts-batch[orpheus]'"
FOLDER_HINT = "or copy the files to a folder and name that: --model DIR"

_LM_FILES = ("config.json", "tokenizer.json", "model*.safetensors", "model.safetensors.index.json")
_CODEC_FILES = ("config.json", "pytorch_model.bin", "model.safetensors")


@dataclass(frozen=True, slots=True)
class Source:
    """Two folders that exist and hold the files of a model."""

    lm: Path
    codec: Path

    @property
    def revision(self) -> str:
        """What changes when the weights do: the hub's commits, or a hash of the files (see `models.hub.revision`)."""
        return f"{hub.revision(self.lm, _LM_FILES)}-{hub.revision(self.codec, _CODEC_FILES)}"


def fits(config: dict[str, object]) -> bool:
    """Whether a config.json describes an Orpheus checkpoint: a Llama decoder with room for all codes."""
    vocab = config.get("vocab_size")
    llama = config.get("architectures") == ["LlamaForCausalLM"]
    return llama and isinstance(vocab, int) and vocab >= tokens.END_OF_CODES


def missing_packages() -> str:
    """How to install what is missing, or nothing when everything is there."""
    missing = [name for module, name in PACKAGES.items() if find_spec(module) is None]
    return f"model orpheus needs {' and '.join(missing)}: {INSTALL_HINT}" if missing else ""


def find(folder: str | None) -> Source:
    """The weights of a folder, or (None) those in the hub's cache; nothing is downloaded.

    Raises:
        MissingExtra: they, or the package that knows the cache, are not there; says how to get them.
    """
    lm = hub.cached(LM_REPO, _LM_FILES) if folder is None else Path(folder)
    if lm is None or not _has_lm(lm):
        raise MissingExtra(_how_to_get(lm if folder is not None else None))
    own = lm / CODEC_FOLDER
    codec = own if own.is_dir() else hub.cached(CODEC_REPO, _CODEC_FILES)
    if codec is None or not _has_codec(codec):
        raise MissingExtra(_how_to_get_codec(lm))
    return Source(lm, codec)


def fetch() -> None:
    """Download what is missing in the hub's cache (6.6 GB or more).

    Raises:
        MissingExtra: the hub's package is not installed, or the hub does not give the weights.
    """
    for repo, files in ((LM_REPO, _LM_FILES), (CODEC_REPO, _CODEC_FILES)):
        hub.download(repo, files, model="orpheus", otherwise=f"{FOLDER_HINT} (codec in DIR/{CODEC_FOLDER})")


def _has_lm(folder: Path) -> bool:
    if not ((folder / "config.json").is_file() and (folder / "tokenizer.json").is_file()):
        return False
    if (folder / "model.safetensors").is_file():
        return True
    try:
        shards = json.loads((folder / "model.safetensors.index.json").read_text("utf-8"))["weight_map"].values()
        return all((folder / str(shard)).is_file() for shard in set(shards))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _has_codec(folder: Path) -> bool:
    weights = any((folder / name).is_file() for name in _CODEC_FILES[1:])
    return weights and (folder / "config.json").is_file()


def _how_to_get(folder: Path | None) -> str:
    if folder is not None:
        return (
            f"{folder} lacks files of an Orpheus checkpoint; it needs config.json, tokenizer.json and model.safetensors"
            " (or all shards and model.safetensors.index.json)"
        )
    return (
        f"the weights of model orpheus are not on this machine: run `hf download {LM_REPO}` and "
        f"`hf download {CODEC_REPO}`, or copy them to a folder and name that: --model DIR (codec in "
        f"DIR/{CODEC_FOLDER}); packages: {INSTALL_HINT}"
    )


def _how_to_get_codec(lm: Path) -> str:
    return (
        f"the codec of model orpheus is neither in {lm / CODEC_FOLDER} nor in the hub's cache: run "
        f"`hf download {CODEC_REPO}`, or copy its config.json and pytorch_model.bin to {lm / CODEC_FOLDER}"
    )
