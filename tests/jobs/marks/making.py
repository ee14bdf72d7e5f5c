"""What tests of time marks are made of: segments whose takes are known to the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from jobs.account import Account
from jobs.assembly.timeline import Placed
from jobs.kinds import SubtitleFormat
from jobs.plan import Break, ChapterPlan, Plan, SegmentPlan, SentenceMark, SourceInfo
from jobs.protocols import Store
from jobs.spec import AudioFormat, JobRecord, JobSpec, Mastering, SegmentResult, SourceKind
from jobs.state import JobState, SegmentState
from jobs.stores import open_store
from jobs.takes import Judged, TakeOrigin, write_take

RATE_HZ = 8000
TONE_HZ = 400
_stores = count()


def tone(samples: int, bursts: Sequence[tuple[int, int]], *, rate_hz: int = RATE_HZ) -> np.ndarray:
    """[S] float32: silence with a tone in each [start, end)."""
    wave = 0.4 * np.sin(np.arange(samples) * (2 * np.pi * TONE_HZ / rate_hz))
    heard = np.zeros(samples, bool)
    for start, end in bursts:
        heard[start:end] = True
    return np.where(heard, wave, 0.0).astype(np.float32)


@dataclass
class Marked:
    """A plan in the making with its takes. `say` adds a segment to the last chapter."""

    kind: SourceKind = SourceKind.TXT
    formats: tuple[AudioFormat, ...] = (AudioFormat.FLAC,)
    subtitles: tuple[SubtitleFormat, ...] = tuple(SubtitleFormat)
    mastering: Mastering = field(default_factory=Mastering)
    rate_hz: int = RATE_HZ
    store: Store = field(default_factory=lambda: open_store(f"memory://marks-{next(_stores)}"))
    titles: list[str] = field(default_factory=list)
    segments: list[SegmentPlan] = field(default_factory=list)
    results: dict[int, SegmentResult] = field(default_factory=dict)

    def chapter(self, title: str) -> Marked:
        self.titles.append(title)
        return self

    def say(
        self,
        text: str,
        audio: np.ndarray,
        *,
        words: Sequence[tuple[int, int]] = (),
        sentences: Sequence[tuple[int, int]] = (),
        failed: bool = False,
        **fields: object,
    ) -> Marked:
        """`sentences`: (text_start, spoken_start). Fields as in SegmentPlan."""
        number, chapter = len(self.segments), len(self.titles) - 1
        at = self.segments[-1].source_end + 1 if self.segments else 0
        asked = {"spoken": text, "source_start": at, "source_end": at + len(text), "break_after": Break.SENTENCE}
        marks = tuple(SentenceMark(text_start=one, spoken_start=other) for one, other in sentences)
        segment = SegmentPlan(
            segment=number, chapter=chapter, text=text, language="en", sentences=marks, **(asked | fields)
        )
        self.segments.append(segment)
        take = f"{number:032x}"
        state = SegmentState.FAILED if failed else SegmentState.DONE
        self.results[number] = SegmentResult(
            job="j1", segment=number, chapter=chapter, state=state, take=take,
            samples=0 if failed else audio.size, sample_rate_hz=self.rate_hz, reason="no" if failed else "",
        )  # fmt: skip
        if not failed:
            origin = TakeOrigin(
                model="fake", voice="tone", language="en", spoken=segment.spoken, seed=1, speed=1.0, numerics="f"
            )
            judged = Judged(words=tuple(words))
            write_take(self.store, take, audio, sample_rate_hz=self.rate_hz, origin=origin, judged=judged)
        return self

    @property
    def plan(self) -> Plan:
        numbers = [segment.chapter for segment in self.segments]
        return Plan(
            source=SourceInfo(name="book.txt", kind=self.kind, sha256="00", chars=0, encoding="utf-8"),
            chapters=tuple(
                ChapterPlan(chapter=number, title=title, segments=numbers.count(number))
                for number, title in enumerate(self.titles)
            ),
            segments=tuple(self.segments),
            account=Account(chars=0, spoken_chars=0),
        )

    @property
    def record(self) -> JobRecord:
        spec = JobSpec(
            source_name="book.txt", source_kind=self.kind, model="fake", voice="tone", language="en",
            voice_revision="r1", numerics="f/1", store_url=self.store.url, formats=self.formats,
            subtitles=self.subtitles, mastering=self.mastering,
        )  # fmt: skip
        return JobRecord(
            job="j1", spec=spec, state=JobState.ASSEMBLING, title="A <Book> & more", author="Zoë",
            created_at_s=1.0, updated_at_s=2.0,
        )  # fmt: skip

    def placed(self) -> tuple[Placed, ...]:
        """The segments one after the other, 1,000 samples apart."""
        places, at = [], 0
        for segment in self.segments:
            result = self.results[segment.segment]
            done = result.state is SegmentState.DONE
            end = at + (result.samples if done else 500)
            places.append(Placed(segment.segment, at, end, result.take if done else None))
            at = end + 1000
        return tuple(places)

    def by_number(self) -> dict[int, SegmentPlan]:
        return {segment.segment: segment for segment in self.segments}
