"""The fake voice: what it sings is what is heard, and every fault is audible where it should be."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.program import RequestRejected
from engine.request import FinishReason, Request, Samples
from models import registry
from models.base import Prompt
from models.errors import BadPrompt, UnknownVoice
from models.fake.faults import FaultKind
from models.fake.hearing import listen, transcribe
from models.fake.score import Note, notes_of
from models.fake.voice import EDGE_FRAMES, GAP_FRAMES, HOP_SAMPLES, LEVEL, MAX_CHARS, SAMPLE_RATE_HZ, VOICES, pitch_hz

MODEL = registry.load("fake")
TEXT = "one two three four five six"

words = st.text(st.characters(categories=["L", "Nd"], max_codepoint=0x24F), min_size=1, max_size=14)
voices = st.sampled_from([voice.name for voice in VOICES])


def speak(text: str, *, voice: str = "tone", speed: float = 1.0, seed: int = 1) -> tuple[Samples, FinishReason]:
    inputs = MODEL.prepare(Prompt(text, voice, "en", speed)).inputs
    (latent,) = MODEL.program.encode([Request("a", inputs, seed, 1)])
    return MODEL.program.decode(latent, 0, latent.num_frames), latent.finish


@settings(max_examples=60, deadline=None)
@given(st.lists(words, min_size=1, max_size=12), voices, st.floats(0.5, 2.0), st.integers(0, 2**63 - 1))
def test_what_is_said_is_heard_word_for_word(said, voice, speed, seed):
    text = " ".join(said)
    samples, finish = speak(text, voice=voice, speed=speed, seed=seed)
    assert transcribe(samples, voice=voice, speed=speed) == notes_of(text)
    assert finish is FinishReason.STOP
    assert np.abs(samples).max() < 0.35


def test_other_words_other_order_or_other_length_are_heard():
    heard = transcribe(speak("the cat sat")[0])
    for other in ("the dog sat", "cat the sat", "the cat", "the cat sat sat", "the cats sat"):
        assert heard != notes_of(other)
    assert heard == notes_of("The CAT -- sat!")


def test_a_quiet_and_noisy_chapter_of_16_bits_is_understood():
    texts = ["Call me Ishmael.", "Some years ago, never mind how long.", "I sailed."]
    pieces = [part for text in texts for part in (speak(text)[0], np.zeros(4321, np.float32))]
    chapter = np.concatenate(pieces) * np.float32(0.05)
    chapter += np.random.default_rng(1).normal(0, 0.0005, len(chapter)).astype(np.float32)
    assert transcribe((chapter * 32767).round().astype(np.int16) / np.float32(32768)) == notes_of(" ".join(texts))


def test_tones_stand_where_the_score_puts_them():
    tones = listen(speak("a be")[0])
    edge, gap, ramp = EDGE_FRAMES * HOP_SAMPLES, GAP_FRAMES * HOP_SAMPLES, HOP_SAMPLES
    assert abs(tones[0].start_sample - edge) <= ramp
    assert abs(tones[1].start_sample - tones[0].stop_sample - gap) <= 2 * ramp


def test_tones_fade_in_and_out():
    steepest = max(pitch_hz(note.pitch, VOICES[1]) for note in notes_of(TEXT)) * 2 * np.pi / SAMPLE_RATE_HZ
    assert np.abs(np.diff(speak(TEXT, voice="tone-low")[0])).max() < LEVEL * steepest * 1.1


def test_seed_changes_only_the_noise():
    one, two = speak(TEXT, seed=1)[0], speak(TEXT, seed=2)[0]
    assert not np.array_equal(one, two)
    assert np.abs(one - two).max() < 0.01
    assert np.array_equal(one, speak(TEXT, seed=1)[0])


def test_silence_and_rubbish_hold_no_words():
    assert transcribe(np.zeros(24_000, np.float32)) == ()
    assert transcribe(np.zeros(3, np.float32)) == ()
    for samples, voice in ((np.zeros((2, 500), np.float32), "tone"), (np.zeros(500, np.float32), "tony")):
        with pytest.raises(ValueError, match="cannot listen"):
            transcribe(samples, voice=voice)


@pytest.mark.parametrize(
    ("mark", "heard", "finish"),
    [
        ("truncate", notes_of("one two three"), FinishReason.STOP),
        ("budget", notes_of("one two three"), FinishReason.BUDGET),
        ("repeat", notes_of(TEXT + " four five six" * 3), FinishReason.STOP),
        ("tail", (*notes_of(TEXT), None), FinishReason.STOP),
        ("silence", notes_of(TEXT), FinishReason.STOP),
        ("mute", (), FinishReason.STOP),
    ],
)
def test_a_fault_is_heard(mark, heard, finish):
    samples, ended = speak(f"{TEXT} [[fault:{mark}]]")
    assert (transcribe(samples), ended) == (heard, finish)


def test_the_hole_and_the_hum_last_three_seconds():
    plain = speak(TEXT)[0]
    for mark in ("silence", "tail"):
        longer = len(speak(f"{TEXT} [[fault:{mark}]]")[0]) - len(plain)
        assert longer == pytest.approx(3 * SAMPLE_RATE_HZ, abs=GAP_FRAMES * HOP_SAMPLES)


def test_faults_of_single_samples():
    plain = speak(TEXT)[0]
    middle = len(plain) // 2
    click = speak(f"[[fault:click]] {TEXT}")[0]
    assert np.flatnonzero(click != plain).tolist() == [middle]
    assert click[middle] > 0.9
    assert np.flatnonzero(np.isnan(speak(f"[[fault:nan]] {TEXT}")[0])).tolist() == [middle]
    clipped = speak(f"[[fault:clip]] {TEXT}")[0]
    assert np.mean(np.abs(clipped) == 1.0) > 0.3


@pytest.mark.parametrize("mark", ["truncate", "tail", "silence", "click", "clip"])
def test_a_faulty_segment_is_the_same_in_chunks(mark):
    inputs = MODEL.prepare(Prompt(f"{TEXT} [[fault:{mark}]]", "tone", "en")).inputs
    (latent,) = MODEL.program.encode([Request("a", inputs, 3, 1)])
    marks = [*range(0, latent.num_frames, 17), latent.num_frames]
    chunks = [MODEL.program.decode(latent, *pair) for pair in pairwise(marks)]
    assert np.array_equal(np.concatenate(chunks), MODEL.program.decode(latent, 0, latent.num_frames))


@pytest.mark.parametrize(("mark", "error"), [("oom", MemoryError), ("error", RequestRejected)])
def test_encode_fails_on_demand(mark, error):
    with pytest.raises(error, match=mark):
        speak(f"{TEXT} [[fault:{mark}]]")


def test_slow_and_hang_sleep_as_long_as_they_are_told(monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    num_frames = len(speak(TEXT)[0]) // HOP_SAMPLES
    speak(f"{TEXT} [[fault:slow:s=0.5]]")
    speak(f"{TEXT} [[fault:hang]]")
    assert slept == [0.5 * num_frames, 3600.0]


def test_crash_kills_the_process():
    code = (
        "from models import registry; from models.base import Prompt; from engine.request import Request\n"
        "model = registry.load('fake'); inputs = model.prepare(Prompt('a [[fault:crash]]', 'tone', 'en')).inputs\n"
        "model.program.encode([Request('a', inputs, 0, 1)])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9


def test_a_share_of_the_seeds_is_faulty_and_a_seed_always_the_same():
    text = f"{TEXT} [[fault:truncate:p=0.25]]"
    faulty = [len(speak(text, seed=seed)[0]) < len(speak(TEXT)[0]) for seed in range(200)]
    assert faulty == [len(speak(text, seed=seed)[0]) < len(speak(TEXT)[0]) for seed in range(200)]
    assert 0.12 < np.mean(faulty) < 0.38  # four deviations
    assert len(speak(f"{TEXT} [[fault:truncate:p=0]]")[0]) == len(speak(TEXT)[0])


@pytest.mark.parametrize("kind", FaultKind)
def test_marks_are_not_spoken(kind):
    assert MODEL.prepare(Prompt(f"one [[fault:{kind}]] two", "tone", "en")).inputs.notes == notes_of("one two")


@pytest.mark.parametrize("mark", ["sing", "", "slow:x=3", "slow:s=soon", "click:p=2", "slow:s=-1", "click:p=nan"])
def test_a_mark_that_says_nothing_is_refused(mark):
    with pytest.raises(BadPrompt, match=r"\[\[fault:.*(faults are truncate|use p=)"):
        MODEL.prepare(Prompt(f"one [[fault:{mark}]]", "tone", "en"))


@pytest.mark.parametrize(
    ("prompt", "error", "text"),
    [
        (Prompt("", "tone", "en"), BadPrompt, "at least one letter"),
        (Prompt("?! …", "tone", "en"), BadPrompt, "nothing can be spoken in '"),
        (Prompt("a" * (MAX_CHARS + 1), "tone", "en"), BadPrompt, f"has {MAX_CHARS + 1} characters"),
        (Prompt("a", "tone", "en", 0.1), BadPrompt, "speed 0.1"),
        (Prompt("a", "Tone", "en"), UnknownVoice, "no voice 'Tone'; it has tone, tone-low, tone-high"),
    ],
)
def test_what_it_cannot_speak_is_refused(prompt, error, text):
    with pytest.raises(error, match=text.replace("?", r"\?")):
        MODEL.prepare(prompt)


def test_foreign_inputs_are_refused():
    with pytest.raises(RequestRejected, match="sings scores, not str"):
        MODEL.program.encode([Request("a", "hello", 0, 1)])
    with pytest.raises(TypeError, match="not str"):
        MODEL.program.decode("hello", 0, 1)


def test_words_of_many_scripts_are_words():
    assert notes_of("Straße, naïve — it’s 42") == tuple(
        Note(notes_of(word)[0].pitch, letters)
        for word, letters in (("Straße", 6), ("naïve", 5), ("it’s", 3), ("42", 2))
    )
    assert len(notes_of("你好 мир שלום")) == 3


def test_the_card_tells_the_pace():
    text = "It is a way I have of driving off the spleen and regulating the circulation"
    pace = len(text) / (len(speak(text)[0]) / SAMPLE_RATE_HZ)
    assert pace == pytest.approx(MODEL.card.chars_per_s, rel=0.2)


def words_of(text: str, *, seed: int = 1) -> tuple[tuple[int, int], ...]:
    """Frames of each word."""
    inputs = MODEL.prepare(Prompt(text, "tone", "en", 1.0)).inputs
    (latent,) = MODEL.program.encode([Request("a", inputs, seed, 1)])
    return latent.words


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.one_of(words, st.sampled_from(["\u2014", "(yes)", "3.14", "twenty-one", "a/b", "don\u2019t,"])), min_size=1
    )
)
def test_words_are_where_they_are_sung(said):
    text = " ".join([*said, "end"])
    found, tones = words_of(text), listen(speak(text)[0])
    assert len(found) == len(text.split())
    notes = iter(tones)
    for word, (start, end) in zip(text.split(), found, strict=True):
        sung = [next(notes) for _ in notes_of(word)]
        assert (start < end) == bool(sung)
        if sung:
            assert abs(start * HOP_SAMPLES - sung[0].start_sample) <= HOP_SAMPLES
            assert abs(end * HOP_SAMPLES - sung[-1].stop_sample) <= HOP_SAMPLES


@pytest.mark.parametrize("fault", ["truncate", "budget", "repeat"])
def test_a_take_that_says_other_words_than_its_text_tells_no_words(fault):
    assert words_of(f"one two three four [[fault:{fault}]]") == ()


@pytest.mark.parametrize("fault", ["click", "tail", "silence:p=1", "clip"])
def test_a_mark_is_a_word_that_is_not_sung(fault):
    found = words_of(f"one [[ fault:{fault} ]] two")
    (one, *marks, two) = found
    assert len(marks) == 3
    assert all(start == end == one[1] for start, end in marks)
    assert two[0] > one[1]
