"""What assembly tests are made of: plans, takes, results, pictures, and what other tools say of a file."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from jobs.account import Account, Passage, Why
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan, SourceInfo
from jobs.protocols import Store
from jobs.spec import AudioFormat, JobRecord, JobSpec, Mastering, SegmentResult, SourceKind
from jobs.state import JobState, SegmentState
from jobs.takes import TakeOrigin, write_take

RATE_HZ = 22050
LICENCE = Passage(start=0, end=10, was="(licence)\n", why=Why.LICENCE)


def tone_pcm(samples: int, *, seed: int = 0, level: int = 8000) -> np.ndarray:
    """[S] int16: a sine with a little noise that starts and ends near zero."""
    phase = np.arange(samples) * (0.05 + 0.01 * (seed % 7))
    noise = np.random.default_rng(seed).integers(-50, 50, samples)
    window = np.minimum(1, np.minimum(np.arange(samples), np.arange(samples)[::-1]) / 50)
    return ((level * np.sin(phase) + noise) * window).astype(np.int16)


@dataclass
class Book:
    """A plan in the making, with its results and the takes in a store. `add` puts one segment into the last chapter."""

    store: Store
    kind: SourceKind = SourceKind.TXT
    formats: tuple[AudioFormat, ...] = (AudioFormat.M4B,)
    title: str = "Ein Büchlein 漢字"
    author: str = "Zoë Ångström"
    chapters: list[tuple[str, int]] = field(default_factory=list)
    segments: list[SegmentPlan] = field(default_factory=list)
    results: dict[int, SegmentResult] = field(default_factory=dict)
    cover_type: str = ""
    mastering: Mastering = field(default_factory=Mastering)

    def chapter(self, title: str) -> Book:
        self.chapters.append((title, 0))
        return self

    def add(
        self,
        samples: int = 3000,
        *,
        state: SegmentState = SegmentState.DONE,
        rate_hz: int = RATE_HZ,
        kind: Break = Break.SENTENCE,
        item: str | None = None,
        start_s: float | None = None,
        audio: np.ndarray | None = None,
    ) -> Book:
        samples = samples if audio is None else audio.size
        number, chapter = len(self.segments), len(self.chapters) - 1
        title, count = self.chapters[chapter]
        self.chapters[chapter] = (title, count + 1)
        take = f"{number:032x}"
        self.segments.append(
            SegmentPlan(
                segment=number, chapter=chapter, text=f"Text {number}.", spoken=f"Text {number}.", break_after=kind,
                source_start=number * 8, source_end=number * 8 + 7, language="en", item=item, start_s=start_s,
            )
        )  # fmt: skip
        done = state is SegmentState.DONE
        self.results[number] = SegmentResult(
            job="j1", segment=number, chapter=chapter, state=state, take=take, samples=samples if done else 0,
            sample_rate_hz=rate_hz if done else 0, compute_s=0.25, reused=number % 2 == 1,
            reason="" if done else "it killed two workers",
        )  # fmt: skip
        if done:
            origin = TakeOrigin(
                model="fake", voice="tone", language="en", spoken=f"Text {number}.", seed=1, speed=1.0, numerics="f/1"
            )
            pcm = tone_pcm(samples, seed=number) if audio is None else audio
            write_take(self.store, take, (pcm / 32767).astype(np.float32), sample_rate_hz=rate_hz, origin=origin)
        return self

    @property
    def plan(self) -> Plan:
        return Plan(
            source=SourceInfo(
                name="book.txt", kind=self.kind, sha256="00", chars=100, encoding="utf-8", cover_type=self.cover_type,
                warnings=("one odd thing",),
            ),
            chapters=tuple(
                ChapterPlan(chapter=number, title=title, segments=count)
                for number, (title, count) in enumerate(self.chapters)
            ),
            segments=tuple(self.segments),
            account=Account(chars=100, spoken_chars=90, skipped=(LICENCE,)),
        )  # fmt: skip

    @property
    def record(self) -> JobRecord:
        spec = JobSpec(
            source_name="book.txt", source_kind=self.kind, model="fake", voice="tone", language="en",
            voice_revision="r1", numerics="f/1", store_url=self.store.url, seed=5, formats=self.formats,
            mastering=self.mastering,
        )  # fmt: skip
        return JobRecord(
            job="j1", spec=spec, state=JobState.ASSEMBLING, title=self.title, author=self.author,
            created_at_s=1.0, updated_at_s=2.0,
        )  # fmt: skip

    @property
    def audio(self) -> tuple[Store, JobRecord, Plan]:
        return self.store, self.record, self.plan


def picture(codec: str = "mjpeg", size: int = 48) -> bytes:
    """A small one-coloured picture: mjpeg, png or bmp."""
    context = av.CodecContext.create(codec, "w")
    context.width = context.height = size
    context.pix_fmt = {"mjpeg": "yuvj420p", "png": "rgb24", "bmp": "bgr24"}[codec]
    context.time_base = Fraction(1, 25)
    frame = av.VideoFrame(size, size, context.pix_fmt)
    for plane in frame.planes:
        plane.update(bytes([90]) * plane.buffer_size)
    frame.pts = 0
    return b"".join(bytes(packet) for packet in [*context.encode(frame), *context.encode(None)])


def ffprobe(path: Path, *entries: str) -> dict:
    """What Debian's ffprobe, a reader that is not ours, says of a file."""
    tool = shutil.which("ffprobe")
    if tool is None:
        if os.environ.get("CI") == "true":
            pytest.fail("ffprobe is missing; install the package ffmpeg")
        pytest.skip("ffprobe is not installed (package ffmpeg)")
    command = [tool, "-v", "error", "-of", "json", *entries, str(path)]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def decode(data: bytes) -> np.ndarray:
    """All samples of a file, [S], in the decoder's own type."""
    with av.open(io.BytesIO(data)) as source:
        return np.concatenate([frame.to_ndarray().reshape(-1) for frame in source.decode(audio=0)])
