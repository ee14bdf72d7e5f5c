"""What `POST /v1/jobs` and `POST /v1/plans` are sent: an upload with form fields, or JSON with the text in it.

The options are those of `tts-batch submit`, with the same meaning and defaults (`jobs.job_options`). Nothing here
names a file or an address that would be opened: a lexicon comes as its content, models, voices and recognisers by their
names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import PurePosixPath
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import FormData, UploadFile

from cli.api.admission import offer_of
from cli.api.errors import ApiError, blamed
from cli.api.service import Served, Service
from cli.estimates import Expecting
from cli.session import VOICE_FILES
from jobs import planner
from jobs.drafts import Draft, Source
from jobs.job_options import JobOptions, recogniser_in
from jobs.offers import check_speed, find_voice
from jobs.reading.source import ENDINGS
from jobs.references import check_clones
from jobs.speaking.lexicon import Lexicon, lexicon_text
from jobs.spec import SourceKind

MAX_NAME_CHARS = 200
MAX_FIELDS = 100
TEXT_NAME = "text.txt"
_RECOGNISER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FILE_FIELDS = ("file", "lexicon")
Listed = str | list[str] | None
_DEFAULT = JobOptions()


class JobForm(BaseModel):
    """The fields of a job but its file. Lists are arrays or comma-separated text; null: the usual, or the source's own.

    `name` is what the source is called: its ending says what it is, unless `kind` does.
    """

    model_config = ConfigDict(extra="forbid")

    text: str | None = Field(default=None, min_length=1, description="The source itself, instead of a file.")
    name: str | None = Field(default=None, min_length=1, max_length=MAX_NAME_CHARS)
    lexicon: str | None = Field(default=None, description="Words and what is spoken for them, one pair a line.")
    model: str | None = None
    voice: str | None = None
    language: str | None = None
    kind: str | None = Field(default=None, description=f"One of {', '.join(SourceKind)}.")
    encoding: str | None = None
    skip: Listed = None
    keep: Listed = None
    markup: bool = _DEFAULT.markup
    cast: Listed = Field(default=None, description="NAME=VOICE of a script's speakers.")
    addresses: str = str(_DEFAULT.addresses)
    seed: int = Field(default=_DEFAULT.seed, ge=0, lt=2**63)
    speed: float = Field(default=_DEFAULT.speed, gt=0, allow_inf_nan=False)
    formats: Listed = None
    priority: str = str(_DEFAULT.priority)
    live: bool = _DEFAULT.live
    takes: int = Field(default=_DEFAULT.takes, ge=1, le=20)
    check: str = Field(default=_DEFAULT.check, description="free, asr or asr:MODEL.")
    on_bad: str = str(_DEFAULT.on_bad)
    profile: str | None = None
    loudness: str = str(_DEFAULT.loudness)
    room_tone: bool | None = None
    subtitles: Listed = None
    read_along: bool = _DEFAULT.read_along
    exports: Listed = None
    skip_bad_lines: bool = _DEFAULT.skip_bad_lines


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was read: the source and what is asked of it."""

    source: Source
    asked: JobOptions


