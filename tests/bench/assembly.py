"""How fast one hour of takes is joined, encoded and checked, per format: `python -m tests.bench.assembly [minutes]`.

Not a test (nothing here can fail). Takes of 6 s of speech-like noise in a folder store; times are of one core.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from jobs.account import Account
from jobs.assembly.encode import EncodeSpec, Tags, encode
from jobs.assembly.join import book_blocks
from jobs.assembly.readback import read_back
from jobs.assembly.timeline import place_book
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan, SourceInfo
from jobs.spec import AudioFormat, SegmentResult, SourceKind
from jobs.state import SegmentState
from jobs.stores import FolderStore
from jobs.takes import TakeOrigin, has_take, write_take

RATE_HZ = 22050
TAKE_S = 6
ORIGIN = TakeOrigin(model="bench", voice="x", language="en", spoken="x", seed=0, speed=1.0, numerics="x")


def speech_like(number: int) -> np.ndarray:
    """[S] float32: noise with the slope and the syllables of speech."""
    samples = TAKE_S * RATE_HZ
    white = np.random.default_rng(number).normal(size=samples)
    slope = np.fft.irfft(np.fft.rfft(white) / np.maximum(np.arange(samples // 2 + 1) / 400, 1), samples)
    syllables = np.clip(np.sin(np.arange(samples) * 2 * np.pi * 4 / RATE_HZ), 0, 1)
    return (0.3 * slope * syllables / np.abs(slope).max()).astype(np.float32)


def make_plan(takes: int) -> Plan:
    """One chapter of so many segments."""
    segment = SegmentPlan(
        segment=0, chapter=0, text="x", spoken="x", source_start=0, source_end=1, break_after=Break.SENTENCE,
        language="en",
    )  # fmt: skip
    return Plan(
        source=SourceInfo(name="bench", kind=SourceKind.TXT, sha256="", chars=takes, encoding="utf-8"),
        chapters=(ChapterPlan(chapter=0, title="bench", segments=takes),),
        segments=tuple(segment.model_copy(update={"segment": number}) for number in range(takes)),
        account=Account(chars=takes, spoken_chars=takes),
    )


def main() -> None:
    """Write, then measure every format."""
    takes = int(float(sys.argv[1]) if len(sys.argv) > 1 else 60) * 60 // TAKE_S
    say = sys.stdout.write
    with tempfile.TemporaryDirectory() as folder:
        store = FolderStore(Path(folder))
        results = {}
        audio = [speech_like(number) for number in range(20)]
        started = time.perf_counter()
        for number in range(takes):
            write_take(store, f"{number:032x}", audio[number % 20], sample_rate_hz=RATE_HZ, origin=ORIGIN)
            results[number] = SegmentResult(
                job="b", segment=number, chapter=0, state=SegmentState.DONE, take=f"{number:032x}",
                samples=TAKE_S * RATE_HZ, sample_rate_hz=RATE_HZ,
            )  # fmt: skip
        say(f"write_take  {1000 * (time.perf_counter() - started) / takes:6.2f} ms a take of {TAKE_S} s\n")
        started = time.perf_counter()
        assert all(has_take(store, result.take) for result in results.values())
        say(f"has_take    {1000 * (time.perf_counter() - started) / takes:6.2f} ms a take\n")
        timeline = place_book(make_plan(takes), results)
        assert timeline is not None
        started = time.perf_counter()
        assert sum(block.size for block in book_blocks(store, timeline)) == timeline.samples
        minutes = timeline.samples / RATE_HZ / 60
        say(f"join        {time.perf_counter() - started:6.2f} s for {minutes:.1f} min of audio\n")
        spec = EncodeSpec(AudioFormat.M4B, RATE_HZ, timeline.samples, Tags("bench"))
        for audio_format in AudioFormat:
            path = Path(folder) / "out"
            started = time.perf_counter()
            info = encode(path, book_blocks(store, timeline), replace(spec, audio_format=audio_format))
            whole_s = time.perf_counter() - started
            started = time.perf_counter()
            read_back(path, audio_format)
            check_s = time.perf_counter() - started
            say(
                f"{audio_format.value:5} {whole_s:6.2f} s in all, {check_s:5.2f} s of it the check, "
                f"{info.bytes / 1e6:6.1f} MB, {info.duration_s / whole_s:5.0f} x real time\n"
            )


if __name__ == "__main__":
    main()
