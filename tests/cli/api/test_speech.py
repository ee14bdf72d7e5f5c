"""`/v1/audio/speech`: the whole text or a broken answer, first sound early, nothing spoken that nobody hears."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import av
import httpx
import numpy as np
import pytest

from cli.api import speech_stream
from cli.api.service import Limits
from jobs.access.gate import Scope
from jobs.assembly.pauses import PAUSES
from jobs.live_formats import LiveFormat
from jobs.plan import Break
from jobs.spec import SegmentResult, SegmentTask
from jobs.speech_body import SpeechBody
from jobs.state import JobState, SegmentState
from jobs.takes import open_samples
from tests.helpers_api import Door, api, auth, running_server
from tests.workers.making import Gate, until

PATH = "/v1/audio/speech"
RATE_HZ = 24_000
SHORT = "Hello there, this is a test of the tone."
LONG = " ".join(f"This is sentence number {number}, and it is not a short one at all." for number in range(30))


def body(text: str = SHORT, **fields: object) -> dict[str, object]:
    return {"model": "fake", "input": text} | fields


def takes_of(door: Door, request_id: str) -> list[np.ndarray]:
    """The takes of a request, in order."""
    results = door.truth.results(request_id)
    return [open_samples(door.store, results[segment].take) for segment in sorted(results)]


def joined(takes: list[np.ndarray]) -> np.ndarray:
    pause = np.zeros(PAUSES.samples(Break.SENTENCE, RATE_HZ), np.int16)
    return np.concatenate([part for take in takes for part in (take, pause)][:-1])


def decoded(data: bytes) -> tuple[int, np.ndarray]:
    """Rate and [S] float."""
    with av.open(io.BytesIO(data)) as file:
        resampler = av.AudioResampler(format="flt", layout="mono")
        frames = [part for frame in file.decode(audio=0) for part in resampler.resample(frame)]
        return file.streams.audio[0].rate, np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])


def events_of(text: str) -> list[dict[str, object]]:
    blocks = [block for block in text.split("\n\n") if block]
    assert all(block.startswith("data: ") and "\n" not in block for block in blocks)
    return [json.loads(block.removeprefix("data: ")) for block in blocks]


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with api() as door:
        yield door


@pytest.mark.parametrize("live_format", LiveFormat)
def test_every_format_is_the_whole_take(door, live_format):
    answer = door.client.post(PATH, json=body(response_format=live_format))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == live_format.media_type
    assert "content-length" not in answer.headers
    rate_hz = int(answer.headers["x-sample-rate"])
    (take,) = takes_of(door, answer.headers["x-request-id"])
    if live_format is LiveFormat.PCM:
        assert np.array_equal(np.frombuffer(answer.content, "<i2"), take)
        return
    got_hz, got = decoded(answer.content)
    assert got_hz == rate_hz
    if live_format in {LiveFormat.WAV, LiveFormat.FLAC}:
        assert np.array_equal(np.rint(got * 32768), take)
    assert 0 <= got.size / got_hz - take.size / RATE_HZ < 0.15


def test_mp3_is_what_comes_unless_it_is_asked_otherwise(door):
    assert door.client.post(PATH, json=body()).headers["content-type"] == "audio/mpeg"


@pytest.mark.parametrize("checked", [True, False])
def test_a_long_text_is_one_answer_without_a_gap(door, checked):
    answer = door.client.post(PATH, json=body(LONG, response_format="pcm", checked=checked))
    takes = takes_of(door, answer.headers["x-request-id"])
    assert len(takes) > 5
    assert np.array_equal(np.frombuffer(answer.content, "<i2"), joined(takes))


def test_one_seed_is_one_sound(door):
    first, again, other = (
        door.client.post(PATH, json=body(response_format="pcm", seed=seed)).content for seed in (5, 5, 6)
    )
    assert first == again != other


def test_how_it_ended_can_be_asked(door):
    answer = door.client.post(PATH, json=body(LONG))
    request_id = answer.headers["x-request-id"]
    until(lambda: door.truth.job(request_id).state is JobState.DONE, "the request is done")
    told = door.client.get(f"{PATH}/{request_id}").json()
    takes = takes_of(door, request_id)
    assert told.pop("created_at") > 1e9
    assert told == {
        "id": request_id,
        "object": "audio.speech",
        "finish_reason": "stop",
        "model": "fake",
        "voice": "tone",
        "audio_s": pytest.approx(sum(take.size for take in takes) / RATE_HZ, abs=0.01),
        "segments": len(takes),
        "done": len(takes),
        "failed": 0,
        "marked": 0,
        "reason": "",
    }


@pytest.mark.parametrize("name", ["speech-0", "speech-" + 32 * "0", "book-1", "x" * 300])
def test_a_request_that_is_not_known_is_not_found(door, name):
    answer = door.client.get(f"{PATH}/{name}")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "speech_not_found"


def test_a_request_is_no_job_of_the_list(door):
    door.client.post(PATH, json=body())
    assert door.client.get("/v1/jobs").json()["data"] == []


def test_events_carry_the_same_bytes(door):
    plain = door.client.post(PATH, json=body(LONG, response_format="flac"))
    answer = door.client.post(PATH, json=body(LONG, response_format="flac", stream_format="sse"))
    assert answer.headers["content-type"].startswith("text/event-stream")
    *deltas, done = events_of(answer.text)
    assert {delta["type"] for delta in deltas} == {"speech.audio.delta"}
    assert b"".join(base64.b64decode(str(delta["audio"])) for delta in deltas) == plain.content
    chars = done["usage"]["input_tokens"]
    assert done["usage"] == {"input_tokens": chars, "output_tokens": 0, "total_tokens": chars}
    assert 0.8 * len(LONG) < chars < 1.5 * len(LONG)
    assert (done["type"], done["finish_reason"]) == ("speech.audio.done", "stop")
    assert done["request_id"] == answer.headers["x-request-id"]
    assert done["audio_s"] == pytest.approx(decoded(plain.content)[1].size / RATE_HZ, abs=0.001)


@pytest.mark.parametrize(
    ("fields", "status", "code", "param"),
    [
        ({"model": "nothing"}, 404, "model_not_found", "model"),
        ({"model": "/etc/passwd"}, 404, "model_not_found", "model"),
        ({"voice": "ton"}, 400, "voice_not_found", "voice"),
        ({"voice": "/tmp/some.onnx"}, 400, "voice_not_found", "voice"),
        ({"voice": {"id": "nobody"}}, 400, "voice_not_found", "voice"),
        ({"speed": 3.5}, 400, "bad_speed", "speed"),
        ({"speed": 5}, 400, "less_than_equal", "speed"),
        ({"speed": 0}, 400, "greater_than_equal", "speed"),
        ({"instructions": "whisper"}, 400, "not_supported", "instructions"),
        ({"language": "de"}, 400, "not_supported", "language"),
        ({"response_format": "ogg"}, 400, "enum", "response_format"),
        ({"stream_format": "raw"}, 400, "literal_error", "stream_format"),
        ({"input": ""}, 400, "string_too_short", "input"),
        ({"input": "..."}, 400, "empty_text", "input"),
        ({"input": " \n "}, 400, "empty_text", "input"),
        ({"input": "Привет, мир"}, 400, "not_supported", "language"),
        ({"seed": -1}, 400, "greater_than_equal", "seed"),
        ({"store_url": "file:///tmp"}, 400, "extra_forbidden", "store_url"),
    ],
)
def test_what_cannot_be_is_refused_before_it_is_queued(door, fields, status, code, param):
    answer = door.client.post(PATH, json=body() | fields)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (status, code, param)
    assert set(error) >= {"message", "type", "param", "code"}


def test_an_unknown_voice_is_told_which_there_are(door):
    message = door.client.post(PATH, json=body(voice="Tone")).json()["error"]["message"]
    assert "did you mean 'tone'" in message
    assert "tone-low, tone-high" in message


def test_aliases_of_the_operator_are_names():
    with api(aliases={"tts-1": "fake", "alloy": "tone-low"}) as door:
        answer = door.client.post(PATH, json=body(model="tts-1", voice={"id": "alloy"}))
        assert answer.status_code == 200
        assert door.truth.job(answer.headers["x-request-id"]).spec.voice == "tone-low"


def test_limits_are_told():
    with api(idle=True, limits=Limits(speech_chars=10)) as door:
        error = door.client.post(PATH, json=body("eleven char")).json()["error"]
        assert (error["code"], error["param"]) == ("string_above_max_length", "input")
        assert "11 characters" in error["message"]
        assert "10" in error["message"]
    with api(idle=True, limits=Limits(waiting_segments=0)) as door:
        answer = door.client.post(PATH, json=body())
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "queue_full")
        assert int(answer.headers["retry-after"]) > 0


def test_without_a_worker_nothing_is_queued():
    with api(works=False) as door:
        answer = door.client.post(PATH, json=body())
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no_worker")
        assert int(answer.headers["retry-after"]) > 0
        assert door.truth.depth().segments == 0


def test_when_the_last_worker_goes_the_request_is_given_up(monkeypatch):
    monkeypatch.setattr(speech_stream, "NOBODY_S", 0.2)
    monkeypatch.setattr(speech_stream, "LOOK_EVERY_S", 0.05)
    with api(idle=True) as door, asking(door, body()) as (answer, _):
        until(lambda: door.truth.depth().segments == 1, "it waits")
        door.truth.retire("idle-1")
        assert answer.result().status_code == 503
        assert answer.result().json()["error"]["code"] == "no_worker"
        assert door.truth.depth().segments == 0


@contextmanager
def asking(door: Door, asked: dict[str, object]) -> Iterator[tuple[object, list[SegmentTask]]]:
    """A request in a thread of its own, and where its tasks go when a test leases them."""
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(door.client.post, PATH, json=asked), []


def leased(door: Door, want: int = 100) -> list[SegmentTask]:
    tasks: list[SegmentTask] = []
    until(lambda: tasks.extend(door.truth.lease("idle-1", want)) or tasks, "it waits")
    return tasks


def fail(door: Door, task: SegmentTask) -> None:
    told = SegmentResult(
        job=task.job,
        segment=task.segment,
        chapter=task.chapter,
        state=SegmentState.FAILED,
        take=task.take,
        reason="too hard",
    )
    assert door.truth.finish("idle-1", [told]) == [True]


def test_what_fails_at_once_is_an_error_with_its_reason():
    with api(idle=True) as door, asking(door, body()) as (answer, _):
        (task,) = leased(door)
        fail(door, task)
        assert answer.result().status_code == 500
        error = answer.result().json()["error"]
        assert error["code"] == "speech_failed"
        assert "too hard" in error["message"]
        assert answer.result().headers["x-request-id"] == task.job
        told = door.client.get(f"{PATH}/{task.job}").json()
        assert (told["finish_reason"], told["failed"]) == ("error", 1)


@contextmanager
def streaming(url: str, asked: dict[str, object], **more: object) -> Iterator[tuple[httpx.Response, Iterator[bytes]]]:
    with httpx.stream("POST", url + PATH, json=asked, timeout=30, **more) as answer:
        yield answer, answer.iter_raw()


def test_the_first_sound_comes_while_the_rest_is_spoken(monkeypatch):
    gate = Gate(monkeypatch)
    with api() as door, running_server(door.service) as url:
        gate.let(1)
        with streaming(url, body(response_format="pcm")) as (answer, pieces):
            first = next(pieces)
            assert first
            request_id = answer.headers["x-request-id"]
            assert answer.headers["transfer-encoding"] == "chunked"
            assert door.client.get(f"{PATH}/{request_id}").json()["finish_reason"] is None
            gate.free()
            whole = first + b"".join(pieces)
        assert np.array_equal(np.frombuffer(whole, "<i2"), joined(takes_of(door, request_id)))


def test_whoever_goes_away_frees_the_slot(monkeypatch):
    gate = Gate(monkeypatch)
    with api(slots=2) as door, running_server(door.service) as url:
        gate.let(1)
        with streaming(url, body(LONG)) as (answer, pieces):
            next(pieces)
            request_id = answer.headers["x-request-id"]
        until(lambda: door.truth.job(request_id).state is JobState.CANCELLED, "it is cancelled")
        gate.free()
        until(lambda: door.truth.depth().held == 0, "nothing of it is held")
        assert door.truth.depth().segments == 0
        assert door.client.get(f"{PATH}/{request_id}").json()["finish_reason"] == "cancelled"
        assert door.client.post(PATH, json=body()).status_code == 200


def test_whoever_goes_away_before_the_first_sound_is_not_spoken_to():
    with api(idle=True) as door, running_server(door.service) as url:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(url + PATH, json=body(LONG), timeout=httpx.Timeout(10, read=0.3))
        until(lambda: door.truth.depth().segments == 0, "what waited is gone")
        assert door.truth.lease("idle-1", 100) == []


@pytest.mark.parametrize("why", ["failed", "cancelled"])
@pytest.mark.parametrize("stream_format", ["audio", "sse"])
def test_an_answer_that_cannot_be_completed_is_no_whole_one(monkeypatch, why, stream_format):
    gate = Gate(monkeypatch)
    with api(slots=1) as door, running_server(door.service) as url:
        gate.let(1)
        with streaming(url, body(LONG, stream_format=stream_format, response_format="pcm")) as (answer, pieces):
            got = [next(pieces)]
            request_id = answer.headers["x-request-id"]
            if why == "cancelled":
                door.truth.cancel(request_id)
            else:
                monkeypatch.setattr(gate, "arrived", 0)
                broken(monkeypatch)
            gate.free()
            if stream_format == "audio":
                with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
                    got.extend(pieces)
            else:
                got.extend(pieces)
        until(lambda: door.client.get(f"{PATH}/{request_id}").json()["finish_reason"] is not None, "it has ended")
        ended = door.client.get(f"{PATH}/{request_id}").json()
        assert ended["finish_reason"] == ("cancelled" if why == "cancelled" else "error")
        if stream_format == "sse":
            *_, last = events_of(b"".join(got).decode())
            assert (last["type"], last["error"]["code"]) == ("error", "speech_failed")
            assert last["request_id"] == request_id


def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the fake's decoder fails."""
    from models.fake.program import FakeProgram

    def fails(*_arguments: object) -> None:
        msg = "it broke"
        raise RuntimeError(msg)

    monkeypatch.setattr(FakeProgram, "decode", fails)


