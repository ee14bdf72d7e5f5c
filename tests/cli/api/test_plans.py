"""`/v1/plans`: what would become of a source; nothing is queued."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cli.api import plans
from cli.api.planning_turns import Turns
from jobs.account import Passage, Why
from jobs.benchmarks import Measurements, Speed
from tests.helpers_api import Door, api

BOOK = b"# One\n\nIt cost 5 pounds.[^1] Hello there.\n\n# Two\n\nGood night.\n\n[^1]: A note.\n"


def planned(door: Door, data: bytes = BOOK, name: str = "book.md", status: int = 200, **form: Any) -> dict[str, Any]:
    answer = door.client.post("/v1/plans", files={"file": (name, data)}, data={"model": "fake", **form})
    assert answer.status_code == status, answer.text
    return answer.json()


def test_a_plan_shows_what_is_spoken_and_what_is_not():
    with api(idle=True) as door:
        plan = planned(door)
        assert door.truth.jobs() == []
        assert list(door.store.list("")) == []
        job = door.client.post("/v1/jobs", files={"file": ("book.md", BOOK)}, data={"model": "fake"}).json()
    assert (plan["object"], plan["job"], plan["title"]) == ("plan", job["id"], job["title"])
    assert (plan["language"], plan["model"], plan["voice"]) == ("en", "fake", "tone")
    assert plan["segments"] == job["counts"]["total"] == sum(chapter["segments"] for chapter in plan["chapters"])
    assert plan["chars"] == sum(chapter["chars"] for chapter in plan["chapters"])
    assert [chapter["title"] for chapter in plan["chapters"]] == ["One", "Two"]
    assert abs(sum(chapter["audio_s"] for chapter in plan["chapters"]) - plan["audio_s"]) < 0.2
    skipped = {one["why"]: one for one in plan["skipped"]}
    assert skipped["notes"] == {"why": "notes", "count": 1, "chars": 13, "example": "[^1]: A note."}
    assert {"why": "number", "count": 1, "chars": 1, "example": "5 → five"} in plan["replaced"]
    assert plan["warnings"] == []
    estimate = plan["estimate"]
    assert (estimate["workers"], estimate["device_s"], estimate["basis"], estimate["price"]) == (1, None, None, None)
    assert estimate["spoken_chars"] == plan["chars"]


def test_takes_that_are_there_are_not_expected_again():
    with api() as door:
        job = door.client.post("/v1/jobs", files={"file": ("book.md", BOOK)}, data={"model": "fake"}).json()["id"]
        door.wait(job)
        assert planned(door)["estimate"]["segments_in_store"] == planned(door)["segments"]


def test_a_measured_model_has_a_time_and_a_price():
    with api(idle=True) as door:
        door.service.settings = replace(door.service.settings, device_hour_price=3600.0, currency="EUR")
        (offer,) = door.service.offers()
        speed = Speed(device="cpu", audio_s=100.0, device_s=10.0, measured_at_s=1e9, slots=4)
        Measurements(door.service.settings.measurements_dir).note_bench(offer.engine, [speed])
        estimate = planned(door)["estimate"]
    assert estimate["device_s"] == pytest.approx(estimate["audio_s"] / 10, abs=0.1)
    assert (estimate["price"], estimate["currency"]) == (pytest.approx(estimate["device_s"], abs=0.01), "EUR")
    assert estimate["basis"]["audio_s_per_device_s"] == 10.0
    assert estimate["eta_s"] == estimate["device_s"]


def test_what_is_passed_over_is_a_warning():
    lines = b'{"id": "a", "text": "Hello there."}\nnot json\n'
    with api(idle=True) as door:
        assert planned(door, lines, "items.jsonl", 400)["error"]["problems"][0]["line"] == 2
        plan = planned(door, lines, "items.jsonl", skip_bad_lines="true")
    (warning,) = plan["warnings"]
    assert warning.startswith("line 2 is passed over: ")
    assert plan["segments"] == 1


def test_chapters_that_are_too_long_for_acx_are_told():
    with api(idle=True) as door:
        text = b"# One\n\n" + b"It is a long and quiet day at the sea. " * 4000
        plan = planned(door, text, profile="acx")
    assert any("One" in warning for warning in plan["warnings"])


@pytest.mark.parametrize(("was", "now", "shown"), [("5", "five", "5 → five"), ("a" * 60, "", "a" * 49 + "…")])
def test_examples_are_short(was: str, now: str, shown: str):
    passage = Passage(start=0, end=len(was), was=was, why=Why.NUMBER if now else Why.NOTES, now=now)
    assert plans._example(passage) == shown


def test_what_a_job_would_be_refused_for_a_plan_is_too():
    with api(idle=True) as door:
        assert planned(door, b"***", "a.txt", 400)["error"]["code"] == "no_text"
        error = planned(door, voice="nobody", status=400)["error"]
        assert (error["code"], error["param"]) == ("voice_not_found", "voice")
        assert planned(door, colour="red", status=400)["error"]["param"] == "colour"


@pytest.mark.parametrize("encoding", ["punycode", "IDNA", " u7 ", "unicode_escape", "raw-unicode-escape"])
def test_an_encoding_that_no_document_has_is_not_tried(encoding: str):
    """Decoding a megabyte of punycode takes hours, in one of the few processes that plan for everybody."""
    with api(idle=True) as door:
        error = planned(door, b"Hello there.", status=400, encoding=encoding)["error"]
        assert error["code"] == "bad_encoding"
        assert planned(door, "Grüße.".encode("cp1252"), encoding="Windows-1252")["segments"] == 1


def test_too_many_plans_at_once_are_sent_away():
    with api(idle=True, planning=Turns(at_once=1, waiting=0)) as door, door.service.planning.turn():
        answer = door.client.post("/v1/plans", json={"text": "Hello.", "model": "fake"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "planning_is_busy")
        assert int(answer.headers["Retry-After"]) > 0
