"""The free checks: a verdict on one take from its samples and its text alone, in milliseconds. numpy only, pure.

verdict = check_take(samples, TakeFacts(...))
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jobs.checks.verdict import Reason, Verdict
from jobs.kinds import Grade


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


def check_take(samples: npt.NDArray[np.float32], facts: TakeFacts) -> Verdict:
    """The verdict of the free checks. `samples`: [S] float32 mono of full scale 1.0; may be empty or hold NaN."""
    unusable = _nothing_to_hear(samples, facts)
    return Verdict(grade=Grade.UNUSABLE, reasons=(unusable,)) if unusable else Verdict(grade=Grade.GOOD)


def _nothing_to_hear(samples: npt.NDArray[np.float32], facts: TakeFacts) -> Reason | None:
    if facts.error or facts.finish != "stop":
        return Reason(check="finish", score=1.0, limit=0.0, text=facts.error or f"the model ended with {facts.finish}")
    if samples.size == 0:
        return Reason(check="samples", score=0.0, limit=1.0, text="the model made no samples")
    return None
