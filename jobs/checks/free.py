"""The free checks: a verdict on one take from its samples and its text alone, in milliseconds. numpy only, pure.

verdict = check_take(samples, TakeFacts(...))

Each check measures, writes its figures into the scores (units end their names) and speaks up beyond a limit of
`jobs.checks.limits`. What they cannot know, how fast this voice speaks and how it ends, is for `jobs.checks.rate`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jobs.checks import limits
from jobs.checks.measures import Activity, click_ratio, clipped_samples, find_activity
from jobs.checks.repeats import find_repeat
from jobs.checks.rhythm import misfit
from jobs.checks.spectra import band_levels_db, longest_steady_s, sounding_frames
from jobs.checks.units import SpokenUnits, spoken_units
from jobs.kinds import Grade
from jobs.verdict import Reason, Verdict

Samples = npt.NDArray[np.float32]

GOOD_FINISH = "stop"
"""The only finish reason of a good take: the model said everything it was given."""
BUDGET_FINISH = "budget"
"""The finish reason of a model that was cut off at what its text may take at most."""


@dataclass(frozen=True, slots=True)
class TakeFacts:
    """What is known of a take besides its samples.

    `finish` is how the model ended (`stop | budget | cancelled | error`), `error` its words if it refused or broke.
    `spoken`, `language` and `speed` are what it was given; `chars_per_s` is the speaking rate on the model's card (at
    speed 1). `sample_rate_hz` is that of the samples, `expected_rate_hz` that of the card (0: any).
    """

    sample_rate_hz: int
    finish: str
    spoken: str
    language: str
    speed: float
    chars_per_s: float
    expected_rate_hz: int = 0
    error: str = ""


def check_take(samples: Samples, facts: TakeFacts) -> Verdict:
    """The verdict of the free checks. `samples`: [S] float32 mono of full scale 1.0; may be empty or hold NaN."""
    scores: dict[str, float] = {"duration_s": samples.size / facts.sample_rate_hz}
    unusable = next(_unusable(samples, facts, scores), None)
    if unusable is not None:
        return _verdict(Grade.UNUSABLE, [unusable], scores)
    activity = find_activity(samples, facts.sample_rate_hz)
    if not len(activity.parts):
        return _verdict(Grade.UNUSABLE, [_silent(float(np.abs(samples).max()))], scores)
    asked = spoken_units(facts.spoken)
    reasons = [
        *_check_silences(activity, asked, facts, scores),
        *_check_rate(activity, asked, facts, scores),
        *_check_wave(samples, activity, facts, scores),
        *_check_spectra(samples, activity, asked, facts, scores),
    ]
    return _verdict(Grade.BAD if reasons else Grade.GOOD, reasons, scores)


def expected_s(asked: SpokenUnits, chars_per_s: float, speed: float) -> float:
    """Seconds from the first to the last sound that a text should take at a card's speaking rate."""
    seconds = limits.EDGES_S + asked.total / (chars_per_s * limits.RATE_OF_CARD) + limits.STOP_S * asked.stops
    return seconds / speed


def _verdict(grade: Grade, reasons: list[Reason], scores: dict[str, float]) -> Verdict:
    """Rounded to what is sure: the same figures on every machine."""
    rounded = tuple(
        reason.model_copy(update={"score": round(reason.score, 3), "limit": round(reason.limit, 3)})
        for reason in reasons
    )
    return Verdict(grade=grade, reasons=rounded, scores={name: round(value, 3) for name, value in scores.items()})


