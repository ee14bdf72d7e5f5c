"""The second look, when a chapter is spoken: each take against the other takes of its voice in that chapter. Pure.

reasons = rate_verdicts(first_attempts, takes)

A voice's rate of speech is fitted over the chapter's first attempts that the free checks found good, whatever the order
in which they were made, so a resumed job comes to the same verdicts. `t = a + b * units + c * stops` seconds, fitted
robustly (wrong takes among them do not matter) and drawn to the rate of the model's card while there are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jobs.checks import limits
from jobs.checks.units import spoken_units
from jobs.verdict import Reason, Verdict

Floats = npt.NDArray[np.float64]

ROUNDS, LAST_ROUNDS = 15, 15
"""Of reweighting: first with weights that find the voice from anywhere (Huber), then with such that forget what is far
from it (Tukey), so that a third of wrong takes moves nothing. The weights stand still after ten."""
HUBER, TUKEY = 1.345, 4.685
"""Standard deviations from which residuals weigh less, and weigh nothing: 95 % efficiency for either."""
MAD_TO_SD = 1.4826
"""Standard deviation of a normal distribution for each unit of its median absolute deviation."""
PRIOR_SPREAD = (0.15, 0.3, 0.15)
"""How far voices stray from their card: seconds at the edges, share of the rate, seconds for a stop."""
USUAL_SD, USUAL_WEIGHT = 0.1, 10.0
"""Spread of the logarithm of a voice's times around the fit (measured: 0.09 to 0.10), worth as many takes as told."""
SHORT_S = 0.1
"""Spread that does not grow with the text: how long single words are held."""
RATE_DEVIATIONS = 3.5
"""Measured: one clean take of 600 lies further out. Of a sentence of three seconds a fifth missing lies at 2.5, a
third at 4."""
MISFIT_DEVIATIONS, MISFIT_LEAST = 6.0, 11.0
"""Pauses: so far from the voice's usual misfit, and at least this: two pauses amiss pass, not with lengths amiss."""
END_DEVIATIONS, END_LEAST_DB, END_LOUD_DB = 6.0, 15.0, -40.0
"""Endings: so far above the voice's usual one, and at least so many dB, and not quieter than a breath."""
FEWEST = 8
"""Takes of a voice that say how it rests and ends."""


@dataclass(frozen=True, slots=True)
class RateTake:
    """What the second look knows of a take: who spoke what, and the free checks' figures."""

    voice: str
    language: str
    speed: float
    spoken: str
    verdict: Verdict

    @property
    def group(self) -> tuple[str, str, float]:
        """Takes of one group are compared with each other."""
        return self.voice, self.language, self.speed

    @property
    def measured(self) -> bool:
        """Whether the free checks came as far as measuring speech: they do not with a take that is unusable."""
        return "spoken_s" in self.verdict.scores


def rate_verdicts(firsts: Sequence[RateTake], takes: Sequence[RateTake]) -> list[Reason | None]:
    """For each of `takes` what speaks against it in the company of `firsts`, a chapter's first attempts; else None.

    `takes` may be those themselves or later attempts at them. The order of `firsts` does not matter.
    """
    company: dict[tuple[str, str, float], list[RateTake]] = {}
    for take in sorted(firsts, key=lambda take: (take.spoken, sorted(take.verdict.scores.items()))):
        if take.verdict.good and take.measured:
            company.setdefault(take.group, []).append(take)
    voices = {group: _fit(members) for group, members in company.items()}
    return [voices[take.group].reason(take) if take.group in voices and take.measured else None for take in takes]


@dataclass(frozen=True, slots=True)
class _Voice:
    """How a voice speaks in a chapter. `times` [3] a, b, c and their `covariance`; `spread` of the logarithm."""

    times: Floats
    covariance: Floats
    spread: float
    misfit_for_stop: float
    misfit_limit: float
    end_limit_db: float

    def reason(self, take: RateTake) -> Reason | None:
        return self._rate(take) or self._rhythm(take) or self._end(take)

    def _rate(self, take: RateTake) -> Reason | None:
        row = _row(take)
        usual_s = max(float(row @ self.times), limits.LEAST_SPEECH_S)
        said_s = max(take.verdict.scores["spoken_s"], limits.LEAST_SPEECH_S)
        unsure = float(row @ self.covariance @ row) / usual_s**2
        spread = float(np.sqrt(self.spread**2 + (SHORT_S / usual_s) ** 2 + unsure))
        deviations = abs(float(np.log(said_s / usual_s))) / spread
        if deviations <= RATE_DEVIATIONS:
            return None
        what = "words are missing or others were said" if said_s < usual_s else "more or other words were said"
        text = (
            f"{said_s:.2f} s of speech where this voice takes about {usual_s:.2f} s in this chapter "
            f"({deviations:.1f} standard deviations): {what}"
        )
        return _reason("voice_rate", deviations, RATE_DEVIATIONS, text)

    def _rhythm(self, take: RateTake) -> Reason | None:
        found = take.verdict.scores["rhythm_misfit"]
        limit = self.misfit_limit + self.misfit_for_stop * spoken_units(take.spoken).stops
        if found <= limit:
            return None
        text = f"its pauses do not stand where the text has them (misfit {found:.1f}; this voice has up to {limit:.1f})"
        return _reason("voice_rhythm", found, limit, text)

    def _end(self, take: RateTake) -> Reason | None:
        found_db = take.verdict.scores["end_db"]
        if found_db <= self.end_limit_db:
            return None
        text = (
            f"it breaks off: it ends {found_db:+.1f} dB to its speech, this voice's takes below {self.end_limit_db:.1f}"
        )
        return _reason("voice_end", found_db, self.end_limit_db, text)