async def read_sent(request: Request, service: Served) -> Sent:
    """Read the body, of either kind.

    Raises:
        ApiError: 415 for any other kind, 400 for a source that is missing or comes twice, or what is a path.
        RequestValidationError: a field that is unknown or has a wrong value.
        BadSource: the lexicon has lines that are wrong.
        BadOption: a kind of source that there is not.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        form, file = _checked(await request.body()), None
    elif kind == "multipart/form-data":
        limit = service.limits.upload_bytes
        async with request.form(max_files=2, max_fields=MAX_FIELDS, max_part_size=limit) as parts:
            words = await _words(parts)
            file = await _file(parts)
        form = _checked(words)
    else:
        msg = f"Content-Type {kind[:100]!r} is not taken; send multipart/form-data with a file, or application/json"
        raise ApiError(415, msg, code="unsupported_media_type")
    asked = _asked(form, service)
    return Sent(_source(form, file, asked.source_kind), asked)


SentJob = Annotated[Sent, Depends(read_sent)]


def drafted(sent: Sent, service: Service) -> tuple[Draft, Expecting]:
    """Plan what was sent, when it is its turn.

    Raises:
        ApiError: 503, too many plan already, or nobody is there to speak; 404, nobody speaks the model.
        BadSource: it cannot be read, or holds nothing to speak.
        BadOption: what the model or the kind of source does not have.
    """
    with service.planning.turn():
        offer = offer_of(service, sent.asked.model or service.settings.model)
        voice = sent.asked.voice or offer.default_voice
        with blamed("voice", "voice_not_found"):
            check_clones(service.home, offer, voice)
            find_voice(offer, voice)
        with blamed("speed", "bad_speed"):
            check_speed(offer, sent.asked.speed)
        expecting = Expecting.of(service.settings, offer, sent.asked.voice)
        return planner.draft(sent.source, sent.asked.wishes(expecting.offer, service.home.url)), expecting


def body_schema() -> dict[str, Any]:
    """The request body for /openapi.json, whose model FastAPI cannot see: it comes in two forms."""
    inline = JobForm.model_json_schema()
    options = {name: field for name, field in inline["properties"].items() if name not in ("text", "lexicon")}
    upload = {"type": "string", "contentMediaType": "application/octet-stream"}
    common = {"type": "object", "additionalProperties": False}
    json_form = {**common, "properties": inline["properties"], "required": ["text"]}
    parts = {"file": upload, "lexicon": upload, **options}
    return {
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {"schema": {**common, "properties": parts, "required": ["file"]}},
                "application/json": {"schema": json_form},
            },
        }
    }


def _checked(sent: bytes | dict[str, Any]) -> JobForm:
    """The fields; JSON must have the right types, words of a form are turned into them."""
    try:
        if isinstance(sent, bytes):
            return JobForm.model_validate_json(sent, strict=True)
        return JobForm.model_validate(sent)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"][:1])} for one in details]) from None


async def _words(parts: FormData) -> dict[str, Any]:
    """The fields of a form; one that comes several times is a list."""
    words: dict[str, Any] = {}
    for name in parts:
        if name == "file":
            continue
        given = parts.getlist(name)
        texts = [one for one in given if isinstance(one, str)]
        if name == "lexicon" and isinstance(given[0], UploadFile):
            texts = [lexicon_text(await given[0].read(), "lexicon")]
        if len(texts) != len(given):
            msg = f"{name} is a file; files are {' and '.join(_FILE_FIELDS)}"
            raise ApiError(400, msg, code="unexpected_file", param=name)
        words[name] = texts[0] if len(texts) == 1 else texts
    return words


async def _file(parts: FormData) -> tuple[str, bytes] | None:
    """The upload and its name."""
    given = parts.getlist("file")
    if not given:
        return None
    upload = given[0]
    if len(given) > 1 or not isinstance(upload, UploadFile):
        raise ApiError(400, "file must be one upload, with a file name", code="bad_file", param="file")
    return upload.filename or "", await upload.read()


def _asked(form: JobForm, service: Service) -> JobOptions:
    words = {field.name: _joined(getattr(form, field.name)) for field in fields(JobOptions)}
    for name in ("model", "voice"):
        if words[name] is not None and (words[name].endswith(VOICE_FILES) or words[name].startswith(("~", ".", "/"))):
            msg = f"{name} {words[name]!r} is a path; over HTTP a {name} is chosen by its name, as the server lists it"
            raise ApiError(400, msg, code="path_not_allowed", param=name)
    recogniser = recogniser_in(form.check)
    if recogniser and _RECOGNISER.fullmatch(recogniser) is None:
        msg = f"check {form.check!r} does not name a recogniser by one plain word, such as asr:base.en"
        raise ApiError(400, msg, code="path_not_allowed", param="check")
    if form.lexicon is not None:
        words["lexicon"] = Lexicon.parse(form.lexicon, "lexicon")
    if form.voice is not None:
        words["voice"] = service.voice_name(form.voice)
    return JobOptions(**words)


def _joined(value: Any) -> Any:  # noqa: ANN401  # a field of any type
    return ",".join(value) if isinstance(value, list) else value


def _source(form: JobForm, file: tuple[str, bytes] | None, kind: SourceKind | None) -> Source:
    if (file is None) == (form.text is None):
        msg = "send one source: a file in the form field `file`, or the text itself in `text`"
        raise ApiError(400, msg, code="no_source" if file is None else "two_sources", param="file")
    if file is None:
        name = _plain(form.name or TEXT_NAME)
        if kind is None and PurePosixPath(name).suffix.lower() not in ENDINGS:
            kind = SourceKind.TXT
        return Source(name, (form.text or "").encode(), kind)
    uploaded, data = file
    return Source(_plain(form.name or uploaded), data, kind)


def _plain(name: str) -> str:
    """The last part of a name, whatever system its folders are of: names only tell, they open nothing."""
    plain = PurePosixPath(name.replace("\\", "/")).name.strip()
    if not plain or len(plain) > MAX_NAME_CHARS or not plain.isprintable():
        msg = f"the source's name must have 1 to {MAX_NAME_CHARS} printable characters; give it in `name`"
        raise ApiError(400, msg, code="bad_name", param="name")
    return plain
