"""The end of a batch: an output file of what was spoken and an error file of what was not, in the order of the input.

May be broken off anywhere and done again, by several servers at once too: the files have the same names and lines.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import BinaryIO
from urllib.parse import quote

import soundfile

from jobs import keys
from jobs.assembly.timeline import seconds_of
from jobs.batches.desk import BrokenOff, Desk
from jobs.batches.ids import FILE, derived, request_id
from jobs.batches.outcomes import Spoken, Unspoken, audio_key, item_key, outcomes_of
from jobs.batches.records import (
    AudioIn,
    BatchRecord,
    Counts,
    End,
    FileRecord,
    Line,
    Purpose,
    Status,
    Stop,
    Submitted,
    Why,
    read_of,
)
from jobs.errors import ObjectDamaged, ObjectMissing
from jobs.live_formats import LiveEncoder, LiveFormat

MAX_INLINE_BYTES = 32 * 1024 * 1024
"""Longer audio is told by its URL alone: whoever reads a line holds it in memory."""
log = logging.getLogger(__name__)
_BLOCK_SAMPLES = 1 << 16
_BLOCK_BYTES = 1 << 20
_STOPPED = {
    Why.CANCELLED: ("batch_cancelled", "the batch was cancelled before this line was spoken"),
    Why.EXPIRED: ("batch_expired", "the batch's time was up before this line was spoken"),
}
_JOB_STOPPED = Unspoken("job_cancelled", "the job of this line was cancelled before it was spoken")
_LOST = Unspoken("audio_lost", "its audio was deleted or damaged before the batch ended")
_ENDS = {Why.CANCELLED: Status.CANCELLED, Why.EXPIRED: Status.EXPIRED}


@dataclass
class _Output:
    """One of the two files while it is written."""

    record: FileRecord
    file: BinaryIO
    lines: int = 0

    def add(self, line: bytes) -> None:
        """One line."""
        self.file.write(line + b"\n")
        self.lines += 1


@dataclass
class _Ending:
    """One go at the end of a batch."""

    desk: Desk
    record: BatchRecord
    submitted: Submitted
    stop: Stop | None
    stopped: Callable[[], bool]
    now: int = 0
    outcomes: dict[int, Spoken | Unspoken] = field(default_factory=dict)

    def find_outcomes(self) -> None:
        """What became of every line that is in a job."""
        by_job = self.desk.lines(self.record.id).by_job
        for place, part in enumerate(self.submitted.jobs):
            self.check()
            self.outcomes |= outcomes_of(self.desk, by_job.get(place, []), part)

    def check(self) -> None:
        """Raise BrokenOff if the server stops."""
        if self.stopped():
            raise BrokenOff

    def write(self) -> tuple[_Output, _Output]:
        """Write both files; one without a line is no file."""
        with ExitStack() as stack:
            good, bad = (self._output(stack, name) for name in ("output", "errors"))
            for line in self.desk.lines(self.record.id).all:
                self.check()
                self._line(line, good, bad)
            if read_of(self.desk.store, self.record.id, End) is not None:
                raise BrokenOff  # another server was faster: its files are told of, or deleted already
        for output in (good, bad):
            if output.lines:
                size_bytes = self.desk.store.size_bytes(keys.file_content(output.record.id))
                self.desk.files.add(output.record.model_copy(update={"bytes": size_bytes}))
            else:
                self.desk.store.delete(keys.file_content(output.record.id))
        return good, bad

    def _output(self, stack: ExitStack, name: str) -> _Output:
        batch = self.record.id
        record = FileRecord(
            id=derived(FILE, batch, name),
            bytes=0,
            created_at=self.now,
            filename=f"{batch}_{name}.jsonl",
            purpose=Purpose.BATCH_OUTPUT,
            expires_at=self.now + self.record.output_kept_s,
            batch=batch if name == "output" else "",
        )
        path = stack.enter_context(self.desk.store.writer(keys.file_content(record.id)))
        return _Output(record, stack.enter_context(path.open("wb")))

    def _line(self, line: Line, good: _Output, bad: _Output) -> None:
        outcome = self.outcomes.get(line.line, Unspoken())
        if line.error is not None:
            error = line.error
            body = {"message": error.message, "type": _type(error.status), "param": error.param, "code": error.code}
            bad.add(self._answer(line, error.status, {"error": body}))
        elif isinstance(outcome, Spoken):
            try:
                good.add(self._spoken(line, outcome))
            except (ObjectMissing, ObjectDamaged) as error:
                log.warning("line %d of batch %s: %s", line.line, self.record.id, error)
                bad.add(self._failure(line, _LOST))
        else:
            bad.add(self._failure(line, outcome))

    def _spoken(self, line: Line, spoken: Spoken) -> bytes:
        """A line that has audio. Raises ObjectMissing, ObjectDamaged."""
        audio_format = line.audio_format or LiveFormat.MP3
        part = self.submitted.jobs[line.job]
        key, source = audio_key(self.record.id, line, part), item_key(line, part)
        if key != source and not self.desk.store.exists(key):
            self._convert(source, key, audio_format)
        size_bytes, digest = self._measured(key)
        body = {
            "object": "audio.speech",
            "audio_url": audio_url(self.record.id, line.custom_id),
            "format": audio_format.value,
            "seconds": seconds_of(spoken.samples, spoken.sample_rate_hz),
            "sample_rate_hz": audio_format.rate_hz(spoken.sample_rate_hz),
            "bytes": size_bytes,
            "sha256": digest,
            "grade": spoken.grade.value,
            "takes": spoken.takes,
        }
        if self.record.audio is AudioIn.INLINE and size_bytes <= MAX_INLINE_BYTES:
            body["audio"] = base64.b64encode(self.desk.store.get(key)).decode()
        return self._answer(line, 200, body)

    def _convert(self, source: str, key: str, audio_format: LiveFormat) -> None:
        """From the flac of a line to a format that jobs do not write. Raises ObjectMissing, ObjectDamaged."""
        try:
            with self.desk.store.open(source) as file, soundfile.SoundFile(file) as sound:
                encoder = LiveEncoder(audio_format, sound.samplerate)
                with self.desk.store.writer(key) as path, path.open("wb") as target:
                    for block in sound.blocks(_BLOCK_SAMPLES, dtype="int16"):
                        target.write(encoder.add(block))
                    target.write(encoder.close())
        except soundfile.LibsndfileError as error:
            msg = f"{source} in {self.desk.store.url} cannot be decoded: {error}"
            raise ObjectDamaged(msg) from error

    def _measured(self, key: str) -> tuple[int, str]:
        """Size and SHA-256 of an object."""
        digest, size_bytes = hashlib.sha256(), 0
        with self.desk.store.open(key) as file:
            while block := file.read(_BLOCK_BYTES):
                digest.update(block)
                size_bytes += len(block)
        return size_bytes, digest.hexdigest()

    def _failure(self, line: Line, outcome: Unspoken) -> bytes:
        """A line that was not spoken: as an answer of the speech route where it failed there, else as an error."""
        if not outcome.code and self.stop is not None:
            outcome = Unspoken(*_STOPPED[self.stop.why])
        outcome = outcome if outcome.code else _JOB_STOPPED
        error = {"code": outcome.code, "message": outcome.message}
        return _dump(self._named(line) | {"response": None, "error": error})

    def _answer(self, line: Line, status: int, body: object) -> bytes:
        named = self._named(line)
        response = {"status_code": status, "request_id": named["id"], "body": body}
        return _dump(named | {"response": response, "error": None})

    def _named(self, line: Line) -> dict[str, object]:
        return {"id": request_id(self.record.id, line.line), "custom_id": line.custom_id}


def end_batch(
    desk: Desk, record: BatchRecord, submitted: Submitted, stop: Stop | None, stopped: Callable[[], bool]
) -> End:
    """Write the files of a batch whose jobs are over; returns its end, which the caller keeps.

    Raises:
        BrokenOff: `stopped`.
        StoreError, BrokerUnavailable: it can be tried again.
    """
    ending = _Ending(desk, record, submitted, stop, stopped, now=int(desk.clock()))
    ending.find_outcomes()
    good, bad = ending.write()
    return End(
        status=Status.COMPLETED if stop is None else _ENDS[stop.why],
        at=int(desk.clock()),
        finalizing_at=ending.now,
        counts=Counts(total=submitted.total, completed=good.lines, failed=bad.lines),
        output_file_id=good.record.id if good.lines else None,
        error_file_id=bad.record.id if bad.lines else None,
    )


def audio_url(batch: str, custom_id: str) -> str:
    """Path of the audio of a line, below the server's address."""
    return f"/v1/batches/{batch}/audio/{quote(custom_id, safe='')}"


def _type(status: int) -> str:
    """The `type` that goes with a status in errors of OpenAI's form."""
    return "not_found_error" if status == 404 else "invalid_request_error"


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
