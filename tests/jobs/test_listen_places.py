"""Listening from another place, as one whole answer, and until it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.assembly.pauses import PAUSES
from jobs.attempts import at_attempt
from jobs.errors import SpeechIncomplete
from jobs.events import AudioChunk
from jobs.listen import Listener
from jobs.plan_store import load_plan
from jobs.positions import BEGINNING, Start, starts
from jobs.spec import JobRecord, SegmentTask
from jobs.takes import pcm16
from tests.helpers_jobs import RATE_HZ, Scripted, World, chunks_of, voice_of

TEXT = "One is here. Two is here.\n\nThree is here, it is longer than the others are, so it is cut. Four."


def start(live: bool = True) -> tuple[World, JobRecord, list[SegmentTask]]:
    world = World()
    record = world.submit(TEXT, live=live)
    return world, record, world.lease()


def listener(world: World, record: JobRecord, moves: list[Callable[[], object]] | None = None) -> Listener:
    streams = Scripted(world.streams, moves or [])
    return Listener(world.truth, streams, world.store, job=record.job, plan=load_plan(world.store, record.job))


def joined(sounds: object) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int16), *(sound.samples for sound in sounds)])


def pcm(task: SegmentTask) -> np.ndarray:
    return pcm16(voice_of(task))


def says(world: World, task: SegmentTask, *cuts: int) -> list[Callable[[], object]]:
    def write(chunk: AudioChunk) -> Callable[[], object]:
        return lambda: world.streams.write_audio(task.job, chunk)

    return [write(chunk) for chunk in chunks_of(task, pcm(task), cuts)]


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_whoever_begins_later_hears_the_rest(data):
    """At any sample, of a job of which any part is done or failed by then."""
    world, record, tasks = start(live=data.draw(st.booleans()))
    failed = data.draw(st.sets(st.sampled_from(range(len(tasks)))))
    order = data.draw(st.permutations(tasks))

    def end(task: SegmentTask) -> Callable[[], object]:
        return lambda: world.fail(task) if task.segment in failed else world.speak(task)

    before = data.draw(st.integers(0, len(tasks)))
    for task in order[:before]:
        end(task)()
    late = listener(world, record, [end(task) for task in order[before:]])
    first_known = late.known
    sample = data.draw(st.integers(0, 3000))
    place = late.known.at(lambda _rate_hz: sample)
    got = joined(late.sounds(place))
    whole = joined(listener(world, record).sounds())
    after = starts(load_plan(world.store, record.job), world.truth.results(record.job))
    assert after.samples[-1] == whole.size
    # Silence before the first sound is not heard: what a failure at the start stands for is seen only afterwards.
    if first_known.sample_rate_hz or 0 not in failed:
        assert np.array_equal(got, whole[sample:])
        assert place.sample_at(RATE_HZ) == sample


def test_a_segment_is_heard_from_its_beginning():
    world, record, tasks = start()
    for task in tasks[:3]:
        world.speak(task)
    whole_until_now = joined(listener(world, record, [lambda: world.truth.cancel(record.job)]).sounds())
    late = listener(world, record)
    assert [late.known.of(segment) is None for segment in range(5)] == [False, False, False, False, True]
    for segment in range(4):
        place = late.known.at_segment(segment)
        assert place.sample_at(RATE_HZ) == late.known.of(segment)
        heard = joined(listener(world, record).sounds(place))
        assert np.array_equal(heard, whole_until_now[late.known.of(segment) :])
    assert late.known.seconds(1) == late.known.of(1) / RATE_HZ
    assert late.known.at_segment(4).sample_at(RATE_HZ) is None


def test_of_a_job_that_nobody_spoke_a_place_is_found_at_its_first_sound():
    world, record, tasks = start()
    late = listener(world, record, [partial(world.speak, task) for task in tasks])
    place = late.known.at(lambda rate_hz: round(0.05 * rate_hz))
    assert (place.segment, place.sample_at(RATE_HZ)) == (0, 50)
    assert late.known.seconds(0) is None
    got = joined(late.sounds(place))
    assert np.array_equal(got, joined(listener(world, record).sounds())[50:])


def test_the_beginning_is_where_everything_is():
    assert (BEGINNING.segment, BEGINNING.sample_at(22_050)) == (0, 0)
    assert Start(3, base=None).sample_at(22_050) is None


def whole_of(world: World, record: JobRecord, tasks: list[SegmentTask]) -> np.ndarray:
    """All takes with the pauses between them, and nothing after the last."""
    parts: list[np.ndarray] = []
    for segment, task in zip(load_plan(world.store, record.job).segments, tasks, strict=True):
        parts += [pcm(task), np.zeros(PAUSES.after(segment, RATE_HZ), np.int16)]
    return np.concatenate(parts[:-1])


@pytest.mark.parametrize("live", [True, False])
def test_a_whole_answer_ends_with_its_last_sample(live):
    world, record, tasks = start(live)
    moves = [move for task in tasks for move in [*says(world, task, 30, 90), partial(world.speak, task)]]
    assert np.array_equal(joined(listener(world, record, moves).sounds(whole=True)), whole_of(world, record, tasks))


@pytest.mark.parametrize("lost", [0, 2, 4])
def test_a_whole_answer_says_that_a_segment_failed(lost):
    world, record, tasks = start()
    for task in tasks:
        world.fail(task) if task.segment == lost else world.speak(task)
    heard = []
    with pytest.raises(SpeechIncomplete, match=f"segment {lost} could not be spoken: no"):
        heard.extend(listener(world, record).sounds(whole=True))
    got = joined(heard)
    assert np.array_equal(got, whole_of(world, record, tasks)[: got.size])
    assert (got.size > 0) == (lost > 0)


def test_a_whole_answer_says_that_it_was_cancelled():
    world, record, tasks = start()
    world.speak(tasks[0])
    moves = [*says(world, tasks[1], 40)[:1], lambda: world.truth.cancel(record.job)]
    heard = []
    with pytest.raises(SpeechIncomplete, match="cancelled"):
        heard.extend(listener(world, record, moves).sounds(whole=True))
    until = pcm(tasks[0]).size + PAUSES.after(load_plan(world.store, record.job).segments[0], RATE_HZ)
    assert np.array_equal(joined(heard), whole_of(world, record, tasks)[: until + 40])


def test_a_whole_answer_never_holds_two_takes_of_one_segment():
    world, record, tasks = start()
    again = at_attempt(tasks[0], 1)
    moves = [*says(world, tasks[0], 40)[:1], *says(world, again, 70)]
    with pytest.raises(SpeechIncomplete, match="segment 0 was spoken anew"):
        list(listener(world, record, moves).sounds(whole=True))


def test_a_whole_answer_ends_when_its_takes_are_there():
    world, record, tasks = start()
    stream = [move for task in tasks for move in says(world, task, 50)]
    for task in tasks[1:]:
        world.speak(task)
    sounds = listener(world, record, [*stream, partial(world.fail, tasks[0])]).sounds(whole=True)
    heard: list[np.ndarray] = []
    with pytest.raises(SpeechIncomplete, match="segment 0 could not be spoken"):
        heard.extend(sound.samples for sound in sounds)
    assert np.array_equal(np.concatenate(heard), whole_of(world, record, tasks))


@pytest.mark.parametrize("whole", [True, False])
def test_a_listener_that_is_stopped_says_no_more(whole):
    world, record, tasks = start()
    world.speak(tasks[0])
    stop = threading.Event()
    late = listener(world, record, [lambda: None, stop.set])
    got = joined(late.sounds(whole=whole, stopped=stop.is_set))
    until = pcm(tasks[0]).size + PAUSES.after(load_plan(world.store, record.job).segments[0], RATE_HZ)
    assert np.array_equal(got, whole_of(world, record, tasks)[:until])


def test_live_audio_of_what_can_be_read_later_is_not_kept():
    """Many segments are spoken at once, and a listener hears them one after the other."""
    world, record, tasks = start()
    late = listener(world, record)
    for task in tasks[1:]:
        for move in [*says(world, task, 30, 60), partial(world.speak, task)]:
            move()
    first, *rest = says(world, tasks[0], 50)
    first()
    sounds = late.sounds(whole=True)
    heard = [next(sounds)]
    assert set(late._heard.chunks) == {0}
    for move in [*rest, lambda: world.speak(tasks[0])]:
        move()
    heard.extend(sounds)
    assert np.array_equal(joined(heard), whole_of(world, record, tasks))


def test_a_slow_listener_hears_the_end_of_what_is_forgotten_meanwhile():
    world, record, tasks = start()
    late = listener(world, record)
    for task in tasks:
        world.speak(task)
    sounds = late.sounds(whole=True)
    heard = [next(sounds)]
    world.truth.cancel(record.job)
    world.truth.forget(record.job)
    heard.extend(sounds)
    assert np.array_equal(joined(heard), whole_of(world, record, tasks))


def test_stored_takes_come_in_short_pieces(monkeypatch):
    """A reader that is slow keeps some pieces of every stream in memory: they must not be whole takes."""
    monkeypatch.setattr("jobs.listen.PIECE_S", 0.03)
    world, record, tasks = start(live=False)
    for task in tasks:
        world.speak(task)
    sounds = list(listener(world, record).sounds(whole=True))
    assert np.array_equal(joined(sounds), whole_of(world, record, tasks))
    assert max(sound.samples.size for sound in sounds if sound.samples.any()) == 30
