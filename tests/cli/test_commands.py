"""Looking at jobs and changing them: each command's document, and what it leaves behind."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from cli.output import Exit, Output
from cli.session import Session
from cli.watch import Follower, progress_line
from jobs import keys
from jobs.errors import UnknownJob
from jobs.progress import Counters
from jobs.state import JobState, SegmentState
from jobs.takes import open_samples
from tests.cli.conftest import Door
from tests.helpers_jobs import World


def finish(world: World, job: str, end: JobState = JobState.DONE) -> None:
    world.speak_all()
    for chapter in range(world.truth.job(job).chapters):
        world.truth.chapter_assembled(job, chapter)
    world.truth.move_job(job, end)
    world.store.put(keys.job_object(job, "report.json"), b"{}")


@pytest.fixture
def job(open_door: Door) -> str:
    return open_door.world.submit("One is here. Two is here.").job


def test_jobs_and_status(open_door: Door, job):
    listed = open_door.json("jobs")["jobs"]
    assert [(entry["job"], entry["state"], entry["waiting"]) for entry in listed] == [(job, "queued", 2)]
    assert job in open_door.run("jobs").stdout
    first, second = open_door.world.lease()
    open_door.world.speak(first)
    open_door.world.fail(second)
    shown = open_door.json("status", job)
    assert shown["failures"] == [{"segment": 1, "reason": "no"}]
    assert (shown["done"], shown["failed"], shown["objects"]) == (1, 1, [])
    assert "segment 1: no" in open_door.run("status", job).stdout


def test_pause_resume_cancel(open_door: Door, job):
    assert open_door.json("pause", job) == {"job": job, "state": "paused"}
    assert open_door.world.lease() == []
    assert open_door.json("resume", job, "--no-wait")["state"] == "queued"
    assert open_door.json("cancel", job)["dropped_segments"] == 2
    assert open_door.world.truth.job(job).state is JobState.CANCELLED
    assert open_door.error("pause", job, code=Exit.BAD_INPUT)["code"] == "illegal_move"


def test_retry_puts_failed_segments_back(open_door: Door, job):
    first, second = open_door.world.lease()
    open_door.world.speak(first)
    open_door.world.fail(second)
    finish(open_door.world, job, JobState.DONE_WITH_FAILURES)
    assert open_door.json("retry", "--failed", job, "--no-wait") == {"job": job, "state": "queued", "retried": 1}
    error = open_door.error("retry", "--failed", job, "--no-wait", code=Exit.BAD_INPUT)
    assert error["code"] == "illegal_move"
    assert f"job {job} is queued; wait until it has ended" in error["message"]
    open_door.json("cancel", job)
    assert "submit its source again" in open_door.error("retry", "--failed", job, "--no-wait", code=2)["message"]


def test_retry_of_one_segment_leaves_the_others(open_door: Door, job):
    for task in open_door.world.lease():
        open_door.world.fail(task)
    finish(open_door.world, job, JobState.DONE_WITH_FAILURES)
    assert open_door.json("retry", "--segment", "1", job, "--no-wait") == {"job": job, "state": "queued", "retried": 1}
    assert [task.segment for task in open_door.world.lease()] == [1]
    assert open_door.world.truth.job(job).failed == 1


def test_why_segments_failed_is_counted(open_door: Door):
    world = open_door.world
    job = world.submit(" ".join(f"{word} is here." for word in ("One", "Two", "Three", "Four", "Five"))).job
    tasks = world.lease()
    for task, reason in zip(tasks, ("", "no room", "lost", "no room", ""), strict=True):
        if reason:
            world.report(task, state=SegmentState.FAILED, reason=reason)
        else:
            world.speak(task)
    finish(world, job, JobState.DONE_WITH_FAILURES)
    reasons = [{"reason": "no room", "segments": 2}, {"reason": "lost", "segments": 1}]
    assert open_door.json("status", job)["reasons"] == reasons
    assert open_door.json("watch", job, code=Exit.FAILED)["reasons"] == reasons
    (followed,) = open_door.json("resume", job, code=Exit.FAILED)["jobs"]
    assert (followed["failed"], followed["reasons"]) == (3, reasons)
    line = "3 of 5 segments failed; most (2): no room"
    assert open_door.run("watch", job, code=Exit.FAILED).stdout == f"{job}: done_with_failures; {line}\n"
    told = open_door.run("resume", job, code=Exit.FAILED).stderr.splitlines()
    assert line in told
    assert f"report.json names them; `tts-batch retry --failed {job}` speaks them again" in told


def test_where_all_failed_for_one_reason_it_is_said_once(open_door: Door, job):
    for task in open_door.world.lease():
        open_door.world.fail(task)
    finish(open_door.world, job, JobState.DONE_WITH_FAILURES)
    assert "2 of 2 segments failed: no" in open_door.run("watch", job, code=Exit.FAILED).stdout


def test_fetch(open_door: Door, job):
    empty = open_door.run("fetch", job, "out")
    assert (empty.stdout.strip(), "nothing is finished yet" in empty.stderr) == ("", True)
    finish(open_door.world, job)
    assert open_door.json("fetch", job, "out")["files"] == [str(open_door.folder / "out" / "report.json")]
    assert open_door.json("fetch", job)["files"] == [str(open_door.folder / "book" / "report.json")]


def test_following_a_job_that_is_over_delivers_it(open_door: Door, job):
    finish(open_door.world, job)
    (done,) = open_door.json("resume", job, "--out", "out")["jobs"]
    assert (done["state"], done["segments"], done["files"]) == ("done", 2, [str(open_door.folder / "out/report.json")])
    assert open_door.json("watch", job)["state"] == "done"


def test_watching_a_job_that_was_given_up_ends_with_1(open_door: Door, job):
    open_door.world.truth.cancel(job)
    assert open_door.run("watch", job, code=Exit.FAILED).stdout == f"{job}: cancelled\n"


def test_every_event_is_a_line(open_door: Door, job):
    finish(open_door.world, job)
    lines = [json.loads(line) for line in open_door.run("watch", job, "--events").stdout.splitlines()]
    assert [line["kind"] for line in lines[:-1] if line["kind"] != "job"] == [
        *("segment_done", "segment_done", "chapter_assembled")
    ]
    assert lines[-1]["state"] == lines[-2]["state"] == "done"


def test_purge(open_door: Door, job):
    error = open_door.error("purge", job, code=Exit.BAD_INPUT)
    assert (error["code"], "only finished jobs" in error["message"]) == ("illegal_move", True)
    assert open_door.error("purge", job, "--dry-run", code=Exit.BAD_INPUT)["code"] == "illegal_move"
    finish(open_door.world, job)
    assert open_door.json("purge", "--older-than", "1h", "--dry-run")["jobs"] == []
    assert open_door.json("purge", "--all", "--older-than", "1h", "--dry-run")["jobs"] == []
    assert open_door.json("purge", "--all", "--dry-run") == {"jobs": [job], "takes": 0, "dry_run": True}
    assert open_door.error("purge", "--older-than", "soon", code=Exit.BAD_INPUT)["code"] == "bad_option"
    other = open_door.world.submit("One is here. Four is here.").job
    assert open_door.json("purge", "--all") == {"jobs": [job], "takes": 0, "dry_run": False}
    assert open_door.json("purge", "--takes") == {"jobs": [], "takes": 1, "dry_run": False}
    assert [record.job for record in open_door.world.truth.jobs()] == [other]


@pytest.mark.parametrize("wav", [True, False])
def test_listen_writes_the_audio(open_door: Door, job, wav):
    finish(open_door.world, job)
    result = open_door.run("listen", job, "--json", *(["--wav"] if wav else []))
    takes = [found.take for found in open_door.world.truth.results(job).values()]
    samples = np.frombuffer(result.stdout_bytes[44 if wav else 0 :], "<i2")
    said = json.loads(result.stderr)
    assert (said["samples"], said["sample_rate_hz"], said["encoding"]) == (samples.size, 1000, "pcm_s16le")
    first, second = (open_samples(open_door.world.store, take) for take in takes)
    assert np.array_equal(samples, [*first, *[0] * 350, *second, *[0] * 2000])
    assert result.stdout_bytes.startswith(b"RIFF") == wav


def test_a_listener_that_leaves_early_is_no_error():
    code = """
