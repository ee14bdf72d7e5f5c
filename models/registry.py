"""The table of models: a name, and where its card and its loader are. A new model is one folder and one row here.

Rows name functions instead of importing them: looking up a card imports neither torch nor another model's folder.
Names are matched exactly. A name that holds a path separator is the path of a folder with somebody's weights: the first
row that knows what the folder's config.json describes runs it, under the folder's absolute path as its name.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import cast

from models.base import SpeechModel
from models.card import ModelCard, VoiceCard
from models.errors import UnknownModel, UnknownVoice
from models.qwen3_tts.names import REPOS as QWEN3_TTS


@dataclass(frozen=True, slots=True)
class Row:
    """One model: `module:function` of `card(*, precision, device) -> ModelCard` and of `load(*, device, precision)`.

    A model that takes voices by path also names `voice_card(voice) -> VoiceCard`. One that takes weights by folder
    names `folder(config) -> bool` (whether a parsed config.json is of its kind) and says in `folder_kind` what that is;
    its card and loader then also take `source: str`, the folder. One that gets its weights from a hub names `fetch()`
    and the repository, `hub`, which is another name of the model.
    """

    card: str
    load: str
    voice_card: str | None = None
    folder: str | None = None
    folder_kind: str = ""
    fetch: str | None = None
    hub: str | None = None
    variant: str | None = None
    """Which of a folder's models it is, where its functions serve several: they then take `variant: str`."""
    source: str | None = None
    """The folder, in a row that was made for one."""


ROWS: dict[str, Row] = {
    "piper": Row(
        card="models.piper.model:card", load="models.piper.model:load", voice_card="models.piper.voices:voice_card"
    ),
    "orpheus": Row(
        card="models.orpheus.model:card",
        load="models.orpheus.model:load",
        folder="models.orpheus.source:fits",
        folder_kind="Orpheus (LlamaForCausalLM with a vocabulary of at least 156938)",
        fetch="models.orpheus.source:fetch",
        hub="canopylabs/orpheus-3b-0.1-ft",
    ),
    "kokoro": Row(
        card="models.kokoro.model:card",
        load="models.kokoro.model:load",
        voice_card="models.kokoro.model:voice_card",
        folder="models.kokoro.source:fits",
        folder_kind="Kokoro (istftnet, plbert and vocab)",
        fetch="models.kokoro.source:fetch",
        hub="hexgrad/Kokoro-82M",
    ),
    "kokoro-v1.1-zh": Row(
        card="models.kokoro.model:card",
        load="models.kokoro.model:load",
        voice_card="models.kokoro.model:voice_card",
        fetch="models.kokoro.source:fetch",
        hub="hexgrad/Kokoro-82M-v1.1-zh",
        variant="v1.1-zh",
    ),
    **{
        f"qwen3-tts-{variant}": Row(
            card="models.qwen3_tts.model:card",
            load="models.qwen3_tts.model:load",
            voice_card="models.qwen3_tts.model:voice_card",
            folder="models.qwen3_tts.source:fits",
            folder_kind="Qwen3-TTS (Qwen3TTSForConditionalGeneration)",
            fetch="models.qwen3_tts.model:fetch",
            hub=repo,
            variant=variant,
        )
        for variant, repo in QWEN3_TTS.items()
    },
    "fake": Row(card="models.fake.model:card", load="models.fake.model:load"),
}


def names() -> tuple[str, ...]:
    """The names of all models, in the order of the table."""
    return tuple(ROWS)


def is_folder(name: str) -> bool:
    """Whether a model is named by the path of a folder; a folder that is named like a row's repository is not."""
    return os.sep in name and _of_hub(name) is None


def full_name(name: str) -> str:
    """The name that a model's card has: a folder's absolute path, a repository's row, any other name as it is."""
    if is_folder(name):
        return os.path.abspath(Path(name).expanduser())  # noqa: PTH100  # takes `..` out
    return _of_hub(name) or name


def card(name: str, *, precision: str = "auto", device: str = "cpu") -> ModelCard:
    """What a model says about itself on a device; imports no torch and reads no weights.

    Raises:
        UnknownModel: no row has exactly that name, or the folder of that name holds no model that can be run.
        ModelError: the model has no such precision, or a file of the folder is damaged.
    """
    row = _row(name)
    function = cast("Callable[..., ModelCard]", _resolve(row.card))
    return function(precision=precision, device=device, **_source(row))


