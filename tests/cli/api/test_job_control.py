"""`/v1/jobs/{id}`: pause, resume, cancel, retry, purge; chapters and segments."""

from __future__ import annotations

from typing import Any

import pytest

from jobs.kinds import Grade
from jobs.spec import SegmentResult
from jobs.state import JobState, SegmentState
from tests.helpers_api import Door, api

BOOK = "# One\n\nHello there. It is late.\n\n# Two\n\nGood night.\n"
FAILS = "the fake cannot say this"


def queued(door: Door, **fields: Any) -> str:
    answer = door.client.post("/v1/jobs", json={"text": BOOK, "name": "book.md", "model": "fake", **fields})
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def asked(door: Door, method: str, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = door.client.request(method, f"/v1/jobs/{path}", **body)
    assert answer.status_code == status, answer.text
    return answer.json()


def finish(door: Door, *, failed: tuple[int, ...] = (), bad: tuple[int, ...] = (), only: int = 100) -> None:
    """Speak up to `only` segments that wait, in order, without audio; the job's steps are left undone."""
    for task in door.truth.lease("idle-1", only):
        is_failed = task.segment in failed
        result = SegmentResult(
            job=task.job,
            segment=task.segment,
            chapter=task.chapter,
            state=SegmentState.FAILED if is_failed else SegmentState.DONE,
            take=task.take,
            samples=0 if is_failed else 12_000,
            sample_rate_hz=0 if is_failed else 24_000,
            reason=FAILS if is_failed else "too quiet" if task.segment in bad else "",
            grade=Grade.BAD if task.segment in bad else Grade.GOOD,
            takes=3 if task.segment in (*failed, *bad) else 1,
        )
        assert door.truth.finish("idle-1", [result]) == [True]


def close(door: Door, job: str, end: JobState = JobState.DONE_WITH_FAILURES) -> None:
    """Bring a job whose segments are finished to its end, as its steps would."""
    for chapter in range(door.truth.job(job).chapters):
        door.truth.chapter_assembled(job, chapter)
    door.truth.move_job(job, end)


def test_pause_resume_and_cancel():
    with api(idle=True) as door:
        job = queued(door)
        assert asked(door, "POST", f"{job}/pause")["state"] == "paused"
        assert asked(door, "POST", f"{job}/pause")["state"] == "paused"
        assert door.truth.lease("idle-1", 10) == []
        assert asked(door, "POST", f"{job}/resume")["state"] == "queued"
        assert asked(door, "POST", f"{job}/resume")["state"] == "queued"
        finish(door, only=2)
        gone = asked(door, "DELETE", job)
        assert (gone["state"], gone["counts"]["done"], gone["progress"]) == ("cancelled", 2, 0.4)
        assert asked(door, "DELETE", job)["state"] == "cancelled"


def test_moves_that_cannot_be_say_why():
    with api(idle=True) as door:
        job = queued(door)
        finish(door)
        error = asked(door, "POST", f"{job}/pause", 409)["error"]
        assert (error["code"], error["message"].split(":")[0]) == ("illegal_move", f"job {job} is assembling")
        close(door, job, JobState.DONE)
        for method, path, move in (("POST", f"{job}/pause", "pause"), ("DELETE", job, "cancel")):
            error = asked(door, method, path, 409)["error"]
            assert error["message"] == f"job {job} is done; there is nothing left to {move}"
        assert asked(door, "POST", f"{job}/resume")["state"] == "done"
        error = asked(door, "POST", f"{job}/retry", 409, json={"failed": True})["error"]
        assert "is done and cannot be changed" in error["message"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("DELETE", ""),
        *(("POST", f"/{move}") for move in ("pause", "resume", "purge")),
        *(("GET", f"/{part}") for part in ("chapters", "segments", "events", "files", "files.zip", "files/book.m4b")),
    ],
)
def test_a_job_that_is_not_there(method: str, path: str):
    with api(idle=True) as door:
        error = asked(door, method, f"gone-1{path}", 404)["error"]
    assert (error["type"], error["code"]) == ("not_found_error", "unknown_job")
    assert "`GET /v1/jobs` lists them" in error["message"]


def test_retry_speaks_what_failed_or_is_marked():
    with api(idle=True) as door:
        job = queued(door)
        finish(door, failed=(1,), bad=(3,))
        close(door, job)
        shown = asked(door, "GET", job)
        assert shown["failures"] == [{"reason": FAILS, "segments": 1}]
        assert (shown["counts"]["failed"], shown["counts"]["marked"], shown["counts"]["retakes"]) == (1, 1, 4)
        again = asked(door, "POST", f"{job}/retry", json={"failed": True})
        assert (again["state"], again["counts"]["waiting"]) == ("queued", 2)
        assert sorted(task.segment for task in door.truth.lease("idle-1", 10)) == [1, 3]


