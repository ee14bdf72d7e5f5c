"""`/v1/models`: what can be spoken here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from cli.api.access import READ
from cli.api.errors import ApiError
from cli.api.service import Served, Service
from jobs.spec import ModelOffer

router = APIRouter(dependencies=[READ])


class Model(BaseModel):
    """A model in OpenAI's form, and what this server tells beside it."""

    id: str
    object: Literal["model"] = "model"
    created: int
    """Since when a worker speaks it, in seconds since 1970."""
    owned_by: str = "tts-batch"
    description: str
    languages: list[str]
    voices: int
    """How many voices it has; `/v1/audio/voices` lists them."""
    default_voice: str
    sample_rate_hz: int
    min_speed: float
    max_speed: float
    licences: list[str]
    """The licences of its voices, each once."""
    clones: bool
    """Whether it speaks like a reference clip."""
    default: bool
    """Whether a job that names no model is spoken by it."""
    alias_of: str | None = None
    """The model that this is another name of."""


class ModelList(BaseModel):
    """All models that a living worker speaks."""

    object: Literal["list"] = "list"
    data: list[Model]


@router.get("/v1/models")
def list_models(service: Served) -> ModelList:
    """List the models that living workers speak, and other names of them that the operator chose."""
    return ModelList(data=list(_models(service)))


@router.get("/v1/models/{model:path}")
def retrieve_model(model: str, service: Served) -> Model:
    """One model by its name."""
    found = next((one for one in _models(service) if one.id == model), None)
    if found is None:
        names = ", ".join(one.id for one in _models(service))
        hint = f"models are {names}" if names else "no worker is up at present"
        raise ApiError(404, f"there is no model {model!r}; {hint}", code="model_not_found", param="model")
    return found


def _models(service: Service) -> Iterator[Model]:
    since_s: dict[str, float] = {}
    for status in service.workers():
        for offer in status.info.offers:
            since_s[offer.name] = min(status.info.started_at_s, since_s.get(offer.name, status.info.started_at_s))
    offers = {offer.name: offer for offer in service.offers()}
    for name, offer in sorted(offers.items()):
        yield _model(service, name, offer, since_s.get(name, 0.0))
    for alias, name in sorted(service.aliases.items()):
        if name in offers and alias not in offers:
            yield _model(service, alias, offers[name], since_s.get(name, 0.0))


def _model(service: Service, name: str, offer: ModelOffer, since_s: float) -> Model:
    return Model(
        id=name,
        created=int(since_s),
        description=offer.description,
        languages=list(offer.languages),
        voices=len(offer.voices),
        default_voice=offer.default_voice,
        sample_rate_hz=offer.sample_rate_hz,
        min_speed=offer.min_speed,
        max_speed=offer.max_speed,
        licences=list(dict.fromkeys(voice.licence for voice in offer.voices)),
        clones=offer.clones,
        default=name == service.settings.model,
        alias_of=None if name == offer.name else offer.name,
    )
