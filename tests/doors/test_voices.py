"""Several voices in one job, from outside: marks, casts and items; the audio is read back voice by voice."""

from __future__ import annotations

import json

import numpy as np
import pytest

from models.fake.hearing import transcribe
from models.fake.score import notes_of
from models.fake.voice import SAMPLE_RATE_HZ
from tests.doors.test_submit import samples_of
from tests.helpers_cli import Home

pytestmark = pytest.mark.services


def spoken_parts(home: Home, name: str, *options: str) -> list[tuple[str, str, np.ndarray]]:
    """(voice, written text, samples) of each segment of a job of one chapter."""
    home.json("submit", name, "--model", "fake", "--format", "flac", "--out", "out", *options)
    report = json.loads((home.work / "out" / "report.json").read_text())
    audio, rate_hz = samples_of(home.work / "out" / "book.flac")
    assert rate_hz == SAMPLE_RATE_HZ
    parts = []
    for segment in report["segments"]:
        start, end = (round(at * rate_hz) for at in (segment["start_s"], segment["start_s"] + segment["duration_s"]))
        parts.append((segment["voice"], segment["spoken"], audio[start:end]))
    return parts


def test_marks_change_the_voice_and_make_pauses(home: Home) -> None:
    (home.work / "tale.txt").write_text(
        "The wind rose. [voice: tone-low] Who is there? [pause: 3s] Nobody answered.\n\n[voice] She went on.\n"
    )
    parts = spoken_parts(home, "tale.txt", "--markup")
    assert [(voice, text) for voice, text, _ in parts] == [
        ("tone", "The wind rose."),
        ("tone-low", "Who is there?"),
        ("tone-low", "Nobody answered."),
        ("tone", "She went on."),
    ]
    for voice, text, audio in parts:
        assert transcribe(audio, voice=voice) == notes_of(text)
    report = json.loads((home.work / "out" / "report.json").read_text())
    asked, answered = report["segments"][1:3]
    assert answered["start_s"] - asked["start_s"] - asked["duration_s"] == pytest.approx(3.0, abs=1e-3)
    assert report["account"]["skipped"]["mark"] == len("[voice: tone-low] [pause: 3s][voice] ") - 2


def test_a_cast_gives_every_turn_its_voice(home: Home) -> None:
    (home.work / "play.txt").write_text("ANNA: Did it land?\nBEN: It did.\nANNA: Good.\n")
    parts = spoken_parts(home, "play.txt", "--cast", "Anna=tone-low,BEN=tone")
    assert [(voice, text) for voice, text, _ in parts] == [
        ("tone-low", "Did it land?"),
        ("tone", "It did."),
        ("tone-low", "Good."),
    ]
    for voice, text, audio in parts:
        assert transcribe(audio, voice=voice) == notes_of(text)


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("tale.txt", "[voice: tone-lov] Hello.", ("--markup",)),
        ("play.txt", "ANNA: Yes.\nBEN: No.", ("--cast", "ANNA=tone-lov,BEN=tone")),
        ("set.jsonl", '{"id": "a", "text": "Hello.", "voice": "tone-lov"}', ()),
        ("good.txt", "Hello.", ("--voice", "tone-lov")),
    ],
)
def test_an_unknown_voice_is_refused_with_near_names(
    home: Home, name: str, text: str, options: tuple[str, ...]
) -> None:
    (home.work / name).write_text(text)
    error = home.json("submit", name, "--model", "fake", *options, code=2)["error"]
    assert "did you mean 'tone-low'" in error["message"]
    assert not (home.data / "store").exists()


def test_numbers_are_spoken_as_words_and_the_report_adds_up(home: Home) -> None:
    (home.work / "sum.txt").write_text("It cost $5.30 on 12 March 1884.[1]\n\n[1] So they say.\n")
    ((_, text, audio),) = spoken_parts(home, "sum.txt")
    assert text == "It cost five dollars thirty on the twelfth of March eighteen eighty-four."
    assert transcribe(audio) == notes_of(text)
    account = json.loads((home.work / "out" / "report.json").read_text())["account"]
    assert account["spoken_chars"] + account["replaced_chars"] + account["skipped_chars"] == account["source_chars"]
    assert account["skipped"]["note_marks"] == 3
    assert account["skipped"]["notes"] > 10
