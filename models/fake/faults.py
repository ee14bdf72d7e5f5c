"""Faults on demand: marks in the text that make the fake fail as real models and machines do. Marks are not spoken.

    [[fault:truncate]]            half of the words are missing, and the model says it is done
    [[fault:slow:s=0.02]]         a mark may carry numbers, here the seconds that each frame sleeps
    [[fault:truncate:p=0.5]]      acts for this share of the seeds: a retake has a new seed and may be clean

A mark acts or not by the seed alone, so a run can be repeated exactly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from engine.noise import uniform
from models.errors import BadPrompt

FAULT_DRAW = 1
"""Draw number of the noise that decides whether a mark acts (0 is the noise in the audio)."""

MARK = re.compile(r"\[\[\s*fault\s*:([^\[\]]*)\]\]")


class FaultKind(StrEnum):
    """What a mark does."""

    TRUNCATE = "truncate"
    """The second half of the words is missing, the finish is STOP."""
    BUDGET = "budget"
    """The second half of the words is missing, the finish is BUDGET."""
    REPEAT = "repeat"
    """The last words are said four times."""
    TAIL = "tail"
    """Three seconds of hum follow the last word."""
    SILENCE = "silence"
    """Three seconds of silence stand in the middle."""
    MUTE = "mute"
    """Everything is silent."""
    CLICK = "click"
    """One sample in the middle is close to full scale."""
    CLIP = "clip"
    """The tones are overdriven into the rails."""
    NAN = "nan"
    """One sample in the middle is not a number."""
    SLOW = "slow"
    """Every frame sleeps `s` seconds (0.01: real time)."""
    HANG = "hang"
    """Encoding sleeps `s` seconds (3,600)."""
    CRASH = "crash"
    """Encoding kills its own process with SIGKILL."""
    OOM = "oom"
    """Encoding a batch with this text runs out of memory."""
    ERROR = "error"
    """The program rejects the text."""


DEFAULT_SLEEP_S = {FaultKind.SLOW: 0.01, FaultKind.HANG: 3600.0}


@dataclass(frozen=True, slots=True)
class Fault:
    """One mark. `share` of the seeds it acts for; `sleep_s` is read by SLOW and HANG only."""

    kind: FaultKind
    share: float = 1.0
    sleep_s: float = 0.0


def read_marks(text: str) -> tuple[str, tuple[Fault, ...]]:
    """The text without its marks, and the marks in order.

    Raises:
        BadPrompt: a mark names no fault, or carries something else than `p=` (0 to 1) and `s=` (seconds, not negative).
    """
    faults = tuple(_fault(mark.group(1)) for mark in MARK.finditer(text))
    return MARK.sub(" ", text), faults


def acting(faults: tuple[Fault, ...], seed: int) -> dict[FaultKind, Fault]:
    """Those of the marks that act for this seed; of two alike the last."""
    if not faults:
        return {}
    draws = uniform(seed, FAULT_DRAW, (len(faults),))
    return {fault.kind: fault for fault, draw in zip(faults, draws, strict=True) if draw < fault.share}


def _fault(mark: str) -> Fault:
    name, _, options = mark.partition(":")
    if name.strip() not in set(FaultKind):
        msg = f"[[fault:{mark}]] names no fault; faults are {', '.join(FaultKind)}"
        raise BadPrompt(msg)
    kind = FaultKind(name.strip())
    values = {"p": 1.0, "s": DEFAULT_SLEEP_S.get(kind, 0.0)}
    for option in filter(None, (part.strip() for part in options.split(","))):
        key, _, number = option.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = None
        if key.strip() not in values or value is None or not 0 <= value <= _LARGEST[key.strip()]:
            msg = f"[[fault:{mark}]]: {option!r} is not allowed; use p=<0..1> or s=<0..{_LARGEST['s']:.0f} seconds>"
            raise BadPrompt(msg)
        values[key.strip()] = value
    return Fault(kind, share=values["p"], sleep_s=values["s"])


_LARGEST = {"p": 1.0, "s": 86_400.0}
