"""`/v1/audio/voices`: the voices of the models, and reference clips of people who agreed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Response, UploadFile
from pydantic import BaseModel, ConfigDict, Field

from cli.api.access import READ, VOICES
from cli.api.admission import offer_of
from cli.api.errors import ApiError
from cli.api.service import Served, Service
from jobs.clips import MAX_BYTES
from jobs.references import (
    MAX_CONSENT_CHARS,
    MAX_TEXT_CHARS,
    Offered,
    Reference,
    ReferenceTaken,
    TooManyReferences,
    add,
    clip_of,
    find,
    references,
    remove,
)
from jobs.spec import ModelOffer, VoiceOffer

router = APIRouter()


class Voice(BaseModel):
    """A voice: one of a model's own (`built-in`), or the clip of somebody who agreed (`reference`).

    `id` is what a speech request names as `voice`; the voices of two models may have one name.
    """

    object: Literal["audio.voice"] = "audio.voice"
    id: str
    name: str
    kind: Literal["built-in", "reference"]
    model: str | None = None
    """Whose voice it is; a reference is for every model that clones."""
    language: str | None = None
    licence: str | None = None
    note: str | None = None
    default: bool = False
    """Whether its model speaks with it when none is named."""
    installed: bool = True
    consent: str | None = None
    """Who agreed, and to what."""
    ref_text: str | None = None
    """What is said in the clip."""
    created_at: int | None = None
    audio_s: float | None = None
    sample_rate_hz: int | None = None
    bytes: int | None = None


class VoiceList(BaseModel):
    """Voices; `voices` is the same list for clients that look for it under that name."""

    object: Literal["list"] = "list"
    data: list[Voice]
    voices: list[Voice]


class VoiceDeleted(BaseModel):
    """A reference that is gone."""

    id: str
    object: Literal["audio.voice.deleted"] = "audio.voice.deleted"
    deleted: Literal[True] = True


class NewVoice(BaseModel):
    """A reference clip to add, as a form."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=64)]
    consent: Annotated[str, Field(min_length=1, max_length=MAX_CONSENT_CHARS)]
    """Who agreed, and to what: "Ann Author agreed on 2026-05-01 to be cloned for her own books"."""
    audio_sample: UploadFile
    """The recording: 3 to 60 s of one voice, at most 10 MB."""
    ref_text: Annotated[str, Field(max_length=MAX_TEXT_CHARS)] = ""
    """What is said in it."""


@router.get("/v1/audio/voices", dependencies=[READ])
def list_voices(service: Served, model: str | None = None) -> VoiceList:
    """List voices: of one model, or of all, and the reference clips."""
    offers = service.offers() if model is None else [offer_of(service, model)]
    voices = [_built_in(offer, voice) for offer in offers for voice in offer.voices]
    if model is None or offers[0].clones:
        voices += [_reference(one) for one in references(service.home)]
    return VoiceList(data=voices, voices=voices)


@router.post("/v1/audio/voices", dependencies=[VOICES], status_code=201)
def create_voice(form: Annotated[NewVoice, Form(media_type="multipart/form-data")], service: Served) -> Voice:
    """Add a reference clip. The same clip under the same name again is the same voice."""
    data = form.audio_sample.file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        msg = f"audio_sample has more than {MAX_BYTES:,} bytes; at most that many are taken"
        raise ApiError(413, msg, code="clip_too_large", param="audio_sample")
    offered = Offered(form.name, form.consent, data, form.ref_text)
    taken = {voice.name for offer in service.offers() for voice in offer.voices} | set(service.aliases)
    try:
        reference, _ = add(service.home, offered, taken=taken)
    except (ReferenceTaken, TooManyReferences) as error:
        code = "voice_exists" if isinstance(error, ReferenceTaken) else "too_many_voices"
        raise ApiError(409, str(error), code=code, param="name") from error
    return _reference(reference)


@router.get("/v1/audio/voices/{voice}", dependencies=[READ])
def retrieve_voice(voice: str, service: Served, model: str | None = None) -> Voice:
    """One voice: a reference by its id or name, or a model's own by its name (of that `model`, if it is given)."""
    reference = find(service.home, voice) if model is None else None
    if reference is not None:
        return _reference(reference)
    offers = service.offers() if model is None else [offer_of(service, model)]
    built_in = next(_named(offers, service.voice_name(voice)), None)
    if built_in is None:
        raise _unknown(voice)
    return built_in


@router.get(
    "/v1/audio/voices/{voice}/clip",
    dependencies=[READ],
    response_class=Response,
    responses={200: {"content": {"audio/flac": {"schema": {"type": "string", "format": "binary"}}}}},
)
def retrieve_voice_clip(voice: str, service: Served) -> Response:
    """The recording of a reference: FLAC, mono."""
    reference = _found(service, voice)
    headers = {"ETag": f'"{reference.sha256}"', "Content-Disposition": f'attachment; filename="{reference.voice}.flac"'}
    return Response(clip_of(service.home, reference), media_type="audio/flac", headers=headers)


@router.delete("/v1/audio/voices/{voice}", dependencies=[VOICES])
def delete_voice(voice: str, service: Served) -> VoiceDeleted:
    """Delete a reference, its recording too."""
    reference = _found(service, voice)
    remove(service.home, reference.voice)
    return VoiceDeleted(id=reference.voice)


def _found(service: Service, voice: str) -> Reference:
    reference = find(service.home, voice)
    if reference is None:
        raise _unknown(voice)
    return reference


def _unknown(voice: str) -> ApiError:
    return ApiError(404, f"there is no voice {voice!r}; /v1/audio/voices lists them", code="voice_not_found")


def _named(offers: list[ModelOffer], name: str) -> Iterator[Voice]:
    return (_built_in(offer, voice) for offer in offers for voice in offer.voices if voice.name == name)


def _built_in(offer: ModelOffer, voice: VoiceOffer) -> Voice:
    return Voice(
        id=voice.name,
        name=voice.name,
        kind="built-in",
        model=offer.name,
        language=voice.language,
        licence=voice.licence,
        note=voice.note or None,
        default=voice.name == offer.default_voice,
        installed=voice.installed,
    )


def _reference(reference: Reference) -> Voice:
    return Voice(
        id=reference.voice,
        name=reference.name,
        kind="reference",
        consent=reference.consent,
        ref_text=reference.text or None,
        created_at=int(reference.created_at_s),
        audio_s=reference.audio_s,
        sample_rate_hz=reference.sample_rate_hz,
        bytes=reference.size_bytes,
    )
