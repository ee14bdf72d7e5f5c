"""Attempts at a segment: each has a seed and a key of its own, derived from what the segment's task says. Pure.

task = at_attempt(task, task.attempt + 1)
"""

from __future__ import annotations

from jobs.plan import take_key, take_seed
from jobs.spec import SegmentTask


def at_attempt(task: SegmentTask, attempt: int) -> SegmentTask:
    """The same segment at another attempt (counted from 0): its seed and the key of its take belong to that one."""
    seed = take_seed(task.base_seed, task.spoken, attempt)
    take = take_key(
        model=task.model,
        voice=task.voice,
        voice_revision=task.voice_revision,
        language=task.language,
        spoken=task.spoken,
        speed=task.speed,
        seed=seed,
        numerics=task.numerics,
    )
    return task.model_copy(update={"attempt": attempt, "seed": seed, "take": take})
