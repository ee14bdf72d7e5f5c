"""What is wrong with the lines of a batch: the file as a whole, and each body by itself."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.batches.lines import MAX_ERRORS, MAX_LINES, FileCheck, Speakable, chars_of, judge, numbered_lines
from jobs.batches.parts import MAX_PART_LINES, Parting, belongs_to
from jobs.batches.records import BatchError, LineError, Pinned
from jobs.batches.windows import window_s
from jobs.errors import BadOption
from jobs.live_formats import LiveFormat
from jobs.speech_body import SpeechBody
from tests.jobs.batches.office import jsonl, request
from workers.catalog import find_offer

PINNED = Pinned(offers=(find_offer("fake", voice=None, precision="auto"),), aliases={"tts-1": "fake"})


def checked(data: bytes) -> tuple[int, tuple[BatchError, ...]]:
    check = FileCheck()
    for number, line in numbered_lines(io.BytesIO(data)):
        check.take(number, line)
    return check.requests, check.end()


def changed(**fields: Any) -> dict[str, Any]:
    return request("a") | fields


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in request("a").items() if key != name}


@pytest.mark.parametrize(
    ("line", "code", "param"),
    [
        (b"{", "invalid_json_line", None),
        (b"\xff\xfe{", "invalid_json_line", None),
        (b"[1]", "invalid_json_line", None),
        (b"null", "invalid_json_line", None),
        (b"[" * 100_000, "invalid_json_line", None),
        (b'{"custom_id": ' + b"9" * 5000 + b"}", "invalid_json_line", None),
        (without("custom_id"), "missing_required_parameter", "custom_id"),
        (without("body"), "missing_required_parameter", "body"),
        (without("method"), "missing_required_parameter", "method"),
        (without("url"), "missing_required_parameter", "url"),
        (changed(custom_id=7), "invalid_custom_id", "custom_id"),
        (changed(custom_id=""), "invalid_custom_id", "custom_id"),
        (changed(custom_id="x" * 513), "invalid_custom_id", "custom_id"),
        (changed(custom_id="a\nb"), "invalid_custom_id", "custom_id"),
        (changed(custom_id="\ud800"), "invalid_custom_id", "custom_id"),
        (changed(custom_id=".."), "invalid_custom_id", "custom_id"),
        (changed(method="GET"), "invalid_method", "method"),
        (changed(url="/v1/chat/completions"), "invalid_url", "url"),
        (changed(url="http://elsewhere/v1/audio/speech"), "invalid_url", "url"),
        (changed(body="text"), "invalid_type", "body"),
        (changed(priority=1), "unknown_parameter", "priority"),
        (changed(**{"\udc00": 1}), "unknown_parameter", "?"),
    ],
)
def test_lines_that_are_no_requests(line: Any, code: str, param: str | None) -> None:
    requests, errors = checked(jsonl([request("first"), b"", line, request("last")]))
    assert requests == 3
    assert [(error.code, error.line, error.param) for error in errors] == [(code, 3, param)]
    assert errors[0].model_dump_json()


@pytest.mark.parametrize("custom_id", ["a", "x" * 512, "ä/ö ü", "100%", "日本語\u3000", "a..b", "?q#f", "a\\b"])
def test_ids_that_lines_may_have(custom_id: str) -> None:
    assert checked(jsonl([request(custom_id)])) == (1, ())


def test_ids_are_used_once() -> None:
    _, errors = checked(jsonl([request("a"), request("b"), request("a"), request("a")]))
    assert [(error.code, error.line) for error in errors] == [("duplicate_custom_id", 3), ("duplicate_custom_id", 4)]
    assert "line 1" in errors[0].message


@pytest.mark.parametrize("data", [b"", b"\n \n\t\n", b"\xef\xbb\xbf\n"])
def test_a_file_without_lines(data: bytes) -> None:
    assert [error.code for error in checked(data)[1]] == ["empty_file"]


def test_blank_lines_marks_and_windows_ends_are_no_matter() -> None:
    data = b"\xef\xbb\xbf" + jsonl([request("a")]) + b"\r\n\r\n" + jsonl([request("b")]) + b"\r\n"
    assert checked(data) == (2, ())


def test_only_the_first_errors_are_listed() -> None:
    _, errors = checked(b"x\n" * 250)
    assert len(errors) == MAX_ERRORS + 1
    assert errors[-1].code == "more_errors"
    assert errors[-1].message.startswith(f"{250 - MAX_ERRORS} more")


def test_a_file_with_too_many_lines() -> None:
    check = FileCheck()
    for number in range(1, MAX_LINES + 1):
        check.take(number, b"x")
        assert not check.over
    check.take(MAX_LINES + 1, b"x")
    assert check.over
    assert [error.code for error in check.end()] == ["too_many_requests"]


@given(st.lists(st.binary(max_size=40) | st.text().map(str.encode) | st.just(jsonl([request("a")])), max_size=8))
def test_nothing_in_a_file_is_unforeseen(lines: list[bytes]) -> None:
    requests, errors = checked(b"\n".join(lines))
    assert errors or requests == 1
    for error in errors:
        assert BatchError.model_validate_json(error.model_dump_json()) == error
    assert chars_of(io.BytesIO(b"\n".join(lines))) >= 0


values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.just({"id": "tone"})
names = st.sampled_from(["model", "input", "voice", "response_format", "speed", "seed", "language", "checked", "other"])


@given(st.dictionaries(names | st.text(max_size=5), values, max_size=6))
def test_every_body_is_judged(body: dict[str, Any]) -> None:
    line = request("a")
    line["body"] |= body
    check = FileCheck()
    told = check.take(1, json.dumps(line).encode())
    assert told is not None
    found = judge(told, PINNED)
    if isinstance(found, LineError):
        assert found.status in (400, 404)
        assert LineError.model_validate_json(found.model_dump_json()) == found
    else:
        assert set(body) <= set(SpeechBody.model_fields)


def judged(**body: Any) -> Speakable | LineError:
    check = FileCheck()
    told = check.take(1, json.dumps(request("a", **body)).encode())
    assert told is not None
    return judge(told, PINNED)


def test_a_good_body() -> None:
    found = judged(model="tts-1", voice={"id": "tone-low"}, speed=2, seed=5, response_format="opus", checked=True)
    assert isinstance(found, Speakable)
    assert (found.voice, found.seed, found.group.speed, found.group.model) == ("tone-low", 5, 2.0, "fake")
    assert found.group.audio_format is LiveFormat.OPUS


def test_a_body_without_the_optional_fields_is_the_models_own() -> None:
    check = FileCheck()
    line = request("a") | {"body": {"model": "fake", "input": "A line."}}
    told = check.take(1, json.dumps(line).encode())
    assert told is not None
    found = judge(told, PINNED)
    assert isinstance(found, Speakable)
    assert (found.voice, found.group.audio_format) == (PINNED.offers[0].default_voice, LiveFormat.MP3)


def test_characters_are_counted_as_far_as_a_file_can_be_read() -> None:
    data = jsonl([request("a", "four"), b"{", b"[]", request("b", 5), request("c", "ü" * 10)])  # type: ignore[arg-type]
    assert chars_of(io.BytesIO(data)) == 14


def test_parts_are_full_or_of_another_group() -> None:
    parting = Parting()
    one, two = judged(), judged(speed=2.0)
    assert isinstance(one, Speakable)
    assert isinstance(two, Speakable)
    full = [parting.take(n, f"{n}", one if n % 3 else two) for n in range(3 * MAX_PART_LINES)]
    parts = [part for part in full if part is not None] + list(parting.rest())
    assert [len(part.lines) for part in parts] == [MAX_PART_LINES] * 3
    assert [part.source.count(b"\n") for part in parts] == [MAX_PART_LINES] * 3
    assert sorted(line for part in parts for line, _ in part.lines) == list(range(3 * MAX_PART_LINES))
    assert all((line % 3 == 0) == (part.group.speed == 2.0) for part in parts for line, _ in part.lines)


@pytest.mark.parametrize(("text", "seconds"), [("24h", 86_400), ("1h", 3600), ("30d", 2_592_000), ("720h", 2_592_000)])
def test_windows(text: str, seconds: int) -> None:
    assert window_s(text) == seconds


@given(st.text(max_size=6))
def test_other_windows_are_refused(text: str) -> None:
    if re.fullmatch("[1-9][0-9]?h|[1-9]d", text):
        assert window_s(text) >= 3600
    elif not re.fullmatch("[1-9][0-9]{0,2}[hd]", text):
        with pytest.raises(BadOption, match="24h"):
            window_s(text)


def test_a_job_is_known_by_its_batch() -> None:
    batch = "batch_0123456789ab0123456789abcdef"
    assert belongs_to(f"{batch}-0001.jsonl", batch)
    assert belongs_to(f"{batch}-10000.jsonl", batch)
    assert not belongs_to(f"{batch}.jsonl", batch)
    assert not belongs_to("book.txt", batch)


@pytest.mark.parametrize(
    "body", [{"input": "half \ud800"}, {"\udc00": 1}, {"voice": "\ud800"}, {"model": "\ud800"}, {"language": "\ud800"}]
)
def test_halves_of_characters_are_refused_in_whole_ones(body: dict[str, Any]) -> None:
    found = judged(**body)
    assert isinstance(found, LineError)
    assert json.loads(found.model_dump_json())["status"] == 400