def _unusable(samples: Samples, facts: TakeFacts, scores: dict[str, float]) -> Iterator[Reason]:
    if facts.error or facts.finish != GOOD_FINISH:
        yield Reason(check="finish", score=1, limit=0, text=facts.error or _finish_text(facts.finish))
    if samples.size == 0:
        yield Reason(check="samples", score=0, limit=1, text="the model made no samples")
        return
    broken = int(samples.size - np.count_nonzero(np.isfinite(samples)))
    if broken:
        text = f"{broken} of {samples.size} samples are not finite numbers"
        yield Reason(check="finite", score=broken, limit=0, text=text)
        return
    if facts.expected_rate_hz not in {0, facts.sample_rate_hz}:
        text = f"the samples have {facts.sample_rate_hz} Hz, the model's card says {facts.expected_rate_hz} Hz"
        yield Reason(check="sample_rate", score=facts.sample_rate_hz, limit=facts.expected_rate_hz, text=text)
    scores["peak"] = float(np.abs(samples).max())
    if scores["peak"] < limits.SILENT_PEAK:
        yield _silent(scores["peak"])


def _silent(peak: float) -> Reason:
    text = f"the take is silent: its peak is {peak:.6f}, speech has more than {limits.SILENT_PEAK}"
    return Reason(check="silent", score=peak, limit=limits.SILENT_PEAK, text=text)


def _finish_text(finish: str) -> str:
    if finish == BUDGET_FINISH:
        return (
            "the model did not stop by itself within the time that its text may take, so it was cut off: it repeats "
            "itself or has lost the text; if no other seed helps, submit the text in shorter sentences (random weights "
            "never stop)"
        )
    return f"the model ended with {str(finish)!r} and not with {GOOD_FINISH!r}: something was left unsaid"


def _check_silences(
    activity: Activity, asked: SpokenUnits, facts: TakeFacts, scores: dict[str, float]
) -> Iterator[Reason]:
    pause_s = float(activity.pauses_s.max(initial=0.0))
    scores |= {"lead_s": activity.lead_s, "trail_s": activity.trail_s, "pause_s": pause_s}
    scores["end_db"] = float(activity.levels_db[-limits.END_FRAMES :].max()) - activity.speech_db
    slower = max(1.0, 1 / facts.speed)
    explained_s = (limits.STOP_PAUSE_S if asked.stops else limits.INNER_PAUSE_S) * slower
    allowed = {"lead": limits.LEAD_S * slower, "pause": explained_s, "trail": limits.TRAIL_S * slower}
    places = {"lead": "before the first word", "pause": "between two words", "trail": "after the last word"}
    for name, limit in allowed.items():
        found_s = scores[f"{name}_s"]
        if found_s > limit:
            text = f"{found_s:.2f} s of silence {places[name]}; its text explains at most {limit:.2f} s"
            yield Reason(check=name, score=found_s, limit=limit, text=text)
    if scores["end_db"] > limits.END_DB:
        text = f"it breaks off in the middle of a sound: the end is {scores['end_db']:+.1f} dB to the speech before it"
        yield Reason(check="end", score=scores["end_db"], limit=limits.END_DB, text=text)


def _check_rate(activity: Activity, asked: SpokenUnits, facts: TakeFacts, scores: dict[str, float]) -> Iterator[Reason]:
    """Far from what any voice of this model does with this text: the limits are wide, voices differ."""
    said_s = activity.spoken_s
    usual_s = expected_s(asked, facts.chars_per_s, facts.speed)
    units_s = asked.total / (facts.chars_per_s * limits.RATE_OF_CARD * facts.speed)
    least_s = limits.FASTEST * (usual_s - units_s * (1 - asked.least / max(asked.total, 1e-9))) - limits.FASTEST_LESS_S
    most_s = limits.SLOWEST * (usual_s + units_s * (asked.most / max(asked.total, 1e-9) - 1)) + limits.SLOWEST_MORE_S
    parts_s = (activity.parts[:, 1] - activity.parts[:, 0]) * 0.01
    scores |= {"spoken_s": said_s, "expected_s": usual_s, "rhythm_misfit": misfit(asked.phrases, parts_s.tolist())}
    usual = f"a text like this takes about {usual_s:.2f} s"
    if said_s < least_s:
        text = f"{said_s:.2f} s of speech are too few: {usual} and never less than {least_s:.2f} s; words are missing"
        yield Reason(check="rate", score=said_s, limit=least_s, text=text)
    if said_s > most_s:
        text = f"{said_s:.2f} s of speech are too many: {usual} and never more than {most_s:.2f} s; more was said"
        yield Reason(check="rate", score=said_s, limit=most_s, text=text)


