"""`submit` up to the queue: what is shown, where it would go, what is queued."""

from __future__ import annotations

import json
import sys

import click
import pytest

from cli import submitting
from jobs.stores import open_store
from tests.cli.conftest import Door
from tests.helpers_truth import worker

TEXT = "# One\n\nHello there. It is late.\n\n# Two\n\nGood night.\n"


def write(door: Door, *names: str) -> None:
    for name in names:
        (door.folder / name).parent.mkdir(exist_ok=True)
        (door.folder / name).write_text(TEXT)


@pytest.fixture
def queued(open_door: Door, monkeypatch: pytest.MonkeyPatch) -> Door:
    """A door whose `submit` finds the world."""
    monkeypatch.setattr(submitting, "connect", sys.modules["cli.session"].connect)
    return open_door


def test_a_dry_run_shows_the_plan_and_leaves_nothing(door: Door):
    write(door, "book.md")
    (plan,) = door.json("submit", "book.md", "--dry-run")["plans"]
    assert [(chapter["title"], chapter["segments"]) for chapter in plan["chapters"]] == [("One", 3), ("Two", 2)]
    assert (plan["segments"], plan["warnings"]) == (5, [])
    assert plan["audio_s"] > 0
    shown = door.run("submit", "book.md", "--dry-run")
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert [row[1] for row in rows if row and row[0] in {"1", "2"}] == ["One", "Two"]
    assert f"{plan['account']['source_chars']} characters: " in shown.stdout
    assert f"{plan['segments']} segments, {plan['spoken_chars']} characters" in shown.stderr
    assert [path.name for path in door.folder.rglob("*")] == ["book.md"]
    assert not (door.folder.parent / "data" / "store").exists()


def test_what_is_not_spoken_is_told_when_a_job_is_queued(queued: Door):
    (queued.folder / "one.md").write_text(TEXT + "\nOnce more.[^1]\n\n[^1]: A note.\n")
    told = queued.run("submit", "one.md", "--no-wait").stderr
    assert "not spoken: note, note mark (" in told
    assert "see `tts-batch plan`" in told
    write(queued, "two.md")
    (line,) = queued.run("submit", "two.md", "--no-wait").stderr.splitlines()
    assert line.startswith("about 0:03 of audio to be spoken, device time not known: no measurement of fake@")


def test_bad_lines_are_passed_over_only_when_asked(queued: Door):
    (queued.folder / "set.jsonl").write_text('{"id": "a", "text": "Hello there."}\n{"id": "b"\n')
    assert queued.error("submit", "set.jsonl", "--no-wait", code=2)["code"] == "bad_json"
    assert queued.world.truth.jobs() == []
    told = queued.run("submit", "set.jsonl", "--no-wait", "--skip-bad-lines").stderr
    assert "line 2 is passed over: " in told
    assert "bad line" in told
    assert [record.total for record in queued.world.truth.jobs()] == [1]


