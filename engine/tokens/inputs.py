"""What a token program's front end hands over with a request: the prompt, how long it may speak, how to sample."""

from __future__ import annotations

from dataclasses import dataclass

from engine.request import FinishReason


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn. Order: repetition penalty, temperature, top-k, top-p, min-p, draw, RAS.

    `temperature` 0 is greedy. `top_k` 0, `top_p` 1 and `min_p` 0 are off. `penalty` divides positive and multiplies
    negative logits of tokens that were generated before (CTRL, Keskar et al. 2019): of all, or with `penalty_window`
    of the last so many. Prompt tokens do not count. `ras_window` 0 is off; else a drawn token that stands at least
    `ras_threshold` times among the last `ras_window` is drawn again from the unfiltered distribution (repetition-aware
    sampling, VALL-E 2, Chen et al. 2024).
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    penalty: float = 1.0
    penalty_window: int = 0
    ras_window: int = 0
    ras_threshold: int = 1

    def __post_init__(self) -> None:
        allowed = (
            ("temperature", self.temperature >= 0),
            ("top_k", self.top_k >= 0),
            ("top_p", 0 < self.top_p <= 1),
            ("min_p", 0 <= self.min_p < 1),
            ("penalty", self.penalty > 0),
            ("penalty_window", self.penalty_window >= 0),
            ("ras_window", self.ras_window >= 0),
            ("ras_threshold", self.ras_threshold >= 1),
        )
        for name, good in allowed:
            if not good:
                msg = f"sampling {name}={getattr(self, name)} is out of range"
                raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class TokenInputs:
    """One prompt. `ids` are its rows in the program's own ids: an id each or, of a program with a depth, a tuple of
    columns. The first `shared_rows` of them are the same for many requests (a voice's prompt): their whole KV pages are
    computed once. `follow` are the ids that go into the rows after the prompt, the last of them for ever.

    At most `budget_tokens` are drawn; a request that has drawn them ends with `budget_finish` (benchmarks with random
    weights, which never stop by themselves, say STOP). No stop token is drawn before `min_tokens`.
    """

    ids: tuple[int, ...] | tuple[tuple[int, ...], ...]
    budget_tokens: int
    sampling: Sampling = Sampling()
    shared_rows: int = 0
    min_tokens: int = 0
    budget_finish: FinishReason = FinishReason.BUDGET
    follow: tuple[int, ...] = ()

    @property
    def rows_needed(self) -> int:
        """Rows in KV when the budget is used up: the id drawn last is never fed back."""
        return len(self.ids) + self.budget_tokens - 1

    def __post_init__(self) -> None:
        if not self.ids or self.budget_tokens < 1 or not 0 <= self.shared_rows <= len(self.ids):
            msg = (
                f"{len(self.ids)} ids, {self.shared_rows} of them shared, budget {self.budget_tokens}: "
                "a prompt has at least one id, shares at most all of them and may draw at least one token"
            )
            raise ValueError(msg)
