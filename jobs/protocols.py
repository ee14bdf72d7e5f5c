"""The walls of this room: Truth (jobs, queue, workers, outbox), Streams (events, live audio), Store (objects).

Each has a Redis or folder back end and a memory one; one contract suite runs over both (`tests/contract/`).
Every method of Truth that changes something is one atomic move: it happens whole or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from jobs.events import AudioChunk, Event
from jobs.messages import Beat, Depth, News, Seen, Step, StepKind, Verdict
from jobs.spec import JobRecord, SegmentResult, SegmentTask, WorkerInfo, WorkerStatus
from jobs.state import JobState

__all__ = ["Beat", "Depth", "News", "Seen", "Step", "StepKind", "Store", "Streams", "Truth", "Verdict"]


class Truth(Protocol):
    """Where every job and segment is. `jobs.keys` lists what the Redis back end keeps."""

    # ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────
    def create_job(self, record: JobRecord) -> bool:
        """Register a job in PLANNING and put its PLAN step into the outbox. False: a job of that id exists already."""

    def speak(self, record: JobRecord, tasks: Sequence[SegmentTask]) -> bool:
        """Register a speech request and queue its segments, in one move. False: a job of that id exists already.

        It is a job of class LIVE whose takes are all it makes: no step of it is called for, `jobs()` does not list it,
        and with its last segment it is DONE (or DONE_WITH_FAILURES). All that is kept of it goes away SPEECH_TTL_S
        after its end; where `still_wanted` is not said of it for SPEECH_WANTED_S, `sweep` gives it up (FAILED). Those
        that wait are begun in the order they came, their tasks have `speech` set. It can be cancelled or fail; all
        other moves of whole jobs raise IllegalMove. Raises ValueError: not of class LIVE, no tasks, one of another job,
        or one that comes twice.
        """

    def still_wanted(self, jobs: Sequence[str]) -> None:
        """Say that somebody waits for these speech requests. Those that are over, or not there, are passed over."""

    def job(self, job: str) -> JobRecord:
        """The record of one job. Raises UnknownJob."""

    def jobs(self) -> list[JobRecord]:
        """All jobs but speech requests, oldest first."""

    def newest_jobs(
        self, limit: int, *, after: str | None = None, states: Collection[JobState] = ()
    ) -> list[JobRecord]:
        """Up to `limit` jobs, newest first: after the one of an id, and only those in one of some states (none named:
        in any). Reads the records of no others. Raises UnknownJob: no job has the id.
        """

    def job_states(self) -> Counter[JobState]:
        """How many jobs but speech requests are in each state. Reads no records."""

    def assembled(self, job: str) -> frozenset[int]:
        """The chapters of a job whose audio is in the store; none for a job that is not there."""

    def enqueue(self, job: str, tasks: Sequence[SegmentTask], finished: Sequence[SegmentResult]) -> None:
        """Queue a planned job's segments; `finished` are those whose take is already in the store.

        Moves PLANNING to QUEUED (or to ASSEMBLING with all its ASSEMBLE steps when nothing is left to speak).
        Repeating it for a job that is past PLANNING (or paused) changes nothing: a plan step may run twice.
        """

    def move_job(self, job: str, state: JobState, *, reason: str = "") -> JobState:
        """Change a job's state and write its event; returns the state before. The same state again is no move.

        Raises UnknownJob, IllegalMove (also for the end of a job one of whose chapters is not assembled).
        """

    def pause(self, job: str) -> None:
        """Hold a job: its waiting segments are not leased. Raises UnknownJob, IllegalMove."""

    def unpause(self, job: str) -> None:
        """Let a paused job go on. Raises UnknownJob; a job that is not paused is left alone."""

    def cancel(self, job: str) -> int:
        """Take a job back: waiting segments vanish (how many is returned), held ones are dropped by their worker."""

    def retry_failed(self, job: str, again: Sequence[SegmentTask] = (), *, others: bool = True) -> int:
        """Put the failed segments of a DONE_WITH_FAILURES (or FAILED) job back; returns how many segments.

        `again` are tasks that take the place of those that failed segments keep; a done segment among them goes back
        too. A segment that failed by `rule` keeps no task: it goes back only with one. What waits already is left.
        `others`: failed segments that are not among `again` go back as well, with the task that they keep.

        Raises UnknownJob, IllegalMove, ValueError.
        """

    def rule(self, job: str, chapter: int, settled: Sequence[SegmentResult], again: Sequence[SegmentTask]) -> int:
        """Apply what the checks of a complete chapter found; returns how many of its segments are not finished now.

        `settled` are whole results that replace those of done segments (a settled one may have failed), `again` are
        whole tasks of done segments that are to be spoken anew. What is not done any more, or settled already, is left
        alone; in a chapter that is not complete, or assembled already, so is everything. 0 says that the chapter can be
        assembled; else its ASSEMBLE step comes when its last segment is finished, as ever. An ASSEMBLING job that gets
        segments to speak is QUEUED again. Repeating it changes nothing.

        Raises UnknownJob, IllegalMove (the job is over), ValueError.
        """

    def put_checks(self, job: str, chapter: int, parts: Sequence[int]) -> None:
        """CHECK steps for parts of a complete chapter, or (no parts) its ASSEMBLE step, into the outbox.

        The chapter moved forward, so it is forgotten how often steps that came to their end by this were started: with
        parts its ASSEMBLE, without any its CHECKs. Nothing happens if the chapter is not complete or is assembled, or
        the job is over. Raises UnknownJob.
        """

    def speak_again(self, job: str, tasks: Sequence[SegmentTask]) -> int:
        """Put done segments whose take is missing or damaged back to waiting; returns how many.

        `tasks` are those segments, whole (a done one's task is not kept); what is not done is left alone. A job that is
        ASSEMBLING or FAILED goes back to QUEUED; one that is at work or paused stays so.

        Raises UnknownJob, IllegalMove (it is at another end), ValueError.
        """

    def step_started(self, job: str, kind: StepKind, chapter: int | None, part: int | None = None) -> int:
        """Count the start of a step since its job last moved forward (1: the first): who dies again and again is seen.

        Begins anew when the chapter is assembled or segments of it go back (`rule`), the job is planned, at its end or
        tried again. 0, and nothing is counted: the truth does not call for this step (any more), it can be left undone.
        Raises UnknownJob.
        """

    def chapter_assembled(self, job: str, chapter: int) -> None:
        """Note that a chapter's audio is in the store; after the last one the FINISH step goes to the outbox."""

    def results(self, job: str) -> dict[int, SegmentResult]:
        """Every done or failed segment of a job by its index."""

    def forget(self, job: str) -> None:
        """Delete all that is kept of a job, its streams too. Raises UnknownJob; IllegalMove if it is not final."""

    # ── machine room ─────────────────────────────────────────────────────────────────────────────────────────────
    def register(self, info: WorkerInfo) -> None:
        """Make a worker known; it must do this before it leases."""

    def beat(self, worker: str, beat: Beat) -> frozenset[str]:
        """Heartbeat; returns the jobs among those it holds that were cancelled. Raises Fenced."""

    def lease(self, worker: str, want: int, *, live_only: bool = False) -> list[SegmentTask]:
        """Take up to `want` waiting segments of the worker's models, in fair order (see `truth/scripts/lease.lua`).

        Raises Fenced.
        """

    def finish(self, worker: str, results: Sequence[SegmentResult]) -> list[bool]:
        """Report done or failed segments; False for each that was finished already or whose job is gone.

        Writes the events, counts the chapter down and, at its last segment, puts ASSEMBLE into the outbox (of a
        DONE_WITH_FAILURES job that was retried too). Raises Fenced.
        """

    def give_back(self, worker: str, refs: Sequence[str] | None = None) -> int:
        """Put held segments back to waiting, in front (all of them with None); nobody is blamed. Returns how many."""

    def crashed(self, worker: str) -> Verdict:
        """The worker's process died while it held segments: apply the poison rule and bury the worker."""

    def retire(self, worker: str) -> None:
        """A worker says good-bye: give back what it holds and take it off the list."""

    def sweep(self) -> list[str]:
        """Bury workers whose heartbeat is too old (nobody is blamed), give up requests (`speak`), mend counts.

        Returns the buried workers.
        """

    def holding(self, worker: str) -> frozenset[str]:
        """What a worker holds, as `<job>|<segment>`; nothing for one that is not known.

        A worker compares it with what it has in its hands: a server that is killed may forget what it had confirmed,
        and what nobody has must be given back.
        """

    def totals(self) -> Counter[str]:
        """What was counted since the truth began, by the names in `jobs/figures.py`."""

    def count(self, totals: Mapping[str, int]) -> None:
        """Add to the totals: of what the truth itself does not see. After a lost reply it may be counted twice."""

    def workers(self) -> list[WorkerStatus]:
        """All living workers."""

    def depth(self) -> Depth:
        """How much waits and is held: one call, whatever the number of jobs. Suspects wait in their own class."""

    def wait_for_work(self, timeout_s: float) -> bool:
        """Sleep until something was queued, or until the time is up (False)."""

    # ── outbox ───────────────────────────────────────────────────────────────────────────────────────────────────
    def take_steps(self, consumer: str, *, limit: int, timeout_s: float) -> list[Step]:
        """Steps to hand to the CPU workers, oldest first; also those another consumer took and never confirmed."""

    def step_sent(self, step: Step) -> None:
        """Confirm that a step was handed over."""

    def reconcile(self, *, quiet_s: float | None = None) -> list[Step]:
        """Put steps back into the outbox that the truth calls for but that got lost; returns them.

        Called by CPU workers now and then: a PLANNING job without plan, a complete chapter that is not assembled, an
        ASSEMBLING job that is not finished, when nothing about the job changed for `quiet_s` (None: a good while); and
        what somebody took and did not confirm for as long. 0: at once, for whoever knows that nobody else works on
        them. Steps are idempotent.
        """


class Streams(Protocol):
    """Live logs of a job, read with plain ids: a reader that was cut off goes on after the last id it saw."""

    def events(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, Event]]:
        """Events after an id, oldest first; waits up to `timeout_s` for the first."""

    def write_audio(self, job: str, chunk: AudioChunk) -> str:
        """Append one chunk; returns its id.

        Over the job's bound its oldest chunks go; over that of all, those of finished jobs (oldest end first), then its
        own. Its newest chunk stays.
        """

    def audio(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, AudioChunk]]:
        """Audio chunks after an id, oldest first; `after="$"` means from now on."""

    def news(self, after: Mapping[str, Seen], *, timeout_s: float) -> dict[str, News]:
        """What is new in many jobs in one call: of each job what came after the ids that were seen of it.

        Jobs without news are missing. Waits up to `timeout_s` for the first news of any of them (where no stream is
        wanted, there is nothing to wait for). At most EVENTS_PER_READ events and CHUNKS_PER_READ chunks of each, and
        fewer of each where many are asked for: ask again with the new ids for more.
        """


