"""The beginning of a batch: its file is looked at, its lines are judged, and those that can be spoken become jobs.

May be broken off anywhere and done again: the jobs have the same ids and are gone on with.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from jobs.batches.desk import BrokenOff, Desk
from jobs.batches.lines import FileCheck, judge, numbered_lines
from jobs.batches.parts import Part, Parting, belongs_to, draft_of, part_job, placed
from jobs.batches.records import (
    BatchError,
    BatchRecord,
    End,
    Line,
    LineError,
    PartJob,
    Pinned,
    Status,
    Stop,
    Submitted,
    read_of,
    write_of,
)
from jobs.errors import IllegalMove, UnknownFile, UnknownJob
from jobs.submit import accept

MAX_JOBS = 2_000
"""Jobs of one batch; a file whose lines are alike has one for each 2,000 of them."""
log = logging.getLogger(__name__)


@dataclass
class _Work:
    """One go at the beginning of a batch."""

    desk: Desk
    record: BatchRecord
    pinned: Pinned
    stopped: Callable[[], bool]
    parting: Parting = field(default_factory=Parting)
    lines: list[Line] = field(default_factory=list)
    jobs: list[PartJob] = field(default_factory=list)

    def check_file(self) -> tuple[BatchError, ...]:
        """What is wrong with the file as a whole."""
        check = FileCheck()
        with self.desk.files.open(self.record.input_file_id) as file:
            for number, line in numbered_lines(file):
                check.take(number, line)
                if check.over:
                    break
        return check.end()

    def submit(self) -> tuple[BatchError, ...]:
        """Judge every line and accept the jobs; what makes that impossible for the file as a whole."""
        check = FileCheck()
        with self.desk.files.open(self.record.input_file_id) as file:
            for number, line in numbered_lines(file):
                request = check.take(number, line)
                if request is None:
                    return check.end()
                asked = judge(request, self.pinned, max_chars=self.desk.max_chars)
                if isinstance(asked, LineError):
                    told = asked.model_copy(update={"message": self.desk.wording(asked.message)})
                    self.lines.append(Line(line=number, custom_id=request.custom_id, error=told))
                elif (part := self.parting.take(number, request.custom_id, asked)) is not None:
                    self._accept(part)
                if len(self.jobs) + self.parting.groups > MAX_JOBS:
                    return (_too_many_jobs(),)
        for part in self.parting.rest():
            self._accept(part)
        return ()

    def _accept(self, part: Part) -> None:
        if self.stopped() or self._is_over():
            raise BrokenOff
        store, number = self.desk.store, len(self.jobs)
        draft = draft_of(part, number + 1, batch=self.record.id, pinned=self.pinned, store_url=store.url)
        self.lines += placed(part, draft, number)
        if draft is not None:
            accept(draft, self.desk.truth, store)
            self.jobs.append(part_job(draft))
            if self._is_over():  # whoever stopped it may not have seen this job
                cancel_jobs(self.desk, self.record.id, None)
                raise BrokenOff

    def _is_over(self) -> bool:
        """Whether somebody stopped or ended the batch meanwhile."""
        store, batch = self.desk.store, self.record.id
        return read_of(store, batch, Stop) is not None or read_of(store, batch, End) is not None


def begin_batch(desk: Desk, record: BatchRecord, stopped: Callable[[], bool]) -> End | None:
    """Judge and submit a batch; its end, if its file is refused. A batch waits as long as no worker offers anything.

    Raises:
        BrokenOff: `stopped`, or the batch was stopped meanwhile.
        StoreError, BrokerUnavailable: it can be tried again.
    """
    try:
        desk.files.get(record.input_file_id)
    except UnknownFile as error:
        told = f"the input file is gone: {error}"
        return _refused(desk, BatchError(code="input_file_missing", message=told, param="input_file_id"))
    pinned = _pinned(desk, record.id)
    if pinned is None:
        return None
    work = _Work(desk, record, pinned, stopped)
    errors = work.check_file() or work.submit()
    if errors:
        return _refused(desk, *errors)
    rejected = sum(line.error is not None for line in work.lines)
    desk.write_lines(record.id, sorted(work.lines, key=lambda line: line.line))
    total, jobs = len(work.lines), tuple(work.jobs)
    write_of(desk.store, record.id, Submitted(at=int(desk.clock()), jobs=jobs, total=total, rejected=rejected))
    log.info("batch %s: %d lines in %d jobs, %d refused", record.id, total, len(jobs), rejected)
    return None


def cancel_jobs(desk: Desk, batch: str, submitted: Submitted | None) -> None:
    """Take back what is left of a batch's jobs; without a list of them all that have its name.

    Raises:
        BrokerUnavailable: the queue does not answer.
    """
    if submitted is None:
        jobs = [record.job for record in desk.truth.jobs() if belongs_to(record.spec.source_name, batch)]
    else:
        jobs = [part.job for part in submitted.jobs]
    for job in jobs:
        with suppress(UnknownJob, IllegalMove):  # it is at an end already, or deleted
            desk.truth.cancel(job)


def _pinned(desk: Desk, batch: str) -> Pinned | None:
    """What the batch is judged by: what is offered when it is first looked at, as soon as anything is."""
    pinned = read_of(desk.store, batch, Pinned)
    if pinned is not None:
        return pinned
    offers = tuple(desk.offers())
    if not offers:
        return None
    pinned = Pinned(offers=offers, aliases=dict(desk.aliases))
    write_of(desk.store, batch, pinned)
    return pinned


def _refused(desk: Desk, *errors: BatchError) -> End:
    return End(status=Status.FAILED, at=int(desk.clock()), errors=errors)


def _too_many_jobs() -> BatchError:
    told = (
        f"the lines differ in model, language, speed and response_format so much that they would be more than "
        f"{MAX_JOBS} jobs; use fewer speeds, or split the file into several batches"
    )
    return BatchError(code="too_many_groups", message=told)
