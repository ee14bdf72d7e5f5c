"""A job's audio in reading order while it is being made: live chunks where there are any, stored takes elsewhere.

Many segments are spoken at once; a listener wants them one after the other, with the pauses of the book.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jobs.assembly.pauses import PAUSES
from jobs.errors import SpeechIncomplete
from jobs.events import AudioChunk, Event, EventKind
from jobs.plan import Plan
from jobs.positions import BEGINNING, Position, Start, starts
from jobs.protocols import Seen, Store, Streams, Truth
from jobs.state import FINAL_JOB_STATES, JobState, SegmentState
from jobs.takes import load_take

POLL_S = 0.2
"""How long one wait for news may take: whoever listens may be stopped that soon."""
PIECE_S = 1.0
"""Stored takes come in pieces of this length: many are held ahead of a slow reader, and the first is sent sooner."""
QUIET_POLLS = 10
"""After so many waits without news it is looked whether the job is still there."""
_ENDS = {EventKind.SEGMENT_DONE, EventKind.SEGMENT_SETTLED, EventKind.SEGMENT_FAILED}


@dataclass(frozen=True, slots=True)
class Sound:
    """The next piece: [S] int16 mono samples at `sample_rate_hz`."""

    samples: npt.NDArray[np.int16]
    sample_rate_hz: int


@dataclass
class _Heard:
    """What the streams said so far. `current` is the segment that is heard now."""

    takes: dict[int, str] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    chunks: dict[int, list[AudioChunk]] = field(default_factory=dict)
    state: JobState | None = None
    reason: str = ""
    last_event: str = "0"
    last_chunk: str = "0"
    quiet: int = 0
    current: int = 0


class Listener:
    """Follows one job. `sounds()` ends when the job has nothing more to say.

    `known` is where its segments begin, as far as that was known when the listener was made.
    """

    def __init__(self, truth: Truth, streams: Streams, store: Store, *, job: str, plan: Plan) -> None:
        self._truth = truth
        self._streams = streams
        self._store = store
        self._job = job
        self._plan = plan
        record = truth.job(job)
        self._live = record.spec.live
        self._heard = _Heard(state=record.state, reason=record.reason)
        results = truth.results(job)
        self.known = starts(plan, results)
        for segment, result in results.items():
            self._note_result(segment, result.state is SegmentState.DONE, result.take, result.reason)

    def now(self) -> Start:
        """The first segment that is not finished yet."""
        open_ones = (s.segment for s in self._plan.segments if not self._finished(s.segment))
        return self.known.at_segment(next(open_ones, len(self._plan.segments)))

    def sounds(
        self, start: Start = BEGINNING, *, whole: bool = False, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Sound]:
        """Pieces in reading order. A failed segment is a gap; silence before the first sound is not heard.

        `whole`: as one answer, of which nothing may be missing and after whose last segment nothing comes; it ends when
        the takes of all it said are in the store. `stopped` is asked every POLL_S; once it says so, no more comes.

        Raises:
            SpeechIncomplete: `whole`, and a segment failed, its sound changed midway, or the job ended before.
            UnknownJob: the job was deleted.
        """
        return _without(self._from(start.segment, whole, stopped), start.skip)

    def _from(self, first: int, whole: bool, stopped: Callable[[], bool]) -> Iterator[Sound]:  # noqa: FBT001  # private
        # Who begins later hears the gaps that came after the first sound.
        rate_hz = 0 if self.known.of(first) == 0 else self.known.sample_rate_hz
        last = len(self._plan.segments) - 1
        for segment in self._plan.segments[first:]:
            self._turn_to(segment.segment)
            for sound in self._segment(segment.segment, whole, stopped):
                rate_hz = sound.sample_rate_hz
                yield sound
            if stopped():
                return
            if whole:
                self._check_heard(segment.segment)
            if self._over(segment.segment):
                return
            if rate_hz and not (whole and segment.segment == last):
                pause = PAUSES.after(segment, rate_hz)
                yield Sound(np.zeros(self._gap(segment.segment, rate_hz) + pause, np.int16), rate_hz)
        if whole:
            self._settle(stopped)

    def _settle(self, stopped: Callable[[], bool]) -> None:
        """Wait until the end of every segment is known: what was heard may still be called no speech, or get lost."""
        for segment in self._plan.segments:
            while not (self._finished(segment.segment) or self._over(segment.segment)):
                if stopped():
                    return
                self._listen()
            self._check_heard(segment.segment)

    def _turn_to(self, segment: int) -> None:
        """Go to a segment. What the log says by then is noted: it may be gone when a slow listener comes to its end."""
        self._heard.chunks.pop(self._heard.current, None)
        self._heard.current = segment
        if self._heard.state not in FINAL_JOB_STATES:
            self._note_events(0.0)

    def _segment(self, segment: int, whole: bool, stopped: Callable[[], bool]) -> Iterator[Sound]:  # noqa: FBT001  # private
        """One segment: from the live stream as it comes, or from the store once its take is there.

        A take that is rejected while it is heard is followed by another one, from its beginning.
        """
        take, played = "", 0
        while not stopped():
            coming = self._coming(segment)
            if coming not in {"", take}:
                if whole and played:
                    raise _incomplete(self._job, f"segment {segment} was spoken anew while it was heard")
                take, played = coming, 0
            for chunk in self._playable(segment, played):
                samples = np.frombuffer(chunk.data, "<i2").astype(np.int16)[played - chunk.start_sample :]
                played += samples.size
                if samples.size:
                    yield Sound(samples, chunk.sample_rate_hz)
                if chunk.last:
                    return
            if segment in self._heard.takes:
                yield from self._stored(segment, played)
                return
            if segment in self._heard.failed or self._over(segment):
                return
            self._listen()

    def _coming(self, segment: int) -> str:
        """The take that is to be heard, as far as is known: the one that was accepted, else the one that comes live."""
        chunks = self._heard.chunks.get(segment)
        return self._heard.takes.get(segment, "") or (chunks[0].take if chunks else "")

    def _playable(self, segment: int, played: int) -> list[AudioChunk]:
        """Chunks that continue what was played without a gap (the stream may have lost its oldest).

        A segment that is spoken again after a crash comes in chunks of other lengths: the samples are the same.
        """
        chunks = []
        coming = self._coming(segment)
        for chunk in self._heard.chunks.get(segment, []):
            if chunk.take != coming:
                continue
            end = chunk.start_sample + chunk.samples
            if chunk.start_sample <= played and (end > played or (chunk.last and end == played)):
                chunks.append(chunk)
                played = end
        return chunks

    def _stored(self, segment: int, played: int) -> Iterator[Sound]:
        take = self._heard.takes[segment]
        info, samples = load_take(self._store, take)
        piece = max(1, round(PIECE_S * info.sample_rate_hz))
        for begin in range(played, max(samples.size, played + 1), piece):
            yield Sound(samples[begin : begin + piece], info.sample_rate_hz)

    def _check_heard(self, segment: int) -> None:
        """Raise SpeechIncomplete where a segment was not heard to its end."""
        heard = self._heard
        if segment in heard.failed:
            raise _incomplete(self._job, f"segment {segment} could not be spoken", heard.failed[segment])
        if self._over(segment):
            raise _incomplete(self._job, f"it is {heard.state}", heard.reason)

    def _gap(self, segment: int, rate_hz: int) -> int:
        """Length of what stands for a segment that could not be spoken, as in the finished audio."""
        lost = segment in self._heard.failed and segment not in self._heard.takes
        return PAUSES.gap_samples(rate_hz) if lost else 0

    def _over(self, segment: int) -> bool:
        """Whether the job ended without this segment."""
        return not self._finished(segment) and self._heard.state in FINAL_JOB_STATES

    def _finished(self, segment: int) -> bool:
        """Whether it is done or failed, as far as is known."""
        return segment in self._heard.takes or segment in self._heard.failed

    def _listen(self) -> None:
        """Wait for the next news and note it.

        Raises:
            UnknownJob: the job was deleted; nothing more will come.
        """
        if self._note_events(POLL_S):
            self._heard.quiet = 0
            return
        self._heard.quiet += 1
        if self._heard.quiet % QUIET_POLLS == 0:
            self._truth.job(self._job)

    def _note_events(self, timeout_s: float) -> bool:
        """Note what the streams say (live audio only when there is time for it); whether they said anything."""
        heard, audio = self._heard, self._live and timeout_s > 0
        seen = Seen(heard.last_event, heard.last_chunk if audio else None)
        news = self._streams.news({self._job: seen}, timeout_s=timeout_s).get(self._job)
        if news is None:
            return False
        for entry, chunk in news.chunks:
            heard.last_chunk = entry
            self._note_chunk(chunk)
        events = news.events
        while events:
            for entry, event in events:
                heard.last_event = entry
                self._note_event(event)
            # An end that was followed by a retry is none: it counts only as the last word of the log.
            over = heard.state in FINAL_JOB_STATES
            events = self._streams.events(self._job, after=heard.last_event) if over else []
        return True

    def _note_chunk(self, chunk: AudioChunk) -> None:
        """Keep a chunk, unless its segment was heard, or can be read from the store when its turn comes."""
        heard = self._heard
        if chunk.segment < heard.current or (chunk.segment != heard.current and chunk.segment in heard.takes):
            return
        held = heard.chunks.setdefault(chunk.segment, [])
        if chunk.discard:
            held[:] = [other for other in held if other.take != chunk.take]
        elif chunk.chunk == 0:
            held[:] = [chunk]
        else:
            held.append(chunk)

    def _note_event(self, event: Event) -> None:
        heard = self._heard
        heard.state = event.state
        if event.kind is EventKind.JOB:
            heard.reason = event.reason or ""
        if event.failed == 0:
            heard.failed.clear()  # a retry: what failed before is spoken again
        if event.segment is None:
            return
        if event.kind is EventKind.SEGMENT_AGAIN:
            heard.takes.pop(event.segment, None)
        elif event.kind in _ENDS:
            done = event.kind is not EventKind.SEGMENT_FAILED
            self._note_result(event.segment, done, event.take or "", event.reason or "")

    def _note_result(self, segment: int, done: bool, take: str, reason: str) -> None:  # noqa: FBT001  # private
        heard = self._heard
        if done:
            heard.takes[segment] = take
            if segment != heard.current:
                heard.chunks.pop(segment, None)  # many segments come at once: only one is kept in memory
        else:
            heard.takes.pop(segment, None)  # the checks of its chapter may take a done one back
            heard.failed[segment] = reason


def _without(sounds: Iterator[Sound], skip: Position) -> Iterator[Sound]:
    """The sounds without so many samples of their beginning."""
    left: int | None = None
    for sound in sounds:
        left = skip(sound.sample_rate_hz) if left is None else left
        if left < sound.samples.size:
            yield Sound(sound.samples[left:], sound.sample_rate_hz) if left else sound
        left = max(0, left - sound.samples.size)


def _incomplete(job: str, what: str, reason: str = "") -> SpeechIncomplete:
    why = f": {reason}" if reason else ""
    return SpeechIncomplete(f"speech {job} could not be completed, {what}{why}; send the request again")
