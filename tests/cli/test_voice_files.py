"""Voices that are named by a file: their paths are made absolute, since workers run elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.session import is_path
from cli.sources import asked_of


@pytest.mark.parametrize(
    ("voice", "asked"),
    [
        ("ann.onnx", "{here}/ann.onnx"),
        ("~/ann.onnx", "{home}/ann.onnx"),
        ("/voices/a@b.onnx", "/voices/a@b.onnx"),
        ("sailor.txt", "{here}/sailor.txt"),
        ("ryan@calm.txt", "ryan@{here}/calm.txt"),
        ("ryan@~/calm.txt", "ryan@{home}/calm.txt"),
        ("ryan", "ryan"),
        ("af_heart:0.6+bf_emma:0.4", "af_heart:0.6+bf_emma:0.4"),
    ],
)
def test_paths_of_voices_are_named_from_the_root(tmp_path, monkeypatch, voice, asked):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    wanted = asked.format(here=Path.cwd(), home=tmp_path / "home")
    assert asked_of({"voice": voice}).voice == wanted
    assert is_path(voice) == (voice != asked or voice.startswith("/"))