def test_a_server_sends_so_many_answers_at_once(monkeypatch):
    gate = Gate(monkeypatch)
    with api(limits=Limits(streams=1)) as door, running_server(door.service) as url:
        gate.let(1)
        with streaming(url, body(LONG)) as (_, pieces):
            next(pieces)
            full = httpx.post(url + PATH, json=body())
            assert (full.status_code, full.json()["error"]["code"]) == (503, "too_many_streams")
            assert int(full.headers["retry-after"]) > 0
        gate.free()
        until(lambda: httpx.post(url + PATH, json=body()).status_code == 200, "there is room again")


def test_a_token_speaks_within_its_quota(monkeypatch):
    gate = Gate(monkeypatch)
    with api() as door, running_server(door.service) as url:
        one = auth(door.token(Scope.SPEAK, concurrent=1, chars_per_day=len(LONG) + len(SHORT)))
        reader = auth(door.token(Scope.READ))
        assert httpx.post(url + PATH, json=body()).status_code == 401
        assert httpx.post(url + PATH, json=body(), headers=reader).status_code == 403
        gate.let(1)
        with streaming(url, body(LONG), headers=one) as (_, pieces):
            next(pieces)
            busy = httpx.post(url + PATH, json=body(), headers=one)
            assert (busy.status_code, busy.json()["error"]["code"]) == (429, "concurrent_requests")
            assert int(busy.headers["retry-after"]) > 0
        gate.free()
        until(lambda: httpx.post(url + PATH, json=body(), headers=one).status_code == 200, "its place is free again")
        over = httpx.post(url + PATH, json=body("More of it."), headers=one)
        assert (over.status_code, over.json()["error"]["code"]) == (429, "chars_per_day")
        assert int(over.headers["retry-after"]) > 0


