"""The models of this installation as offers, without loading torch or weights.

`run` is how engines are run here (`EngineSettings`), which may be a part of the numerics; None: by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from jobs.errors import BadOption
from jobs.spec import ModelOffer, VoiceOffer
from models import registry
from models.card import ModelCard
from models.errors import ModelError
from workers.devices import sees_gpu
from workers.engines import UTTERANCE_LANE, EngineSettings


def offers(
    *, precision: str, device: str = "cpu", models: Sequence[str] = (), run: EngineSettings | None = None
) -> list[ModelOffer]:
    """Every model of the registry as it is on a device, then those of `models` that are folders of weights.

    Raises:
        BadOption: a folder holds no model that can be run.
    """
    folders = dict.fromkeys(registry.full_name(name) for name in models if registry.is_folder(name))
    try:
        return [
            _offer(registry.card(name, precision=precision, device=device), run)
            for name in (*registry.names(), *folders)
        ]
    except ModelError as error:
        raise BadOption(str(error)) from error


def model_name(model: str) -> str:
    """The name of a model as its card and its workers have it: a folder's absolute path, any other name as it is."""
    return registry.full_name(model)


def local_device(model: str, *, precision: str) -> str:
    """Where a node on this machine speaks a model: cuda if the model runs there and torch sees a GPU, else cpu.

    Raises:
        BadOption: no such model.
        NoDevice: the driver hangs.
    """
    devices = _card(model, precision=precision).devices
    return "cuda" if "cuda" in devices and sees_gpu() else "cpu"


def check_folder(model: str, *, precision: str) -> None:
    """Raise BadOption if a model is named by a folder that holds none that can be run; any other name passes."""
    if registry.is_folder(model):
        _card(model, precision=precision)


def meant_for_gpu(offer: ModelOffer) -> bool:
    """Whether a model runs on a CPU only for want of a GPU: it draws tokens, and runs on both."""
    return offer.lane != UTTERANCE_LANE and "cuda" in offer.devices


def find_offer(
    model: str, *, voice: str | None, precision: str, device: str = "cpu", run: EngineSettings | None = None
) -> ModelOffer:
    """One model; a voice given by path is added to its voices.

    Raises:
        BadOption: no such model or voice, or a voice file that cannot be read; the model is not installed.
    """
    offer = known_offer(model, voice=voice, precision=precision, device=device, run=run)
    if offer.install_hint:
        raise BadOption(offer.install_hint)
    return offer


def known_offer(
    model: str, *, voice: str | None, precision: str, device: str = "cpu", run: EngineSettings | None = None
) -> ModelOffer:
    """The same, also of a model that is not installed: enough to plan for it.

    Raises:
        BadOption: no such model or voice, or a voice file that cannot be read.
    """
    card = _card(model, precision=precision, device=device)
    try:
        if voice is not None and card.voice(voice) is None:
            card = replace(card, voices=(*card.voices, registry.voice_card(model, voice)))
    except ModelError as error:
        raise BadOption(str(error)) from error
    return _offer(card, run)


def add_voice(offer: ModelOffer, voice: str) -> ModelOffer:
    """An offer with a voice by path added, as workers that see the same path will read it. Raises BadOption."""
    try:
        card = registry.voice_card(offer.name, voice)
    except ModelError as error:
        raise BadOption(str(error)) from error
    return offer.model_copy(update={"voices": (*offer.voices, VoiceOffer(**asdict(card)))})


def installed_offers(
    *, precision: str, device: str = "cpu", models: Sequence[str] = (), run: EngineSettings | None = None
) -> list[ModelOffer]:
    """What a worker of this machine can speak on a device (voices also come by path).

    These are the models whose packages and weights are there; `models` may name folders of weights beside the
    registry's (`Settings.model`, or what a process was told to serve).

    Raises:
        BadOption: a folder holds no model that can be run.
    """
    found = offers(precision=precision, device=device, models=models, run=run)
    return [offer for offer in found if device in offer.devices and not offer.install_hint]


def _card(model: str, *, precision: str, device: str = "cpu") -> ModelCard:
    """The card of a model. Raises BadOption."""
    try:
        return registry.card(model, precision=precision, device=device)
    except ModelError as error:
        raise BadOption(str(error)) from error


def _offer(card: ModelCard, run: EngineSettings | None) -> ModelOffer:
    voices = tuple(VoiceOffer(**asdict(voice)) for voice in card.voices)
    fields = {name: getattr(card, name) for name in ModelOffer.model_fields if name != "voices"}
    numerics = card.numerics if run is None else run.numerics(card)
    return ModelOffer(**{**fields, "numerics": numerics}, voices=voices)
