"""Batches as they are asked for and looked at: create, get, list, cancel, and the audio of a line.

batches = Batches(desk)
record = batches.create(Order(input_file_id=file.id))
batches.get(record.id).status
"""

from __future__ import annotations

from dataclasses import dataclass

from jobs import keys
from jobs.batches.desk import Desk
from jobs.batches.ids import BATCH, is_id, made_at_s, new_id, request_id
from jobs.batches.opening import cancel_jobs
from jobs.batches.outcomes import audio_key, counts_now, jobs_over
from jobs.batches.records import (
    DEFAULT_KEPT_S,
    OBJECTS,
    RECORDS_KEPT_S,
    AudioIn,
    BatchRecord,
    Counts,
    End,
    Purpose,
    Status,
    Stop,
    Submitted,
    Why,
    read_of,
    write_of,
)
from jobs.batches.windows import window_s
from jobs.errors import BadOption, IllegalMove, UnknownBatch
from jobs.live_formats import LiveFormat

RECORD = OBJECTS[BatchRecord]
"""What makes a batch one: nobody is told of it without."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a caller asks for. `window` is `<n>h` or `<n>d`; the output files are kept for `output_kept_s`."""

    input_file_id: str
    window: str = "24h"
    metadata: dict[str, str] | None = None
    audio: AudioIn = AudioIn.URL
    output_kept_s: int = DEFAULT_KEPT_S


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch at this moment. Times are seconds since 1970, None for what has not happened."""

    record: BatchRecord
    status: Status
    counts: Counts
    submitted: Submitted | None
    stop: Stop | None
    end: End | None


@dataclass(frozen=True, slots=True)
class LineAudio:
    """Where the audio of a line is. `version` changes if it is made anew: its job was tried again."""

    key: str
    audio_format: LiveFormat
    version: str


@dataclass(frozen=True, slots=True)
class Batches:
    """The batches of one store. Holds nothing: several servers may work beside each other."""

    desk: Desk

    def create(self, order: Order) -> BatchRecord:
        """Take a batch on; it is looked at by the next round of a clerk.

        Raises:
            UnknownFile: there is no such file.
            BadOption: the file is not one of requests, or the window is not allowed.
            StoreError: the store refused.
        """
        length_s, now_s = self.check(order), self.desk.clock()
        record = BatchRecord(
            id=new_id(BATCH, now_s),
            input_file_id=order.input_file_id,
            created_at=int(now_s),
            expires_at=int(now_s) + length_s,
            window=order.window,
            metadata=order.metadata,
            audio=order.audio,
            output_kept_s=order.output_kept_s,
        )
        self.desk.store.put(keys.open_batch(record.id), b"")  # before the batch itself: none is left lying
        write_of(self.desk.store, record.id, record)
        return record

    def check(self, order: Order) -> int:
        """Whether an order can be taken on, its lines aside; returns its window in seconds.

        Raises:
            UnknownFile: there is no such file.
            BadOption: the file is not one of requests, or the window is not allowed.
        """
        file = self.desk.files.get(order.input_file_id)
        if file.purpose is not Purpose.BATCH:
            msg = f"file {file.id} has purpose {file.purpose}; a batch reads one that was uploaded with purpose batch"
            raise BadOption(msg)
        return window_s(order.window)

    def get(self, batch: str) -> Batch:
        """A batch as it is now. Raises UnknownBatch."""
        return self._now(self.record(batch))

    def record(self, batch: str) -> BatchRecord:
        """What was asked for. Raises UnknownBatch."""
        record = read_of(self.desk.store, batch, BatchRecord) if is_id(BATCH, batch) else None
        if record is None:
            msg = f"no batch {batch!r}; see GET /v1/batches"
            raise UnknownBatch(msg)
        return record

    def page(self, *, after: str | None, limit: int) -> tuple[list[Batch], bool]:
        """Batches that are older than `after`, newest first, and whether there are more. Raises UnknownBatch."""
        if after is not None:
            self.record(after)
        names = [batch for batch, kept in self._kept().items() if RECORD in kept]
        wanted = [name for name in reversed(names) if after is None or name < after]
        return [self.get(name) for name in wanted[:limit]], len(wanted) > limit

    def cancel(self, batch: str) -> Batch:
        """Stop a batch: nothing more of it is spoken, what is finished is kept.

        Raises:
            UnknownBatch: there is none of that id.
            IllegalMove: it has ended.
        """
        now = self.get(batch)
        if now.end is not None:
            msg = f"batch {batch} is {now.status}; only one that has not ended can be cancelled"
            raise IllegalMove(msg)
        if now.stop is None:
            write_of(self.desk.store, batch, Stop(why=Why.CANCELLED, at=int(self.desk.clock())))
            cancel_jobs(self.desk, batch, now.submitted)
        return self.get(batch)

    def audio(self, batch: str, custom_id: str) -> LineAudio:
        """Where the audio of a line is, as soon as it is whole.

        Raises:
            UnknownBatch: there is no such batch or line, or no audio of it (yet).
        """
        self.record(batch)
        submitted = read_of(self.desk.store, batch, Submitted)
        line = None if submitted is None else self.desk.lines(batch).by_id.get(custom_id)
        if submitted is None or line is None or line.error is not None:
            msg = f"batch {batch} has no line {custom_id!r} that is spoken; its error file tells why, when it has ended"
            raise UnknownBatch(msg)
        key = audio_key(batch, line, submitted.jobs[line.job])
        if not self.desk.store.exists(key):
            msg = (
                f"line {custom_id!r} of batch {batch} has no audio: it is not spoken yet, could not be, or was deleted"
            )
            raise UnknownBatch(msg)
        size_bytes = self.desk.store.size_bytes(key)
        return LineAudio(key, line.audio_format or LiveFormat.MP3, f"{request_id(batch, line.line)}-{size_bytes:x}")

    def expire(self) -> int:
        """Delete what is kept of batches that ended long ago; returns how many went. May be broken off and repeated."""
        store, latest_s, gone = self.desk.store, self.desk.clock() - RECORDS_KEPT_S, 0
        for batch, kept in self._kept().items():
            if not is_id(BATCH, batch) or made_at_s(batch) > latest_s:
                continue
            if RECORD in kept:  # without it, it is what another go left
                end = read_of(store, batch, End)
                if end is None or end.at > latest_s:
                    continue
            for name in sorted(kept, key=lambda name: name != RECORD):
                store.delete(keys.batch_object(batch, name))
            for key in list(store.list(keys.batch_audios(batch))):
                store.delete(key)
            gone += 1
        return gone

    def _kept(self) -> dict[str, list[str]]:
        """The names of the objects of every batch, oldest batch first."""
        found: dict[str, list[str]] = {}
        for key in self.desk.store.list(keys.BATCHES):
            batch, _, name = key.removeprefix(keys.BATCHES).partition("/")
            found.setdefault(batch, []).append(name)
        return found

    def _now(self, record: BatchRecord) -> Batch:
        store = self.desk.store
        end, stop = read_of(store, record.id, End), read_of(store, record.id, Stop)
        submitted = read_of(store, record.id, Submitted)
        if end is not None:
            return Batch(record, end.status, end.counts, submitted, stop, end)
        counts = Counts() if submitted is None else counts_now(self.desk, record.id, submitted)
        return Batch(record, self._status(stop, submitted), counts, submitted, stop, None)

    def _status(self, stop: Stop | None, submitted: Submitted | None) -> Status:
        """Where a batch is that has not ended."""
        if stop is not None:
            return Status.CANCELLING if stop.why is Why.CANCELLED else Status.FINALIZING
        if submitted is None:
            return Status.VALIDATING
        return Status.FINALIZING if jobs_over(self.desk, submitted) else Status.IN_PROGRESS
