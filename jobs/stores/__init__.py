"""Stores: where takes and finished audio are kept. `open_store(url)` gives the one a URL names.

Knows folders, S3 and memory; knows nothing of jobs, takes or audio. Every back end keeps the promises of
`jobs.protocols.Store`; `tests/contract/test_stores.py` runs over all of them.
"""

from __future__ import annotations

from pathlib import Path

from jobs.errors import BadOption
from jobs.protocols import Store
from jobs.s3_options import S3Options
from jobs.stores.folder import FolderStore
from jobs.stores.memory import MemoryStore, shared_memory_store

__all__ = ["FolderStore", "MemoryStore", "S3Options", "open_shared_store", "open_store"]

NO_OPTIONS = S3Options()
_ALLOWED = "allowed are file:///absolute/folder and s3://bucket/prefix"


def open_store(url: str, s3: S3Options = NO_OPTIONS) -> Store:
    """The store of a URL. Opening touches nothing: a folder is made at the first write. `s3` says how S3 is reached.

    `file:///dir` takes the rest of the text as it stands (no percent-decoding). Two calls with one `memory://name`
    give the same store inside one process.

    Raises:
        BadOption: the URL names no store.
        MissingExtra: it is on S3, and boto3 is not installed.
    """
    scheme, separator, rest = url.partition("://")
    if separator and scheme == "file":
        if "\0" in rest or not rest.startswith("/"):
            msg = f"store {url!r} does not name an absolute folder; write it as file:///absolute/folder"
            raise BadOption(msg)
        return FolderStore(Path(rest))
    if separator and scheme == "memory" and rest:
        return shared_memory_store(rest)
    if separator and scheme == "s3":
        from jobs.stores.s3 import open_s3  # boto3 is an extra, and slow to load

        return open_s3(url, s3)
    msg = f"store {url!r} is not known; {_ALLOWED}"
    raise BadOption(msg)


def open_shared_store(url: str, s3: S3Options = NO_OPTIONS) -> Store:
    """The store of a URL that all processes of a job must reach. Raises BadOption, for memory:// too."""
    if url.startswith("memory:"):
        msg = f"store {url!r} is only for tests: each process has a memory of its own; {_ALLOWED}"
        raise BadOption(msg)
    return open_store(url, s3)
