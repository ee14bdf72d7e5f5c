"""The models of this installation as offers, without loading torch or weights."""

from __future__ import annotations

from dataclasses import asdict, replace

from jobs.errors import BadOption
from jobs.spec import ModelOffer, VoiceOffer
from models import registry
from models.card import ModelCard
from models.errors import ModelError


def offers(*, precision: str) -> list[ModelOffer]:
    """Every model of the registry."""
    return [_offer(registry.card(name, precision=precision)) for name in registry.names()]


def find_offer(model: str, *, voice: str | None, precision: str) -> ModelOffer:
    """One model; a voice given by path is added to its voices.

    Raises:
        BadOption: no such model or voice, or a voice file that cannot be read.
    """
    try:
        card = registry.card(model, precision=precision)
        if voice is not None and card.voice(voice) is None:
            card = replace(card, voices=(*card.voices, registry.voice_card(model, voice)))
    except ModelError as error:
        raise BadOption(str(error)) from error
    if card.install_hint:
        raise BadOption(card.install_hint)
    return _offer(card)


def add_voice(offer: ModelOffer, voice: str) -> ModelOffer:
    """An offer with a voice by path added, as workers that see the same path will read it. Raises BadOption."""
    try:
        card = registry.voice_card(offer.name, voice)
    except ModelError as error:
        raise BadOption(str(error)) from error
    return offer.model_copy(update={"voices": (*offer.voices, VoiceOffer(**asdict(card)))})


def installed_offers(*, precision: str) -> list[ModelOffer]:
    """The models whose packages are there: what a worker of this machine can speak (voices also come by path)."""
    return [offer for offer in offers(precision=precision) if not offer.install_hint]


def _offer(card: ModelCard) -> ModelOffer:
    voices = tuple(VoiceOffer(**asdict(voice)) for voice in card.voices)
    fields = {name: getattr(card, name) for name in ModelOffer.model_fields if name != "voices"}
    return ModelOffer(**fields, voices=voices)
