"""`/v1/workers` and its history."""

from __future__ import annotations

import time

from jobs.protocols import Beat
from tests.helpers_api import api


def test_a_worker_is_shown_with_its_slots():
    with api(idle=True) as door:
        door.truth.beat("idle-1", Beat(slots_busy=3, segments_done=7, audio_s=12.5))
        listed = door.client.get("/v1/workers").json()
    (one,) = listed["data"]
    assert listed["object"] == "list"
    assert listed["queue"] == {"live": 0, "normal": 0, "bulk": 0, "held": 0}
    assert one.pop("beat_age_s") >= 0
    assert one == {
        "worker": "idle-1",
        "host": "here",
        "device": "cpu",
        "models": ["fake"],
        "slots": 4,
        "slots_busy": 3,
        "held": 0,
        "segments_done": 7,
        "audio_s": 12.5,
    }


def test_the_queue_counts_by_class():
    with api(idle=True) as door:
        text = {"text": "One is here. Two is here.\n\nThree is here.", "model": "fake", "priority": "bulk"}
        answer = door.client.post("/v1/jobs", json=text)
        assert answer.status_code == 202, answer.text
        queue = door.client.get("/v1/workers").json()["queue"]
        total = answer.json()["counts"]["total"]
        assert total > 0
        assert queue == {"live": 0, "normal": 0, "bulk": total, "held": 0}


def test_nobody_works():
    with api(works=False) as door:
        assert door.client.get("/v1/workers").json()["data"] == []


def test_the_history_begins_with_the_server():
    with api(idle=True) as door:
        deadline_s = time.monotonic() + 30
        while not (history := door.client.get("/v1/workers/history").json())["samples"]:
            assert time.monotonic() < deadline_s
        (sample,) = history["samples"]
        assert history["every_s"] == 5.0
        assert abs(sample["at"] - time.time()) < 600
        assert sample["queue"] == {"live": 0, "normal": 0, "bulk": 0, "held": 0}
        assert sample["workers"] == [{"worker": "idle-1", "slots": 4, "slots_busy": 0, "audio_s": 0.0}]