def _check_wave(samples: Samples, activity: Activity, facts: TakeFacts, scores: dict[str, float]) -> Iterator[Reason]:
    clipped = clipped_samples(samples)
    ratio, sample = click_ratio(samples)
    dc_offset = abs(float(samples.mean(dtype=np.float64)))
    scores |= {"speech_db": activity.speech_db, "clipped_share": clipped / samples.size, "click_ratio": ratio}
    scores["dc_offset"] = dc_offset
    if scores["clipped_share"] > limits.CLIPPED_SHARE:
        text = f"{clipped} of {samples.size} samples are cut off at the highest level: it is overdriven"
        yield Reason(check="clipping", score=scores["clipped_share"], limit=limits.CLIPPED_SHARE, text=text)
    if ratio > limits.CLICK_RATIO:
        text = f"a click at {sample / facts.sample_rate_hz:.3f} s, {ratio:.1f} times as sharp as the sound around it"
        yield Reason(check="click", score=ratio, limit=limits.CLICK_RATIO, text=text)
    if dc_offset > limits.DC_OFFSET:
        text = f"the samples stand {dc_offset:.3f} of full scale off zero on average"
        yield Reason(check="dc", score=dc_offset, limit=limits.DC_OFFSET, text=text)
    low_db, high_db = limits.SPEECH_DB
    if not low_db <= activity.speech_db <= high_db:
        limit = low_db if activity.speech_db < low_db else high_db
        text = f"its speech has a level of {activity.speech_db:.1f} dB; {low_db:.0f} to {high_db:.0f} dB are usual"
        yield Reason(check="level", score=activity.speech_db, limit=limit, text=text)


def _check_spectra(
    samples: Samples, activity: Activity, asked: SpokenUnits, facts: TakeFacts, scores: dict[str, float]
) -> Iterator[Reason]:
    bands = band_levels_db(samples, facts.sample_rate_hz)
    sounding = sounding_frames(activity.sound, len(bands))
    steady_s, start_s = longest_steady_s(bands, sounding)
    word_s = limits.STEADY_WORDS * asked.longest_word / (facts.chars_per_s * limits.RATE_OF_CARD)
    steady_limit_s = max(limits.STEADY_S, word_s) / min(1.0, facts.speed)
    scores |= {"steady_s": steady_s, "repeat_s": 0.0}
    if steady_s > steady_limit_s:
        text = f"{steady_s:.2f} s of one steady sound from {start_s:.2f} s on: a hum, no speech"
        yield Reason(check="hum", score=steady_s, limit=steady_limit_s, text=text)
        return  # a hum is like itself all the time: no repeat can be told in it
    repeat = find_repeat(bands, sounding, asked.words, least_likeness=limits.REPEAT_LIKENESS, least_lag_s=steady_s)
    if repeat is None:
        return
    scores["repeat_s"] = repeat.length_s
    limit = max(
        limits.REPEAT_S / min(1.0, facts.speed), limits.REPEAT_TIMES * repeat.explained_s + limits.REPEAT_MORE_S
    )
    limit += limits.REPEAT_DOUBLING_S * max(0.0, math.log2(activity.spoken_s / limits.REPEAT_SHORT_S))
    if repeat.length_s > limit:
        text = (
            f"{repeat.length_s:.2f} s from {repeat.start_s:.2f} s on are said again {repeat.lag_s:.2f} s later; "
            f"the text explains at most {limit:.2f} s"
        )
        yield Reason(check="repeat", score=repeat.length_s, limit=limit, text=text)
