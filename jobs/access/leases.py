"""Places for speech as leases: kept by a thread while they are held, free by themselves when their server died."""

from __future__ import annotations

import logging
import threading

from jobs import keys
from jobs.errors import BrokerUnavailable
from jobs.truth.calls import Calls

log = logging.getLogger(__name__)

LEASE_S = 30.0
"""A place whose server is silent for this long is free again."""
RENEW_EVERY_S = LEASE_S / 3


class Leases:
    """Those of one process. The thread that renews them runs only while there are some."""

    def __init__(self, calls: Calls, *, lease_s: float = LEASE_S, renew_every_s: float = RENEW_EVERY_S) -> None:
        self._calls = calls
        self._lease_ms = round(lease_s * 1000)
        self._renew_every_s = renew_every_s
        self._held: set[tuple[str, str]] = set()
        self._changed = threading.Condition()
        self._renewer: threading.Thread | None = None

    def take(self, token: str, request: str, places: int) -> bool:
        """One of a token's places for a request; False: all are taken. Raises BrokerUnavailable."""
        if not self._calls.script("place", token, request, places, self._lease_ms):
            return False
        with self._changed:
            self._held.add((token, request))
            if self._renewer is None:
                self._renewer = threading.Thread(target=self._renew, name="leases", daemon=True)
                self._renewer.start()
        return True

    def leave(self, token: str, request: str) -> None:
        """Give a place back. Without a broker it is free when its lease is over."""
        with self._changed:
            self._held.discard((token, request))
            self._changed.notify_all()
        try:
            self._calls.together([("ZREM", keys.token_use("speaking", token), request)])
        except BrokerUnavailable as error:
            log.warning("request %s keeps its place for up to %.0f s: %s", request, self._lease_ms / 1000, error)

    def _renew(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: not self._held, self._renew_every_s)
                if not self._held:
                    self._renewer = None
                    return
                held = sorted(self._held)
            try:
                for token, request in held:
                    self._keep(token, request)
            except BrokerUnavailable as error:
                log.warning("places for speech are not renewed: %s", error)

    def _keep(self, token: str, request: str) -> None:
        self._calls.script("place", token, request, -1, self._lease_ms)
        with self._changed:
            if (token, request) in self._held:
                return
        self._calls.together([("ZREM", keys.token_use("speaking", token), request)])  # it was left meanwhile
