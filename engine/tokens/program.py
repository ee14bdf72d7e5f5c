"""What a model must give the token lane: the token program and its codec. A program sees rows, never requests.

`embed`, `backbone`, `head` and `depth` are captured into graphs: no host synchronisation, no shapes that depend on
values, no allocation that outlives the call. A row is one position in the KV of one slot. Most programs draw one id a
step, and a row is that id. A program with a `depth` draws a whole frame a step: a row then has several columns.
Padding rows carry real work on a dummy slot; what they compute is never read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch

Ids = npt.NDArray[np.int32]
Draw = Callable[[torch.Tensor, int], torch.Tensor]
"""Draws code `place` (1 to K - 1) of each row's frame: logits [E, V] to [E] int32 columns, with the temperature and the
filters of the row's request, but neither penalty nor RAS."""


@dataclass(frozen=True, slots=True)
class KvShape:
    """What one position keeps in KV memory: K and V of `[kv_heads, head_dim]` in each layer."""

    layers: int
    query_heads: int
    kv_heads: int
    head_dim: int
    dtype: torch.dtype

    @property
    def bytes_per_row(self) -> int:
        """Bytes of one position over all layers."""
        return self.layers * 2 * self.kv_heads * self.head_dim * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Grammar:
    """Which ids the head scores and which of them may be drawn.

    The head gives `vocab` logits: column c stands for id `first_id + c`. With p tokens drawn before, an id may be
    drawn if it lies in `windows[p % len(windows)]` (half open, all windows equally wide) or is one of `stop_ids`.
    """

    first_id: int
    vocab: int
    windows: tuple[tuple[int, int], ...]
    stop_ids: tuple[int, ...]

    def __post_init__(self) -> None:
        widths = {stop - start for start, stop in self.windows}
        last = self.first_id + self.vocab
        inside = all(self.first_id <= start < stop <= last for start, stop in self.windows)
        stops_inside = all(self.first_id <= one < last for one in self.stop_ids)
        if len(widths) != 1 or not inside or not stops_inside:
            msg = f"grammar windows {self.windows} and stops {self.stop_ids} must be equally wide and inside the head"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Rope:
    """Rotary positions: `cos_sin` [max_positions, head_dim] float32, cosines in the first half, sines in the second.

    Dimension i is rotated with dimension i + head_dim / 2 (the Llama checkpoints' half layout).
    """

    cos_sin: torch.Tensor


class Attend(Protocol):
    """One layer's attention over the paged KV of the rows of this step."""

    def __call__(self, layer: int, qkv: torch.Tensor, rope: Rope | None) -> torch.Tensor:
        """Rotate q and k of `qkv` [R, (query_heads + 2 * kv_heads) * head_dim], keep k and v, attend causally.

        Returns [R, query_heads * head_dim], scaled by 1 / sqrt(head_dim).
        """
        ...


class Depth(Protocol):
    """How a program draws the codes of a frame after the first: small steps of a network of its own inside each step.

    Rows have 1 + `codes` columns of ids, -1 where there is nothing: an id that follows from the prompt (text that the
    model reads while it speaks), then the codes of a frame. `embed` sums what is there.
    """

    @property
    def codes(self) -> int:
        """Codes in a frame (K), the first included."""
        ...

    @property
    def follow_rows(self) -> int:
        """Most ids that can follow a prompt, one for each frame drawn; after them the last one is repeated."""
        ...

    def rest(self, hidden: torch.Tensor, first: torch.Tensor, draw: Draw) -> torch.Tensor:
        """The other codes of the frames that begin with `first` [E] int32: `hidden` [E, D] to [E, K - 1] int32.

        `hidden` are the rows that the head scored.
        """
        ...


class Codec(Protocol):
    """Turns codec frames into samples, window by window: any window, in any order."""

    @property
    def samples_per_frame(self) -> int:
        """Samples that one frame makes."""
        ...

    @property
    def codes_per_frame(self) -> int:
        """Codes in one frame (K)."""
        ...

    @property
    def context_frames(self) -> int:
        """Frames that a window needs on each side so that its middle is what decoding everything gives."""
        ...

    def decode(
        self, codes: torch.Tensor, valid: torch.Tensor, seeds: torch.Tensor, first_frame: torch.Tensor
    ) -> torch.Tensor:
        """Decode B windows of F frames: returns [B, F * samples_per_frame] float32. Captured into graphs.

        `codes` [B, F, K] int32; `valid` [B, 2] int32: frames [from, to) of the window exist, beyond them the utterance
        has ended or not begun (there the network sees its own zero padding, in every layer); `seeds` [B] int64 key the
        codec's noise; `first_frame` [B] int64 is the place of the window's frame 0 in its utterance (noise positions).
        """
        ...


@runtime_checkable
class StreamCodec(Protocol):
    """Turns codec frames into samples from left to right, with what it remembers of each utterance: a causal codec
    whose past reaches too far to be decoded again with each window."""

    @property
    def samples_per_frame(self) -> int:
        """Samples that one frame makes."""
        ...

    @property
    def codes_per_frame(self) -> int:
        """Codes in one frame (K)."""
        ...

    def new_state(self, places: int) -> tuple[torch.Tensor, ...]:
        """Memory for so many utterances at once and, in a last row more, for padding: tensors of `places` + 1 rows."""
        ...

    def decode(
        self, codes: torch.Tensor, places: torch.Tensor, fresh: torch.Tensor, state: tuple[torch.Tensor, ...]
    ) -> torch.Tensor:
        """Decode the next F frames of B utterances: returns [B, F * samples_per_frame] float32. Captured into graphs.

        `codes` [B, F, K] int32; `places` [B] int64 are their rows in `state`, which is read and written; they differ,
        but for padding. Where `fresh` [B] bool, the utterance begins: nothing is remembered. Beyond an utterance's end
        codes are padding; what the state is then is never read.
        """
        ...


class TokenProgram(Protocol):
    """How one autoregressive model runs on one device."""

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        ...

    @property
    def sample_rate_hz(self) -> int:
        """Rate of the codec's samples."""
        ...

    @property
    def kv(self) -> KvShape:
        """What it keeps in KV memory."""
        ...

    @property
    def grammar(self) -> Grammar:
        """What its head scores and may be drawn."""
        ...

    @property
    def tokens_per_frame(self) -> int:
        """Tokens that make one codec frame."""
        ...

    @property
    def max_positions(self) -> int:
        """Longest prompt and speech together, in rows."""
        ...

    @property
    def weight_bytes(self) -> int:
        """Bytes of weights that a decode step reads (for the memory ceiling)."""
        ...

    @property
    def codec(self) -> Codec | StreamCodec:
        """Its codec."""
        ...

    @property
    def depth(self) -> Depth | None:
        """How it draws the rest of a frame; None: a step draws one id."""
        ...

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """[R] int64 ids, or [R, 1 + K] with a depth, to [R, D] hidden rows."""
        ...

    def backbone(self, hidden: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        """All layers and the last norm: [R, D] to [R, D]; `positions` [R] int32."""
        ...

    def head(self, hidden: torch.Tensor) -> torch.Tensor:
        """[E, D] to [E, V] logits with V >= grammar.vocab (columns beyond it are padding, never read)."""
        ...

    def frames(self, ids: Ids) -> Ids:
        """The codes [n, K] of `n * tokens_per_frame` drawn ids (with a depth of n frames [n, K]).

        Only ids that the grammar allows come here.
        """
        ...


def row_columns(program: TokenProgram) -> int | None:
    """Columns of a program's rows; None: rows are single ids."""
    return None if program.depth is None else 1 + program.depth.codes
