"""The second look: one take against the others of its voice."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.checks.free import expected_s
from jobs.checks.rate import FEWEST, RateTake, rate_verdicts
from jobs.checks.units import spoken_units
from jobs.kinds import Grade
from jobs.verdict import Reason, Verdict

TEXT = "anvil bridge copper dragon ember falcon garnet hollow indigo jasper kettle lumber marble"
NAMES = TEXT.split()


def text(chance: random.Random) -> str:
    words = chance.choices(NAMES, k=chance.randint(3, 30))
    stops = [word + ("," if chance.random() < 0.1 else "") for word in words]
    return " ".join(stops).strip(",") + "."


def take(spoken: str, said_s: float, *, voice: str = "v", speed: float = 1.0, **scores: float) -> RateTake:
    usual_s = expected_s(spoken_units(spoken), 15.0, speed)
    figures = {"spoken_s": said_s, "expected_s": usual_s, "rhythm_misfit": 0.0, "end_db": -60.0, **scores}
    return RateTake(voice, "en", speed, spoken, Verdict(grade=Grade.GOOD, scores=figures))


def chapter(count: int, *, seed: int = 1, pace: float = 1.0, voice: str = "v") -> list[RateTake]:
    """Takes of a voice that is `pace` times as slow as its card, with a spread of eight per cent."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        spoken = text(chance)
        usual_s = expected_s(spoken_units(spoken), 15.0, 1.0)
        made.append(take(spoken, usual_s * pace * chance.lognormvariate(0, 0.08), voice=voice))
    return made


def scaled(one: RateTake, times: float) -> RateTake:
    return take(one.spoken, one.verdict.scores["spoken_s"] * times, voice=one.voice, speed=one.speed)


def caught(found: list[Reason | None]) -> list[int]:
    return [index for index, reason in enumerate(found) if reason is not None]


@pytest.mark.parametrize("pace", [0.7, 1.0, 1.5])
def test_the_takes_of_a_voice_agree_whatever_its_pace(pace):
    takes = [one for seed in range(10) for one in chapter(60, seed=seed, pace=pace)]
    assert len(caught(rate_verdicts(takes, takes))) <= 3  # of 600


@pytest.mark.parametrize("pace", [0.7, 1.0, 1.5])
@pytest.mark.parametrize("times", [0.5, 0.6, 1.6, 2.0])
def test_takes_that_are_too_short_or_too_long_for_their_voice_are_named(pace, times):
    takes = chapter(60, pace=pace)
    wrong = [7, 23, 41]
    mixed = [scaled(one, times) if index in wrong else one for index, one in enumerate(takes)]
    found = rate_verdicts(mixed, mixed)
    long = [index for index in wrong if takes[index].verdict.scores["spoken_s"] > 2]
    assert set(long) <= set(caught(found)) <= set(wrong)
    assert long
    for index in long:
        reason = found[index]
        assert reason is not None
        assert reason.check == "voice_rate"
        assert reason.score > reason.limit > 0
        assert ("missing" in reason.text) == (times < 1)


def test_a_third_of_wrong_takes_does_not_move_the_voice():
    takes = chapter(60)
    mixed = [scaled(one, 0.5) if index % 3 == 0 else one for index, one in enumerate(takes)]
    found = caught(rate_verdicts(mixed, mixed))
    assert all(index % 3 == 0 for index in found)
    assert len(found) >= 17


def test_what_the_free_checks_found_bad_does_not_count_as_company_but_is_judged():
    takes = chapter(20)
    bad = Verdict(grade=Grade.BAD, scores=scaled(takes[0], 0.4).verdict.scores)
    wrong = [RateTake("v", "en", 1.0, one.spoken, bad) for one in takes[:1]] * 40
    found = rate_verdicts([*takes, *wrong], [*takes, wrong[0]])
    assert caught(found) == [len(takes)]


def test_unusable_takes_and_voices_without_company_are_left_alone():
    takes = chapter(20)
    nothing = RateTake("v", "en", 1.0, "Anvil.", Verdict(grade=Grade.UNUSABLE, scores={"duration_s": 0.0}))
    stranger = take("Anvil bridge copper dragon.", 30.0, voice="w")
    assert rate_verdicts([*takes, nothing], [nothing, stranger]) == [None, None]


def test_voices_and_speeds_are_not_mixed():
    slow, fast = chapter(30, pace=1.6, voice="slow"), chapter(30, pace=0.8, voice="fast")
    assert caught(rate_verdicts([*slow, *fast], [*slow, *fast])) == []
    half = [take(one.spoken, 2 * one.verdict.scores["spoken_s"], speed=0.5) for one in chapter(30)]
    assert caught(rate_verdicts([*half, *chapter(30)], half)) == []


def test_few_takes_lean_on_the_card():
    one = take(" ".join(NAMES) + ".", expected_s(spoken_units(" ".join(NAMES)), 15.0, 1.0))
    assert rate_verdicts([one], [one, scaled(one, 1.3), scaled(one, 0.75)]) == [None, None, None]
    found = rate_verdicts([one], [scaled(one, 3.0), scaled(one, 0.3)])
    assert all(found)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 40), st.integers(0, 1_000), st.randoms())
def test_the_order_of_work_changes_nothing(count, seed, chance):
    takes = [scaled(one, 0.5) if index % 5 == 0 else one for index, one in enumerate(chapter(count, seed=seed))]
    mixed = list(takes)
    chance.shuffle(mixed)
    straight = dict(zip(map(id, takes), rate_verdicts(takes, takes), strict=True))
    for one, reason in zip(mixed, rate_verdicts(mixed, mixed), strict=True):
        assert reason == straight[id(one)]


def test_a_later_attempt_is_judged_by_the_first_ones():
    takes = chapter(30)
    again = [scaled(takes[3], 1.0), scaled(takes[3], 0.4)]
    assert [bool(reason) for reason in rate_verdicts(takes, again)] == [False, True]


def test_pauses_count_only_for_a_voice_that_rests_at_punctuation():
    regular = chapter(30)
    wrong = take("Anvil bridge, copper dragon.", 2.4, rhythm_misfit=15.0)
    (found,) = rate_verdicts(regular, [wrong])
    assert found is not None
    assert found.check == "voice_rhythm"
    restless = [
        take(one.spoken, one.verdict.scores["spoken_s"], rhythm_misfit=5.0 * spoken_units(one.spoken).stops + index % 7)
        for index, one in enumerate(regular)
    ]
    assert caught(rate_verdicts(restless, restless)) == []


def test_an_ending_counts_against_the_endings_of_the_voice():
    fading = chapter(30)
    (found,) = rate_verdicts(fading, [take("Anvil bridge copper dragon.", 2.0, end_db=-20.0)])
    assert found is not None
    assert found.check == "voice_end"
    cut_short = [
        take(one.spoken, one.verdict.scores["spoken_s"], end_db=-25.0 + index % 5) for index, one in enumerate(fading)
    ]
    assert caught(rate_verdicts(cut_short, cut_short)) == []
    few = fading[: FEWEST - 1]
    assert rate_verdicts(few, [take("Anvil bridge copper dragon.", 2.0, end_db=-20.0)]) == [None]
