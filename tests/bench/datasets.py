"""How fast datasets are exported: 10,000 utterances of 3 s in each layout, from one folder into another.

python -m tests.bench.datasets [UTTERANCES]      (free disk: about 0.2 MB an utterance)
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from jobs.datasets.export import Export, Source
from jobs.datasets.manifest import Utterance, UtteranceTake, read_manifest, write_manifest
from jobs.datasets.names import speaker_name, utterance_id
from jobs.datasets.selecting import Selection
from jobs.datasets.writing import Place, Terms
from jobs.kinds import DatasetLayout, Grade
from jobs.spec import JobRecord, JobSpec, SourceKind
from jobs.state import JobState, SegmentState
from jobs.stores import FolderStore
from jobs.takes import TakeOrigin, write_take

RATE_HZ = 24_000
SECONDS = 3.0
VARIANTS = 50
"""Different takes; each is there under many names, so that the disk sees as many files as there are utterances."""


def utterances(store: FolderStore, count: int) -> Iterator[Utterance]:
    """Takes in the store, and the row of each."""
    chance = np.random.default_rng(1)
    size = round(RATE_HZ * SECONDS)
    walks = (np.cumsum(chance.normal(0, 0.002, size)) for _ in range(VARIANTS))
    noise = [np.clip(walk, -0.9, 0.9).astype(np.float32) for walk in walks]
    for number in range(count):
        text = f"Sentence number {number} of a bench."
        take = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        told = {"model": "fake", "voice": "tone", "language": "en", "spoken": text, "seed": number, "speed": 1.0}
        origin = TakeOrigin(**told, numerics="1")
        info = write_take(store, take, noise[number % VARIANTS], sample_rate_hz=RATE_HZ, origin=origin)
        ours = UtteranceTake(
            take=take, segment=number, attempt=0, seed=number, start_sample=0, samples=info.samples,
            audio_bytes=info.audio_bytes, audio_sha256=info.audio_sha256, grade=Grade.GOOD,
        )  # fmt: skip
        yield Utterance(
            id=utterance_id("bench-00000000", number, f"i{number}"), state=SegmentState.DONE, grade=Grade.GOOD,
            reason="", text=text, spoken=text, language="en", model="fake", voice="tone",
            speaker=speaker_name("fake", "tone"),
            voice_revision="1", numerics="1", speed=1.0, seed=number, samples=info.samples, sample_rate_hz=RATE_HZ,
            duration_s=SECONDS, job="bench-00000000", title="bench", chapter=number // 200, chapter_title="items",
            item=f"i{number}", segments=(number,), takes=(ours,),
        )  # fmt: skip


def record(store: FolderStore) -> JobRecord:
    """The job."""
    spec = JobSpec(
        source_name="bench.jsonl", source_kind=SourceKind.JSONL, model="fake", voice="tone", language="en",
        voice_revision="1", numerics="1", store_url=store.url,
    )  # fmt: skip
    return JobRecord(
        job="bench-00000000", spec=spec, state=JobState.DONE, title="bench", author="", created_at_s=0, updated_at_s=0
    )


def main(count: int) -> None:
    """Print one line for each layout: a new export, and the same again when everything is there."""
    with tempfile.TemporaryDirectory(prefix="tts-batch-bench-") as folder:
        store = FolderStore(Path(folder) / "store")
        job = record(store)
        write_manifest(store, job.job, utterances(store, count))
        source = Source(store, job, lambda: read_manifest(store, job.job))
        for layout in DatasetLayout:
            spent_s = []
            for _ in range(2):
                started_s = time.perf_counter()
                export = Export(Place(FolderStore(Path(folder) / layout)), Terms(layout, "set"))
                export.add(source, Selection(), export.survey(source, Selection()))
                export.finish()
                spent_s.append(time.perf_counter() - started_s)
            print(
                f"{layout:12} {spent_s[0]:6.1f} s  {count / spent_s[0]:6.0f} utterances/s"
                f"  ×{count * SECONDS / spent_s[0]:.0f} real time  again {spent_s[1]:.1f} s"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
