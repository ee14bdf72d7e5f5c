"""Outlet of a synthesis process: writes live chunks, takes and results, in threads of its own.

The order is fixed: audio to the store, then the truth (which writes the event), never the other way round. A store that
is far away takes tens of milliseconds for a take, so several are written at once; live chunks have a thread of their
own and wait for no take. Knows the store, the streams and the truth, no engine.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from engine.request import Delta, FinishReason
from jobs.errors import BrokerUnavailable, StoreError
from jobs.events import AudioChunk
from jobs.figures import Figure
from jobs.retakes import JudgeAnew, standing
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import SegmentState
from jobs.takes import pcm16
from workers.context import Context
from workers.judging import Spoken
from workers.keeping import Keeper
from workers.telling import Teller
from workers.voicing import Voicing

log = logging.getLogger(__name__)

FEWEST_WRITERS, MOST_WRITERS = 2, 16
SLOTS_PER_WRITER = 16
"""A full GPU leaves about 40 takes a second with 256 slots; a store on S3 takes about 0.25 s for each."""

HEARD, UNHEARD, LAST = range(3)
"""Whose turn it is: a full GPU leaves dozens of takes to be checked and written, and who listens must not wait for
them. Among equals the order is kept."""

Again = Callable[[SegmentTask, Spoken], bool]
"""Speaks a segment at its next attempt, after the one that was spoken; False: it cannot any more."""


class Outlet:
    """Takes what the step loop made; nothing here can hold up a step."""

    def __init__(self, context: Context, worker: str, *, slots: int, left: Callable[[], None], again: Again) -> None:
        """`left` is called once for every attempt of a slot that is stored and told (or that was dropped).

        `again` is called before it for an attempt that is not good while others are left.
        """
        self._again = again
        self._context = context
        self._teller = Teller(context.truth, worker, left=left, figures=context.figures)
        self._keeper = Keeper(context, self._teller)
        self._chunks: queue.SimpleQueue[AudioChunkOf | Spoken | None] = queue.SimpleQueue()
        self._takes: queue.PriorityQueue[tuple[int, int, Spoken | _Release | None]] = queue.PriorityQueue()
        self._serials = count()
        self._mute = False
        self.hand = self._teller.hand
        self.fenced = self._teller.fenced
        self._streamer = threading.Thread(target=self._stream_all, name="outlet-live", daemon=True)
        self._writers = [
            threading.Thread(target=self._write_all, name=f"outlet-{number}", daemon=True)
            for number in range(writers_for(slots))
        ]

    @property
    def segments_done(self) -> int:
        """How many results the truth took."""
        return self._teller.segments_done

    @property
    def audio_s(self) -> float:
        """How much audio they have."""
        return self._teller.audio_s

    @property
    def works(self) -> bool:
        """Whether all threads are alive."""
        return all(thread.is_alive() for thread in self._threads)

    @property
    def _threads(self) -> list[threading.Thread]:
        return [self._teller.thread, self._streamer, *self._writers]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def delta(self, voicing: Voicing, delta: Delta) -> None:
        """One piece of a segment's audio; a live job's goes to its stream at once.

        An end without samples is told by an empty chunk only if the model said everything: no chunk says of a take
        that ended by an error or a cancellation, or that has no samples at all, that it is complete.
        """
        if delta.samples.size:
            voicing.pieces.append(delta.samples)
        complete = delta.finish is FinishReason.STOP and voicing.chunks > 0
        if voicing.task.live and (delta.samples.size or complete):
            self._chunks.put(AudioChunkOf(voicing.task.job, _chunk(voicing, delta)))
            voicing.chunks += 1
        if delta.finish is None:
            return
        compute_s = voicing.earlier_s + time.monotonic() - voicing.started_s
        spoken = Spoken(voicing, delta.finish, delta.error, compute_s, delta.words)
        if voicing.task.live:
            self._chunks.put(spoken)  # behind its own chunks: what becomes of it is told after them
        else:
            self._put(spoken, HEARD if voicing.task.speech else UNHEARD)

    def report(self, result: SegmentResult) -> None:
        """A result that needs no audio to be written."""
        self._teller.tell(result, frees=False)

    def release(self, refs: list[str]) -> None:
        """Segments of cancelled jobs that were dropped: they are not held any more."""
        if refs:
            self._put(_Release(refs), UNHEARD)

    def reuse(self, task: SegmentTask, judge_anew: JudgeAnew) -> SegmentResult | SegmentTask:
        """What the store remembers of a segment: its result, or the attempt to speak next (the task itself if the store
        cannot be read). `judge_anew` judges takes that other checks have judged."""
        try:
            return standing(self._keeper.store(task), task, judge_anew=judge_anew)
        except StoreError as error:
            # Writing the take will say whether the store is broken, and end the job with the reason.
            log.warning("segment %s: no take could be looked for: %s", task.ref, error)
            return task

    def close(self) -> None:
        """Write everything that was given, then end the threads. Without a broker the truth stays untold.

        That loses no work: the takes are in the store, and whoever gets their segments next finds them there. Without
        the store what is not written is lost: it is spoken again elsewhere.
        """
        self._teller.closing.set()
        self._chunks.put(None)
        self._streamer.join()
        for _ in self._writers:
            self._put(None, LAST)
        for thread in self._writers:
            thread.join()
        self._teller.close()

    def _put(self, entry: Spoken | _Release | None, turn: int) -> None:
        self._takes.put((turn, next(self._serials), entry))

    def _stream_all(self) -> None:
        while (entry := self._chunks.get()) is not None:
            if isinstance(entry, Spoken):
                self._put(entry, HEARD)
            else:
                self._stream(entry)

    def _write_all(self) -> None:
        while True:
            _, _, entry = self._takes.get()
            if entry is None:
                return
            if isinstance(entry, _Release):
                self._teller.give_back(entry.refs)
            else:
                self._teller.tell(self._write_take(entry), frees=True)

    def _stream(self, entry: AudioChunkOf) -> None:
        if self._mute:
            return
        try:
            self._context.streams.write_audio(entry.job, entry.chunk)
        except BrokerUnavailable as error:
            # A subscriber sees the gap by `start_sample` and takes the segment from the store when it is done.
            log.warning("job %s: a live chunk of segment %d was lost: %s", entry.job, entry.chunk.segment, error)
            self._context.figures.add(Figure.ERRORS, label="chunk")
            # Each try takes seconds: at the end the takes behind the chunks must not wait for all of them.
            self._mute = self._teller.closing.is_set()
        else:
            self._context.figures.add(Figure.STREAM_BYTES, len(entry.chunk.data))

    def _write_take(self, entry: Spoken) -> SegmentResult | None:
        """Keep one attempt; its segment's result, or None if it is spoken again, was cancelled, or its job failed."""
        voicing, task = entry.voicing, entry.voicing.task
        following = None if entry.finish is FinishReason.CANCELLED else self._keeper.concluded(entry)
        if following is None:
            return None
        if isinstance(following, SegmentResult):
            if following.state is SegmentState.FAILED or following.take != task.take:
                self._discard(voicing)
            return following
        self._discard(voicing)
        if not self._again(following, entry):
            self._teller.give_back([task.ref])
        return None

    def _discard(self, voicing: Voicing) -> None:
        if voicing.task.live and voicing.chunks:
            task = voicing.task
            chunk = AudioChunk.discarding(
                task.segment, task.take, chunk=voicing.chunks, sample_rate_hz=voicing.sample_rate_hz
            )
            self._stream(AudioChunkOf(task.job, chunk))


@dataclass(frozen=True, slots=True)
class AudioChunkOf:
    """A live chunk and the job whose stream it goes to."""

    job: str
    chunk: AudioChunk


@dataclass(frozen=True, slots=True)
class _Release:
    """Segments that are not held any more."""

    refs: list[str]


def writers_for(slots: int) -> int:
    """How many takes are written at once."""
    return min(slots, MOST_WRITERS, max(FEWEST_WRITERS, slots // SLOTS_PER_WRITER))


def _chunk(voicing: Voicing, delta: Delta) -> AudioChunk:
    return AudioChunk(
        segment=voicing.task.segment,
        take=voicing.task.take,
        chunk=voicing.chunks,
        start_sample=delta.start_sample,
        samples=delta.samples.size,
        sample_rate_hz=voicing.sample_rate_hz,
        last=delta.last,
        data=pcm16(delta.samples).tobytes(),
    )
