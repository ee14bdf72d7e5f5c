"""A model by folder through the whole house: `tts-batch submit x.txt --model DIR` with a tiny random checkpoint."""

from __future__ import annotations

import json
import re

import pytest

from tests.doors.test_submit import samples_of
from tests.helpers_cli import Home

pytestmark = pytest.mark.services

TEXT = """The rain had stopped before they came to the house, and nobody said a word about it.

She opened the door. "Where have you been?" he asked, and his voice was low.

They went in together. The lamp was still burning on the table, as if somebody had just left the room.
"""


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    from tests.helpers_orpheus import make_tiny_orpheus

    folder = tmp_path_factory.mktemp("orpheus")
    make_tiny_orpheus(folder, stop_gain=2.0)
    return folder


def test_a_text_is_spoken_stored_and_reused(home: Home, checkpoint):
    (home.work / "x.txt").write_text(TEXT)
    # Random weights say nothing, and the checks find that out: their best takes are wanted all the same.
    command = ("submit", "x.txt", "--model", str(checkpoint), "--format", "flac", "--on-bad", "keep", "--out")
    (job,) = home.json(*command, "first", "--live")["jobs"]
    assert (job["state"], job["failed"], job["reused"]) == ("done", 0, 0)
    samples, rate_hz = samples_of(home.work / "first" / "book.flac")
    report = json.loads((home.work / "first" / "report.json").read_text())
    assert rate_hz == 24_000
    assert len(samples) / rate_hz > job["audio_s"] > 0.5  # pauses stand between the segments
    assert abs(samples).max() > 0.01
    assert report["model"] == str(checkpoint)

    (again,) = home.json(*command, "second")["jobs"]
    assert (again["state"], again["reused"]) == ("done", again["segments"])
    assert (home.work / "second" / "book.flac").read_bytes() == (home.work / "first" / "book.flac").read_bytes()


def test_an_unknown_voice_is_refused_with_the_list(home: Home, checkpoint):
    (home.work / "x.txt").write_text(TEXT)
    done = home.run("submit", "x.txt", "--model", str(checkpoint), "--voice", "nobody")
    assert done.returncode == 2
    assert "tara, leah, jess, leo, dan, mia, zac, zoe" in done.stderr


def test_the_advice_after_failures_works_for_a_model_by_folder(home: Home, tmp_path_factory):
    from tests.helpers_orpheus import make_tiny_orpheus

    endless = tmp_path_factory.mktemp("voices") / "endless"
    make_tiny_orpheus(endless)  # random weights do not stop
    (home.work / "x.txt").write_text("Good morning.\n")
    done = home.run("submit", "x.txt", "--model", str(endless), "--format", "flac")
    assert done.returncode == 1, done.stderr
    told = "1 of 1 segments failed: none of 3 takes can be used; the best one: the model did not stop by itself"
    assert told in done.stderr
    words = re.search(r"`tts-batch (retry --failed \S+)` speaks them again", done.stderr)[1].split()
    (again,) = home.json(*words, code=1)["jobs"]
    assert (again["state"], again["failed"], again["retakes"]) == ("done_with_failures", 1, 5)
    (reason,) = again["reasons"]
    assert (reason["segments"], "in shorter sentences" in reason["reason"]) == (1, True)
