"""Exports into a folder of the user's: finished jobs only, one export at a time, errors that say what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from jobs import keys
from jobs.datasets import to_folder
from jobs.datasets.lock import LOCK_NAME, export_lock
from jobs.datasets.to_folder import Asked, export_jobs, source_of
from jobs.errors import BadOption, BadOutput, ObjectDamaged, UnknownJob
from jobs.kinds import DatasetLayout, OnBad
from jobs.spec import Checks
from tests.jobs.datasets.making import TEXTS, Made, tree

HOLD = """
import sys, time
from pathlib import Path
from jobs.datasets.lock import export_lock
with export_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def quiet(job: str, done: int, total: int) -> None:
    """Nobody looks."""


def asked(folder: Path, layout: DatasetLayout = DatasetLayout.NEMO, **more: object) -> Asked:
    return Asked(layout, folder, **more)


def test_only_finished_jobs(tmp_path):
    made = Made()
    record = made.submit()
    with pytest.raises(BadOption, match=rf"job {record.job} is queued; only jobs that are done"):
        source_of(made.truth, lambda url: made.store, record.job)
    made.truth.cancel(record.job)
    with pytest.raises(BadOption, match="is cancelled"):
        source_of(made.truth, lambda url: made.store, record.job)
    with pytest.raises(UnknownJob):
        source_of(made.truth, lambda url: made.store, "nobody-00000000")


def test_a_job_without_manifest_is_exported_too(tmp_path):
    made = Made()
    job = made.job().record.job
    source = source_of(made.truth, lambda url: made.store, job)
    export_jobs([source], asked(tmp_path / "a" / "set"), quiet)
    made.store.delete(keys.manifest(job))
    source = source_of(made.truth, lambda url: made.store, job)
    export_jobs([source], asked(tmp_path / "b" / "set"), quiet)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


def test_progress_and_the_name_of_the_folder(tmp_path):
    told = []
    source = Made().job()
    info, (added,) = export_jobs([source], asked(tmp_path / "My Set"), lambda *what: told.append(what))
    assert info.name == "my-set"
    assert (added.written, added.known) == (len(TEXTS), 0)
    assert told[0] == (source.record.job, 0, len(TEXTS))
    assert told[-1] == (source.record.job, len(TEXTS), len(TEXTS))
    # What the dataset has is not asked for again.
    info, _ = export_jobs([source], asked(tmp_path / "My Set"), lambda *what: told.append(what))
    assert told[-1] == (source.record.job, len(TEXTS), len(TEXTS))
    with pytest.raises(BadOutput, match="has name my-set, not other"):
        export_jobs([source], asked(tmp_path / "My Set", name="other"), quiet)
    with pytest.raises(BadOption, match="dataset name 'a b' is not possible"):
        export_jobs([source], asked(tmp_path / "x", name="a b"), quiet)
    with pytest.raises(BadOption, match="--rate is not for layout nemo"):
        export_jobs([source], asked(tmp_path / "y", DatasetLayout.NEMO, rate_hz=8000), quiet)
    assert [path.name for path in tmp_path.iterdir()] == ["My Set"]  # a folder that was made for nothing goes again


def test_terms_of_the_first_export_hold(tmp_path):
    source = Made().job()
    first = asked(tmp_path / "s", DatasetLayout.KALDI, rate_hz=8000, path_prefix="data/")
    export_jobs([source], first, quiet)
    before = tree(tmp_path)
    info, _ = export_jobs([source], asked(tmp_path / "s", DatasetLayout.KALDI), quiet)
    assert (info.sample_rate_hz, info.path_prefix) == (8000, "data/")
    assert tree(tmp_path) == before
    with pytest.raises(BadOutput, match="has sample_rate_hz 8000, not 16000"):
        export_jobs([source], asked(tmp_path / "s", DatasetLayout.KALDI, rate_hz=16000), quiet)
    export_jobs([source], asked(tmp_path / "t", DatasetLayout.KALDI), quiet)
    with pytest.raises(BadOutput, match="has sample_rate_hz none, not 8000"):
        export_jobs([source], asked(tmp_path / "t", DatasetLayout.KALDI, rate_hz=8000), quiet)
    assert (tmp_path / "s" / "wav.scp").read_text().splitlines()[0].split(" ")[1].startswith("data/wav/")


