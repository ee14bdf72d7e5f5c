"""kill -9 of an export at many moments: the same command ends it with the bytes of one that was never stopped."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jobs.datasets.lock import LOCK_NAME
from jobs.kinds import DatasetLayout
from jobs.spec import JobRecord
from jobs.stores import FolderStore
from tests.jobs.datasets.making import Made, jsonl, tree

pytestmark = pytest.mark.slow

PROGRAM = """
import json, sys
from functools import partial
from pathlib import Path
from jobs.datasets import writing
from jobs.datasets.export import Source
from jobs.datasets.manifest import read_manifest
from jobs.datasets.to_folder import Asked, export_jobs
from jobs.kinds import DatasetLayout
from jobs.spec import JobRecord
from jobs.stores import FolderStore

store, folder, layout, *records = sys.argv[1:]
writing.PART_ENTRIES = 20
place = FolderStore(Path(store))
jobs = [JobRecord.model_validate_json(record) for record in records]
sources = [Source(place, job, partial(read_manifest, place, job.job)) for job in jobs]
print("ready", flush=True)
export_jobs(sources, Asked(DatasetLayout(layout), Path(folder), shard_entries=20), lambda *_: None)
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[JobRecord]]:
    """Two finished jobs of 110 and 30 items in a folder store."""
    root = tmp_path_factory.mktemp("store")
    made = Made(FolderStore(root))
    sources = [
        made.job(jsonl((f"{name}{n}", f"Sentence {name} number {n}.") for n in range(count)), f"{name}.jsonl")
        for name, count in (("one", 110), ("two", 30))
    ]
    return root, [source.record for source in sources]


def start(jobs: tuple[Path, list[JobRecord]], folder: Path, layout: DatasetLayout) -> subprocess.Popen[bytes]:
    root, records = jobs
    words = [str(root), str(folder), layout.value, *(record.model_dump_json() for record in records)]
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, *words], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def finish(process: subprocess.Popen[bytes]) -> int:
    code = process.wait(timeout=120)
    assert process.stdout is not None
    process.stdout.close()
    return code


@pytest.mark.parametrize("layout", DatasetLayout)
def test_killed_at_many_moments(layout, jobs, tmp_path):
    straight = tmp_path / "straight" / "set"
    started_s = time.monotonic()
    assert finish(start(jobs, straight, layout)) == 0
    whole_s = time.monotonic() - started_s
    want = tree(straight)
    assert json.loads(want["dataset.json"])["utterances"] == 140

    halves = 0
    moments = 8
    for moment in range(moments):
        folder = tmp_path / str(moment) / "set"
        for again in (0, 1):  # killed, and killed again while it goes on
            process = start(jobs, folder, layout)
            time.sleep(whole_s * (moment + again / 2) / moments)
            process.kill()
            finish(process)
        left = tree(folder)
        halves += bool(left) and left != want
        assert all(want.get(name) == data for name, data in left.items() if name.endswith((".tar", ".wav", ".flac")))
        assert finish(start(jobs, folder, layout)) == 0
        assert tree(folder) == want
    assert halves >= 1
    assert LOCK_NAME not in want
