"""What an engine looks like from outside, whichever lane it runs: slots with deltas and finish reasons.

The machine room holds engines by this protocol; `engine.engine` (utterance lane) and `engine.tokens.engine` (token
lane) fulfil it.
"""

from __future__ import annotations

from typing import Protocol

from engine.request import Delta, Request


class Engine(Protocol):
    """Turns requests into deltas of audio, one step at a time. Not thread-safe: one thread owns it."""

    @property
    def num_slots(self) -> int:
        """How many requests are worked on at most."""
        ...

    @property
    def free_slots(self) -> int:
        """How many requests may be added now (a request whose audio is still being decoded may have left its slot)."""
        ...

    @property
    def idle(self) -> bool:
        """True when no request is left, in a slot or on its way out: `step` would do nothing."""
        ...

    @property
    def stage_s(self) -> dict[str, float]:
        """Time of this thread in each stage of `step` since the engine was made, in s. May be read by other threads.

        On a GPU the stages launch and `read` waits: it is what the device takes beyond the launches.
        """
        ...

    def add(self, request: Request) -> None:
        """Give a request a slot. Raises SlotsFull, DuplicateRequest."""
        ...

    def cancel(self, request_id: str) -> None:
        """Drop a request: its last delta comes from the next step, empty, with CANCELLED. Raises UnknownRequest."""
        ...

    def step(self) -> list[Delta]:
        """One turn; hands out what audio there is. Every request ends with exactly one delta that has a finish."""
        ...
