"""Listening: whatever order things come in, what is heard is the book in order, each pause once."""

from __future__ import annotations

import io
import random
import wave
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.assembly.pauses import PAUSES
from jobs.attempts import at_attempt
from jobs.errors import UnknownJob
from jobs.events import AudioChunk
from jobs.listen import Listener
from jobs.plan_store import load_plan
from jobs.spec import JobRecord, SegmentTask
from jobs.state import JobState
from jobs.takes import pcm16
from jobs.wav_header import endless_wav_header
from tests.helpers_jobs import RATE_HZ, Scripted, World, chunks_of, voice_of

TEXT = "One is here. Two is here.\n\nThree is here, it is longer than the others are, so it is cut. Four."


def heard(
    world: World, record: JobRecord, moves: list[Callable[[], object]] | None = None, *, from_now: bool = False
) -> np.ndarray:
    """All that a listener hears while the moves are made, one each time it waits."""
    streams = Scripted(world.streams, moves or [])
    listener = Listener(world.truth, streams, world.store, job=record.job, plan=load_plan(world.store, record.job))
    sounds = list(listener.sounds(listener.now()) if from_now else listener.sounds())
    assert {sound.sample_rate_hz for sound in sounds} <= {RATE_HZ}
    return np.concatenate([sound.samples for sound in sounds]) if sounds else np.zeros(0, np.int16)


def expected(world: World, record: JobRecord, audio: dict[int, np.ndarray], first: int = 0) -> np.ndarray:
    """The audio of the segments in order with their pauses; a segment without audio is a gap."""
    parts = []
    for segment in load_plan(world.store, record.job).segments[first:]:
        gap = np.zeros(PAUSES.gap_samples(RATE_HZ), np.int16)
        pause = np.zeros(PAUSES.samples(segment.break_after, RATE_HZ), np.int16)
        parts += [audio.get(segment.segment, gap), pause]
    return np.concatenate(parts)


def pcm(task: SegmentTask) -> np.ndarray:
    return pcm16(voice_of(task))


def says(world: World, job: str, chunk: AudioChunk) -> Callable[[], object]:
    return lambda: world.streams.write_audio(job, chunk)


def discard(task: SegmentTask, take: str) -> AudioChunk:
    return AudioChunk(
        segment=task.segment, take=take, chunk=9, start_sample=0, samples=0, sample_rate_hz=RATE_HZ, discard=True
    )


def start(live: bool = True, text: str = TEXT) -> tuple[World, JobRecord, list[SegmentTask]]:
    world = World()
    record = world.submit(text, live=live)
    return world, record, world.lease()


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[list[int], str, int]]:
    """For each segment: where its chunks are cut, what befalls it, and how much of it the stream loses."""
    fate = st.sampled_from(["well", "crash", "rejected", "lost", "silent", "failed"])
    one = st.tuples(st.lists(st.integers(1, 10_000), max_size=4), fate, st.integers(1, 4))
    return draw(st.lists(one, min_size=5, max_size=5))


@settings(max_examples=60, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_whatever_comes_in_whatever_order_the_book_is_heard_once(fates, order: random.Random):
    """Chunks and ends of many segments mixed; crashes, rejected takes, lost chunks, failures; late listeners too."""
    world, record, tasks = start()
    tracks = [track(world, task, *fate) for task, fate in zip(tasks, fates, strict=True)]
    audio = {task.segment: pcm(task) for task, (_, fate, _) in zip(tasks, fates, strict=True) if fate != "failed"}
    moves: list[Callable[[], object]] = []
    while any(tracks):
        moves.append(order.choice([steps for steps in tracks if steps]).pop(0))
    before = order.randrange(len(moves) + 1)
    for move in moves[:before]:
        move()
    got = heard(world, record, moves[before:])
    want = expected(world, record, audio)
    if tasks[0].segment in audio:
        assert np.array_equal(got, want)
    else:  # nothing tells the rate of silence before the first sound
        spoken = min(audio, default=len(tasks))
        assert np.array_equal(got, expected(world, record, audio, first=spoken) if audio else got[:0])


def track(world: World, task: SegmentTask, cuts: list[int], fate: str, lost: int) -> list[Callable[[], object]]:
    """What happens to one segment, in order."""
    chunks = chunks_of(task, pcm(task), cuts)
    steps = [says(world, task.job, chunk) for chunk in chunks]
    if fate == "failed":
        return [lambda: world.fail(task)]
    if fate == "silent":
        steps = []
    if fate == "lost":
        steps = steps[lost:]
    if fate == "crash":  # spoken again in chunks of other lengths: the same samples
        again = chunks_of(task, pcm(task), [cut + 7 for cut in cuts])
        steps = steps[: -1 - lost] + [says(world, task.job, chunk) for chunk in again]
    if fate == "rejected":  # a take that nobody has heard yet, as its first chunk is lost
        other = [chunk.model_copy(update={"take": "bad", "start_sample": chunk.start_sample + 1}) for chunk in chunks]
        rejected = [says(world, task.job, chunk) for chunk in other[:-1]]
        steps = [*rejected, says(world, task.job, discard(task, "bad")), *steps]
    return [*steps, lambda: world.speak(task)]


def test_a_live_job_is_heard_before_its_takes_are_done():
    world, record, tasks = start(text="One is here.")
    first, second = chunks_of(tasks[0], pcm(tasks[0]), [50])
    streams = Scripted(world.streams, [says(world, record.job, first)])
    listener = Listener(world.truth, streams, world.store, job=record.job, plan=load_plan(world.store, record.job))
    sounds = listener.sounds()
    assert np.array_equal(next(sounds).samples, pcm(tasks[0])[:50])
    world.streams.write_audio(record.job, second)
    assert np.array_equal(next(sounds).samples, pcm(tasks[0])[50:])


def test_chunks_that_lie_before_the_discard_of_another_take_stay():
    world, record, tasks = start(text="One is here.")
    first, second = chunks_of(tasks[0], pcm(tasks[0]), [50])
    moves = [says(world, record.job, chunk) for chunk in (first, discard(tasks[0], "other"), second)]
    got = heard(world, record, [*moves, lambda: world.speak(tasks[0])])
    assert np.array_equal(got, expected(world, record, {0: pcm(tasks[0])}))


def test_a_take_that_is_rejected_while_it_is_heard_is_followed_by_the_whole_next_one():
    world, record, tasks = start(text="One is here.")
    again = at_attempt(tasks[0], 1)
    first, _rest = chunks_of(tasks[0], pcm(tasks[0]), [50])
    moves = [
        says(world, record.job, first),
        says(world, record.job, discard(tasks[0], tasks[0].take)),
        *(says(world, record.job, chunk) for chunk in chunks_of(again, pcm(again), [30, 60])),
        lambda: world.speak(again),
    ]
    both = np.concatenate([pcm(tasks[0])[:50], pcm(again)])
    assert np.array_equal(heard(world, record, moves), expected(world, record, {0: both}))


@pytest.mark.parametrize("live", [True, False])
def test_of_a_done_segment_the_last_take_is_heard(live):
    """The checks of its chapter take one segment back and settle another with a take of before."""
    world, record, tasks = start(live)
    settled, again = at_attempt(tasks[1], 1), at_attempt(tasks[2], 1)

    def rule() -> None:
        for task in tasks[1:]:
            world.speak(task)
        world.speak_unasked(settled)
        told = world.truth.results(record.job)[1].model_copy(
            update={"take": settled.take, "samples": pcm(settled).size, "attempt": 1, "takes": 2, "settled": True}
        )
        assert world.truth.rule(record.job, 0, [told], [again]) == 1

    world.speak(tasks[0])
    listener = Listener(
        world.truth, Scripted(world.streams, []), world.store, job=record.job, plan=load_plan(world.store, record.job)
    )
    listener._heard.takes.pop(0)  # so it waits for news first, and gets all of them
    rule()
    world.speak(world.lease()[0])
    got = np.concatenate([sound.samples for sound in listener.sounds()])
    audio = {task.segment: pcm(task) for task in (tasks[0], settled, again, *tasks[3:])}
    assert np.array_equal(got, expected(world, record, audio))


@pytest.mark.parametrize("live", [True, False])
def test_a_job_that_is_done_is_heard_from_its_takes(live):
    world, record, tasks = start(live)
    for task in tasks:
        world.speak(task)
    assert np.array_equal(heard(world, record), expected(world, record, {t.segment: pcm(t) for t in tasks}))


def test_from_now_begins_at_the_first_segment_that_is_not_done():
    world, record, tasks = start()
    for task in (tasks[0], tasks[1], tasks[3]):
        world.speak(task)
    moves = [lambda: world.speak(tasks[2]), lambda: world.speak(tasks[4])]
    audio = {task.segment: pcm(task) for task in tasks}
    assert np.array_equal(heard(world, record, moves, from_now=True), expected(world, record, audio, first=2))
    assert heard(world, record, from_now=True).size == 0


def test_a_job_that_is_cancelled_midway_ends_after_what_was_said():
    world, record, tasks = start()
    first, _ = chunks_of(tasks[1], pcm(tasks[1]), [50])
    moves = [lambda: world.speak(tasks[0]), says(world, record.job, first), lambda: world.truth.cancel(record.job)]
    whole = expected(world, record, {task.segment: pcm(task) for task in tasks})
    got = heard(world, record, moves)
    until = pcm(tasks[0]).size + PAUSES.samples(load_plan(world.store, record.job).segments[0].break_after, RATE_HZ)
    assert np.array_equal(got, whole[: until + 50])
    assert np.array_equal(heard(world, record), whole[:until])  # a listener that comes afterwards


def test_a_segment_that_is_tried_again_is_heard_by_who_comes_after_the_retry():
    world, record, tasks = start()
    for task in tasks[1:]:
        world.speak(task)
    world.fail(tasks[0])
    for chapter in range(world.truth.job(record.job).chapters):
        world.truth.chapter_assembled(record.job, chapter)
    world.truth.move_job(record.job, JobState.DONE_WITH_FAILURES)
    assert world.truth.retry_failed(record.job) == 1
    (again,) = world.lease()
    audio = {task.segment: pcm(task) for task in tasks}
    assert np.array_equal(heard(world, record, [lambda: world.speak(again)]), expected(world, record, audio))


def test_a_job_that_is_deleted_meanwhile_is_told_and_not_waited_for():
    world, record, _ = start()

    def delete() -> None:
        world.truth.cancel(record.job)
        world.truth.forget(record.job)

    with pytest.raises(UnknownJob, match=record.job):
        heard(world, record, [delete])


def test_the_endless_header_is_one_that_readers_understand():
    data = endless_wav_header(22_050) + b"\1\0\2\0"
    assert len(data) == 44 + 4
    with wave.open(io.BytesIO(data)) as reader:
        assert (reader.getframerate(), reader.getnchannels(), reader.getsampwidth()) == (22_050, 1, 2)
        assert reader.readframes(2) == b"\1\0\2\0"
