"""What a benchmark speaks: requests of a known length, the same for the engine alone and through the queue.

Random weights never stop by themselves, so each request draws a number of tokens that was chosen beforehand. A request
can be written as the text of a segment (`tokens=1123 rows=60 seed=7`), which is how it travels through the queue.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.request import FinishReason, Request
from engine.tokens.inputs import TokenInputs
from models.orpheus.model import SAMPLING

if TYPE_CHECKING:
    from engine.tokens.program import TokenProgram  # torch: `tts-batch warm` measures how long that takes

LEAST_TOKENS = 28
"""Shortest request: a few frames, so that there is audio."""
_TEXT = re.compile(r"tokens=(\d+) rows=(\d+) seed=(\d+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """One request: a prompt of `rows` random ids and `tokens` ids to be drawn."""

    tokens: int
    rows: int
    seed: int

    @property
    def text(self) -> str:
        """The piece as the text of a segment."""
        return f"tokens={self.tokens} rows={self.rows} seed={self.seed}"

    @classmethod
    def parse(cls, text: str) -> Piece:
        """The piece that a text stands for. Raises ValueError."""
        found = _TEXT.fullmatch(text)
        if found is None:
            msg = f"{text!r} is no request of a benchmark; it would look like 'tokens=1123 rows=60 seed=7'"
            raise ValueError(msg)
        tokens, rows, seed = map(int, found.groups())
        return cls(tokens, rows, seed)

    def inputs(self, program: TokenProgram) -> TokenInputs:
        """What the engine is given: ids that the program's embedding has, and an end after exactly `tokens` ids."""
        last = program.grammar.first_id + program.grammar.vocab
        ids = np.random.default_rng(self.seed).integers(0, last, self.rows)
        return TokenInputs(
            ids=tuple(ids.tolist()),
            budget_tokens=self.tokens,
            sampling=SAMPLING,
            min_tokens=self.tokens,
            budget_finish=FinishReason.STOP,
        )

    def request(self, program: TokenProgram) -> Request:
        """The piece as a request of its own."""
        return Request(str(self.seed), self.inputs(program), seed=self.seed, length_hint=self.rows)


@dataclass(frozen=True, slots=True)
class Mix:
    """What the requests of a run are like: prompts of `rows` rows, each of which draws `low_tokens` to `high_tokens`
    (both included, all as likely)."""

    rows: int
    low_tokens: int
    high_tokens: int
    seed: int = 1

    def pieces(self, *, count: int, slots: int) -> list[Piece]:
        """`count` pieces. The first `slots` of them are cut short at a random place: so the slots are out of step from
        the beginning, as they are after hours of work."""
        rng = np.random.default_rng(self.seed)
        lengths = rng.integers(self.low_tokens, self.high_tokens + 1, count)
        for place in range(min(slots, count)):
            lengths[place] = rng.integers(min(LEAST_TOKENS, lengths[place]), lengths[place] + 1)
        first = self.seed * 1_000_000
        return [Piece(int(length), self.rows, first + place) for place, length in enumerate(lengths)]

    @property
    def mean_tokens(self) -> float:
        """Mean length of a whole request, in ids."""
        return (self.low_tokens + self.high_tokens) / 2

    @property
    def mean_kv_rows(self) -> float:
        """Rows in the KV of a slot at a random moment: the prompt and half of the tokens of the request that sits
        there, which is a long one more often than a short one: rows + E[n^2] / (2 E[n])."""
        count = self.high_tokens - self.low_tokens + 1
        variance = (count * count - 1) / 12  # of a uniform whole number
        return self.rows + (self.mean_tokens**2 + variance) / (2 * self.mean_tokens)
