"""What a model must give the engine: the utterance-lane program.

A program sees batches of `Request.inputs`, never jobs, text or queues. The utterance lane runs models that know the
length of a segment before they make its audio (VITS, Kokoro, and the shipped fake): first `encode` turns a batch of
requests into one latent each, then `decode` makes audio from any window of frames of one latent.
(The token lane's programs are those of `engine.tokens.program`.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.request import FinishReason, Request, Samples


class Latent(Protocol):
    """One encoded request, ready to be decoded in windows of frames. The engine owns it until the request ends."""

    @property
    def num_frames(self) -> int:
        """How many frames of audio the request will make; at least 1."""
        ...

    @property
    def finish(self) -> FinishReason:
        """STOP, or BUDGET when the program had to cut the request short."""
        ...

    @property
    def words(self) -> Sequence[tuple[int, int]]:
        """Frames [start, end) of each word that the front end named, in order; empty where they are not known."""
        ...


class UtteranceProgram(Protocol):
    """How one utterance model runs on one device."""

    @property
    def sample_rate_hz(self) -> int:
        """Rate of the samples `decode` returns."""
        ...

    @property
    def hop_samples(self) -> int:
        """Samples per frame: `decode` returns exactly (stop - start) * hop_samples samples."""
        ...

    @property
    def first_chunk_frames(self) -> int:
        """Frames in the first chunk of a live request (small: the first sound comes early)."""
        ...

    @property
    def chunk_frames(self) -> int:
        """Frames in every other chunk; fixed, so a segment is cut the same way in any company."""
        ...

    def encode(self, batch: Sequence[Request]) -> list[Latent]:
        """Encode a batch; the i-th latent belongs to the i-th request and is bit for bit what a batch of one gives.

        Raises:
            RequestRejected: one request of the batch cannot be encoded; the engine fails that one and repeats.
        """
        ...

    def decode(self, latent: Latent, start_frame: int, stop_frame: int) -> Samples:
        """Decode frames [start_frame, stop_frame) with the true context around them (windows join to the whole)."""
        ...


def check_window(latent: Latent, start_frame: int, stop_frame: int) -> None:
    """Raise ValueError unless frames [start, stop) are some, and inside the latent."""
    if not 0 <= start_frame < stop_frame <= latent.num_frames:
        msg = f"frames [{start_frame}, {stop_frame}) are not inside a segment of {latent.num_frames} frames"
        raise ValueError(msg)


class RequestRejected(Exception):
    """A program refuses one request of a batch; carries its position, the others are fine."""

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(reason)
        self.index = index
        self.reason = reason
