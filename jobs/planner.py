"""Drafts of large sources made in processes of their own: planning a book is seconds of pure Python, and a server that
did it in one of its threads would answer everybody else late. Small sources are not worth the way there and back.

planner.draft(source, wishes)          # as jobs.drafts.make_draft
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import get_context

from jobs.drafts import Draft, Source, Wishes, make_draft
from jobs.errors import BadSource, SourceProblem
from jobs.spec import SourceKind

PROCESSES = 2
LARGE_BYTES = 64 * 1024
"""About a second of planning."""
PACKED = 4
"""An epub is packed: it holds so many times as much text."""
WATCH_S = 1.0
_lock = threading.Lock()


def draft(source: Source, wishes: Wishes) -> Draft:
    """Read and plan a source. Raises what `make_draft` does.

    Raises:
        BadSource: `too_heavy`, the process that read it died (of memory, most likely).
    """
    if not is_large(source):
        return make_draft(source, wishes)
    with _lock:  # two pools would be one too many
        pool = _pool()
    try:
        return pool.submit(make_draft, source, wishes).result()
    except BrokenProcessPool as error:
        _pool.cache_clear()
        msg = f"{source.name} could not be planned: the process that read it died; split it, or try it again"
        raise BadSource(SourceProblem("too_heavy", msg)) from error


def is_large(source: Source) -> bool:
    """Whether planning it takes long."""
    is_packed = source.kind is SourceKind.EPUB or source.name.lower().endswith(".epub")
    return len(source.data) * (PACKED if is_packed else 1) > LARGE_BYTES


@lru_cache(maxsize=1)
def _pool() -> ProcessPoolExecutor:
    """The processes of this one, started when they are first needed. Fresh ones: a fork would copy held locks."""
    return ProcessPoolExecutor(
        PROCESSES, mp_context=get_context("spawn"), initializer=_die_with, initargs=(os.getpid(),)
    )


def _die_with(parent: int) -> None:
    """End this process when its parent is gone, however that ended: nobody else would."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_S)
        os._exit(1)

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()
