"""Where the segments of a job stand in its audio as a listener hears it, as far as that is known. Pure.

known = starts(plan, truth.results(job))
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jobs.assembly.pauses import PAUSES
from jobs.plan import Plan
from jobs.spec import SegmentResult
from jobs.state import SegmentState

Position = Callable[[int], int]
"""A place in the audio: from samples per second to samples from the beginning."""


@dataclass(frozen=True, slots=True)
class Starts:
    """Segment i of a job begins at `samples[i]`, for all that are finished without a gap and the one after them.

    `samples` has at least one entry, and one more than the plan has segments when all are finished: the end. The rate
    is 0 as long as nothing was spoken.
    """

    samples: Sequence[int]
    sample_rate_hz: int

    def of(self, segment: int) -> int | None:
        """Where a segment begins; None: not known yet."""
        return self.samples[segment] if segment < len(self.samples) else None

    def seconds(self, segment: int) -> float | None:
        """The same in seconds."""
        sample = self.of(segment)
        return None if sample is None or not self.sample_rate_hz else sample / self.sample_rate_hz

    def find(self, sample: int) -> int:
        """The segment in which a sample lies: of those whose beginning is known, the last that is not behind it."""
        return max(0, bisect_right(self.samples, sample) - 1)


def starts(plan: Plan, results: Mapping[int, SegmentResult]) -> Starts:
    """What is known from the results so far. A failed segment is a gap; before the first sound it takes no time."""
    spoken = (result for result in results.values() if result.state is SegmentState.DONE)
    rate_hz = next((result.sample_rate_hz for result in spoken), 0)
    samples, heard = [0], False
    for segment in plan.segments:
        result = results.get(segment.segment)
        if result is None:
            break
        done = result.state is SegmentState.DONE
        heard = heard or done
        length = result.samples if done else PAUSES.gap_samples(rate_hz)
        samples.append(samples[-1] + (length + PAUSES.after(segment, rate_hz) if heard else 0))
    return Starts(samples, rate_hz)
