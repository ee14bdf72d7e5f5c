"""Outlet of a synthesis process: writes live chunks, takes and results, in a thread of its own.

The order is fixed: audio to the store, then the truth (which writes the event), never the other way round. Knows the
store, the streams and the truth, no engine.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from engine.request import Delta, FinishReason
from jobs.errors import BrokerUnavailable, Fenced, IllegalMove, StoreError, UnknownJob
from jobs.events import AudioChunk
from jobs.progress import audio_s_of
from jobs.protocols import Store
from jobs.retakes import JudgeAnew, standing
from jobs.spec import SegmentResult, SegmentTask
from jobs.state import FINAL_JOB_STATES, JobState, SegmentState
from jobs.takes import pcm16
from workers.context import Context
from workers.judging import Spoken, conclude
from workers.voicing import Voicing

log = logging.getLogger(__name__)

T = TypeVar("T")

STORE_TRIES = 3
STORE_WAIT_S = 1.0
BROKER_WAIT_S = 0.5
TELL_EVERY_S = 0.2
"""Results wait this long at most for company: one call tells the truth of several."""

HEARD, UNHEARD, LAST = range(3)
"""Whose turn it is: a full GPU leaves dozens of takes to be checked and written, and who listens must not wait for
them. Among equals the order is kept, so a segment's chunks come before its end."""

Again = Callable[[SegmentTask, Spoken], bool]
"""Speaks a segment at its next attempt, after the one that was spoken; False: it cannot any more."""


