"""Weights from the Hugging Face hub: its cache on this machine, downloads, and what tells two sets of files apart.

Imports no torch. The package huggingface-hub is imported only when it is asked for something.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

from models.errors import MissingExtra

ABSENT = "absent"
"""Revision of weights that are not there."""
_WHOLE_BYTES = 1 << 20
"""Files up to this size are hashed whole; of larger ones samples are."""
_SAMPLES, _SAMPLE_BYTES = 64, 4096


def cached(repo: str, files: tuple[str, ...]) -> Path | None:
    """The snapshot of a repository in the hub's cache; it may lack files."""
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError:
        return None
    try:
        return Path(snapshot_download(repo, local_files_only=True, allow_patterns=list(files)))
    except (OSError, ValueError):
        return None


def download(repo: str, files: tuple[str, ...], *, model: str, otherwise: str) -> None:
    """Fetch what is missing of a repository. `otherwise` says what else helps.

    Raises:
        MissingExtra: the hub's package is not installed, or the hub does not give the files.
    """
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError as error:
        msg = (
            f"model {model} needs the package huggingface-hub to download weights: pip install 'huggingface-hub>=0.34'"
        )
        raise MissingExtra(msg) from error
    try:
        snapshot_download(repo, allow_patterns=list(files))
    except (OSError, ValueError) as error:  # all errors of the hub and of its connection are of these
        reason = str(error).strip().split("\n")[0]
        msg = (
            f"{repo} cannot be downloaded ({reason}); accept its licence on huggingface.co and run `hf auth login` if "
            f"it is gated, {otherwise}"
        )
        raise MissingExtra(msg) from error


def revision(folder: Path, patterns: tuple[str, ...]) -> str:
    """What changes when the files do: the hub's commit, or a hash of the files (see `_fingerprint`)."""
    if folder.parent.name == "snapshots":  # the hub's cache names its folders by commit
        return folder.name[:16]
    paths = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    stats = ((path, path.stat()) for path in paths)
    return _fingerprint(tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in stats))


@functools.lru_cache(maxsize=16)
def _fingerprint(files: tuple[tuple[Path, int, int], ...]) -> str:
    """A hash of names, sizes and contents: small files whole, of weights their beginning and 64 samples.

    Two fine-tunes of one model have equal names, sizes and headers, but no equal samples; 6.6 GB need not be read.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path, size_bytes, _ in files:
        digest.update(f"{path.name}\0{size_bytes}\0".encode())
        for part in _samples(path, size_bytes):
            digest.update(part)
    return digest.hexdigest()


def _samples(path: Path, size_bytes: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        if size_bytes <= _WHOLE_BYTES:
            yield file.read()
            return
        yield file.read(_WHOLE_BYTES)
        for place in range(_SAMPLES):
            file.seek(_WHOLE_BYTES + (size_bytes - _WHOLE_BYTES) * place // _SAMPLES)
            yield file.read(_SAMPLE_BYTES)