def test_other_ways_of_reading_are_another_job(queued: Door):
    (queued.folder / "one.md").write_text(TEXT + "\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    first = queued.json("submit", "one.md", "--no-wait")["jobs"]
    assert queued.json("submit", "one.md", "--no-wait", "--keep", "tables")["jobs"] != first
    assert queued.json("submit", "one.md", "--no-wait")["jobs"] == first


def test_standard_input_is_a_source(door: Door):
    result = door.run("submit", "-", "--dry-run", "--json", text="Hello there.")
    assert json.loads(result.stdout)["plans"][0]["job"].startswith("stdin-")
    result = door.run("submit", "-", "--type", "md", "--dry-run", "--json", text="# A\n\nOne.\n\n# B\n\nTwo.")
    assert len(json.loads(result.stdout)["plans"][0]["chapters"]) == 2


@pytest.mark.parametrize("out", [[], ["--out", "all"]])
def test_two_sources_of_one_name_would_overwrite_each_other(door: Door, out):
    write(door, "book.md", "a/book.txt")
    error = door.error("submit", "book.md", "a/book.txt", *out, "--dry-run", code=2)
    assert error["code"] == "bad_option"
    assert "book.md and book.txt would both be written to " in error["message"]
    assert "each with its own --out" in error["message"]
    assert not (door.folder / "all").exists()


def test_the_same_source_twice_is_refused_too(door: Door):
    write(door, "book.md")
    assert "book.md and book.md would both" in door.error("submit", "book.md", "book.md", code=2)["message"]


def test_sources_of_one_name_may_go_into_one_store(door: Door):
    write(door, "book.md", "a/book.txt")
    plans = door.json("submit", "book.md", "a/book.txt", "--out", f"file://{door.folder.parent}/both", "--dry-run")[
        "plans"
    ]
    assert len({plan["job"] for plan in plans}) == 2


def test_where_each_job_is_written(queued: Door, monkeypatch):
    followed: list[tuple[str, str]] = []

    def follow(_session: object, _output: object, jobs: list) -> int:
        followed.extend((record.spec.source_name, str(out)) for record, out in jobs)
        return 0

    monkeypatch.setattr(submitting, "follow_all", follow)
    write(queued, "one.md", "two.md")
    queued.run("submit", "one.md", "two.md")
    queued.run("submit", "one.md", "two.md", "--out", "all")
    queued.run("submit", "one.md", "--out", "just")
    queued.run("submit", "one.md", "two.md", "--out", f"file://{queued.folder.parent}/there")
    here = queued.folder
    assert followed == [
        *(("one.md", f"{here}/one"), ("two.md", f"{here}/two")),
        *(("one.md", f"{here}/all/one"), ("two.md", f"{here}/all/two")),
        ("one.md", f"{here}/just"),
        *(("one.md", "None"), ("two.md", "None")),
    ]
    assert sorted(path.name for path in here.iterdir()) == ["one.md", "two.md"]


def test_without_waiting_the_ids_are_the_result(queued: Door):
    write(queued, "one.md", "two.md")
    jobs = queued.json("submit", "one.md", "two.md", "--no-wait")["jobs"]
    assert [job["state"] for job in jobs] == ["queued", "queued"]
    assert [record.job for record in queued.world.truth.jobs()] == [job["job"] for job in jobs]
    assert queued.run("submit", "one.md", "--no-wait").stdout == f"{jobs[0]['job']}\n"
    assert len(queued.world.truth.jobs()) == 2


def test_nothing_is_queued_when_one_of_several_is_bad(queued: Door):
    write(queued, "one.md")
    (queued.folder / "bad.txt").write_text("\n")
    queued.error("submit", "one.md", "bad.txt", "--no-wait", code=2)
    assert queued.world.truth.jobs() == []


def test_a_store_is_one_store_however_it_is_spelled(queued: Door, monkeypatch):
    write(queued, "one.md")
    first = queued.json("submit", "one.md", "--no-wait")["jobs"]
    monkeypatch.setenv("TTS_BATCH_STORE", f"{queued.world.store.url}/")
    assert queued.json("submit", "one.md", "--no-wait")["jobs"] == first
    (record,) = queued.world.truth.jobs()
    assert record.spec.store_url == open_store(f"{queued.world.store.url}/").url == queued.world.store.url


@pytest.mark.parametrize(("edited", "code"), [(None, "not_saved"), ("", "no_text"), ("x" * 500, "segment_too_long")])
def test_editing_that_comes_to_nothing(queued: Door, monkeypatch, edited, code):
    write(queued, "one.md")
    monkeypatch.setattr(click, "edit", lambda *_, **__: edited)
    monkeypatch.setattr(submitting, "sys", Terminal)
    assert queued.error("submit", "one.md", "--edit", "--no-wait", code=2)["code"] == code
    assert queued.world.truth.jobs() == []


def test_what_was_edited_is_queued(queued: Door, monkeypatch):
    write(queued, "one.md")
    monkeypatch.setattr(click, "edit", lambda text, **_: text.replace("It is late.", "It is very late."))
    monkeypatch.setattr(submitting, "sys", Terminal)
    (job,) = queued.json("submit", "one.md", "--edit", "--no-wait")["jobs"]
    queued.world.truth.register(worker("f", "fake@fake-1"))
    tasks = queued.world.truth.lease("f", 100)
    assert "It is very late." in [task.spoken for task in tasks]
    assert {task.job for task in tasks} == {job["job"]}


def test_an_editor_that_is_not_there_is_told(queued: Door, monkeypatch):
    write(queued, "one.md")
    monkeypatch.setenv("EDITOR", "no-such-editor-here")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr(submitting, "sys", Terminal)
    error = queued.error("submit", "one.md", "--edit", "--no-wait", code=2)
    assert "no-such-editor-here" in error["message"]
    assert "set EDITOR" in error["message"]


class Terminal:
    """`sys` with a person before it."""

    class stdin:  # noqa: N801  # as it is called there
        isatty = staticmethod(lambda: True)