class Outlet:
    """Takes what the step loop made; nothing here can hold up a step."""

    def __init__(self, context: Context, worker: str, *, left: Callable[[], None], again: Again) -> None:
        """`left` is called once for every attempt of a slot that is stored and told (or that was dropped).

        `again` is called before it for an attempt that is not good while others are left.
        """
        self._again = again
        self._context = context
        self._worker = worker
        self._left = left
        self._queue: queue.PriorityQueue[tuple[int, int, _Entry | None]] = queue.PriorityQueue()
        self._serials = count()
        self._closing = threading.Event()
        self.fenced = threading.Event()
        self.segments_done = 0
        self.audio_s = 0.0
        self.thread = threading.Thread(target=self._run, name="outlet", daemon=True)

    def delta(self, voicing: Voicing, delta: Delta) -> None:
        """One piece of a segment's audio; a live job's goes to its stream at once.

        An end without samples is told by an empty chunk only if the model said everything: no chunk says of a take
        that ended by an error or a cancellation, or that has no samples at all, that it is complete.
        """
        if delta.samples.size:
            voicing.pieces.append(delta.samples)
        complete = delta.finish is FinishReason.STOP and voicing.chunks > 0
        if voicing.task.live and (delta.samples.size or complete):
            self._put(AudioChunkOf(voicing.task.job, _chunk(voicing, delta)), HEARD)
            voicing.chunks += 1
        if delta.finish is not None:
            compute_s = voicing.earlier_s + time.monotonic() - voicing.started_s
            heard = voicing.task.live or voicing.task.speech
            self._put(Spoken(voicing, delta.finish, delta.error, compute_s, delta.words), HEARD if heard else UNHEARD)

    def report(self, result: SegmentResult) -> None:
        """A result that needs no audio to be written."""
        self._put(result, UNHEARD)

    def release(self, refs: list[str]) -> None:
        """Segments of cancelled jobs that were dropped: they are not held any more."""
        if refs:
            self._put(_Release(refs), UNHEARD)

    def reuse(self, task: SegmentTask, judge_anew: JudgeAnew) -> SegmentResult | SegmentTask:
        """What the store remembers of a segment: its result, or the attempt to speak next (the task itself if the store
        cannot be read). `judge_anew` judges takes that other checks have judged."""
        try:
            return standing(self._store(task), task, judge_anew=judge_anew)
        except StoreError as error:
            # Writing the take will say whether the store is broken, and end the job with the reason.
            log.warning("segment %s: no take could be looked for: %s", task.ref, error)
            return task

    def close(self) -> None:
        """Write everything that was given, then end the thread. Without a broker the truth stays untold.

        That loses no work: the takes are in the store, and whoever gets their segments next finds them there.
        """
        self._closing.set()
        self._put(None, LAST)
        self.thread.join()

    def _put(self, entry: _Entry | None, turn: int) -> None:
        self._queue.put((turn, next(self._serials), entry))

    def _store(self, task: SegmentTask) -> Store:
        return self._context.store(task.store_url)

    def _run(self) -> None:
        closing = False
        while not closing:
            results: list[SegmentResult] = []
            slots_left = 0
            told_by_s = time.monotonic() + TELL_EVERY_S
            more = True
            while more:
                _, _, entry = self._queue.get()
                closing = entry is None
                result = self._write(entry)
                results += [result] if result is not None else []
                slots_left += isinstance(entry, Spoken)
                more = not (closing or self._queue.empty() or time.monotonic() >= told_by_s)
            self._report(results)
            for _ in range(slots_left):
                self._left()

    def _write(self, entry: _Entry | None) -> SegmentResult | None:
        if isinstance(entry, AudioChunkOf):
            self._stream(entry)
            return None
        if isinstance(entry, _Release):
            self._give_back(entry.refs)
            return None
        if isinstance(entry, Spoken):
            return self._write_take(entry)
        return entry

    def _stream(self, entry: AudioChunkOf) -> None:
        try:
            self._context.streams.write_audio(entry.job, entry.chunk)
        except BrokerUnavailable as error:
            # A subscriber sees the gap by `start_sample` and takes the segment from the store when it is done.
            log.warning("job %s: a live chunk of segment %d was lost: %s", entry.job, entry.chunk.segment, error)

    def _write_take(self, entry: Spoken) -> SegmentResult | None:
        """Keep one attempt; its segment's result, or None if it is spoken again, was cancelled, or its job failed."""
        voicing, task = entry.voicing, entry.voicing.task
        following = None if entry.finish is FinishReason.CANCELLED else self._concluded(entry)
        if following is None:
            return None
        if isinstance(following, SegmentResult):
            if following.state is SegmentState.FAILED or following.take != task.take:
                self._discard(voicing)
            return following
        self._discard(voicing)
        if not self._again(following, entry):
            self._give_back([task.ref])
        return None

    def _concluded(self, entry: Spoken) -> SegmentResult | SegmentTask | None:
        """What follows from one attempt; a store that refuses several times ends the job with the reason (None)."""
        task = entry.voicing.task
        for attempt in range(1, STORE_TRIES + 1):
            try:
                return conclude(self._store(task), entry)
            except StoreError as error:
                log.warning("take of %s not written (try %d of %d): %s", task.ref, attempt, STORE_TRIES, error)
                if attempt == STORE_TRIES or self._over(task.job):
                    self._fail_job(task, error)
                    return None
                time.sleep(STORE_WAIT_S)
        return None

    def _over(self, job: str) -> bool:
        """Whether a job has ended already: a store that refused three takes of it is not tried for the others."""
        try:
            return self._context.truth.job(job).state in FINAL_JOB_STATES
        except (UnknownJob, BrokerUnavailable):
            return False

    def _fail_job(self, task: SegmentTask, error: StoreError) -> None:
        """The job stops, the segment goes back to waiting: `tts-batch retry` goes on once the store is mended."""
        truth = self._context.truth

        def stop_job() -> None:
            if truth.job(task.job).state not in FINAL_JOB_STATES:
                truth.move_job(task.job, JobState.FAILED, reason=str(error))

        with suppress(UnknownJob, IllegalMove):  # somebody ended it before us
            self._insist(stop_job, f"job {task.job} is to be stopped")
        self._give_back([task.ref])

    def _give_back(self, refs: list[str]) -> None:
        self._insist(lambda: self._context.truth.give_back(self._worker, refs), f"{len(refs)} dropped segments wait")

    def _discard(self, voicing: Voicing) -> None:
        if voicing.task.live and voicing.chunks:
            task = voicing.task
            chunk = AudioChunk.discarding(
                task.segment, task.take, chunk=voicing.chunks, sample_rate_hz=voicing.sample_rate_hz
            )
            self._stream(AudioChunkOf(task.job, chunk))

    def _report(self, results: list[SegmentResult]) -> None:
        """Tell the truth and count what it took; the takes are safe in the store."""
        if not results:
            return
        accepted = self._insist(
            lambda: self._context.truth.finish(self._worker, results), f"{len(results)} results wait"
        )
        fresh = [result for result, new in zip(results, accepted or [], strict=False) if new]
        self.segments_done += len(fresh)
        self.audio_s += sum(map(audio_s_of, fresh))

    def _insist(self, call: Callable[[], T], what: str) -> T | None:
        """Call the truth, again and again while the broker is away; None when we were declared dead or are closing."""
        while not self.fenced.is_set():
            try:
                return call()
            except Fenced:
                self.fenced.set()
            except BrokerUnavailable as error:
                log.warning("broker away, %s: %s", what, error)
                if self._closing.wait(BROKER_WAIT_S):
                    return None
        return None


@dataclass(frozen=True, slots=True)
class AudioChunkOf:
    """A live chunk and the job whose stream it goes to."""

    job: str
    chunk: AudioChunk


@dataclass(frozen=True, slots=True)
class _Release:
    """Segments that are not held any more."""

    refs: list[str]


_Entry = AudioChunkOf | Spoken | _Release | SegmentResult


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
