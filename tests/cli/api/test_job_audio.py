"""`/v1/jobs/{job}/audio`: a job heard while it is made or afterwards, from any place, in any format."""

from __future__ import annotations

import io
import threading
import wave
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import numpy as np
import pytest

from cli.api.service import Limits
from jobs.drafts import Source, Wishes, make_draft
from jobs.listen import Listener
from jobs.live_formats import LiveFormat
from jobs.plan_store import load_plan
from jobs.positions import Start, Starts, starts
from jobs.spec import SegmentResult
from jobs.state import JobState, SegmentState
from jobs.submit import accept
from tests.cli.api.test_speech import decoded
from tests.helpers_api import Door, api, running_server
from tests.workers.making import Gate, until

RATE_HZ = 24_000
TEXT = (
    "CHAPTER I\n\nOne is here. Two is here.\n\nThree is here.\n\nCHAPTER II\n\nFour is here, and it is the last one.\n"
)


def submit(door: Door, text: str = TEXT, **wishes: object) -> str:
    asked = {"offer": door.service.offer("fake"), "store_url": door.store.url, "formats": ()} | wishes
    return accept(make_draft(Source("book.txt", text.encode()), Wishes(**asked)), door.truth, door.store).job


def whole_of(door: Door, job: str) -> np.ndarray:
    """What a listener hears of a job that has ended."""
    plan = load_plan(door.store, job)
    listener = Listener(door.truth, door.streams, door.store, job=job, plan=plan)
    return np.concatenate([sound.samples for sound in listener.sounds()])


def samples_of(data: bytes) -> np.ndarray:
    """The samples of an endless WAV."""
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE_HZ, 1, 2)
    return np.frombuffer(data[44:], "<i2")


def starts_of(door: Door, job: str) -> Starts:
    return starts(load_plan(door.store, job), door.truth.results(job))


@pytest.fixture(scope="module")
def done() -> Iterator[tuple[Door, str, np.ndarray]]:
    """A job that has ended, and what is heard of it."""
    with api() as door:
        job = submit(door, live=True)
        door.wait(job)
        yield door, job, whole_of(door, job)


@contextmanager
def streaming(url: str, job: str, **query: object) -> Iterator[tuple[httpx.Response, Iterator[bytes]]]:
    with httpx.stream("GET", f"{url}/v1/jobs/{job}/audio", params=query, timeout=30) as answer:
        yield answer, answer.iter_raw()


@pytest.mark.parametrize("live_format", LiveFormat)
def test_a_job_is_heard_in_every_format(done, live_format):
    door, job, whole = done
    answer = door.client.get(f"/v1/jobs/{job}/audio", params={"format": live_format.value})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == live_format.media_type
    assert (answer.headers["x-start-segment"], answer.headers["x-start-sample"]) == ("0", "0")
    if live_format is LiveFormat.PCM:
        assert np.array_equal(np.frombuffer(answer.content, "<i2"), whole)
        return
    rate_hz, got = decoded(answer.content)
    assert rate_hz == int(answer.headers["x-sample-rate"])
    if live_format in {LiveFormat.WAV, LiveFormat.FLAC}:
        assert np.array_equal(np.rint(got * 32768), whole)
    assert 0 <= got.size / rate_hz - whole.size / RATE_HZ < 0.15


def test_wav_is_what_comes_unless_it_is_asked_otherwise(done):
    door, job, whole = done
    assert np.array_equal(samples_of(door.client.get(f"/v1/jobs/{job}/audio").content), whole)


@pytest.mark.parametrize("sample", [0, 1, 12_345, 70_000])
def test_a_reader_that_was_cut_off_goes_on_at_its_sample(done, sample):
    door, job, whole = done
    for query in ({"from_sample": sample}, {"from_s": sample / RATE_HZ}):
        answer = door.client.get(f"/v1/jobs/{job}/audio", params=query)
        assert int(answer.headers["x-start-sample"]) == sample
        assert np.array_equal(samples_of(answer.content), whole[sample:])


def test_samples_are_counted_as_they_are_sent(done):
    door, job, whole = done
    answer = door.client.get(f"/v1/jobs/{job}/audio", params={"from_sample": 48_000, "format": "opus"})
    assert (answer.headers["x-sample-rate"], answer.headers["x-start-sample"]) == ("48000", "48000")
    assert decoded(answer.content)[1].size == 2 * (whole.size - RATE_HZ)


def test_a_segment_is_where_its_chapter_says(done):
    door, job, whole = done
    known = starts_of(door, job)
    for segment in range(len(known.samples) - 1):
        answer = door.client.get(f"/v1/jobs/{job}/audio", params={"segment": segment})
        assert answer.headers["x-start-segment"] == str(segment)
        assert int(answer.headers["x-start-sample"]) == known.of(segment)
        assert np.array_equal(samples_of(answer.content), whole[known.of(segment) :])
    for chapter in door.client.get(f"/v1/jobs/{job}/chapters").json()["data"]:
        answer = door.client.get(f"/v1/jobs/{job}/audio", params={"from_s": chapter["start_s"]})
        assert int(answer.headers["x-start-sample"]) == round(chapter["start_s"] * RATE_HZ)