def test_retry_speaks_single_segments():
    with api(idle=True) as door:
        job = queued(door)
        finish(door, failed=(1,), bad=(3,))
        close(door, job)
        error = asked(door, "POST", f"{job}/retry", 400, json={"segments": [99]})["error"]
        assert "no segment 99; they are numbered from 0 to 4" in error["message"]
        assert asked(door, "POST", f"{job}/retry", json={"segments": [0]})["counts"]["waiting"] == 1
        (task,) = door.truth.lease("idle-1", 10)
        assert (task.segment, task.attempt) == (0, 1)
        error = asked(door, "POST", f"{job}/retry", 409, json={"failed": True})["error"]
        assert "wait until it has ended" in error["message"]
        assert "tts-batch" not in error["message"]


@pytest.mark.parametrize("body", [{}, {"failed": False}, {"segments": [-1]}, {"failed": True, "loud": 1}, [1]])
def test_retry_wants_to_know_what(body: object):
    with api(idle=True) as door:
        assert asked(door, "POST", f"{queued(door)}/retry", 400, json=body)["error"]["message"]


def test_purge_deletes_what_has_ended():
    with api() as door:
        job = queued(door)
        door.wait(job)
        assert asked(door, "POST", f"{job}/purge") == {"object": "job.deleted", "id": job, "deleted": True}
        assert asked(door, "GET", job, 404)
        assert list(door.store.list(f"jobs/{job}/")) == []
        assert list(door.store.list("takes/")) != []
    with api(idle=True) as door:
        job = queued(door)
        assert "only finished jobs are deleted" in asked(door, "POST", f"{job}/purge", 409)["error"]["message"]


def test_chapters_and_segments_show_how_far_it_is():
    with api(idle=True) as door:
        job = queued(door)
        one, two = asked(door, "GET", f"{job}/chapters")["data"]
        assert one == {
            "chapter": 0,
            "title": "One",
            "segments": 3,
            "done": 0,
            "failed": 0,
            "marked": 0,
            "assembled": False,
            "start_s": 0.0,
            "audio_s": 0.0,
        }
        assert (two["segments"], two["start_s"]) == (2, None)
        finish(door, bad=(1,), only=4)
        found = asked(door, "GET", f"{job}/chapters")
        one, two = found["data"]
        assert (one["done"], one["marked"], one["audio_s"]) == (3, 1, 1.5)
        assert (two["done"], two["audio_s"]) == (1, 0.5)
        segments = asked(door, "GET", f"{job}/segments")["data"]
        assert [entry["segment"] for entry in segments] == [0, 1, 2, 3, 4]
        heard = door.service.boards.of(door.truth.job(job), door.truth, door.store)
        assert [entry["start_s"] for entry in segments] == [heard.start_s(number) for number in range(5)]
        assert segments[3]["start_s"] == two["start_s"] > 1.5
        assert found["known_s"] == segments[4]["start_s"] > two["start_s"] + 0.5
        assert segments[1] == {
            "segment": 1,
            "chapter": 0,
            "text": "Hello there.",
            "state": "done",
            "grade": "bad",
            "reason": "too quiet",
            "takes": 3,
            "audio_s": 0.5,
            "start_s": segments[1]["start_s"],
        }
        assert (segments[4]["state"], segments[4]["grade"], segments[4]["audio_s"]) == ("waiting", None, None)
        door.truth.chapter_assembled(job, 0)
        assert [chapter["assembled"] for chapter in asked(door, "GET", f"{job}/chapters")["data"]] == [True, False]


def test_segments_come_in_pages_by_chapter_and_only_bad_ones():
    with api(idle=True) as door:
        job = queued(door)
        finish(door, failed=(3,), bad=(1,))

        def page(query: str) -> tuple[list[int], bool]:
            found = asked(door, "GET", f"{job}/segments?{query}")
            return [entry["segment"] for entry in found["data"]], found["has_more"]

        assert page("limit=2") == ([0, 1], True)
        assert page("limit=2&after=1") == ([2, 3], True)
        assert page("limit=2&after=3") == ([4], False)
        assert page("chapter=1") == ([3, 4], False)
        assert page("chapter=0&limit=3") == ([0, 1, 2], False)
        assert page("only=bad") == ([1, 3], False)
        assert page("only=bad&chapter=1") == ([3], False)
        assert page("only=bad&limit=1") == ([1], True)
        assert page("after=99") == ([], False)
        for query in ("chapter=2", "chapter=-1", "only=good", "limit=0", "limit=1001", "after=x"):
            assert asked(door, "GET", f"{job}/segments?{query}", 400)["error"]["message"]


def test_a_job_that_goes_on_tells_its_pace():
    with api(idle=True) as door:
        now_s = [0.0]
        door.service.paces._clock = lambda: now_s[0]
        job = queued(door)
        assert asked(door, "GET", job)["eta_s"] is None
        now_s[0] = 2.0
        finish(door, only=2)
        shown = asked(door, "GET", job)
        assert (shown["progress"], shown["times_real_time"], shown["eta_s"]) == (0.4, 0.5, 3.0)
        assert asked(door, "POST", f"{job}/pause")["eta_s"] is None