def voice_card(name: str, voice: str) -> VoiceCard:
    """The card of a voice, also of one given by path that the model's own card does not list.

    Raises:
        UnknownModel: as in `card`.
        UnknownVoice: the model has no such voice.
        ModelError: what the model says of a voice file it cannot read (BadWeights).
    """
    model = card(name)
    known = model.voice(voice)
    if known is not None:
        return known
    row = _row(name)
    place = row.voice_card
    if place is None:
        msg = f"model {name} has no voice {voice!r}; it has {', '.join(one.name for one in model.voices)}"
        raise UnknownVoice(msg)
    function = cast("Callable[..., VoiceCard]", _resolve(place))
    return function(voice, **_source(row))


def load(name: str, *, device: str = "cpu", precision: str = "auto") -> SpeechModel:
    """A model with its weights on a device; nothing is downloaded (see `fetch`).

    Raises:
        UnknownModel: as in `card`.
        ModelError: what the model's own `load` raises (MissingExtra, BadWeights).
        DeviceUnavailable: the model cannot run on that device.
    """
    row = _row(name)
    function = cast("Callable[..., SpeechModel]", _resolve(row.load))
    return function(device=device, precision=precision, **_source(row))


def fetch(name: str) -> None:
    """Download a model's weights where it gets them from a hub and they are not there; else do nothing.

    Raises:
        UnknownModel: as in `card`.
        MissingExtra: the hub's package is not installed, or the hub gives nothing.
    """
    row = _row(name)
    if row.fetch is not None and row.source is None:
        cast("Callable[..., None]", _resolve(row.fetch))(**_source(row))


def _of_hub(name: str) -> str | None:
    """The row whose weights come from the hub's repository of that name."""
    return next((row_name for row_name, row in ROWS.items() if row.hub == name), None)


def _row(name: str) -> Row:
    name = _of_hub(name) or name
    if name in ROWS:
        return ROWS[name]
    if is_folder(name):
        return _folder_row(Path(full_name(name)))
    near = difflib.get_close_matches(name, ROWS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    if name and Path(name).is_dir():
        hint = f"; a folder of weights is written as a path: {os.curdir}{os.sep}{name}"
    msg = f"no model is called {name!r}; models are {', '.join(ROWS)}{hint}"
    raise UnknownModel(msg)


def _folder_row(folder: Path) -> Row:
    """The row that runs the weights of a folder. Raises UnknownModel."""
    config = _read_config(folder)
    for row in ROWS.values():
        if row.folder is not None and cast("Callable[[dict[str, object]], bool]", _resolve(row.folder))(config):
            return replace(row, source=str(folder))
    kinds = "; ".join(dict.fromkeys(row.folder_kind for row in ROWS.values() if row.folder is not None))
    found = f"architectures {config.get('architectures')!r} and vocab_size {config.get('vocab_size')!r}"
    msg = f"the config.json of {folder} has {found}: none of the models that run from a folder, which are: {kinds}"
    raise UnknownModel(msg)


def _read_config(folder: Path) -> dict[str, object]:
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text("utf-8"))
    except OSError as error:
        what = "has no config.json that can be read" if folder.is_dir() else "is not a folder"
        msg = (
            f"{folder} {what} ({error.strerror}); name a folder with config.json, tokenizer.json and *.safetensors "
            "(`hf download REPOSITORY --local-dir DIR` makes one of a repository)"
        )
        raise UnknownModel(msg) from error
    except ValueError as error:
        msg = f"{path} is not JSON ({error}); fetch it again"
        raise UnknownModel(msg) from error
    if not isinstance(config, dict):
        msg = f"{path} holds a {type(config).__name__} instead of an object; fetch it again"
        raise UnknownModel(msg)
    return config


def _source(row: Row) -> dict[str, str]:
    given = {"source": row.source, "variant": row.variant}
    return {name: value for name, value in given.items() if value is not None}


def _resolve(place: str) -> object:
    module, _, function = place.partition(":")
    return getattr(import_module(module), function)