@pytest.mark.parametrize("query", [{"from_s": 1e6}, {"from": "now"}])
def test_behind_the_end_there_is_nothing(done, query):
    door, job, _ = done
    answer = door.client.get(f"/v1/jobs/{job}/audio", params=query)
    assert (answer.status_code, answer.json()["error"]["code"]) == (416, "behind_the_end")


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"from_s": 1, "segment": 2}, 400, "ambiguous_place"),
        ({"from": "now", "from_sample": 2}, 400, "ambiguous_place"),
        ({"segment": 99}, 404, "segment_not_found"),
        ({"segment": -1}, 400, "greater_than_equal"),
        ({"from_s": -0.1}, 400, "greater_than_equal"),
        ({"from_s": "nan"}, 400, "less_than_equal"),
        ({"from": "here"}, 400, "literal_error"),
        ({"format": "m4b"}, 400, "enum"),
    ],
)
def test_places_that_cannot_be_are_refused(done, query, status, code):
    door, job, _ = done
    answer = door.client.get(f"/v1/jobs/{job}/audio", params=query)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.parametrize("job", ["nothing-1", "speech-" + 32 * "0"])
def test_a_job_that_is_not_there_is_not_found(done, job):
    door, _, _ = done
    answer = door.client.get(f"/v1/jobs/{job}/audio")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_job")


@pytest.mark.parametrize("live", [True, False])
def test_a_job_is_heard_while_it_is_made(monkeypatch, live):
    gate = Gate(monkeypatch)
    with api(slots=1) as door, running_server(door.service) as url:
        job = submit(door, live=live)
        gate.let(2)
        with streaming(url, job, format="pcm") as (_, pieces):
            got = next(pieces)
            assert door.truth.job(job).state is JobState.RUNNING
            gate.free()
            got += b"".join(pieces)
        door.wait(job)
        assert np.array_equal(np.frombuffer(got, "<i2"), whole_of(door, job))


def test_a_reader_may_begin_now_and_what_is_made_later_is_waited_for(monkeypatch):
    gate, asked, now = Gate(monkeypatch), threading.Event(), Listener.now

    def seen(listener: Listener) -> Start:
        start = now(listener)
        asked.set()
        return start

    monkeypatch.setattr(Listener, "now", seen)
    with api(slots=1) as door, running_server(door.service) as url, ThreadPoolExecutor(1) as pool:
        job = submit(door)
        gate.let(2)
        until(lambda: door.truth.job(job).done == 2, "two segments are done")
        query = {"format": "pcm", "from": "now"}
        answering = pool.submit(httpx.get, f"{url}/v1/jobs/{job}/audio", params=query, timeout=30)
        assert asked.wait(10)
        gate.free()
        answer = answering.result()
        door.wait(job)
        start = starts_of(door, job).of(2)
        assert (answer.headers["x-start-segment"], answer.headers["x-start-sample"]) == ("2", str(start))
        assert np.array_equal(np.frombuffer(answer.content, "<i2"), whole_of(door, job)[start:])


def test_a_place_that_is_not_made_yet_is_waited_for(monkeypatch):
    gate = Gate(monkeypatch)
    with api(slots=1) as door, running_server(door.service) as url:
        job = submit(door)
        gate.let(1)
        until(lambda: door.truth.job(job).done == 1, "one segment is done")
        gate.free()
        with streaming(url, job, format="pcm", from_sample=150_000) as (answer, pieces):
            got = np.frombuffer(b"".join(pieces), "<i2")
        door.wait(job)
        assert answer.headers["x-start-sample"] == "150000"
        assert np.array_equal(got, whole_of(door, job)[150_000:])


def test_a_reader_that_goes_away_does_not_end_the_job(monkeypatch):
    gate = Gate(monkeypatch)
    with api(slots=1) as door, running_server(door.service) as url:
        job = submit(door, live=True)
        gate.let(1)
        with streaming(url, job) as (_, pieces):
            next(pieces)
        gate.free()
        assert door.wait(job).state is JobState.DONE


def test_a_reader_that_goes_away_before_the_first_sound_leaves_its_place():
    with api(idle=True, limits=Limits(streams=1)) as door, running_server(door.service) as url:
        job = submit(door)
        with pytest.raises(httpx.ReadTimeout):
            httpx.get(f"{url}/v1/jobs/{job}/audio", timeout=httpx.Timeout(10, read=0.3))
        door.truth.cancel(job)
        until(lambda: httpx.get(f"{url}/v1/jobs/{job}/audio").status_code == 416, "there is room for another")


def test_a_job_that_ends_before_any_sound_has_none(monkeypatch):
    with api(idle=True) as door, running_server(door.service) as url:
        job = submit(door)
        until(lambda: len(door.truth.lease("idle-1", 1)) == 1, "a segment is leased")
        door.truth.cancel(job)
        answer = httpx.get(f"{url}/v1/jobs/{job}/audio")
        assert (answer.status_code, answer.json()["error"]["code"]) == (416, "behind_the_end")


def test_of_a_job_whose_segments_all_failed_there_is_nothing_to_hear():
    with api(idle=True) as door:
        job = submit(door)
        for task in door.truth.lease("idle-1", 100):
            told = {"job": job, "segment": task.segment, "chapter": task.chapter, "take": task.take}
            result = SegmentResult(**told, state=SegmentState.FAILED, reason="no")
            assert door.truth.finish("idle-1", [result]) == [True]
        assert door.client.get(f"/v1/jobs/{job}/audio").status_code == 416
