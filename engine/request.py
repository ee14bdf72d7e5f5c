"""What goes into the engine and what comes out: Request, Delta, FinishReason.

The engine never looks inside `Request.inputs`: the model's front end made it, the model's program reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
"""[S] float32 mono samples in [-1, 1] at the program's `sample_rate_hz`, on the CPU."""


class FinishReason(StrEnum):
    """Why a request ended. Only STOP can be a good take."""

    STOP = "stop"
    """The model said everything it was given."""
    BUDGET = "budget"
    """The budget derived from the text length ran out first."""
    CANCELLED = "cancelled"
    """Somebody took the request away; its audio is dropped."""
    ERROR = "error"
    """The program failed on this request; `Delta.error` says how."""


@dataclass(frozen=True, slots=True)
class Request:
    """One segment for one slot.

    `seed` keys every random draw of the request (with position and draw number), so that it sounds the same
    alone, in any slot, in any batch and after a resume. `live` asks for small first chunks.
    `length_hint` is the prompt length in the program's own unit (ids), used only to form batches; only requests
    with the same `group` (a voice with weights of its own, say) are put into one batch.
    """

    request_id: str
    inputs: object
    seed: int
    length_hint: int
    group: str = ""
    live: bool = False


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of one request's audio.

    `samples` is a fresh array the receiver may keep. `start_sample` counts from the start of the segment; deltas
    of one request arrive in order and without gaps. The last one carries `finish` (and `error` with ERROR).
    """

    request_id: str
    samples: Samples
    start_sample: int
    finish: FinishReason | None = None
    error: str | None = None
    words: tuple[tuple[int, int], ...] = ()
    """With the finish, where the program knows it: sample range [start, end) of each word that the front end named."""

    @property
    def last(self) -> bool:
        """True on the final delta of a request."""
        return self.finish is not None
