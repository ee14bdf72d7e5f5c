"""RedisGate: tokens and what they used, for all servers of a broker together. The server's clock counts."""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import uuid4

from jobs import keys
from jobs.access.gate import DAY_S, MINUTE_S, Rate, Token
from jobs.access.leases import Leases
from jobs.access.tokens import digest_of
from jobs.truth.calls import Calls


class RedisGate:
    """See `Gate`. Every method but those that only hold a place raises BrokerUnavailable. Safe for threads.

    Counts are small scripts of ours: a refused request or text must not use up what is left, and one answer must say
    whether it was counted and how long to wait.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._leases = Leases(calls)

    def add(self, token: Token) -> None:
        """See `Gate.add`."""
        self._calls.together([("HSET", keys.TOKENS, token.digest, token.model_dump_json())])

    def tokens(self) -> Sequence[Token]:
        """See `Gate.tokens`."""
        (flat,) = self._calls.together([("HVALS", keys.TOKENS)])
        found = [Token.model_validate_json(text) for text in flat]
        return sorted(found, key=lambda token: (token.created_at_s, token.token))

    def any(self) -> bool:
        """See `Gate.any`."""
        (count,) = self._calls.together([("HLEN", keys.TOKENS)])
        return bool(count)

    def remove(self, token: str) -> bool:
        """See `Gate.remove`."""
        gone = [kept.digest for kept in self.tokens() if kept.token == token]
        if gone:
            used = (keys.token_use("rate", token), keys.token_use("chars", token), keys.token_use("speaking", token))
            self._calls.together([("HDEL", keys.TOKENS, *gone), ("DEL", *used)])
        return bool(gone)

    def find(self, secret: str) -> Token | None:
        """See `Gate.find`. The broker compares digests: how long that takes tells nothing of a secret."""
        digest = digest_of(secret)
        (text,) = self._calls.together([("HGET", keys.TOKENS, digest)])
        if text is None:
            return None
        token = Token.model_validate_json(text)
        known = hmac.compare_digest(token.digest, digest) and not token.expired(time.time())
        return token if known else None

    def count_request(self, token: Token) -> Rate | None:
        """See `Gate.count_request`."""
        limit = token.quota.requests_per_minute
        if limit is None:
            return None
        wait_ms, remaining, reset_ms = self._calls.script("rate", token.token, limit, MINUTE_S)
        return Rate(limit=limit, remaining=remaining, wait_s=wait_ms / 1000, reset_s=reset_ms / 1000)

    def count_chars(self, token: Token, chars: int) -> float:
        """See `Gate.count_chars`."""
        limit = token.quota.chars_per_day
        if limit is None:
            return 0.0
        wait_ms: int = self._calls.script("chars", token.token, chars, limit, DAY_S, uuid4().hex)
        return wait_ms / 1000

    @contextmanager
    def speaking(self, token: Token, request: str) -> Iterator[bool]:
        """See `Gate.speaking`."""
        places = token.quota.concurrent
        if places is None:
            yield True
            return
        admitted = self._leases.take(token.token, request, places)
        try:
            yield admitted
        finally:
            if admitted:
                self._leases.leave(token.token, request)
