"""A job's audio in reading order while it is being made: live chunks where there are any, stored takes elsewhere.

Many segments are spoken at once; a listener wants them one after the other, with the pauses of the book.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jobs.assembly.pauses import PAUSES
from jobs.events import AudioChunk, Event, EventKind
from jobs.plan import Plan
from jobs.protocols import Store, Streams, Truth
from jobs.state import FINAL_JOB_STATES, JobState, SegmentState
from jobs.takes import open_samples, read_take

POLL_S = 0.5
LIVE_POLL_S = 0.05
_ENDS = {EventKind.SEGMENT_DONE, EventKind.SEGMENT_SETTLED, EventKind.SEGMENT_FAILED}


@dataclass(frozen=True, slots=True)
class Sound:
    """The next piece: [S] int16 mono samples at `sample_rate_hz`."""

    samples: npt.NDArray[np.int16]
    sample_rate_hz: int


@dataclass
class _Heard:
    """What the streams said so far."""

    takes: dict[int, str] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    chunks: dict[int, list[AudioChunk]] = field(default_factory=dict)
    state: JobState | None = None
    last_event: str = "0"
    last_chunk: str = "0"


class Listener:
    """Follows one job. `sounds()` ends when the job has nothing more to say."""

    def __init__(self, truth: Truth, streams: Streams, store: Store, *, job: str, plan: Plan) -> None:
        self._truth = truth
        self._streams = streams
        self._store = store
        self._job = job
        self._plan = plan
        record = truth.job(job)
        self._live = record.spec.live
        self._heard = _Heard(state=record.state)
        for segment, result in truth.results(job).items():
            self._note_result(segment, result.state is SegmentState.DONE, result.take)

    def sounds(self, *, from_now: bool = False) -> Iterator[Sound]:
        """Pieces in reading order, from the first segment on or (`from_now`) from the first that is not done yet."""
        first = self._first_open() if from_now else 0
        rate_hz = 0
        for segment in self._plan.segments[first:]:
            for sound in self._segment(segment.segment):
                rate_hz = sound.sample_rate_hz
                yield sound
            self._heard.chunks.pop(segment.segment, None)
            if self._over(segment.segment):
                return
            if rate_hz:
                pause = PAUSES.after(segment, rate_hz)
                yield Sound(np.zeros(self._gap(segment.segment, rate_hz) + pause, np.int16), rate_hz)

    def _first_open(self) -> int:
        finished = self._heard.takes.keys() | self._heard.failed
        return next((s.segment for s in self._plan.segments if s.segment not in finished), len(self._plan.segments))

    def _segment(self, segment: int) -> Iterator[Sound]:
        """One segment: from the live stream as it comes, or from the store once its take is there.

        A take that is rejected while it is heard is followed by another one, from its beginning.
        """
        take, played = "", 0
        while True:
            coming = self._coming(segment)
            if coming not in {"", take}:
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
        rate_hz = read_take(self._store, take).sample_rate_hz
        yield Sound(open_samples(self._store, take)[played:], rate_hz)

    def _gap(self, segment: int, rate_hz: int) -> int:
        """Length of what stands for a segment that could not be spoken, as in the finished audio."""
        lost = segment in self._heard.failed and segment not in self._heard.takes
        return PAUSES.gap_samples(rate_hz) if lost else 0

    def _over(self, segment: int) -> bool:
        """Whether the job ended without this segment."""
        finished = segment in self._heard.takes or segment in self._heard.failed
        return not finished and self._heard.state in FINAL_JOB_STATES

    def _listen(self) -> None:
        """Wait for the next news and note it.

        Raises:
            UnknownJob: the job was deleted; nothing more will come.
        """
        heard, last = self._heard, (self._heard.last_event, self._heard.last_chunk)
        if self._live:
            for entry, chunk in self._streams.audio(self._job, after=heard.last_chunk, timeout_s=LIVE_POLL_S):
                heard.last_chunk = entry
                self._note_chunk(chunk)
        wait_s = 0.0 if self._live else POLL_S
        events = self._streams.events(self._job, after=heard.last_event, timeout_s=wait_s)
        while events:
            for entry, event in events:
                heard.last_event = entry
                self._note_event(event)
            # An end that was followed by a retry is none: it counts only as the last word of the log.
            over = heard.state in FINAL_JOB_STATES
            events = self._streams.events(self._job, after=heard.last_event) if over else []
        if (heard.last_event, heard.last_chunk) == last:
            self._truth.job(self._job)

    def _note_chunk(self, chunk: AudioChunk) -> None:
        held = self._heard.chunks.setdefault(chunk.segment, [])
        if chunk.discard:
            held[:] = [other for other in held if other.take != chunk.take]
        elif chunk.chunk == 0:
            held[:] = [chunk]
        else:
            held.append(chunk)

    def _note_event(self, event: Event) -> None:
        self._heard.state = event.state
        if event.failed == 0:
            self._heard.failed.clear()  # a retry: what failed before is spoken again
        if event.segment is None:
            return
        if event.kind is EventKind.SEGMENT_AGAIN:
            self._heard.takes.pop(event.segment, None)
        elif event.kind in _ENDS:
            self._note_result(event.segment, event.kind is not EventKind.SEGMENT_FAILED, event.take or "")

    def _note_result(self, segment: int, done: bool, take: str) -> None:  # noqa: FBT001  # private, named at the call
        if done:
            self._heard.takes[segment] = take
        else:
            self._heard.takes.pop(segment, None)  # the checks of its chapter may take a done one back
            self._heard.failed.add(segment)


def endless_wav_header(sample_rate_hz: int) -> bytes:
    """A WAV header for 16-bit mono PCM of unknown length: sizes 0xFFFFFFFF, as players of pipes expect."""
    open_bytes, header_bytes, bytes_per_sample = 0xFFFFFFFF, 16, 2
    riff = struct.pack("<4sI4s", b"RIFF", open_bytes, b"WAVE")
    rate = (sample_rate_hz, sample_rate_hz * bytes_per_sample, bytes_per_sample, 8 * bytes_per_sample)
    return riff + struct.pack("<4sIHHIIHH4sI", b"fmt ", header_bytes, 1, 1, *rate, b"data", open_bytes)