def test_many_at_once_are_all_answered(door):
    done = threading.Barrier(8)

    def ask(number: int) -> tuple[bytes, np.ndarray]:
        done.wait()
        answer = door.client.post(PATH, json=body(f"Text number {number} is another one.", response_format="pcm"))
        return answer.content, takes_of(door, answer.headers["x-request-id"])[0]

    with ThreadPoolExecutor(8) as pool:
        for content, take in pool.map(ask, range(8)):
            assert np.array_equal(np.frombuffer(content, "<i2"), take)


def test_the_page_has_every_field_event_and_code():
    page = (Path(__file__).parents[3] / "docs" / "speech.md").read_text()
    rows = [line.split("|")[1].strip().strip("`") for line in page.splitlines() if line.startswith("| `")]
    assert set(SpeechBody.model_fields) <= set(rows)
    assert all(f"`{live_format}`" in page and live_format.media_type in page for live_format in LiveFormat)
    assert f"up to {Limits().speech_chars:,} characters" in page
    for word in ("speech_failed", "no_worker", "queue_full", "voice_not_found", "speech.audio.delta"):
        assert word in page


def test_the_description_of_the_api_tells_of_it(door):
    paths = door.client.get("/openapi.json").json()["paths"]
    answer = paths[PATH]["post"]["responses"]["200"]
    assert {live_format.media_type for live_format in LiveFormat} | {"text/event-stream"} == set(answer["content"])
    assert "X-Request-Id" in answer["headers"]
    assert "get" in paths[PATH + "/{request_id}"]
