"""Places in a job's audio as a listener hears it: where its segments begin, as far as that is known. Pure.

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
class Start:
    """Where to begin: at a segment, without so many samples of what is heard from there on (`skip`).

    `base` is where the segment begins in the job's audio, None where that is not known.
    """

    segment: int = 0
    skip: Position = lambda _rate_hz: 0
    base: int | None = 0

    def sample_at(self, sample_rate_hz: int) -> int | None:
        """The place in the job's audio; None: not known."""
        return None if self.base is None else self.base + self.skip(sample_rate_hz)


BEGINNING = Start()


@dataclass(frozen=True, slots=True)
class Starts:
    """Segment i of a job begins at `samples[i]`, for all that are finished without a gap and the one after them.

    `samples` has at least one entry, and one more than there are segments when all are finished: the end. The rate is 0
    as long as nothing was spoken.
    """

    samples: Sequence[int]
    sample_rate_hz: int

    def of(self, segment: int) -> int | None:
        """The sample at which a segment begins; None: not known yet."""
        return self.samples[segment] if segment < len(self.samples) else None

    def seconds(self, segment: int) -> float | None:
        """The same in seconds; None also as long as nothing was spoken."""
        sample = self.of(segment)
        return None if sample is None or not self.sample_rate_hz else sample / self.sample_rate_hz

    def at_segment(self, segment: int) -> Start:
        """The beginning of a segment; behind the last one nothing is heard."""
        return Start(segment, base=self.of(segment))

    def at(self, position: Position) -> Start:
        """A place in the audio. What is not made yet is waited for; what comes before is not heard."""
        if not self.sample_rate_hz:
            return Start(0, position)
        sample = position(self.sample_rate_hz)
        segment = bisect_right(self.samples, sample) - 1
        base = self.samples[segment]
        return Start(segment, lambda _rate_hz: sample - base, base)


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
