"""`export`: its progress line, and the command inside this process with a broker in memory."""

from __future__ import annotations

import pytest

from cli.export import progress_line
from tests.cli.conftest import Door
from tests.helpers_jobs import World
from tests.jobs.datasets.making import Made


@pytest.mark.parametrize(
    ("done", "made", "elapsed_s", "line"),
    [
        (0, 0, 0.0, "j  0/90 utterances"),
        (40, 0, 1.0, "j  40/90 utterances"),
        (60, 20, 2.0, "j  60/90 utterances  10 a second  ETA 0:03"),
        (90, 50, 5.0, "j  90/90 utterances  10 a second"),
    ],
)
def test_progress(done, made, elapsed_s, line):
    assert progress_line("j", done, 90, made=made, elapsed_s=elapsed_s) == line


@pytest.fixture
def made(door: Door) -> Made:
    """The world behind the door can speak whole jobs."""
    made = Made(door.world.store)
    door.world = made
    return made


def test_a_summary_tells_what_stayed_out(made: World, open_door: Door):
    job = made.job(bad=[1], failed=[3]).record.job
    done = open_door.run("export", job, "--layout", "kaldi", "--out", "k", "--max-s", "9")
    assert done.stdout.startswith(f"{open_door.folder}/k: dataset k (kaldi): 8 utterances, 0.00 hours, 1 speakers")
    assert f"{job}: 8 utterances written" in done.stderr
    assert f"{job}: left out: 1 bad, 1 failed (each with its reason in {open_door.folder}/k/entries/" in done.stderr
    assert "licence of its voices: free" in done.stderr
    told = open_door.json("export", job, "--layout", "kaldi", "--out", "k", "--include-bad")
    assert told["jobs"] == [{"job": job, "written": 1, "known": 8, "left_out": {"failed": 1}}]
    assert (told["utterances"], told["speakers"], told["layout"]) == (9, 1, "kaldi")


def test_errors(made: Made, open_door: Door):
    queued = made.submit().job
    assert (
        "is queued; only jobs that are done"
        in open_door.error("export", queued, "--layout", "nemo", "--out", "x", code=2)["message"]
    )
    error = open_door.error("export", "nobody-1", "--layout", "nemo", "--out", "x", code=2)
    assert error["code"] == "unknown_job"
    assert list(open_door.folder.iterdir()) == []
