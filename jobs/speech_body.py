"""The body of a speech request, as OpenAI's clients send it: of one that is answered at once, and of a batch's lines.

body = SpeechBody.model_validate(value)
chosen = check_body(body, offer)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from jobs.errors import BadField, BadOption
from jobs.language_tags import base_language
from jobs.live_formats import LiveFormat
from jobs.offers import can_read, check_speed, find_voice, language_for, tongues
from jobs.reading.cleaning import clean, speakable
from jobs.reading.languages import language_of
from jobs.spec import ModelOffer, VoiceOffer

MIN_SPEED = 0.25
MAX_SPEED = 4.0
"""The speeds that OpenAI's API knows; a model may have fewer."""
MAX_INPUT_CHARS = 100_000
"""Longest `input` of one request; longer texts are jobs."""
Name = Annotated[str, Field(min_length=1, max_length=256)]


class VoiceId(BaseModel):
    """A voice as an object: how OpenAI's clients name one that was added."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Name


class SpeechBody(BaseModel):
    """What a request asks for. `seed`, `language` and `checked` are ours; None means: the model's own.

    `voice` is the name of a published voice. `speed` is a factor. `stream_format` and `checked` decide how an answer
    is sent that somebody waits for (`jobs.speech.Wanted`); a batch sends nothing and checks everything.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Name
    input: Annotated[str, Field(min_length=1)]
    voice: Name | VoiceId | None = None
    response_format: LiveFormat = LiveFormat.MP3
    speed: Annotated[float, Field(strict=True, ge=MIN_SPEED, le=MAX_SPEED, allow_inf_nan=False)] = 1.0
    instructions: Annotated[str, Field(max_length=4096)] | None = None
    stream_format: Literal["audio", "sse"] = "audio"
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63)] | None = None
    language: Annotated[str, Field(min_length=2, max_length=35, pattern="^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$")] | (
        None
    ) = None
    checked: Annotated[bool, Field(strict=True)] = False

    @property
    def voice_name(self) -> str | None:
        """The voice by its name."""
        return self.voice.id if isinstance(self.voice, VoiceId) else self.voice


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a body comes to with one model: the voice, and the language that the text is read in."""

    voice: VoiceOffer
    language: str


def unspeakable(text: str) -> str | None:
    """Why a text cannot be spoken by any voice; None: it can."""
    if speakable(clean(text)[0]):
        return None
    return f"input has no letter or digit, so there is nothing to speak: {text[:40]!r}; give one with words"


def check_instructions(offer: ModelOffer, instructions: str | None) -> None:
    """Raise BadOption where a model is given instructions and takes none."""
    if instructions:
        msg = f"model {offer.name} takes no instructions; leave the field out"
        raise BadOption(msg)


def check_body(body: SpeechBody, offer: ModelOffer, *, voice: str | None = None) -> Chosen:
    """Check a body against its model's offer. `voice` is the name that an alias in it stands for.

    Raises:
        BadField: an unknown voice, a speed the model cannot do, instructions to a model that takes none, a language
            that the voice does not speak (or that the text is not in).
    """
    with _blamed("voice", "voice_not_found"):
        found = find_voice(offer, voice or body.voice_name or offer.default_voice)
    with _blamed("speed", "bad_speed"):
        check_speed(offer, body.speed)
    with _blamed("instructions", "not_supported"):
        check_instructions(offer, body.instructions)
    with _blamed("language", "not_supported"):
        return Chosen(found, _language(body, found))


def _language(body: SpeechBody, voice: VoiceOffer) -> str:
    """The language that the text is read in. Raises BadOption: the voice, or the text itself, is in another one."""
    language = language_for(body.language, "", voice)
    written = language_of(body.input, language) if body.language is None else language
    if base_language(written) == base_language(language):
        return language
    if not can_read(voice, written):
        msg = f"the input is in {written}, voice {voice.name} {tongues(voice)}; choose a voice that speaks it"
        raise BadOption(msg)
    return written


@contextmanager
def _blamed(param: str, code: str) -> Iterator[None]:
    """Say which field of a body an error is about."""
    try:
        yield
    except BadOption as error:
        raise BadField(str(error), param=param, code=code) from error
