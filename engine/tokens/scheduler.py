"""Which waiting prompts are computed in this step, and which sizes of step there are. Pure: no torch, no clock.

Every step that computes prompts reads all weights once more, be it for 20 rows or for 200. So while most slots speak,
a bulk prompt waits a few steps for company; when slots stand empty, or somebody listens, nothing waits.

- Live requests come first, each kind in order of arrival. Nobody is left out for one that needs less memory: while
  the first in line waits for pages, those behind it wait too. So every request has its turn.
- Pages are asked for only when the whole prompt has room in this step. So who has pages is computed in the same step,
  and never after somebody who shares them (see `engine.tokens.pages`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import DuplicateRequest, UnknownRequest

SMALL_BATCHES = (1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128)
"""Decode batches that get a graph: close together where a step is short, further apart where memory traffic rules."""
MAX_ENTRIES = 32
"""Prompts in one prefill at most: as many as one graph prepares slots for."""
MIN_ROW_BUCKET = 64
"""Smallest prefill, and the step to the next: fewer rows take as long, since the weights are read either way."""
MAX_ROW_STEP = 512
"""Up to here buckets grow by the smallest one, beyond they double: large passes are rare."""


def batch_classes(num_slots: int) -> tuple[int, ...]:
    """Decode batch sizes that get a graph, ascending; the last is `num_slots`. Raises ValueError below one slot."""
    if num_slots < 1:
        msg = f"num_slots={num_slots} is not allowed; an engine needs at least one slot"
        raise ValueError(msg)
    steps = (*SMALL_BATCHES, *range(160, 513, 32), *range(576, num_slots, 64))
    return (*(size for size in steps if size < num_slots), num_slots)


def smallest_class(classes: Sequence[int], n: int) -> int:
    """The smallest of the ascending `classes` that holds n. Raises ValueError when none does."""
    for size in classes:
        if size >= n:
            return size
    msg = f"nothing holds {n}: the classes are {tuple(classes)}; ask for at most the last"
    raise ValueError(msg)


def row_buckets(max_rows: int) -> tuple[int, ...]:
    """Prefill sizes in rows that get a graph, ascending to `max_rows`. Raises ValueError below one row."""
    if max_rows < 1:
        msg = f"max_rows={max_rows} is not allowed; a prefill has at least one row"
        raise ValueError(msg)
    buckets = []
    rows = MIN_ROW_BUCKET
    while rows < max_rows:
        buckets.append(rows)
        rows = rows + MIN_ROW_BUCKET if rows < MAX_ROW_STEP else 2 * rows
    return (*buckets, max_rows)


def entries_of(rows: int) -> int:
    """How many prompts the prefill of a row bucket has room for."""
    return min(MAX_ENTRIES, max(4, rows // 16))


def bucket_for(buckets: Sequence[int], *, rows: int, entries: int) -> int:
    """The smallest of the ascending row buckets that has room for so many rows and so many prompts.

    Few rows may need a larger bucket than their number says: five prompts of ten rows do not fit into 64 rows, which
    have room for four prompts. Raises ValueError when none has room.
    """
    for bucket in buckets:
        if bucket >= rows and entries_of(bucket) >= entries:
            return bucket
    msg = f"no row bucket has room for {rows} rows of {entries} prompts; there are {tuple(buckets)}"
    raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A prompt to compute in this step: `rows` of it, those that are not shared."""

    request_id: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How prompts are put together. `max_rows` is the largest row bucket; a prefill takes at most `max_entries`
    prompts, and never more than that bucket has room for; a bulk prompt waits at most `patience_steps` steps for
    company (0: never)."""

    num_slots: int
    max_rows: int
    patience_steps: int
    max_entries: int = MAX_ENTRIES

    def __post_init__(self) -> None:
        if min(self.num_slots, self.max_rows, self.max_entries) < 1 or self.patience_steps < 0:
            msg = (
                f"num_slots={self.num_slots}, max_rows={self.max_rows}, max_entries={self.max_entries}, "
                f"patience_steps={self.patience_steps}: the first three must be at least 1, patience at least 0"
            )
            raise ValueError(msg)

    @property
    def entry_limit(self) -> int:
        """Prompts in one prefill at most."""
        return min(self.max_entries, entries_of(self.max_rows))


@dataclass(slots=True)
class _Waiting:
    """A request whose prompt is not computed. `since` is the first step that saw it."""

    request_id: str
    prompt_rows: int
    live: bool
    since: int = 0


class Scheduler:
    """The queue of prompts. A request leaves it by being chosen or by `remove`."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._waiting: dict[str, _Waiting] = {}  # in order of arrival
        self._unseen: list[_Waiting] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, request_id: str, *, prompt_rows: int, live: bool) -> None:
        """Take in a request.

        Raises:
            ValueError: its prompt has no rows or more than one prefill holds.
            DuplicateRequest: it waits already.
        """
        if not 1 <= prompt_rows <= self.policy.max_rows:
            msg = (
                f"the prompt of request {request_id!r} has {prompt_rows} rows; allowed are 1 to "
                f"{self.policy.max_rows}: cut its text or run the engine with a larger max_rows"
            )
            raise ValueError(msg)
        if request_id in self._waiting:
            msg = f"request {request_id!r} waits already; give each request an id of its own"
            raise DuplicateRequest(msg)
        entry = _Waiting(request_id, prompt_rows, live)
        self._waiting[request_id] = entry
        self._unseen.append(entry)

    def remove(self, request_id: str) -> None:
        """Forget a request that was cancelled; it has no pages yet. Raises UnknownRequest when it does not wait."""
        if request_id not in self._waiting:
            msg = f"request {request_id!r} does not wait; it was never added, was chosen or has ended"
            raise UnknownRequest(msg)
        del self._waiting[request_id]

    def prefill(self, step: int, active: int, fits: Callable[[str], int | None]) -> list[Chosen]:
        """The prompts to compute in this step; they leave the queue. Empty when nobody waits or waiting pays.

        `step` counts the engine's steps upwards. `active` slots hold requests whose prompts are computed. `fits` tries
        to reserve the pages of a request and says how many rows (1 to its prompt's) are left to compute, or None when
        there are not enough pages. Whoever gets pages is chosen, in the order in which `fits` was asked.
        """
        for entry in self._unseen:
            entry.since = step
        self._unseen.clear()
        if not self._waiting or self._company_pays(step, active):
            return []
        room = min(self.policy.entry_limit, self.policy.num_slots - active)
        rows_left = self.policy.max_rows
        chosen: list[Chosen] = []
        # Live first; sorting is stable, so it keeps the order of arrival among equals.
        for entry in sorted(self._waiting.values(), key=lambda one: not one.live):
            rows = fits(entry.request_id) if len(chosen) < room and entry.prompt_rows <= rows_left else None
            if rows is None:
                break
            chosen.append(Chosen(entry.request_id, rows))
            rows_left -= rows
        for one in chosen:
            del self._waiting[one.request_id]
        return chosen

    def _company_pays(self, step: int, active: int) -> bool:
        """True when this step should compute no prompt, because more will soon share the cost of one pass."""
        policy = self.policy
        waiting = self._waiting.values()
        if 2 * active < policy.num_slots or any(entry.live for entry in waiting):
            return False
        if len(waiting) >= policy.entry_limit or sum(entry.prompt_rows for entry in waiting) >= policy.max_rows:
            return False
        oldest = next(iter(waiting))
        return step - oldest.since < policy.patience_steps
