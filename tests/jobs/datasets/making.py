"""Finished jobs for tests of datasets: items with texts that break formats, takes whose samples are known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path

import numpy as np

from jobs.datasets.export import Added, Export, Source
from jobs.datasets.info import DatasetInfo
from jobs.datasets.manifest import Utterance, build_manifest, read_manifest, write_manifest
from jobs.datasets.selecting import Selection
from jobs.datasets.writing import Place, Terms
from jobs.kinds import DatasetLayout, Grade
from jobs.plan_store import load_plan
from jobs.protocols import Store
from jobs.spec import JobRecord, SegmentResult, SegmentTask
from jobs.state import JobState, SegmentState
from jobs.takes import Pcm, TakeOrigin, open_samples, write_take
from tests.helpers_jobs import OFFER, World

RATE_HZ = 16_000
TEXTS = {
    "plain": "A plain sentence stands here.",
    "quote": '"Quotes," she said, "and \'more\' of them."',
    "pipe": "One | two || three.",
    "id.with.dots/and slash": "Back\\slash and a\ttab and\nline ends.",
    "漢字": "你好，世界。再见！",
    "emoji": "Smile 😀 and go 👩‍👩‍👧.",
    "rtl": "שלום עולם, مرحبا بالعالم.",
    "separators": "One\u2028two\u0085three\u00a0four.",
    "comma": "Comma, semicolon; colon: and #hash, {json: [1]}.",
    "accent": "Ünïcödé naïve café e\u0301.",
}


def jsonl(texts: Iterable[tuple[str, str]]) -> str:
    return "\n".join(json.dumps({"id": name, "text": text}, ensure_ascii=False) for name, text in texts)


def voice_of(task: SegmentTask) -> np.ndarray:
    """A tone of its own for each take, with odd lengths, beginning and ending near zero."""
    digest = hashlib.blake2b(task.take.encode(), digest_size=8).digest()
    chance = np.random.default_rng(int.from_bytes(digest, "big"))
    samples = int(chance.integers(2000, 4001))
    phase = np.arange(samples) * chance.uniform(0.05, 0.4)
    tone = np.sin(phase) * chance.uniform(0.2, 0.8) + chance.normal(0, 0.01, samples)
    window = np.minimum(1, np.minimum(np.arange(samples), np.arange(samples)[::-1]) / 64)
    return (tone * window).astype(np.float32)


class Made(World):
    """A world that speaks whole jobs at once."""

    def job(
        self,
        text: str | None = None,
        name: str = "items.jsonl",
        *,
        bad: Collection[int] = (),
        failed: Collection[int] = (),
        **wishes: object,
    ) -> Source:
        """A finished job with its manifest; `bad` and `failed` are segments that ended so."""
        record = self.submit(jsonl(TEXTS.items()) if text is None else text, name, **wishes)
        while tasks := self.lease():
            for task in tasks:
                self.end(task, bad=task.segment in bad, failed=task.segment in failed)
        return self.finished(record.job)

    def end(self, task: SegmentTask, *, bad: bool, failed: bool) -> None:
        if failed:
            self.report(task, state=SegmentState.FAILED, reason="no word came", sample_rate_hz=0)
            return
        told = {"spoken": task.spoken, "seed": task.seed, "speed": task.speed, "numerics": task.numerics}
        origin = TakeOrigin(model=task.model, voice=task.voice, language=task.language, **told)
        info = write_take(self.store, task.take, voice_of(task), sample_rate_hz=RATE_HZ, origin=origin)
        grade = {"grade": Grade.BAD, "reason": "it drags"} if bad else {}
        self.report(task, samples=info.samples, sample_rate_hz=RATE_HZ, **grade)

    def finished(self, job: str) -> Source:
        for chapter in range(self.truth.job(job).chapters):
            self.truth.chapter_assembled(job, chapter)
        failed = self.truth.job(job).failed > 0
        self.truth.move_job(job, JobState.DONE_WITH_FAILURES if failed else JobState.DONE)
        record = self.truth.job(job)
        write_manifest(self.store, job, self.rows(record))
        return Source(self.store, record, partial(read_manifest, self.store, job))

    def rows(self, record: JobRecord) -> Iterable[Utterance]:
        return build_manifest(self.store, record, load_plan(self.store, record.job), self.results(record.job))

    def results(self, job: str) -> dict[int, SegmentResult]:
        return self.truth.results(job)


def lay_out(
    place: Store,
    *sources: Source,
    layout: DatasetLayout,
    selection: Selection | None = None,
    prefix: str = "",
    replace: bool = False,
    **terms: object,
) -> tuple[DatasetInfo, list[Added]]:
    """Export jobs into a place."""
    export = Export(Place(place, prefix), Terms(layout, "set", **terms), replace=replace)
    chosen = selection or Selection()
    surveys = [export.survey(source, chosen) for source in sources]
    added = [export.add(source, chosen, survey) for source, survey in zip(sources, surveys, strict=True)]
    return export.finish(), added


def samples_of(source: Source, utterance: Utterance) -> Pcm:
    """The samples of an utterance of one take, as the store has them."""
    (take,) = utterance.takes
    return open_samples(source.store, take.take)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


__all__ = ["OFFER", "RATE_HZ", "TEXTS", "Made", "jsonl", "lay_out", "samples_of", "tree", "voice_of"]