@pytest.mark.parametrize(("on_bad", "count"), [(OnBad.KEEP, 10), (OnBad.MARK, 8)])
def test_bad_takes_come_along_only_where_the_job_keeps_them(tmp_path, on_bad, count):
    source = Made().job(bad=[0, 4], checks=Checks(on_bad=on_bad))
    info, _ = export_jobs([source], asked(tmp_path), quiet)
    assert info.utterances == count
    info, _ = export_jobs([source], asked(tmp_path, include_bad=True), quiet)
    assert info.utterances == 10


@pytest.mark.parametrize(
    ("layout", "option", "told"),
    [
        (
            "ljspeech",
            {"path_prefix": "/x/"},
            "--path-prefix does nothing in layout ljspeech; it is for nemo, lhotse, kaldi",
        ),
        ("nemo", {"shard_bytes": 1}, "--shard-mb does nothing in layout nemo; it is for webdataset"),
        ("kaldi", {"shard_entries": 1}, "--shard-count does nothing in layout kaldi; it is for webdataset"),
        ("kaldi", {"rate_hz": 1}, "--rate 1 is not possible; use 4000 to 192000"),
        ("kaldi", {"rate_hz": 1_000_000}, "--rate 1000000 is not possible"),
    ],
)
def test_options_that_would_do_nothing_are_refused(tmp_path, layout, option, told):
    with pytest.raises(BadOption, match=told):
        export_jobs([Made().job()], asked(tmp_path / "set", DatasetLayout(layout), **option), quiet)
    assert tree(tmp_path) == {}


def test_temporary_files_of_others_stay(tmp_path):
    """In a folder that is not a dataset another machine may be writing, into a store of its own for example."""
    part = tmp_path / "takes" / ".part-elsewhere-7-0011223344556677"
    part.parent.mkdir()
    part.write_bytes(b"half")
    (tmp_path / "takes" / "whole").write_bytes(b"x")
    os.utime(part, (1, 1))
    with pytest.raises(BadOutput, match="holds other files"):
        export_jobs([Made().job()], asked(tmp_path), quiet)
    assert part.read_bytes() == b"half"
    (tmp_path / "takes" / "whole").unlink()
    export_jobs([Made().job()], asked(tmp_path), quiet)


def test_two_exports_into_one_folder_at_once(tmp_path):
    source = Made().job()
    folder = tmp_path / "set"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, cwd=Path.cwd())
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(BadOutput, match=r"another export writes to .* now"):
            export_jobs([source], asked(folder), quiet)
        assert list(tree(folder)) == [LOCK_NAME]
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    export_jobs([source], asked(folder), quiet)  # the lock died with its process
    assert LOCK_NAME not in tree(folder)


def test_a_lock_whose_file_was_taken_away_meanwhile_is_none(tmp_path, monkeypatch):
    real, removed = os.open, []

    def slow_open(path, flags, mode=0o777, **more):
        handle = real(path, flags, mode, **more)
        if Path(path).name == LOCK_NAME and not removed:
            removed.append(path)
            Path(path).unlink()
        return handle

    monkeypatch.setattr(os, "open", slow_open)
    with export_lock(tmp_path):
        assert removed
        assert (tmp_path / LOCK_NAME).exists()
    assert tree(tmp_path) == {}


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadOutput, match=r"cannot write to .*choose another folder with --out"):
        export_jobs([Made().job()], asked(tmp_path / "file" / "set"), quiet)
    assert tree(tmp_path) == {"file": b"x"}


def test_a_disk_that_is_too_small_is_found_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("jobs.submit.shutil.disk_usage", lambda path: SimpleNamespace(free=9))
    with pytest.raises(BadOutput, match="free some space"):
        export_jobs([Made().job()], asked(tmp_path / "set"), quiet)
    assert tree(tmp_path) == {}


def test_a_full_disk_is_a_bad_output_and_a_lost_take_is_not(tmp_path, monkeypatch):
    class Full(to_folder.FolderStore):
        @contextmanager
        def _temporary(self, key, check):
            with super()._temporary(key, check) as path:
                yield path
                if key.endswith(".flac"):
                    raise OSError(28, "No space left on device")

    source = Made().job()
    with monkeypatch.context() as patched:
        patched.setattr(to_folder, "FolderStore", Full)
        with pytest.raises(BadOutput, match=r"No space left.*\(--out\); what was written so far is kept"):
            export_jobs([source], asked(tmp_path), quiet)
    assert list(tree(tmp_path)) == ["dataset.json"]
    (take,) = next(iter(source.utterances())).takes
    source.store.put(keys.take_audio(take.take), b"?")
    with pytest.raises(ObjectDamaged):
        export_jobs([source], asked(tmp_path), quiet)
