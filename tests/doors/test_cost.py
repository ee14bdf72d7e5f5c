"""What a job costs, from outside: estimated before, told after, remembered for the next one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers_cli import Home

pytestmark = pytest.mark.services

FIRST = "CHAPTER ONE\n\n" + "\n\n".join(f"Sentence number {chr(97 + place)} is here to be said." for place in range(26))
SECOND = FIRST.replace("number", "with the name").replace("here", "there")


def test_the_first_job_is_the_measurement_for_the_next(home: Home) -> None:
    home.extra |= {"TTS_BATCH_DEVICE_HOUR_PRICE": "3600", "TTS_BATCH_CURRENCY": "EUR"}
    (home.work / "first.txt").write_text(FIRST)
    (home.work / "second.txt").write_text(SECOND)
    dry = home.json("submit", "first.txt", "--model", "fake", "--dry-run")["plans"][0]["estimate"]
    assert (dry["device_s"], dry["price"], dry["basis"], dry["workers"]) == (None, None, None, None)
    assert not dry["chars_per_s_measured"]
    shown = home.run("submit", "first.txt", "--model", "fake", "--dry-run").stderr
    assert "no measurement yet: the first finished job of 20 s of audio or more is one" in shown

    with home.up():
        done = home.json("submit", "first.txt", "--model", "fake")["jobs"][0]
        status = home.json("status", done["job"])
        assert "cost: " in home.run("status", done["job"]).stdout
        with_workers = home.json("submit", "second.txt", "--model", "fake", "--dry-run")["plans"][0]["estimate"]
        second = home.json("submit", "second.txt", "--model", "fake", "--no-wait")["jobs"][0]["estimate"]
    cost = done["cost"]
    assert cost["device_s"] > 0
    assert cost["price"] == pytest.approx(cost["device_s"], abs=1e-5)
    assert (cost["currency"], cost["energy_j"]) == ("EUR", None)
    assert [device["device"] for device in cost["devices"]] == ["cpu"]
    assert cost["devices"][0]["device_s"] == cost["device_s"]
    assert status["cost"] == cost
    report = json.loads((home.work / "first" / "report.json").read_text())
    assert {name: report["run"][name] for name in cost} == cost

    assert with_workers["basis"]["source"] == "jobs"
    assert with_workers["basis"]["audio_s_per_device_s"] == pytest.approx(cost["audio_s_per_device_s"], rel=1e-3)
    assert with_workers["chars_per_s_measured"]
    assert with_workers["workers"] == 1
    assert with_workers["eta_s"] == pytest.approx(with_workers["device_s"], abs=0.01)
    assert second["price"] == pytest.approx(second["device_s"], abs=1e-2)
    after = home.json("submit", "second.txt", "--model", "fake")["jobs"][0]
    assert after["audio_s"] == pytest.approx(with_workers["audio_s"], rel=0.2)

    spoken_again = home.json("submit", "first.txt", "--model", "fake", "--dry-run")["plans"][0]["estimate"]
    assert spoken_again["segments_in_store"] == done["segments"]
    assert (spoken_again["device_s"], spoken_again["price"]) == (0.0, 0.0)
    assert "nothing is left to speak" in home.run("submit", "first.txt", "--model", "fake", "--dry-run").stderr


def test_a_price_that_is_none_is_refused(home: Home) -> None:
    home.extra["TTS_BATCH_DEVICE_HOUR_PRICE"] = "-1"
    (home.work / "one.txt").write_text("Hello there.")
    assert "use 0 or more" in home.run("submit", "one.txt", "--model", "fake", "--dry-run").stderr


def test_measurements_are_in_the_data_folder(home: Home) -> None:
    (home.work / "first.txt").write_text(FIRST)
    home.json("submit", "first.txt", "--model", "fake")
    (path,) = Path(home.data / "bench").glob("fake-*.json")
    assert json.loads(path.read_text())["jobs"][0]["device"] == "cpu"