import numpy as np
from cli.listen import _write
from cli.output import Output
from jobs.listen import Sound
import typer
def endless():
    while True:
        yield Sound(np.ones(100, np.int16), 1000)
try:
    _write(Output(as_json=True), endless(), wav=False)
except typer.Exit as done:
    raise SystemExit(done.exit_code)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(4) == b"\1\0\1\0"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 0


def test_voices_and_models_tell_the_licences(door: Door):
    voices = door.json("voices", "--model", "fake")["voices"]
    assert {voice["model"] for voice in voices} == {"fake"}
    assert all(voice["licence"] for voice in voices)
    assert "fake" in [model["name"] for model in door.json("models")["models"]]
    shown = door.run("voices").stdout
    assert shown.count("licence: ") == len(re.findall(r"^\S+ \S+", shown, re.MULTILINE))


def follower(door: Door, job: str) -> Follower:
    from cli import session

    with session.connect(None) as found:
        assert isinstance(found, Session)
        return Follower(found, door.world.truth.job(job), Output(as_json=True))


def test_a_watcher_that_comes_late_does_not_count_what_was_made_before(open_door: Door, job):
    """The stream is read from its start: what it says of long ago took none of the watcher's time."""
    first, second = open_door.world.lease()
    open_door.world.speak(first)
    late = follower(open_door, job)
    late._events()
    assert late._start == late._now == Counters.of(open_door.world.truth.job(job))
    open_door.world.speak(second)
    late._events()
    assert (late._now.done - late._start.done, late._now.state) == (1, JobState.ASSEMBLING)


def test_a_watcher_of_a_job_that_is_deleted_is_told(open_door: Door, job, monkeypatch):
    from cli import watch

    monkeypatch.setattr(watch, "EVENT_WAIT_S", 0.0)
    watcher = follower(open_door, job)
    watcher._events()
    open_door.world.truth.cancel(job)
    open_door.world.truth.forget(job)
    with pytest.raises(UnknownJob, match=job):
        watcher.run()


def test_the_progress_line():
    start = Counters(JobState.QUEUED, 10, 0, 0, 0.0)
    assert progress_line("j", start, start, 5.0) == "j  queued  0/10 segments  0:00 audio"
    now = Counters(JobState.RUNNING, 10, 4, 1, 100.0)
    line = progress_line("j", start, now, 10.0)
    assert line == "j  running  5/10 segments  1:40 audio  1 failed  10.0 × real time  ETA 0:10"
    over = progress_line("j", start, Counters(JobState.ASSEMBLING, 10, 10, 0, 100.0), 10.0, chapters="2/5")
    assert over == "j  assembling  10/10 segments  1:40 audio  2/5 chapters made"
