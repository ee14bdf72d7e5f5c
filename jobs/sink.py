"""Where something that wants a file writes what is sent at once: to memory, from where it is taken away."""

from __future__ import annotations

import io


class Sink(io.RawIOBase):
    """Takes what is written, gives it out once, and cannot go back."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        """It is there to be written to."""
        return True

    def write(self, data: object) -> int:
        """Keep a copy until `take`."""
        piece = bytes(memoryview(data))  # type: ignore[arg-type]  # any buffer, as RawIOBase says
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> bytes:
        """What was written since the last time."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken
