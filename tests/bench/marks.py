"""Are the times of a long book right at its end? `python -m tests.bench.marks [--hours 2] [--profile audiobook]`

Speaks words of the fake voice until the book is long enough, makes the m4b, its chapters and its subtitles, and looks
for the tones of the last cues in what FFmpeg decodes. Prints the largest distance; 20 ms is the limit.
"""

from __future__ import annotations

import argparse
import io
import sys
import time

import av
import numpy as np
import pysubs2

from engine.request import Request
from jobs.assembly.book import assemble_book
from jobs.assembly.chapters import assemble_chapter
from jobs.kinds import Profile, SubtitleFormat
from jobs.marks.write import write_book_marks, write_chapter_marks
from jobs.plan import Break
from jobs.spec import AudioFormat, Mastering
from models import registry
from models.base import Prompt
from models.fake.hearing import listen
from models.fake.voice import HOP_SAMPLES, SAMPLE_RATE_HZ
from tests.jobs.marks.making import Marked

LIMIT_S = 0.02
SENTENCES = 40
"""Different sentences; a book says them again and again."""
CHAPTER_SENTENCES = 400


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--profile", choices=[profile.value for profile in Profile], default=Profile.RAW.value)
    asked = parser.parse_args()
    book = spoken(asked.hours, Profile(asked.profile))
    started_s = time.monotonic()
    chapters = []
    for chapter in book.plan.chapters:
        assemble_chapter(book.store, book.record, book.plan, chapter.chapter, book.results)
        chapters += write_chapter_marks(book.store, book.record, book.plan, chapter.chapter, book.results)
    assemble_book(book.store, book.record, book.plan, book.results)
    made_s = time.monotonic() - started_s
    write_book_marks(book.store, book.record, book.plan, book.results)
    marks_s = time.monotonic() - started_s - made_s
    last = chapters[-1].removesuffix(".vtt")
    worst = max(
        distance_s(book, "jobs/j1/book.vtt", "jobs/j1/book.m4b"), distance_s(book, f"{last}.vtt", f"{last}.m4a")
    )
    end_s = cues_of(book, "jobs/j1/book.vtt")[-1].end / 1000
    print(
        f"{asked.profile}: {len(book.segments)} segments, last cue ends at {end_s:.1f} s, largest distance of the last "
        f"ten cues {worst * 1000:.1f} ms; audio and chapters {made_s:.0f} s, marks of the book {marks_s:.1f} s"
    )
    return int(worst > LIMIT_S)


def spoken(hours: float, profile: Profile) -> Marked:
    """A book of so many hours."""
    model = registry.load("fake")
    takes = []
    for number in range(SENTENCES):
        text = f"Sentence {number} goes on, and on, until word {number} is said."
        inputs = model.prepare(Prompt(text, "tone", "en", 1.0)).inputs
        (latent,) = model.program.encode([Request("a", inputs, number, 1)])
        words = [(start * HOP_SAMPLES, end * HOP_SAMPLES) for start, end in latent.words]
        takes.append((text, model.program.decode(latent, 0, latent.num_frames), words))
    mastering = Mastering(profile=profile)
    book = Marked(
        formats=(AudioFormat.M4B,), subtitles=(SubtitleFormat.VTT,), mastering=mastering, rate_hz=SAMPLE_RATE_HZ
    )
    samples = 0
    while samples < hours * 3600 * SAMPLE_RATE_HZ:
        if len(book.segments) % CHAPTER_SENTENCES == 0:
            book.chapter(f"Chapter {len(book.titles) + 1}")
        text, audio, words = takes[len(book.segments) % SENTENCES]
        book.say(text, audio, words=words, break_after=Break.PARAGRAPH)
        samples += audio.size + round(0.7 * SAMPLE_RATE_HZ)
    return book


def cues_of(book: Marked, key: str) -> pysubs2.SSAFile:
    """The cues of an object, by a parser that is not ours."""
    return pysubs2.SSAFile.from_string(book.store.get(key).decode(), format_="vtt")


def distance_s(book: Marked, marks: str, audio: str) -> float:
    """The largest distance of the last ten cues from the tones that are nearest to them in the decoded file."""
    cues = list(cues_of(book, marks))[-10:]
    after_s = cues[0].start / 1000 - 5
    with av.open(io.BytesIO(book.store.get(audio))) as container:
        (stream,) = container.streams.audio
        container.seek(int(after_s / stream.time_base), stream=stream)
        frames = list(container.decode(stream))
        samples = np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames])
        start_s, rate_hz = frames[0].time, stream.rate
    tones = np.array([start_s + tone.start_sample / rate_hz for tone in listen(samples)])
    return max(float(np.abs(tones - cue.start / 1000).min()) for cue in cues)


if __name__ == "__main__":
    sys.exit(main())
