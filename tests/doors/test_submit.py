"""`tts-batch submit` from outside: the audio is read back, the exit code and both outputs are looked at."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import av
import numpy as np
import pytest

from models.fake.hearing import transcribe
from models.fake.score import notes_of
from tests.helpers_cli import Home, finish, processes_of, wait_until

pytestmark = pytest.mark.services

BOOK = """Title: A Small Book
Author: Ann Author

CHAPTER ONE
The Start

It was a quiet morning. The boat lay still.

Nobody came. Nobody called.

CHAPTER TWO
The End

The boat was gone. The water kept its secret.
"""


def write_book(home: Home, text: str = BOOK, name: str = "book.txt") -> str:
    (home.work / name).write_text(text)
    return name


def samples_of(path: Path) -> tuple[np.ndarray, int]:
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        blocks = [frame.to_ndarray() for frame in container.decode(stream)]
        joined = np.concatenate([block.reshape(-1) for block in blocks])
        scale = 32768.0 if joined.dtype == np.int16 else 1.0
        return (joined / scale).astype(np.float32), stream.rate


def test_a_book_becomes_an_audiobook_that_says_every_word(home: Home) -> None:
    summary = home.json("submit", write_book(home), "--model", "fake", "--format", "m4b,flac")
    (job,) = summary["jobs"]
    assert job["state"] == "done"
    assert job["failed"] == 0

    out = home.work / "book"
    with av.open(str(out / "book.m4b")) as container:
        assert container.metadata["title"] == "A Small Book"
        assert container.metadata["artist"] == "Ann Author"
        assert len(container.chapters()) == 2
    report = json.loads((out / "report.json").read_text())
    audio, rate_hz = samples_of(out / "book.flac")
    spoken = " ".join(segment["text"] for segment in report["segments"])
    assert rate_hz == 24_000
    assert transcribe(audio) == notes_of(spoken)
    assert sorted(path.suffix for path in (out / "chapters").iterdir()) == [".flac", ".flac", ".m4a", ".m4a"]
    assert sorted(Path(file).name for file in job["files"] if "chapters" not in file) == [
        "book.flac",
        "book.m4b",
        "manifest.jsonl",
        "report.json",
    ]


def test_the_same_command_again_speaks_nothing_again(home: Home) -> None:
    name = write_book(home)
    first = home.json("submit", name, "--model", "fake")["jobs"][0]
    (home.work / "book" / "book.m4b").unlink()
    second = home.json("submit", name, "--model", "fake")["jobs"][0]
    assert second["job"] == first["job"]
    assert (home.work / "book" / "book.m4b").exists()


def test_a_corrected_book_speaks_only_what_is_new(home: Home) -> None:
    name = write_book(home)
    first = home.json("submit", name, "--model", "fake")["jobs"][0]
    write_book(home, BOOK.replace("The boat lay still.", "The boat lay very still."))
    second = home.json("submit", name, "--model", "fake")["jobs"][0]
    assert second["job"] != first["job"]
    assert second["segments"] - second["reused"] == 1


def test_ctrl_c_gives_back_and_resume_goes_on(home: Home) -> None:
    lines = "\n\n".join(
        f"Sentence number {chr(97 + i % 26)}{'x' * (i // 26)} is here [[fault:slow:s=0.003]]." for i in range(60)
    )
    name = write_book(home, f"CHAPTER ONE\n\n{lines}\n")
    process = home.start("submit", name, "--model", "fake", "--json")
    done = lambda: len(list((home.data / "store" / "takes").rglob("*.json")))  # noqa: E731
    wait_until(lambda: (home.data / "store" / "takes").exists() and done() >= 3, "some takes are made")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert processes_of(home, "valkey-server") == []
    assert processes_of(home, "workers.") == []
    made = done()
    assert made < 60

    before = {path: path.stat().st_mtime_ns for path in (home.data / "store" / "takes").rglob("*.flac")}
    job = job_of(home)
    resumed = home.json("resume", job)["jobs"][0]
    assert resumed["state"] == "done"
    assert resumed["segments"] == done()
    assert {path: path.stat().st_mtime_ns for path in before} == before


def job_of(home: Home) -> str:
    (folder,) = (home.data / "store" / "jobs").iterdir()
    return folder.name


def test_failed_segments_are_named_and_can_be_retried(home: Home) -> None:
    name = write_book(home, "One good line.\n\nA bad line [[fault:error]].\n\nAnother good line.\n")
    job = home.json("submit", name, "--model", "fake", code=1)["jobs"][0]
    assert (job["state"], job["failed"]) == ("done_with_failures", 1)
    with home.up():
        status = home.json("status", job["job"])
        assert [failure["segment"] for failure in status["failures"]] == [1]
        again = home.json("retry", "--failed", job["job"], code=1)["jobs"][0]
        assert again["failed"] == 1


def test_jsonl_gives_a_file_per_item(home: Home) -> None:
    lines = [{"id": "a.1", "text": "First item."}, {"id": "b/2", "text": "Second item.", "voice": "tone-low"}]
    (home.work / "set.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    job = home.json("submit", "set.jsonl", "--model", "fake", "--format", "flac")["jobs"][0]
    names = sorted(Path(file).name for file in job["files"] if "items" in file)
    assert names == ["000001-a-1.flac", "000002-b-2.flac"]
    audio, _ = samples_of(home.work / "set" / "items" / names[1])
    assert transcribe(audio, voice="tone-low") == notes_of("Second item.")


def test_standard_input_and_out(home: Home) -> None:
    job = home.json("submit", "-", "--model", "fake", "--out", "hello", "--format", "wav", text=b"Hello there.")[
        "jobs"
    ][0]
    assert str(home.work / "hello" / "book.wav") in job["files"]


def test_dry_run_queues_nothing(home: Home) -> None:
    plan = home.json("submit", write_book(home), "--model", "fake", "--dry-run")["plans"][0]
    assert [chapter["title"] for chapter in plan["chapters"]] == ["The Start", "The End"] or len(plan["chapters"]) == 2
    assert plan["spoken_chars"] > 100
    assert not home.data.exists()
    assert not (home.work / "book").exists()


def test_other_terminals_use_a_running_node(home: Home) -> None:
    with home.up():
        queued = home.json("submit", write_book(home), "--model", "fake", "--no-wait")["jobs"][0]
        watched = home.json("watch", queued["job"])
        assert watched["state"] == "done"
        assert [job["job"] for job in home.json("jobs")["jobs"]] == [queued["job"]]
        workers = home.json("workers")["workers"]
        assert len(workers) == 1
        fetched = home.json("fetch", queued["job"], "copy")
        assert (home.work / "copy" / "book.m4b").exists()
        assert fetched["state"] == "done"
        pcm = np.frombuffer(home.raw("listen", queued["job"]), "<i2").astype(np.float32) / 32768
        report = json.loads((home.work / "copy" / "report.json").read_text())
        assert transcribe(pcm) == notes_of(" ".join(segment["text"] for segment in report["segments"]))
        assert home.json("purge", queued["job"], "--takes")["takes"] > 0
        assert home.json("jobs")["jobs"] == []
        assert list((home.data / "store").rglob("*.flac")) == []


def test_a_live_job_is_heard_while_it_is_made(home: Home) -> None:
    slow = "\n\n".join(f"Line {chr(97 + i)} goes slowly by here [[fault:slow:s=0.004]]." for i in range(12))
    with home.up():
        name = write_book(home, slow)
        queued = home.json("submit", name, "--model", "fake", "--live", "--priority", "live", "--no-wait")["jobs"][0]
        listener = subprocess.Popen(
            [*home_command("listen", queued["job"], "--wav")],
            cwd=home.work,
            env=home.environment,
            stdout=subprocess.PIPE,
        )
        assert listener.stdout is not None
        first = listener.stdout.read(44 + 4800)
        assert first[:4] == b"RIFF"
        assert home.json("status", queued["job"])["state"] in {"queued", "running"}
        rest = listener.stdout.read()
        assert listener.wait(timeout=60) == 0
        listener.stdout.close()
        audio = np.frombuffer((first + rest)[44:], "<i2").astype(np.float32) / 32768
        expected = notes_of(" ".join(f"Line {chr(97 + i)} goes slowly by here." for i in range(12)))
        assert transcribe(audio) == expected


def home_command(*arguments: str) -> list[str]:
    from tests.helpers_cli import PROGRAM

    return [PROGRAM, *arguments]


def test_pause_and_cancel(home: Home) -> None:
    slow = "\n\n".join(f"Line {i} [[fault:slow:s=0.01]] is slow." for i in range(200))
    with home.up():
        job = home.json("submit", write_book(home, slow), "--model", "fake", "--no-wait")["jobs"][0]["job"]
        wait_until(lambda: home.json("status", job)["state"] == "running", "the job runs")
        home.json("pause", job)
        assert home.json("status", job)["state"] == "paused"
        home.json("resume", job, "--no-wait")
        dropped = home.json("cancel", job)["dropped_segments"]
        assert dropped > 100
        assert home.json("status", job)["state"] == "cancelled"
        wait_until(lambda: home.json("workers")["workers"][0]["held"] == 0, "the slots are free")


def test_a_second_node_in_one_folder_is_refused(home: Home) -> None:
    with home.up():
        assert home.json("up")["started"] is False
        process = home.start("submit", write_book(home), "--model", "fake")
        assert process.wait(timeout=60) == 0
        assert len(processes_of(home, "valkey-server")) == 1
        finish(process)


def test_what_is_no_speech_is_never_a_take(home: Home) -> None:
    """Faults that the free checks know end as failed segments with a reason, never as silence in the book."""
    marks = ("mute", "nan", "budget", "error")
    text = "\n\n".join(["A good one.", *(f"This one [[fault:{mark}]] is {mark}." for mark in marks), "The last one."])
    job = home.json("submit", write_book(home, text), "--model", "fake", code=1)["jobs"][0]
    report = json.loads((home.work / "book" / "report.json").read_text())
    assert (job["segments"], job["failed"]) == (6, 4)
    assert [segment["state"] for segment in report["segments"]] == ["done", *["failed"] * 4, "done"]
    reasons = [segment["reason"] for segment in report["segments"][1:5]]
    for reason, word in zip(reasons, ("silent", "not finite", "did not stop by itself", "rejected"), strict=True):
        assert word in reason
