"""The table of models: a name, and where its card and its loader are. A new model is one folder and one row here.

Rows name functions instead of importing them: looking up a card imports neither torch nor another model's folder.
Names are matched exactly.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from models.base import SpeechModel
from models.card import ModelCard, VoiceCard
from models.errors import UnknownModel, UnknownVoice


@dataclass(frozen=True, slots=True)
class Row:
    """One model: `module:function` of `card(*, precision) -> ModelCard` and of `load(*, device, precision)`.

    A model that takes voices by path also names `voice_card(voice) -> VoiceCard`.
    """

    card: str
    load: str
    voice_card: str | None = None


ROWS: dict[str, Row] = {
    "piper": Row(
        card="models.piper.model:card", load="models.piper.model:load", voice_card="models.piper.voices:voice_card"
    ),
    "fake": Row(card="models.fake.model:card", load="models.fake.model:load"),
}


def names() -> tuple[str, ...]:
    """The names of all models, in the order of the table."""
    return tuple(ROWS)


def card(name: str, *, precision: str = "auto") -> ModelCard:
    """What a model says about itself; imports no torch and reads no weights.

    Raises:
        UnknownModel: no row has exactly that name.
    """
    function = cast("Callable[..., ModelCard]", _resolve(_row(name).card))
    return function(precision=precision)


def voice_card(name: str, voice: str) -> VoiceCard:
    """The card of a voice, also of one given by path that the model's own card does not list.

    Raises:
        UnknownModel: no row has exactly that name.
        UnknownVoice: the model has no such voice.
        ModelError: what the model says of a voice file it cannot read (BadWeights).
    """
    model = card(name)
    known = model.voice(voice)
    if known is not None:
        return known
    place = _row(name).voice_card
    if place is None:
        msg = f"model {name} has no voice {voice!r}; it has {', '.join(one.name for one in model.voices)}"
        raise UnknownVoice(msg)
    function = cast("Callable[[str], VoiceCard]", _resolve(place))
    return function(voice)


def load(name: str, *, device: str = "cpu", precision: str = "auto") -> SpeechModel:
    """A model with its weights on a device.

    Raises:
        UnknownModel: no row has exactly that name.
        ModelError: what the model's own `load` raises (MissingExtra, BadWeights).
        DeviceUnavailable: the model cannot run on that device.
    """
    function = cast("Callable[..., SpeechModel]", _resolve(_row(name).load))
    return function(device=device, precision=precision)


def _row(name: str) -> Row:
    if name in ROWS:
        return ROWS[name]
    near = difflib.get_close_matches(name, ROWS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    msg = f"no model is called {name!r}; models are {', '.join(ROWS)}{hint}"
    raise UnknownModel(msg)


def _resolve(place: str) -> object:
    module, _, function = place.partition(":")
    return getattr(import_module(module), function)
