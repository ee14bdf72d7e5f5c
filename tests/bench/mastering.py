"""What mastered files measure by a meter that is not ours, what it costs, and where the chapters of a long book begin:
`python -m tests.bench.mastering [--hours 2]`. Not a test (nothing here can fail).

Needs Debian's `ffmpeg` and `ffprobe`. Takes are speech-like noise in a memory store; times are of one core.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from jobs.assembly.book import assemble_book, book_timeline
from jobs.assembly.chapters import assemble_chapter
from jobs.kinds import LoudnessOver, Profile
from jobs.plan import Break
from jobs.spec import AudioFormat, Mastering
from jobs.stores import FolderStore
from tests.jobs.assembly.making import Book
from tests.jobs.mastering.speech import speech_like

say = sys.stdout.write


def meter(path: Path) -> tuple[str, str, str, str]:
    """Integrated loudness, true peak, mean and highest volume as the ffmpeg program prints them."""
    command = ["ffmpeg", "-nostats", "-i", str(path), "-af", "volumedetect,ebur128=peak=true", "-f", "null", "-"]
    text = subprocess.run(command, capture_output=True, check=True, text=True).stderr
    patterns = (r"I: +(\S+) LUFS", r"Peak: +(\S+) dBFS", r"mean_volume: (\S+) dB", r"max_volume: (\S+) dB")
    found = [re.findall(pattern, text)[-1] for pattern in patterns]
    return found[0], found[1], found[2], found[3]


def make(folder: Path, mastering: Mastering, formats: tuple[AudioFormat, ...], minutes: float, rate_hz: int) -> Book:
    """A book of three chapters, quiet to loud, in a folder."""
    book = Book(FolderStore(folder), formats=formats, mastering=mastering)
    for number, level in enumerate((0.03, 0.1, 0.2)):
        book.chapter(f"Chapter {number + 1}")
        for part in range(max(1, round(minutes * 60 / 3 / 6))):
            book.add(audio=speech_like(6, rate_hz, seed=10 * number + part % 10, level=level), rate_hz=rate_hz)
    return book


def levels(minutes: float) -> None:
    """A table of every profile: figures of the book and its chapters by ffmpeg, and seconds of work."""
    cases = (
        (Mastering(profile=Profile.RAW), (AudioFormat.M4B,)),
        (Mastering(profile=Profile.AUDIOBOOK), (AudioFormat.M4B,)),
        (Mastering(profile=Profile.AUDIOBOOK, over=LoudnessOver.BOOK), (AudioFormat.M4B,)),
        (Mastering(profile=Profile.ACX, room_tone=True), (AudioFormat.MP3,)),
        (Mastering(profile=Profile.PODCAST), (AudioFormat.MP3, AudioFormat.OPUS)),
    )
    say(f"{minutes:g} minutes at 24,000 Hz\n")
    say(f"{'profile':24}{'file':26}{'LUFS':>8}{'dBTP':>8}{'mean dB':>9}{'max dB':>8}\n")
    for mastering, formats in cases:
        with tempfile.TemporaryDirectory() as name:
            book = make(Path(name), mastering, formats, minutes, 24_000)
            started_s = time.process_time()
            for chapter in range(3):
                assemble_chapter(*book.audio, chapter, book.results)
            assemble_book(*book.audio, book.results)
            spent_s = time.process_time() - started_s
            label = f"{mastering.profile} {mastering.over}"
            files = sorted(Path(name).glob("jobs/j1/book.*")) + sorted(Path(name).glob("jobs/j1/chapters/*"))
            for path in files:
                lufs, peak, mean, highest = meter(path)
                say(f"{label:24}{path.name:26}{lufs:>8}{peak:>8}{mean:>9}{highest:>8}\n")
            say(f"{label:24}{spent_s:.1f} s of processor time for {minutes:g} min\n")


def long_book(hours: float) -> None:
    """Where ffprobe finds the chapters of a long m4b, and where its sound begins, against the timeline."""
    rate_hz, chapter_s = 8000, 300
    with tempfile.TemporaryDirectory() as name:
        book = Book(FolderStore(Path(name)), formats=(AudioFormat.M4B,), mastering=Mastering(profile=Profile.AUDIOBOOK))
        noise = speech_like(60, rate_hz)
        for number in range(round(hours * 3600 / chapter_s)):
            book.chapter(f"Chapter {number + 1}")
            for part in range(chapter_s // 60):
                kind = Break.CHAPTER if part == chapter_s // 60 - 1 else Break.PARAGRAPH
                book.add(audio=noise, rate_hz=rate_hz, kind=kind)
            assemble_chapter(*book.audio, number, book.results)
        assemble_book(*book.audio, book.results)
        path = Path(name) / "jobs/j1/book.m4b"
        timeline = book_timeline(book.record, book.plan, book.results)
        if timeline is None:
            return
        command = ["ffprobe", "-v", "error", "-of", "json", "-show_chapters", "-show_format", str(path)]
        seen = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        starts = np.array([float(chapter["start_time"]) for chapter in seen["chapters"]])
        wanted = np.array(timeline.starts) / rate_hz
        last = len(wanted) - 1
        decode = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "s16le", "-ac", "1", "-"]
        audio = np.frombuffer(subprocess.run(decode, capture_output=True, check=True).stdout, "<i2")
        begin = timeline.starts[last]
        sound = begin + int(np.flatnonzero(np.abs(audio[begin:].astype(int)) > 300)[0])
        take = int(np.flatnonzero(np.abs(noise.astype(int)) > 300)[0])
        expected = begin + timeline.chapters[last].segments[0].start_sample + take
        say(f"{len(wanted)} chapters, {float(seen['format']['duration']) / 3600:.2f} h by ffprobe\n")
        say(f"chapter marks off by {1000 * np.abs(starts - wanted).max():.3f} ms at most\n")
        off_ms = 1000 * (sound - expected) / rate_hz
        say(f"sound of the last chapter begins at {sound / rate_hz:.3f} s, {off_ms:+.1f} ms off\n")


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--hours", type=float, default=0.0)
    asked = parser.parse_args()
    if asked.minutes:
        levels(asked.minutes)
    if asked.hours:
        long_book(asked.hours)


if __name__ == "__main__":
    main()
