"""Tar shards whose bytes depend on their members alone: plain tar, no times, no owners. Knows no layout."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

BLOCK_BYTES = tarfile.BLOCKSIZE
Members = Sequence[tuple[str, bytes]]
"""Names and contents of one sample: they stand side by side."""


def sample_bytes(members: Members) -> int:
    """What a sample takes in a shard: each member has a header and is filled up to whole blocks."""
    return sum(BLOCK_BYTES + -(-len(data) // BLOCK_BYTES) * BLOCK_BYTES for _, data in members)


def write_tar(path: Path, samples: Iterable[Members]) -> None:
    """Write samples as one tar. Names are ASCII of at most 100 bytes. Raises OSError, ValueError for other names."""
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for members in samples:
            for name, data in members:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                info.mode = 0o644
                tar.addfile(info, io.BytesIO(data))
