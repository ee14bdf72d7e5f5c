"""MemoryGate: tokens and what they used, in one process."""

from __future__ import annotations

import hmac
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from jobs.access.gate import DAY_S, MINUTE_S, Rate, Token
from jobs.access.tokens import digest_of


class MemoryGate:
    """See `Gate`. Safe for the threads of one process. `clock` gives Unix time."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._tokens: dict[str, Token] = {}
        self._full_at_s: dict[str, float] = {}
        self._chars: dict[str, tuple[int, int]] = {}
        self._speaking: dict[str, set[str]] = {}

    def add(self, token: Token) -> None:
        """See `Gate.add`."""
        with self._lock:
            self._tokens[token.digest] = token

    def tokens(self) -> Sequence[Token]:
        """See `Gate.tokens`."""
        with self._lock:
            return sorted(self._tokens.values(), key=lambda token: (token.created_at_s, token.token))

    def any(self) -> bool:
        """See `Gate.any`."""
        with self._lock:
            return bool(self._tokens)

    def remove(self, token: str) -> bool:
        """See `Gate.remove`."""
        with self._lock:
            gone = [digest for digest, kept in self._tokens.items() if kept.token == token]
            for digest in gone:
                del self._tokens[digest]
            for used in (self._full_at_s, self._chars, self._speaking):
                used.pop(token, None)
            return bool(gone)

    def find(self, secret: str) -> Token | None:
        """See `Gate.find`."""
        digest = digest_of(secret)
        with self._lock:
            token = self._tokens.get(digest)
        known = token is not None and hmac.compare_digest(token.digest, digest)
        return token if known and token is not None and not token.expired(self._clock()) else None

    def count_request(self, token: Token) -> Rate | None:
        """See `Gate.count_request`."""
        limit = token.quota.requests_per_minute
        if limit is None:
            return None
        now_s, each_s = self._clock(), MINUTE_S / limit
        with self._lock:
            full_at_s = max(self._full_at_s.get(token.token, now_s), now_s)
            wait_s = full_at_s + each_s - now_s - MINUTE_S
            if wait_s > 0:
                return Rate(limit=limit, remaining=0, wait_s=wait_s, reset_s=full_at_s - now_s)
            full_at_s += each_s
            self._full_at_s[token.token] = full_at_s
        remaining = math.floor((MINUTE_S - (full_at_s - now_s)) / each_s + 1e-6)
        return Rate(limit=limit, remaining=remaining, wait_s=0.0, reset_s=full_at_s - now_s)

    def count_chars(self, token: Token, chars: int) -> float:
        """See `Gate.count_chars`."""
        limit = token.quota.chars_per_day
        if limit is None:
            return 0.0
        now_s = self._clock()
        today = int(now_s // DAY_S)
        with self._lock:
            day, used = self._chars.get(token.token, (today, 0))
            used = used if day == today else 0
            if used + chars > limit:
                return (today + 1) * DAY_S - now_s
            self._chars[token.token] = (today, used + chars)
        return 0.0

    @contextmanager
    def speaking(self, token: Token, request: str) -> Iterator[bool]:
        """See `Gate.speaking`."""
        limit = token.quota.concurrent
        if limit is None:
            yield True
            return
        with self._lock:
            held = self._speaking.setdefault(token.token, set())
            admitted = request in held or len(held) < limit
            if admitted:
                held.add(request)
        try:
            yield admitted
        finally:
            if admitted:
                with self._lock:
                    held.discard(request)
