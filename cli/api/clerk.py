"""A process that moves one large batch on, beside the server: `python -m cli.api.clerk BATCH {"aliases": …}`.

It does what a round of the server's own clerk would do for that batch, and may be killed like that one.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping

from cli.api.wording import for_http
from jobs.batches.clerk import Clerk, Process, Spawn
from jobs.batches.desk import BrokenOff, Desk
from jobs.connect import open_broker
from jobs.errors import JobsError
from jobs.offers import published_offers
from jobs.settings import Settings, child_environment, load_settings
from jobs.stores import open_store

log = logging.getLogger(__name__)


def spawner(settings: Settings, aliases: Mapping[str, str], max_chars: int) -> Spawn | None:
    """What starts such processes (or raises JobsError); None for a broker or store that only one process has."""
    if any(url.startswith("memory:") for url in (settings.broker or "memory:", settings.store_url)):
        return None
    told = json.dumps({"aliases": dict(aliases), "max_chars": max_chars})

    def spawn_clerk(batch: str) -> Process:
        from workers.process import module_command, spawn

        try:
            return spawn(module_command("cli.api.clerk", batch, told), environment=child_environment(settings))
        except OSError as error:
            msg = f"no process can be started for it: {error.strerror}; it is tried again"
            raise JobsError(msg) from error

    return spawn_clerk


def main(batch: str, told: str) -> int:
    """Move one batch on; returns the exit status."""
    from workers.process import configure_logging

    settings, options = load_settings(), json.loads(told)
    configure_logging("clerk", settings.log_level)
    try:
        broker = open_broker(settings.broker or "", settings)
        try:
            desk = Desk(
                broker.truth,
                open_store(settings.store_url, settings.s3),
                lambda: published_offers(broker.truth.workers()),
                options["aliases"],
                max_chars=options["max_chars"],
                wording=for_http,
            )
            Clerk(desk).advance(batch)
        finally:
            broker.close()
    except BrokenOff:
        log.info("batch %s changed meanwhile; it is looked at again", batch)
    except JobsError as error:
        log.warning("batch %s cannot be moved on now: %s", batch, error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
