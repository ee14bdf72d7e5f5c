"""The wall of this room's access control: tokens are kept and counted in the broker, for all servers together.

A token is shown once, when it is made; only its SHA-256 is kept (it is random, so nothing is gained by a slow hash).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from jobs.spec import Frozen


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

    def remove(self, token: str) -> bool:
        """Take a token back by its id; False: there is none."""
        ...

    def find(self, secret: str) -> Token | None:
        """The token with that secret, unless it has expired."""
        ...

    def count_request(self, token: Token) -> float:
        """Count one request; 0.0 if it is within the token's rate, else how many seconds to wait."""
        ...

    def count_chars(self, token: Token, chars: int) -> float:
        """Count characters to be spoken; 0.0 if they are within the day's quota, else how many seconds to wait."""
        ...

    def speaking(self, token: Token, request: str) -> AbstractContextManager[bool]:
        """Hold one of the token's places for speech while the block runs; False: all are taken."""
        ...
