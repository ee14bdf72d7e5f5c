"""Which server has a process for a batch: the first that claims it, for as long as it says so again.

This only saves work: two processes for one batch come to the same, so a claim that is lost does no harm.
"""

from __future__ import annotations

from contextlib import suppress
from uuid import uuid4

from jobs import keys
from jobs.errors import BrokerUnavailable
from jobs.truth.calls import Calls

CLAIM_S = 6.0
"""Three rounds of a clerk: the batches of a server that died are free again after it."""


class Claims:
    """Those of one server. A claim is free when it was not held again for `kept_s`."""

    def __init__(self, calls: Calls, *, kept_s: float = CLAIM_S) -> None:
        self._calls = calls
        self._kept_ms = round(kept_s * 1000)
        self._name = uuid4().hex.encode()

    def hold(self, batch: str) -> bool:
        """Claim a batch, or keep it for longer; False: another server has it. Raises BrokerUnavailable."""
        key = f"{keys.CLAIMS}{batch}"
        _, holder = self._calls.together([("SET", key, self._name, "NX", "PX", self._kept_ms), ("GET", key)])
        if holder != self._name:
            return False
        self._calls.together([("PEXPIRE", key, self._kept_ms)])
        return True

    def leave(self, batch: str) -> None:
        """Let others have it, if it is ours. Without a broker they have it when it was not held for long enough."""
        key = f"{keys.CLAIMS}{batch}"
        with suppress(BrokerUnavailable):
            (holder,) = self._calls.together([("GET", key)])
            if holder == self._name:
                self._calls.together([("DEL", key)])
