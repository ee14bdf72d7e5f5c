"""kill -9 of an export at many writes: the same command ends it with the bytes of one that was never stopped.

Each export is a process of its own that kills itself in the midst of a write, or between two of them.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.datasets.lock import LOCK_NAME
from jobs.kinds import DatasetLayout
from jobs.spec import JobRecord
from jobs.stores import FolderStore
from tests.jobs.datasets.making import Made, jsonl, tree

pytestmark = pytest.mark.slow

WHERE = ("before", "midst", "after")
"""Moments of a write: its temporary file is half written, whole, or renamed already."""
COUNTS = {"one": 110, "two": 30}
PROGRAM = """
import itertools, json, os, signal, sys, threading
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from jobs.datasets import to_folder, writing
from jobs.datasets.export import Source
from jobs.datasets.manifest import read_manifest
from jobs.datasets.to_folder import Asked, export_jobs
from jobs.kinds import DatasetLayout
from jobs.spec import JobRecord
from jobs.stores import FolderStore

layout, store, records, runs = json.loads(sys.stdin.read())
writing.PART_ENTRIES = 20
place = FolderStore(Path(store))
jobs = [JobRecord.model_validate_json(record) for record in records]
sources = [Source(place, job, partial(read_manifest, place, job.job)) for job in jobs]


class Deadly(FolderStore):
    count = itertools.count(1)
    fatal = (0, "")

    @contextmanager
    def _temporary(self, key, check):
        number, (fatal, where) = next(self.count), self.fatal
        with super()._temporary(key, check) as path:
            if number == fatal and where == "before":
                path.write_bytes(b"half of it")
                os.kill(os.getpid(), signal.SIGKILL)
            yield path
            if number == fatal and where == "midst":
                os.kill(os.getpid(), signal.SIGKILL)
        if number == fatal:
            os.kill(os.getpid(), signal.SIGKILL)


to_folder.FolderStore = Deadly
asked = {"layout": DatasetLayout(layout)} | ({"shard_entries": 20} if layout == "webdataset" else {})
ends = []
for folder, fatal, where in runs:
    child = os.fork()
    if not child:
        Deadly.fatal = (fatal, where)
        export_jobs(sources, Asked(folder=Path(folder), **asked), lambda *_: None)
        os._exit(0)
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(json.dumps(ends))
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[JobRecord]]:
    """Two finished jobs in a folder store."""
    root = tmp_path_factory.mktemp("store")
    made = Made(FolderStore(root))
    sources = [
        made.job(jsonl((f"{name}{n}", f"Sentence {name} number {n}.") for n in range(count)), f"{name}.jsonl")
        for name, count in COUNTS.items()
    ]
    return root, [source.record for source in sources]


def run(jobs: tuple[Path, list[JobRecord]], layout: DatasetLayout, runs: list[tuple[Path, int, str]]) -> list[int]:
    """Export into folders, one after the other; a process that is to be killed at a write ends with -9."""
    root, records = jobs
    told = [(str(folder), fatal, where) for folder, fatal, where in runs]
    words = json.dumps([layout.value, str(root), [record.model_dump_json() for record in records], told])
    done = subprocess.run([sys.executable, "-c", PROGRAM], input=words.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    ends: list[int] = json.loads(done.stdout)
    return ends


@pytest.mark.parametrize("layout", DatasetLayout)
def test_killed_at_many_writes(layout, jobs, tmp_path):
    straight = tmp_path / "straight" / "set"
    assert run(jobs, layout, [(straight, 0, "")]) == [0]
    want = tree(straight)
    assert json.loads(want["dataset.json"])["utterances"] == sum(COUNTS.values())
    assert LOCK_NAME not in want

    last = len(want) + 1  # every file is written once, dataset.json twice
    writes = sorted({1, 2, *range(3, last, last // 2), last - 2, last - 1})
    folders = {(fatal, where): tmp_path / f"{fatal}{where}" / "set" for fatal in writes for where in WHERE}
    kills = [(folder, fatal, where) for (fatal, where), folder in folders.items()]
    assert set(run(jobs, layout, kills)) == {-signal.SIGKILL}
    audio = (".tar", ".wav", ".flac")
    for folder in folders.values():
        left = {name: data for name, data in tree(folder).items() if not Path(name).name.startswith(".")}
        assert left != want
        assert all(want.get(name) == data for name, data in left.items() if name.endswith(audio))
    # Killed once more while they go on, then left alone.
    again = [(folder, 3, "midst") for folder in folders.values()]
    assert -signal.SIGKILL in run(jobs, layout, again)
    assert set(run(jobs, layout, [(folder, 0, "") for folder in folders.values()])) == {0}
    for folder in folders.values():
        assert tree(folder) == want
