"""What the host knows of each slot: ids drawn and asked for, budget, prompt, when the next codec window is whole.

Arrays over slots, so that a step of hundreds of rows is a few numpy operations. A slot's `generation` goes up when it
changes hands: ids that were asked for by an earlier owner are told by it and dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.request import FinishReason
from engine.tokens.inputs import TokenInputs
from engine.tokens.program import Depth, Ids


@dataclass(frozen=True, slots=True)
class Noted:
    """What came of one launch: slots that ended and by what, slots with a whole window, how many ids were kept.

    The reasons: STOP by a stop id, ERROR when nothing could be drawn, BUDGET when all was drawn that may be. What was
    drawn last is part of the speech only with BUDGET.
    """

    ended: list[tuple[int, FinishReason]]
    whole: list[int]
    kept: int


class Ledger:
    """The slots' books. A slot is opened when its prompt is prefilled and closed when its request leaves."""

    def __init__(
        self, num_slots: int, *, max_tokens: int, stop_ids: tuple[int, ...], depth: Depth | None = None
    ) -> None:
        """With a `depth` an id is a whole frame, whose first code may be a stop id."""
        self._ids = np.zeros((num_slots, max_tokens, *(() if depth is None else (depth.codes,))), np.int32)
        self._drawn = np.zeros(num_slots, np.int32)
        self._asked = np.zeros(num_slots, np.int32)
        self._budget = np.zeros(num_slots, np.int32)
        self._prompt = np.zeros(num_slots, np.int32)
        self._due = np.zeros(num_slots, np.int64)
        self._generation = np.zeros(num_slots, np.int64)
        self._stops = np.array(stop_ids, np.int32)

    def open(self, slot: int, inputs: TokenInputs, *, due_tokens: int) -> None:
        """A request's prompt goes into the slot; its first codec window is whole at `due_tokens` ids."""
        self._drawn[slot] = self._asked[slot] = 0
        self._budget[slot] = inputs.budget_tokens
        self._prompt[slot] = len(inputs.ids)
        self._due[slot] = due_tokens

    def close(self, slot: int) -> None:
        """The slot's request has left; what is still drawn for it does not count."""
        self._generation[slot] += 1

    def due(self, slot: int, due_tokens: int) -> None:
        """The slot's next codec window is whole at that many ids."""
        self._due[slot] = due_tokens

    def drawn(self, slot: int) -> int:
        """How many ids of the slot were read; what ended it is not counted."""
        return int(self._drawn[slot])

    def ids(self, slot: int) -> Ids:
        """The ids of the slot, those not read yet included: a view of [max_tokens] or [max_tokens, codes] int32."""
        view: Ids = self._ids[slot]
        return view

    def to_decode(self, slots: list[int]) -> tuple[Ids, Ids]:
        """Those of `slots` that have not asked for their whole budget, and rows in KV once the next one is kept."""
        rows = np.array(slots, np.int32)
        rows = rows[self._asked[rows] < self._budget[rows]]
        return rows, self._prompt[rows] + self._asked[rows]

    def asked(self, slots: Ids) -> npt.NDArray[np.int64]:
        """One more id was asked for in each slot; the generations to compare when it is read."""
        self._asked[slots] += 1
        generations: npt.NDArray[np.int64] = self._generation[slots]
        return generations

    def note(self, slots: Ids, ids: Ids, generations: npt.NDArray[np.int64]) -> Noted:
        """Keep the ids of a launch [n] or [n, codes], those of slots that have not changed hands since.

        A (first) id of -1: nothing could be drawn.
        """
        mine = self._generation[slots] == generations
        slots, ids = slots[mine], ids[mine]
        first = ids if ids.ndim == 1 else ids[:, 0]
        speech = (first >= 0) & ~np.isin(first, self._stops)
        self._ids[slots, self._drawn[slots]] = ids
        self._drawn[slots] += speech
        over = ~speech | (self._drawn[slots] >= self._budget[slots])
        ended = [(int(slots[row]), self._reason(int(first[row]))) for row in np.flatnonzero(over)]
        running = slots[~over]
        whole = running[self._drawn[running] >= self._due[running]].tolist()
        return Noted(ended, whole, int(speech.sum()))

    def _reason(self, last_id: int) -> FinishReason:
        if last_id < 0:
            return FinishReason.ERROR
        return FinishReason.STOP if last_id in self._stops else FinishReason.BUDGET
