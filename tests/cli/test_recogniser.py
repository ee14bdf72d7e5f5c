"""`--check asr`: which recogniser is meant, and that a job without one is refused before it is queued."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.sources import asked_of
from jobs.checks.hearing import USUAL_ASR
from jobs.errors import BadOption, MissingExtra
from tests.cli.conftest import Door
from workers import recogniser


def asr(check: str) -> str:
    return asked_of({"check": check}).checks().asr


@pytest.mark.parametrize(
    ("check", "named"),
    [
        ("free", ""),
        ("asr", USUAL_ASR),
        ("asr:small.en", "small.en"),
        ("asr:Systran/faster-whisper-tiny", "Systran/faster-whisper-tiny"),
        ("asr:/models/whisper", "/models/whisper"),
    ],
)
def test_a_recogniser_is_named(check: str, named: str) -> None:
    assert asr(check) == named


def test_folders_are_told_by_their_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models" / "mine").mkdir(parents=True)
    (tmp_path / "base").mkdir()
    assert asr("asr:models/mine") == str(tmp_path / "models" / "mine")
    assert asr("asr:./base") == str(tmp_path / "base")
    assert asr("asr:base") == "base"


@pytest.mark.parametrize("check", ["asr:", "free:base", "whisper", ""])
def test_other_checks_are_refused(check: str) -> None:
    with pytest.raises(BadOption, match="use free, asr, or asr:MODEL"):
        asr(check)


def test_without_the_recogniser_nothing_is_queued(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    (door.folder / "book.txt").write_text("Hello there.\n")
    asked: list[str] = []

    def missing(name: str) -> Path:
        asked.append(name)
        msg = "--check asr needs faster-whisper, not installed here; run: pip install 'tts-batch[asr]'"
        raise MissingExtra(msg)

    monkeypatch.setattr(recogniser, "find_recogniser", missing)
    error = door.error("submit", "book.txt", "--check", "asr", code=2)
    assert (error["code"], set(asked)) == ("missing_extra", {"base.en"})
    assert "pip install 'tts-batch[asr]'" in error["message"]
    assert not (door.folder.parent / "data" / "store").exists()
    asked.clear()
    door.json("submit", "book.txt", "--check", "asr", "--dry-run")
    assert asked == []


def test_doctor_only_notes_it(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Path:
        msg = f"recogniser {name!r} is not on this machine"
        raise BadOption(msg)

    from cli.findings import recogniser_finding

    monkeypatch.setattr(recogniser, "find_recogniser", missing)
    finding = recogniser_finding()
    assert (finding.needed, finding.advice) == (False, "recogniser 'base.en' is not on this machine")
    assert finding.line().startswith("note ")
    monkeypatch.setattr(recogniser, "find_recogniser", lambda name: Path("/m"))
    assert recogniser_finding().line() == "ok       recogniser: base.en for --check asr"