class Store(Protocol):
    """Objects by key (`takes/ab/abcd….flac`). An object appears whole or not at all."""

    url: str

    def put(self, key: str, data: bytes) -> None:
        """Write a small object. Raises StoreError (no space, no permission) and leaves nothing behind."""

    def writer(self, key: str) -> AbstractContextManager[Path]:
        """A local temporary file to write; leaving the block without an error makes it the object.

        Raises ObjectChanged (at the end): somebody else wrote or deleted the object since the block was entered. Theirs
        stays: who was frozen for a while must not undo what was done meanwhile.
        """

    def get(self, key: str) -> bytes:
        """A whole small object. Raises ObjectMissing."""

    def open(self, key: str) -> AbstractContextManager[BinaryIO]:
        """A seekable reader. Raises ObjectMissing."""

    def exists(self, key: str) -> bool:
        """Whether the object is there, whole."""

    def size_bytes(self, key: str) -> int:
        """Raises ObjectMissing."""

    def list(self, prefix: str) -> Iterator[str]:
        """Keys under a prefix, sorted."""

    def delete(self, key: str) -> None:
        """Remove an object; a missing one is no error."""

    def sweep_unfinished(self, *, older_than_s: float) -> int:
        """Remove what dead writers left behind (temporary files, uploads that nobody ends); returns how many.

        Only what is older, and what no living process of this host works on.
        """


@runtime_checkable
class Presigns(Protocol):
    """What a store may have beside `Store`: readers fetch objects from the store itself."""

    def presigned_url(self, key: str, ttl_s: int, *, filename: str, media_type: str) -> str:
        """An address at which anybody can read the object for so long, as a file of that name and type."""
