"""The wall of this room's access control: tokens are kept and counted in the broker, for all servers together.

A token is shown once, when it is made; only its SHA-256 is kept (it is random, so nothing is gained by a slow hash).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from jobs.spec import Frozen

MINUTE_S = 60.0
DAY_S = 86_400.0


class Scope(StrEnum):
    """What a token may be used for."""

    READ = "read"
    """See jobs, their events, audio and files; models, voices, workers."""
    JOBS = "jobs"
    """Submit jobs, files and batches; cancel, pause, resume and retry them."""
    SPEAK = "speak"
    """Speech requests, answered at once."""
    VOICES = "voices"
    """Add and delete reference voices."""


class Quota(Frozen):
    """What a token may use; None: no limit."""

    requests_per_minute: int | None = Field(default=None, ge=1)
    chars_per_day: int | None = Field(default=None, ge=1)
    concurrent: int | None = Field(default=None, ge=1)
    """Speech requests at one time."""


class Token(Frozen):
    """A token as it is kept. `digest` is the SHA-256 of its secret, in hex."""

    token: str
    """Its public id, for lists and logs."""
    name: str
    digest: str
    scopes: tuple[Scope, ...]
    quota: Quota = Quota()
    created_at_s: float
    expires_at_s: float | None = None

    def expired(self, now_s: float) -> bool:
        """Whether it is over at a Unix time."""
        return self.expires_at_s is not None and now_s >= self.expires_at_s


@dataclass(frozen=True, slots=True)
class Rate:
    """What is left of a token's requests per minute: a bucket of `limit` that fills up again in a minute, evenly.

    `wait_s` is 0.0 for a request that was counted; else it was not, and one will be that comes so much later.
    `reset_s`: when the bucket is full again.
    """

    limit: int
    remaining: int
    wait_s: float
    reset_s: float


class Caller(Frozen):
    """Who sent a request. `token` is None where the server asks for none."""

    token: Token | None = None

    @property
    def name(self) -> str:
        """For logs."""
        return "anyone" if self.token is None else self.token.name


class Gate(Protocol):
    """Tokens and what they used."""

    def add(self, token: Token) -> None:
        """Keep a token."""
        ...

    def tokens(self) -> Sequence[Token]:
        """All tokens, oldest first."""
        ...

    def any(self) -> bool:
        """Whether a token exists, expired ones too: where none does a server may be open to all."""
        ...

    def remove(self, token: str) -> bool:
        """Take a token back by its id, and forget what it used; False: there is none."""
        ...

    def find(self, secret: str) -> Token | None:
        """The token with that secret, unless it has expired."""
        ...

    def count_request(self, token: Token) -> Rate | None:
        """Count one request, unless it is over the token's rate; None: it has none."""
        ...

    def count_chars(self, token: Token, chars: int) -> float:
        """Count characters to be spoken if they are within the quota of the (UTC) day: 0.0.

        Else none of them is counted, and this is how many seconds are left of the day.
        """
        ...

    def speaking(self, token: Token, request: str) -> AbstractContextManager[bool]:
        """Hold one of the token's places for speech while the block runs; False: all are taken.

        A place whose server died is free again after a while. `request` names it: the same name takes no second one.
        """
        ...
