"""Speech requests: planned as one text, queued as a job of class live, nothing but takes in the store."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.errors import BadOption, BadSource
from jobs.kinds import OnBad
from jobs.listen import Listener
from jobs.plan import Break
from jobs.spec import Priority
from jobs.speech import Speech, Wanted, begin, is_speech, new_id
from jobs.state import JobState
from tests.helpers_jobs import OFFER, RATE_HZ, World

TEXT = (
    "CHAPTER I. Dr. Smith came at 3:45 pm, when it was late already. He said: it is $5!\n\nNobody heard it [1], or so."
)


def asked(world: World, text: str = TEXT, **fields: object) -> Speech:
    return begin(Wanted(text=text, offer=OFFER, **fields), world.truth, store_url=world.store.url)


def test_a_request_is_a_live_job_of_its_own():
    world = World()
    first, second = asked(world), asked(world)
    assert first.job != second.job
    assert is_speech(first.job)
    assert first.sample_rate_hz == RATE_HZ
    record = world.truth.job(first.job)
    assert (record.state, record.spec.priority, record.spec.live) == (JobState.QUEUED, Priority.LIVE, True)
    assert (record.spec.checks.takes, record.spec.checks.on_bad) == (1, OnBad.KEEP)
    assert (record.total, record.spec.formats) == (len(first.plan.segments), ())
    assert list(world.store.list("")) == []
    assert world.truth.jobs() == []


def test_what_is_checked_first_is_not_heard_live():
    world = World()
    spec = world.truth.job(asked(world, checked=True).job).spec
    assert (spec.live, spec.checks.takes, spec.checks.on_bad) == (False, 3, OnBad.KEEP)


def test_a_text_is_spoken_as_it_is():
    """Numbers are read out; what looks like a heading or a note is text; long ones are cut as the model needs it."""
    plan = asked(World()).plan
    said = " ".join(segment.spoken for segment in plan.segments)
    assert "three forty-five" in said
    assert "five dollars" in said
    assert "[1]" in " ".join(segment.text for segment in plan.segments)
    assert all(len(segment.spoken) <= OFFER.max_chars for segment in plan.segments)
    assert {segment.break_after for segment in plan.segments[:-1]} <= {Break.SENTENCE, Break.CLAUSE, Break.NONE}
    assert len(plan.chapters) == 1


def test_a_text_is_cut_into_its_sentences_so_that_the_first_is_heard_soon():
    said = [segment.spoken for segment in asked(World(), "One is here. Two comes after. And three.").plan.segments]
    assert said == ["One is here.", "Two comes after.", "And three."]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_spoken_or_refused(text):
    world = World()
    try:
        found = len(asked(world, text).plan.segments)
    except BadSource as error:
        found, why = 0, error.problems[0].code
    except BadOption as error:
        found, why = 0, str(error)
    assert len(world.lease()) == found
    if not found:
        assert why == "empty_text" or "speaks en-US" in why  # or it is in another script than the voice's language


def test_an_id_can_be_chosen_and_is_hard_to_guess():
    world = World()
    name = new_id()
    assert begin(Wanted(text="Hello.", offer=OFFER), world.truth, store_url=world.store.url, job=name).job == name
    assert len({new_id() for _ in range(100)}) == 100
    assert len(name) == len("speech-") + 32
    assert not is_speech("speech-12")
    assert not is_speech("book-3f9a1c2e")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"voice": "an"}, "no voice 'an'"),
        ({"voice": "far"}, "pip install far"),
        ({"speed": 3.0}, "speed 3 is not possible"),
        ({"language": "de"}, "speaks en-US, not de"),
        ({"instructions": "whisper"}, "takes no instructions"),
    ],
)
def test_what_the_model_does_not_have_is_refused(fields, why):
    world = World()
    with pytest.raises(BadOption, match=why):
        asked(world, **fields)
    assert world.truth.lease("w", 10) == []


@pytest.mark.parametrize("text", ["", " \n ", "...", "—?!"])
def test_nothing_to_speak_is_said(text):
    with pytest.raises(BadSource, match="nothing to speak"):
        asked(World(), text)


@pytest.mark.parametrize("checked", [True, False])
def test_it_is_heard_to_its_end_and_then_done(checked):
    world = World()
    speech = asked(world, checked=checked)
    listener = Listener(world.truth, world.streams, world.store, job=speech.job, plan=speech.plan)
    spoken = [world.speak(task) for task in world.lease()]
    heard = [sound.samples for sound in listener.sounds(whole=True)]
    assert next(sound for sound in heard if sound.any()).size == spoken[0].size
    assert np.array_equal(heard[-1], spoken[-1])
    assert world.truth.job(speech.job).state is JobState.DONE
    assert world.truth.take_steps("c", limit=10, timeout_s=0) == []
