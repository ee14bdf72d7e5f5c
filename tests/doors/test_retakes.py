"""Bad takes through real processes: spoken again until they are good, or as `--on-bad` says; what people are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.plan import take_seed
from models.fake.faults import acting, read_marks
from models.fake.hearing import transcribe
from models.fake.score import notes_of
from tests.doors.test_submit import samples_of
from tests.helpers_cli import Home

pytestmark = [pytest.mark.services, pytest.mark.slow]

GOOD = "This line {letter} is quite all right and says what it has to say."
HOPELESS = "[[fault:silence]] Nobody will ever hear this very line without a gap."


def book(home: Home, name: str, *lines: str) -> str:
    (home.work / name).write_text("\n\n".join(lines) + "\n")
    return name


def good_lines(mark: str, count: int) -> list[str]:
    return [f"{mark}{GOOD.format(letter=chr(97 + place))}" for place in range(count)]


def report_of(home: Home, name: str) -> dict:
    return json.loads((home.work / Path(name).stem / "report.json").read_text())


def is_spoilt(spoken: str, seed: int) -> bool:
    return bool(acting(read_marks(spoken)[1], seed))


@pytest.mark.parametrize(("mark", "count"), [("[[fault:silence:p=0.5]] ", 10), ("[[fault:truncate:p=0.2]] ", 20)])
def test_bad_takes_are_spoken_again_until_they_are_good(home: Home, mark: str, count: int) -> None:
    """Silence is heard in the take itself; missing words only beside the other takes of the chapter."""
    name = book(home, "book.txt", *good_lines(mark, count))
    job = home.json("submit", name, "--model", "fake", "--format", "flac", "--takes", "12")["jobs"][0]
    assert (job["state"], job["failed"], job["marked"], job["bad_takes"]) == ("done", 0, 0, [])
    told = report_of(home, name)
    assert told["totals"]["retakes"] == job["retakes"] > 0
    for segment in told["segments"]:
        seeds = [take["seed"] for take in segment["takes"]]
        assert [is_spoilt(segment["spoken"], seed) for seed in seeds] == [True] * segment["attempt"] + [False]
        assert [take["grade"] for take in segment["takes"]] == ["bad"] * segment["attempt"] + ["good"]
        assert segment["takes"][-1]["take"] == segment["take"]
    audio, _rate_hz = samples_of(home.work / "book" / "book.flac")
    words = [notes_of(GOOD.format(letter=chr(97 + place))) for place in range(count)]
    assert transcribe(audio) == tuple(note for line in words for note in line)


@pytest.mark.parametrize(
    ("on_bad", "code", "state"),
    [("keep", 0, "done"), ("mark", 1, "done_with_failures"), ("fail", 1, "done_with_failures")],
)
def test_a_segment_without_a_good_take(home: Home, on_bad: str, code: int, state: str) -> None:
    name = book(home, "book.txt", *good_lines("", 2), HOPELESS)
    words = ("submit", name, "--model", "fake", "--format", "flac", "--takes", "2", "--on-bad", on_bad)
    job = home.json(*words, code=code)["jobs"][0]
    kept = on_bad != "fail"
    assert (job["state"], job["marked"], job["failed"], job["retakes"]) == (state, int(kept), int(not kept), 1)
    told = report_of(home, name)
    segment = told["segments"][2]
    assert (segment["state"], segment["grade"]) == ("done" if kept else "failed", "bad")
    assert (segment["take"] is None) == (not kept)
    assert len(segment["takes"]) == 2
    assert "of silence between two words" in segment["reason"]
    if kept:
        assert [bad["segment"] for bad in job["bad_takes"]] == [2]
    again = home.run(*words)  # the same job is delivered again, and told of again
    assert again.returncode == code
    assert ("1 of 3 segments without a good take" in again.stderr) == kept
    assert "1 take rejected and spoken again" in again.stderr


def spoilt_twice() -> str:
    """A line that has a gap at its first two attempts and none at the third (--seed 0)."""
    lines = (f"[[fault:silence:p=0.5]] {GOOD.format(letter=chr(97 + place))}" for place in range(26))
    wanted = [True, True, False]
    return next(line for line in lines if [is_spoilt(line, take_seed(0, line, n)) for n in range(3)] == wanted)


def test_marked_segments_get_more_takes_by_a_retry(home: Home) -> None:
    name = book(home, "book.txt", *good_lines("", 2), spoilt_twice())
    words = ("--model", "fake", "--format", "flac", "--takes", "1", "--seed", "0")
    job = home.json("submit", name, *words, code=1)["jobs"][0]
    assert job["marked"] == 1
    for made, code in ((2, 1), (3, 0)):
        told = home.json("retry", "--failed", job["job"], code=code)["jobs"][0]
        segment = report_of(home, name)["segments"][2]
        assert (told["marked"], len(segment["takes"])) == (code, made)
    assert (segment["attempt"], segment["grade"]) == (2, "good")
