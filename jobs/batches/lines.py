"""The lines of a batch: what is wrong with the file as a whole, and with the body of each line by itself.

A file with a line that is no request is refused whole, as OpenAI's API does it; a request that cannot be spoken goes
into the error file, and the others are spoken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from pydantic import ValidationError

from jobs.batches.records import ENDPOINT, BatchError, LineError, Pinned
from jobs.errors import BadField, code_of
from jobs.live_formats import LiveFormat
from jobs.offers import offer_named
from jobs.spec import ModelOffer
from jobs.speech_body import MAX_INPUT_CHARS, SpeechBody, check_body, unspeakable

MAX_LINES = 50_000
"""Requests in one file: what OpenAI's API takes."""
MAX_ID_CHARS = 512
MAX_ERRORS = 100
"""Errors of one file that are told; how many more there are is the last one."""
_FIELDS = ("custom_id", "method", "url", "body")
_UNNAMEABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_HALVES = re.compile("[\ud800-\udfff]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Group:
    """What one job has one of; so lines that are alike in it share jobs."""

    model: str
    language: str
    speed: float
    audio_format: LiveFormat


@dataclass(frozen=True, slots=True)
class Request:
    """A line that is a request. `body` is not judged yet."""

    line: int
    custom_id: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Speakable:
    """A request that can be spoken: the group it belongs to, its voice by its true name, its text and seed."""

    group: Group
    voice: str
    text: str
    seed: int | None


@dataclass
class FileCheck:
    """Takes the lines of a file in order; `errors` is what is wrong with the file, `requests` how many it has."""

    requests: int = 0
    errors: list[BatchError] = field(default_factory=list)
    _more: int = 0
    _first_line: dict[str, int] = field(default_factory=dict)

    def take(self, number: int, line: bytes) -> Request | None:
        """The request of a line, None where there is something wrong with it."""
        self.requests += 1
        value = self._object(number, line)
        if value is None:
            return None
        wrong = _wrong(number, value)
        if wrong is None:
            custom_id = value["custom_id"]
            first = self._first_line.setdefault(custom_id, number)
            if first == number:
                return Request(number, custom_id, value["body"])
            told = f"custom_id {custom_id!r} was used in line {first} already; each must be used once"
            wrong = BatchError(code="duplicate_custom_id", message=told, line=number, param="custom_id")
        self._add(wrong)
        return None

    def end(self) -> tuple[BatchError, ...]:
        """What is wrong with the file after its last line; empty: nothing."""
        if not self.requests:
            self._add(BatchError(code="empty_file", message="the file has no lines; each is one request"))
        if self._more:
            told = f"{self._more} more lines are wrong in such ways; the first {MAX_ERRORS} are listed"
            self.errors.append(BatchError(code="more_errors", message=told))
        return tuple(self.errors)

    @property
    def over(self) -> bool:
        """Whether the file has more lines than are taken; then reading on is of no use."""
        if self.requests <= MAX_LINES:
            return False
        told = f"the file has more than {MAX_LINES} lines; split it into several batches"
        self.errors, self._more = [BatchError(code="too_many_requests", message=told)], 0
        return True

    def _object(self, number: int, line: bytes) -> dict[str, Any] | None:
        try:
            value = json.loads(line)
        except RecursionError:
            why = "nested too deeply"
        except ValueError as error:  # json's and Unicode's
            why = str(error)
        else:
            if isinstance(value, dict):
                return value
            why = f"a JSON {type(value).__name__}"
        told = f"the line is not a JSON object with {', '.join(_FIELDS)}: {why}"
        self._add(BatchError(code="invalid_json_line", message=told, line=number))
        return None

    def _add(self, error: BatchError) -> None:
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(error)
        else:
            self._more += 1


def numbered_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and content of each line that is not blank."""
    for number, line in enumerate(file, 1):
        content = line.strip()
        if number == 1:
            content = content.removeprefix(_BYTE_ORDER_MARK).strip()
        if content:
            yield number, content


def chars_of(file: BinaryIO) -> int:
    """The characters of all inputs of a file, as far as it can be read: what a caller's quota is asked for."""
    chars = 0
    for _, line in numbered_lines(file):
        try:
            text = json.loads(line)["body"]["input"]
        except (ValueError, LookupError, TypeError, RecursionError):
            continue  # refused when the batch is looked at
        chars += len(text) if isinstance(text, str) else 0
    return chars


def judge(request: Request, pinned: Pinned, *, max_chars: int = MAX_INPUT_CHARS) -> Speakable | LineError:
    """Whether a request can be spoken by what the workers offer, as the speech route would answer it."""
    try:
        body = SpeechBody.model_validate(request.body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        param = _whole(".".join(map(str, first["loc"]))) or None
        told = f"{param}: {first['msg']}" if param else str(first["msg"])
        return LineError(status=400, code=str(first["type"]), message=told, param=param)
    wrong = _unspeakable(body, max_chars)
    if wrong is not None:
        return wrong
    offer = _offer(pinned, body.model)
    if isinstance(offer, LineError):
        return offer
    name = body.voice_name or offer.default_voice
    voice = pinned.aliases.get(name, name)
    try:
        asked = check_body(body, offer, voice=voice)
    except BadField as error:
        return LineError(status=400, code=code_of(error), message=str(error), param=error.param)
    group = Group(offer.name, asked.language, body.speed, body.response_format)
    return Speakable(group, asked.voice.name, body.input, body.seed)


def _unspeakable(body: SpeechBody, max_chars: int) -> LineError | None:
    """What is wrong with a body for any model."""
    if len(body.input) > max_chars:
        told = f"input has {len(body.input)} characters, a line may have {max_chars}; submit longer texts as jobs"
        return LineError(status=400, code="string_above_max_length", message=told, param="input")
    if why := unspeakable(body.input):
        return LineError(status=400, code="empty_text", message=why, param="input")
    if body.stream_format == "sse":
        told = "stream_format sse is for requests that are answered at once; in a batch leave it out"
        return LineError(status=400, code="unsupported_parameter", message=told, param="stream_format")
    return None


def _offer(pinned: Pinned, model: str) -> ModelOffer | LineError:
    offer = offer_named(pinned.offers, pinned.aliases.get(model, model))
    if offer is not None:
        return offer
    names = ", ".join(offer.name for offer in pinned.offers)
    told = f"no worker speaks model {model!r}; they speak {names}"
    return LineError(status=404, code="model_not_found", message=told, param="model")


def _wrong(number: int, value: dict[str, Any]) -> BatchError | None:
    """What is wrong with a line beside its body."""
    for name in _FIELDS:
        if name not in value:
            return _bad(number, name, "missing_required_parameter", f"{name} is missing")
    for name in sorted(value.keys() - set(_FIELDS)):
        told = f"a line has no field {name!r}; its fields are {', '.join(_FIELDS)}"
        return _bad(number, name, "unknown_parameter", told)
    custom_id, method, url = value["custom_id"], value["method"], value["url"]
    if why := _bad_id(custom_id):
        return _bad(number, "custom_id", "invalid_custom_id", f"custom_id {why}")
    if method != "POST":
        return _bad(number, "method", "invalid_method", f"method is {method!r}; only POST is allowed")
    if url != ENDPOINT:
        return _bad(number, "url", "invalid_url", f"url is {url!r}; the endpoint of this batch is {ENDPOINT}")
    if not isinstance(value["body"], dict):
        told = f"body is a JSON {type(value['body']).__name__}; it must be an object"
        return _bad(number, "body", "invalid_type", told)
    return None


def _bad_id(custom_id: object) -> str:
    """Why something cannot be the id of a line; it stands in the path of the line's audio."""
    if not isinstance(custom_id, str):
        return f"is a JSON {type(custom_id).__name__}; it must be a string"
    if not 0 < len(custom_id) <= MAX_ID_CHARS:
        return f"has {len(custom_id)} characters; 1 to {MAX_ID_CHARS} are allowed"
    if _UNNAMEABLE.search(custom_id):
        return f"is {custom_id!r}; control characters and halves of characters are not allowed"
    if custom_id in {".", ".."}:
        return f"is {custom_id!r}, which no address can hold"
    return ""


def _bad(number: int, param: str, code: str, message: str) -> BatchError:
    return BatchError(code=code, message=message, line=number, param=_whole(param))


def _whole(name: str) -> str:
    """A name of the caller's as it may be told: not without end, and of whole characters."""
    return _HALVES.sub("?", name[:100])
