"""Takes: exact samples, stable bytes, and damage that is noticed."""

from __future__ import annotations

import hashlib
import io
import json

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from jobs import keys
from jobs.checks.free import TakeFacts, check_take
from jobs.errors import ObjectDamaged, ObjectMissing
from jobs.kinds import Grade
from jobs.stores import MemoryStore
from jobs.takes import Judged, TakeOrigin, has_take, load_take, open_samples, pcm16, read_take, write_take
from jobs.verdict import CHECKS_VERSION, Reason, Verdict

TAKE = "ab" + "0" * 30
ORIGIN = TakeOrigin(model="fake", voice="tone", language="en", spoken="Hällo.", seed=7, speed=1.0, numerics="fake/1")


def facts(finish: str) -> TakeFacts:
    return TakeFacts(22050, finish, spoken="Hällo.", language="en", speed=1.0, chars_per_s=14.0)


def tone(samples: int = 2205, level: float = 0.5) -> np.ndarray:
    return (level * np.sin(np.arange(samples) * 0.2 + 0.1)).astype(np.float32)


def test_a_take_is_read_back_to_the_sample():
    store = MemoryStore()
    samples = tone()
    info = write_take(store, TAKE, samples, sample_rate_hz=22050, origin=ORIGIN)
    assert read_take(store, TAKE) == info == has_take(store, TAKE)
    assert (info.samples, info.sample_rate_hz, info.finish, info.clipped_samples) == (2205, 22050, "stop", 0)
    assert info.peak == pytest.approx(np.abs(samples).max(), abs=1e-6)
    assert np.array_equal(open_samples(store, TAKE), np.rint(samples * np.float32(32767)))
    assert load_take(store, TAKE)[0].origin.spoken == "Hällo."


def test_other_tools_can_read_the_audio_object():
    store = MemoryStore()
    info = write_take(store, TAKE, tone(), sample_rate_hz=24000, origin=ORIGIN)
    data = store.get(keys.take_audio(TAKE))
    header = soundfile.info(io.BytesIO(data))
    assert (header.format, header.subtype, header.channels) == ("FLAC", "PCM_16", 1)
    assert (header.frames, header.samplerate) == (2205, 24000)
    assert hashlib.sha256(data).hexdigest() == info.audio_sha256


@given(st.lists(st.floats(-1.5, 1.5, width=32), min_size=1, max_size=300).filter(lambda s: max(map(abs, s)) > 0.01))
def test_rounding_is_to_the_nearest_step_and_clipping_is_counted(values):
    store = MemoryStore()
    samples = np.array(values, dtype=np.float32)
    info = write_take(store, TAKE, samples, sample_rate_hz=16000, origin=ORIGIN)
    pcm = open_samples(store, TAKE)
    assert np.array_equal(pcm, np.concatenate([pcm16(samples[:7]), pcm16(samples[7:])]))  # live chunks are the same
    assert pcm.dtype == np.int16
    assert pcm.shape == samples.shape
    error = pcm / 32767 - np.clip(samples.astype(np.float64), -1, 1)
    assert np.abs(error).max() <= 0.5 / 32767 + 1e-6
    over = np.abs(samples.astype(np.float64)) * 32767
    assert np.count_nonzero(over > 32767.6) <= info.clipped_samples <= np.count_nonzero(over > 32767.4)


def test_every_run_writes_the_same_bytes_audio_first():
    class Recording(MemoryStore):
        def __init__(self):
            super().__init__()
            self.order = []

        def put(self, key, data):
            self.order.append(key)
            super().put(key, data)

    first, second = Recording(), Recording()
    for store in (first, second):
        write_take(store, TAKE, tone(), sample_rate_hz=22050, origin=ORIGIN)
    assert first.order == [keys.take_audio(TAKE), keys.take_info(TAKE)]
    for key in first.order:
        assert first.get(key) == second.get(key)


def cut(data: bytes) -> bytes:
    return data[:-1]


def flip(data: bytes) -> bytes:
    return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


def swap(data: bytes) -> bytes:
    return data.replace(TAKE.encode(), b"cd" + TAKE[2:].encode())


