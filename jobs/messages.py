"""What is said over the walls of this room (`jobs.protocols`): steps, heartbeats, verdicts, the queue's depth, news."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from jobs.events import AudioChunk, Event
from jobs.spec import Priority


class StepKind(StrEnum):
    """The steps of a job that CPU workers do."""

    PLAN = "plan"
    CHECK = "check"
    """Listen to a part of a chapter's takes with a speech recogniser."""
    ASSEMBLE = "assemble"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of the outbox. `entry` is the outbox's own id, needed to take it off.

    `chapter` is for ASSEMBLE and CHECK; `part` (of the chapter's segments, counted from 0) for CHECK alone.
    """

    kind: StepKind
    job: str
    entry: str
    chapter: int | None = None
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Beat:
    """What a worker tells with each heartbeat: its slots in use and its totals since it started.

    `figures` are further totals by their names in `jobs/figures.py`; None: as they were told last.
    """

    slots_busy: int
    segments_done: int
    audio_s: float
    figures: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `crashed` decided about the segments a dead process held.

    `suspects` go back to be spoken again in small company, `dead` were given up (they killed a process alone),
    `returned` went back to waiting without blame. All are `<job>|<segment>` names.
    """

    returned: tuple[str, ...]
    suspects: tuple[str, ...]
    dead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Depth:
    """How much there is to do: segments that wait, by class (paused jobs aside), those that workers hold, and steps of
    jobs that were not handed to a CPU worker yet."""

    waiting: dict[Priority, int]
    held: int
    steps: int = 0

    @property
    def segments(self) -> int:
        """All that wait."""
        return sum(self.waiting.values())


@dataclass(frozen=True, slots=True)
class Seen:
    """How far somebody has read a job's two streams; `"$"`: begin now. None: this stream is not wanted."""

    event: str | None = "0"
    chunk: str | None = "0"


@dataclass(frozen=True, slots=True)
class News:
    """What came since: ids and entries, oldest first."""

    events: list[tuple[str, Event]]
    chunks: list[tuple[str, AudioChunk]]
