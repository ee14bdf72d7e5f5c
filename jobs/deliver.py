"""Hand finished audio out of the store: copies into a folder, each file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from jobs import keys
from jobs.errors import BadOutput, ObjectMissing
from jobs.protocols import Store

INTERNAL = frozenset({"source", "plan.jsonl", "cover", "places.json"})
"""Objects of a job that are its own business and are not handed out."""
INTERNAL_FOLDERS = ("mastering/",)
"""Folders of such objects."""


MEDIA_TYPES = {
    ".m4b": "audio/mp4",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".flac": "audio/flac",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
    ".srt": "application/x-subrip",
    ".vtt": "text/vtt; charset=utf-8",
    ".lrc": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".gz": "application/gzip",
    ".tar": "application/x-tar",
    ".epub": "application/epub+zip",
}
"""By ending, of all that jobs hand out; any other file is just bytes."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished file: `name` is its path below the job, `key` that in the store."""

    name: str
    key: str
    size_bytes: int

    @property
    def media_type(self) -> str:
        """What it holds, by its ending."""
        return MEDIA_TYPES.get(PurePath(self.name).suffix.lower(), "application/octet-stream")


def finished_files(store: Store, job: str, keys_of_files: Sequence[str]) -> list[Finished]:
    """Some of a job's finished objects, as files with their sizes. One that was deleted meanwhile is left out."""
    prefix, files = keys.job_object(job, ""), []
    for key in keys_of_files:
        with contextlib.suppress(ObjectMissing):
            files.append(Finished(key.removeprefix(prefix), key, store.size_bytes(key)))
    return files


def finished_objects(store: Store, job: str) -> list[str]:
    """Store keys of what a job has to hand out, in reading order."""
    prefix = keys.job_object(job, "")
    names = (key.removeprefix(prefix) for key in store.list(prefix))
    return [prefix + name for name in names if name not in INTERNAL and not name.startswith(INTERNAL_FOLDERS)]


def deliver(store: Store, job: str, out: Path) -> list[Path]:
    """Copy what a job made into a folder; existing files of the same names are replaced.

    Raises:
        BadOutput: the folder cannot be written or is full; files that were complete stay, no part of one does.
        StoreError: an object is gone.
    """
    prefix = keys.job_object(job, "")
    paths = []
    for key in finished_objects(store, job):
        path = out / key.removeprefix(prefix)
        with _out_errors(out):
            path.parent.mkdir(parents=True, exist_ok=True)
            _copy(store, key, path)
        paths.append(path)
    return paths


def worth_showing(names: Sequence[str]) -> list[str]:
    """Paths or keys of what a job hands out, for people: of a dataset only its `dataset.json`, as in `report.json`.

    A dataset has as many files as utterances.
    """
    info = f"/{keys.DATASET_INFO}"
    datasets = tuple(name.removesuffix(keys.DATASET_INFO) for name in names if name.endswith(info))
    return [name for name in names if name.endswith(info) or not name.startswith(datasets)]


def check_folder(out: Path) -> None:
    """Raise BadOutput unless `out` is, or can become, a folder we can write; leaves no trace."""
    made = []
    with _out_errors(out):
        if out.exists() and not out.is_dir():
            raise NotADirectoryError(20, "a file of that name exists", str(out))
        try:
            for folder in reversed([folder for folder in (out, *out.parents) if not folder.exists()]):
                folder.mkdir()
                made.append(folder)
            with tempfile.TemporaryFile(dir=out) as probe:
                probe.write(b"\0")
        finally:
            for folder in reversed(made):
                folder.rmdir()


def _copy(store: Store, key: str, path: Path) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as target, store.open(key) as source:
            shutil.copyfileobj(source, target, 1 << 20)
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def _out_errors(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        msg = f"cannot write to {error.filename or out}: {reason}; choose another folder with --out, or free some space"
        raise BadOutput(msg) from error
