"""The slot table: which requests sit in the slots, and what is kept for each. Pure; knows neither programs nor audio.

`table.put("a", state)` takes a slot, `table.free("a")` gives it back. A request that sits in a slot keeps it until it
ends: nothing is ever moved or pushed out.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from engine.errors import DuplicateRequest, SlotsFull, UnknownRequest

T = TypeVar("T")


class SlotTable(Generic[T]):
    """A bounded table of what the engine keeps for each request in a slot."""

    def __init__(self, num_slots: int) -> None:
        if num_slots < 1:
            msg = f"num_slots={num_slots} is not allowed; an engine needs at least one slot"
            raise ValueError(msg)
        self.num_slots = num_slots
        self._rows: dict[str, T] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def num_free(self) -> int:
        """Slots that nobody sits in."""
        return self.num_slots - len(self._rows)

    def put(self, request_id: str, row: T) -> None:
        """Take a slot for a request.

        Raises:
            SlotsFull: every slot is taken.
            DuplicateRequest: the request sits in a slot already.
        """
        if request_id in self._rows:
            msg = f"request {request_id!r} sits in a slot already; wait until it ends or give the new one its own id"
            raise DuplicateRequest(msg)
        if not self.num_free:
            msg = f"all {self.num_slots} slots are taken; call step() until free_slots > 0, then add {request_id!r}"
            raise SlotsFull(msg)
        self._rows[request_id] = row

    def get(self, request_id: str) -> T:
        """What is kept for a request.

        Raises:
            UnknownRequest: the request sits in no slot.
        """
        if request_id not in self._rows:
            msg = f"request {request_id!r} sits in no slot; it was never added or has ended"
            raise UnknownRequest(msg)
        return self._rows[request_id]

    def free(self, request_id: str) -> T:
        """Give the slot of a request back; returns what was kept for it.

        Raises:
            UnknownRequest: the request sits in no slot.
        """
        row = self.get(request_id)
        del self._rows[request_id]
        return row
