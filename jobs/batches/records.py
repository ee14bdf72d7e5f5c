"""What is kept of files and batches: small write-once objects; all else is read from the jobs of a batch.

| object of a batch | written | content |
|---|---|---|
| batch.json | when it is created | BatchRecord |
| offers.json | before its lines are judged | Pinned: what the workers spoke at that moment |
| lines.jsonl, then jobs.json | when all its jobs are accepted | a Line each; Submitted |
| stop.json | when it is cancelled or its time is up | Stop |
| end.json | at its end | End |

Whoever finds one of them goes on from there, so a server may die anywhere and several may work side by side: they would
write the same.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from pydantic import Field, ValidationError

from jobs import keys
from jobs.errors import ObjectDamaged, ObjectMissing
from jobs.live_formats import LiveFormat
from jobs.protocols import Store
from jobs.spec import Frozen, ModelOffer

ENDPOINT = "/v1/audio/speech"
"""What the lines of a batch ask for."""
DEFAULT_KEPT_S = 30 * 86_400
"""How long files are kept when nobody says otherwise: as OpenAI keeps those of batches."""
MAX_WINDOW_S = 30 * 86_400
"""Longest time that a batch may take."""
MIN_KEPT_S = 3600
MAX_KEPT_S = 30 * 86_400
RECORDS_KEPT_S = MAX_KEPT_S
"""How long a batch is told of after its end: not shorter than any file of it is kept."""


class Purpose(StrEnum):
    """What a file is for."""

    BATCH = "batch"
    """The lines of a batch, uploaded."""
    BATCH_OUTPUT = "batch_output"
    """What came of a batch."""


class FileRecord(Frozen):
    """A file. Times are whole seconds since 1970. `batch`: whose converted audio is deleted with it, if any's is."""

    id: str
    bytes: int
    created_at: int
    filename: str
    purpose: Purpose
    expires_at: int
    batch: str = ""


class AudioIn(StrEnum):
    """How the audio of a line is given in the output file."""

    URL = "url"
    INLINE = "inline"


class Status(StrEnum):
    """Where a batch is, in OpenAI's words."""

    VALIDATING = "validating"
    FAILED = "failed"
    IN_PROGRESS = "in_progress"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    EXPIRED = "expired"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"


class BatchRecord(Frozen):
    """What was asked for. `window` is the time to `expires_at`, as written; `output_kept_s` is for its files."""

    id: str
    input_file_id: str
    created_at: int
    expires_at: int
    window: str
    metadata: dict[str, str] | None = None
    audio: AudioIn = AudioIn.URL
    output_kept_s: int = DEFAULT_KEPT_S


class Pinned(Frozen):
    """What the lines of a batch are judged by, whoever does it and how often: offers, and other names of theirs."""

    offers: tuple[ModelOffer, ...]
    aliases: dict[str, str] = Field(default_factory=dict)


class LineError(Frozen):
    """Why a line was not accepted: the status and the error that the speech route would have answered with."""

    status: int
    code: str
    message: str
    param: str | None = None


class Line(Frozen):
    """One line of the input, `line` counted from 1: the place of its job among the batch's jobs, its first segment
    there and how many it has; or why it is in none."""

    line: int
    custom_id: str
    audio_format: LiveFormat | None = None
    job: int = 0
    segment: int = 0
    segments: int = 0
    error: LineError | None = None


class PartJob(Frozen):
    """One job of a batch: an item for each line in it."""

    job: str
    items: int
    segments: int


class Submitted(Frozen):
    """All jobs of a batch, in order. `total` lines, of which `rejected` are in no job."""

    at: int
    jobs: tuple[PartJob, ...]
    total: int
    rejected: int


class Why(StrEnum):
    """Why a batch was stopped before it was done."""

    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Stop(Frozen):
    """That a batch is not to go on, since when."""

    why: Why
    at: int


class BatchError(Frozen):
    """What is wrong with an input file, in the form of OpenAI's API."""

    code: str
    message: str
    line: int | None = None
    param: str | None = None


class Counts(Frozen):
    """Lines of a batch."""

    total: int = 0
    completed: int = 0
    failed: int = 0


class End(Frozen):
    """How a batch ended. `finalizing_at` is None where there was nothing to write."""

    status: Status
    at: int
    counts: Counts = Counts()
    finalizing_at: int | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: tuple[BatchError, ...] = ()


Kept = TypeVar("Kept", bound=Frozen)


def write(store: Store, key: str, record: Frozen) -> None:
    """Keep a record. Raises StoreError."""
    store.put(key, record.model_dump_json().encode())


def read(store: Store, key: str, kind: type[Kept]) -> Kept | None:
    """A record, None if there is none.

    Raises:
        ObjectDamaged: what is there is no such record.
    """
    try:
        return kind.model_validate_json(store.get(key))
    except ObjectMissing:
        return None
    except ValidationError as error:
        msg = f"{key} in {store.url} is not a {kind.__name__}: {error}; delete it and ask again"
        raise ObjectDamaged(msg) from error


def read_of(store: Store, batch: str, kind: type[Kept]) -> Kept | None:
    """The record of a kind that a batch has, None if it has none yet. Raises ObjectDamaged."""
    return read(store, keys.batch_object(batch, OBJECTS[kind]), kind)


def write_of(store: Store, batch: str, record: Frozen) -> None:
    """Keep a record of a batch. Raises StoreError."""
    write(store, keys.batch_object(batch, OBJECTS[type(record)]), record)


OBJECTS: dict[type[Frozen], str] = {
    BatchRecord: "batch.json",
    Pinned: "offers.json",
    Submitted: "jobs.json",
    Stop: "stop.json",
    End: "end.json",
}
"""The name of the object of each record of a batch."""
LINES = "lines.jsonl"
"""That of its lines."""