def _reason(check: str, score: float, limit: float, text: str) -> Reason:
    return Reason(check=check, score=round(score, 3), limit=round(limit, 3), text=text)


def _row(take: RateTake) -> Floats:
    """[3] once, units, stops: what a take's time is made of."""
    asked = spoken_units(take.spoken)
    return np.array([1.0, asked.total, asked.stops])


def _fit(members: Sequence[RateTake]) -> _Voice:
    rows = np.stack([_row(take) for take in members])
    said_s = np.array([max(take.verdict.scores["spoken_s"], limits.LEAST_SPEECH_S) for take in members])
    usual = _card_times(rows, members)
    pull = np.diag(
        1 / np.square(PRIOR_SPREAD * np.array([1.0, usual[1], 1.0]) * np.array([1 / members[0].speed, 1, 1]))
    )
    times, covariance, spread = usual, np.linalg.inv(pull), USUAL_SD
    for turn in range(ROUNDS + LAST_ROUNDS):
        expected_s = np.maximum(rows @ times, limits.LEAST_SPEECH_S)
        deviations = np.log(said_s / expected_s) / np.hypot(spread, SHORT_S / expected_s)
        weights = _weights(np.abs(deviations), forget=turn >= ROUNDS)
        scales = weights / (np.square(spread * expected_s) + SHORT_S**2)
        covariance = np.linalg.inv((rows * scales[:, None]).T @ rows + pull)
        times = covariance @ ((rows * scales[:, None]).T @ said_s + pull @ usual)
        found = MAD_TO_SD * float(np.median(np.abs(deviations))) * spread
        spread = float(np.sqrt((USUAL_WEIGHT * USUAL_SD**2 + len(members) * found**2) / (USUAL_WEIGHT + len(members))))
    misfits, stops = np.array([take.verdict.scores["rhythm_misfit"] for take in members]), rows[:, 2]
    for_stop = float(np.median(misfits[stops > 0] / stops[stops > 0])) if stops.any() else 0.0
    ends_db = np.array([take.verdict.scores["end_db"] for take in members])
    return _Voice(
        times,
        np.asarray(covariance, np.float64),
        spread,
        misfit_for_stop=for_stop,
        misfit_limit=_limit(misfits - for_stop * stops, MISFIT_DEVIATIONS, MISFIT_LEAST, least=MISFIT_LEAST),
        end_limit_db=_limit(ends_db, END_DEVIATIONS, END_LEAST_DB, least=END_LOUD_DB),
    )


def _weights(deviations: Floats, *, forget: bool) -> Floats:
    if forget:
        return np.asarray(np.square(1 - np.square(np.minimum(1.0, deviations / TUKEY))))
    return np.minimum(1.0, HUBER / np.maximum(deviations, 1e-9))


def _card_times(rows: Floats, members: Sequence[RateTake]) -> Floats:
    """[3] the times that the model's card stands for: what `expected_s` of the free checks was made of."""
    speed = members[0].speed
    edges_s, stop_s = limits.EDGES_S / speed, limits.STOP_S / speed
    expected_s = np.array([take.verdict.scores["expected_s"] for take in members])
    units_s = float((expected_s - edges_s - stop_s * rows[:, 2]).sum()) / max(float(rows[:, 1].sum()), 1e-9)
    return np.array([edges_s, units_s, stop_s])


def _limit(values: Floats, deviations: float, apart: float, *, least: float) -> float:
    """What is too much for a voice: far above its median, or infinite while too few takes say what is usual."""
    if len(values) < FEWEST:
        return float("inf")
    median = float(np.median(values))
    spread = MAD_TO_SD * float(np.median(np.abs(values - median)))
    return max(least, median + max(deviations * spread, apart))