@pytest.mark.parametrize(
    ("key", "damage"),
    [
        (keys.take_audio(TAKE), cut),
        (keys.take_audio(TAKE), flip),
        (keys.take_audio(TAKE), lambda data: b""),
        (keys.take_info(TAKE), cut),
        (keys.take_info(TAKE), swap),
        (keys.take_info(TAKE), lambda data: b"{}"),
        (keys.take_info(TAKE), lambda data: b"\xff\xfe"),
    ],
)
def test_a_damaged_take_counts_as_absent_and_is_never_played(key, damage):
    store = MemoryStore()
    info = write_take(store, TAKE, tone(), sample_rate_hz=22050, origin=ORIGIN)
    store.put(key, damage(store.get(key)))
    assert has_take(store, TAKE) is None
    with pytest.raises(ObjectDamaged, match="speak the segment again"):
        open_samples(store, TAKE)
    assert write_take(store, TAKE, tone(), sample_rate_hz=22050, origin=ORIGIN) == info
    assert has_take(store, TAKE) == info


def test_a_record_that_lies_about_the_length_is_found():
    store = MemoryStore()
    info = write_take(store, TAKE, tone(), sample_rate_hz=22050, origin=ORIGIN)
    for change in ({"samples": 2204}, {"sample_rate_hz": 16000}):
        store.put(keys.take_info(TAKE), info.model_copy(update=change).model_dump_json().encode())
        with pytest.raises(ObjectDamaged, match="2205"):
            open_samples(store, TAKE)


@pytest.mark.parametrize("key", [keys.take_audio(TAKE), keys.take_info(TAKE)])
def test_half_a_take_is_absent(key):
    store = MemoryStore()
    assert has_take(store, TAKE) is None
    write_take(store, TAKE, tone(), sample_rate_hz=22050, origin=ORIGIN)
    store.delete(key)
    assert has_take(store, TAKE) is None
    with pytest.raises(ObjectMissing):
        open_samples(store, TAKE)


@pytest.mark.parametrize(
    ("samples", "finish", "reason"),
    [
        (np.zeros(0, np.float32), "stop", "no samples"),
        (np.zeros(100, np.float32), "stop", "silent"),
        (np.full(100, 1e-4, np.float32), "stop", "silent"),
        (np.array([0.5, np.nan, np.inf], np.float32), "stop", "2 of 3 samples are not finite"),
        (tone(), "budget", "did not stop by itself within the time that its text may take"),
        (tone(), "budget", "if no other seed helps, submit the text in shorter sentences"),
        (tone(), "error", "'error'"),
        (tone(), "", "left unsaid"),
    ],
)
def test_the_checks_name_what_cannot_be_used(samples, finish, reason):
    verdict = check_take(samples, facts(finish))
    assert verdict.grade is Grade.UNUSABLE
    assert reason in verdict.text


def test_an_unusable_take_leaves_a_record_and_no_audio():
    store = MemoryStore()
    samples = np.array([0.5, np.nan, np.inf, -0.25], np.float32)
    judged = Judged("budget", check_take(samples, facts("budget")))
    info = write_take(store, TAKE, samples, sample_rate_hz=22050, origin=ORIGIN, judged=judged)
    assert list(store.list("")) == [keys.take_info(TAKE)]
    assert read_take(store, TAKE) == info == has_take(store, TAKE)
    assert (info.samples, info.peak, info.audio_bytes, info.audio_sha256) == (4, 0.5, 0, "")
    assert (info.finish, info.verdict.grade) == ("budget", Grade.UNUSABLE)


def test_verdict_and_words_are_on_record():
    store = MemoryStore()
    verdict = Verdict(grade=Grade.BAD, reasons=(Reason(check="hum", score=2.5, limit=1.0, text="it hums"),))
    judged = Judged(verdict=verdict, words=((0, 100), (120, 300)))
    write_take(store, TAKE, tone(), sample_rate_hz=22050, origin=ORIGIN, judged=judged)
    info = read_take(store, TAKE)
    assert (info.verdict, info.words) == (verdict, ((0, 100), (120, 300)))
    assert has_take(store, TAKE) == info


def test_a_record_from_before_there_were_verdicts_is_not_judged():
    store = MemoryStore()
    write_take(store, TAKE, tone(), sample_rate_hz=22050, origin=ORIGIN)
    record = json.loads(store.get(keys.take_info(TAKE)))
    del record["verdict"], record["words"]
    store.put(keys.take_info(TAKE), json.dumps(record).encode())
    info = has_take(store, TAKE)
    assert info is not None
    assert info.verdict.version != CHECKS_VERSION


@pytest.mark.parametrize(
    "samples", [np.zeros(10, np.float32), np.full(3, np.nan, np.float32), tone().reshape(1, -1), np.ones(5)]
)
def test_a_bad_take_is_not_kept(samples):
    store = MemoryStore()
    with pytest.raises(ValueError, match=r"cannot be kept|a take is \[S\] float32"):
        write_take(store, TAKE, samples, sample_rate_hz=22050, origin=ORIGIN)
    assert list(store.list("")) == []
