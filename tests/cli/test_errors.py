"""Errors of every kind: one JSON document, one line for people, the documented exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cli.app import EXIT_CODES, report_error
from cli.options import Shared
from cli.output import Exit
from jobs import errors
from tests.cli.conftest import Door

NO_BROKER = ("--broker", "redis://user:secret@127.0.0.1:1/0")
KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.JobsError) and kind is not errors.BadSource
]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("submit",), "usage"),
        (("submit", "x.txt", "--nonsense"), "usage"),
        (("submit", "x.txt", "--seed", "-1"), "usage"),
        (("submit", "x.txt", "--seed", str(2**63)), "usage"),
        (("submit", "x.txt", "--speed", "fast"), "usage"),
        (("status",), "usage"),
        (("nonsense",), "usage"),
        (("submit", "x.txt", "--speed", "9"), "bad_option"),
        (("submit", "x.txt", "--speed", "nan"), "bad_option"),
        (("submit", "x.txt", "--format", ""), "bad_option"),
        (("submit", "x.txt", "--format", "m4b,xyz"), "bad_option"),
        (("submit", "x.txt", "--priority", "urgent"), "bad_option"),
        (("submit", "x.txt", "--type", "pdf"), "bad_option"),
        (("submit", "x.txt", "--lang", "de"), "bad_option"),
        (("submit", "x.txt", "--skip", "poems"), "bad_option"),
        (("submit", "x.txt", "--keep", "numbers"), "bad_option"),
        (("submit", "x.txt", "--addresses", "shout"), "bad_option"),
        (("submit", "x.txt", "--cast", "ANNA"), "bad_option"),
        (("plan",), "usage"),
        (("plan", "x.txt", "--type", "pdf"), "bad_option"),
        (("plan", "x.txt", "--voice", "nobody"), "bad_option"),
        (("submit", "x.txt", "--voice", "nobody"), "bad_option"),
        (("submit", "x.txt", "--model", "nothing"), "bad_option"),
        (("submit", "x.txt", "--out", "s3://Bucket"), "bad_option"),
        (("submit", "x.txt", "--out", "x.txt/below"), "bad_output"),
        (("submit", "x.txt", "--edit", "--dry-run"), "bad_option"),
        (("jobs", "--broker", ""), "bad_option"),
        (("jobs", "--broker", "http://h"), "bad_option"),
        (("listen", "j", "--from", "end"), "bad_option"),
        (("retry", "j"), "bad_option"),
        (("purge",), "bad_option"),
        (("voices", "--model", "nothing"), "bad_option"),
    ],
    ids=lambda value: " ".join(value) or "empty" if isinstance(value, tuple) else value,
)
def test_bad_input_ends_with_2(door: Door, words, code):
    (door.folder / "x.txt").write_text("Hello there.")
    error = door.error(*words, code=Exit.BAD_INPUT)
    assert error["code"] == code
    assert error["problems"] == []
    assert [path.name for path in door.folder.iterdir()] == ["x.txt"]


def test_a_source_that_cannot_be_read_has_its_problems_with_lines(door: Door):
    (door.folder / "set.jsonl").write_text('{"id": "a", "text": "Hello."}\n{"id": "b"\n')
    error = door.error("submit", "set.jsonl", code=Exit.BAD_INPUT)
    assert error["code"] == "bad_json"
    assert [problem["line"] for problem in error["problems"]] == [2]


def test_an_unknown_setting_ends_with_2(door: Door, monkeypatch):
    monkeypatch.setenv("TTS_BATCH_BROKR", "x")
    assert "TTS_BATCH_BROKR is not a setting" in door.error("jobs", code=Exit.BAD_INPUT)["message"]


@pytest.mark.parametrize(
    "words", [("jobs",), ("status", "j"), ("watch", "j"), ("pause", "j"), ("workers",), ("fetch", "j")]
)
def test_no_broker_ends_with_3_and_shows_no_password(door: Door, words):
    error = door.error(*words, *NO_BROKER, code=Exit.NO_BROKER)
    assert error["code"] == "broker_unavailable"
    assert "secret" not in error["message"]
    assert "no node runs in" in door.error(*words, code=Exit.NO_BROKER)["message"]


@pytest.mark.parametrize("words", [("status",), ("watch",), ("listen",), ("cancel",), ("pause",), ("resume",), ("fetch",), ("retry", "--failed"), ("purge",)])  # fmt: skip  # noqa: E501
def test_an_unknown_job_ends_with_2(open_door: Door, words):
    error = open_door.error(*words, "nobody-1", code=Exit.BAD_INPUT)
    assert error["code"] == "unknown_job"
    assert "nobody-1" in error["message"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_of_ours_has_its_exit_code(kind, capsys):
    told = report_error(kind("what is wrong"), Shared(as_json=True))
    listed = [code for base, code in EXIT_CODES.items() if issubclass(kind, base)]
    assert told == (listed[0] if listed else Exit.FAILED)
    shown = capsys.readouterr()
    assert shown.err == "error: what is wrong\n"
    code = re.findall(r'"code": "(\w+)"', shown.out)
    assert [code[0].replace("_", "")] == [kind.__name__.lower()]


def test_the_page_lists_the_exit_codes():
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert listed == {code.value for code in Exit}


def test_ctrl_c_ends_with_130(open_door: Door, monkeypatch):
    def interrupted() -> list[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(open_door.world.truth, "jobs", interrupted)
    assert open_door.run("jobs", code=Exit.INTERRUPTED).stdout == ""
