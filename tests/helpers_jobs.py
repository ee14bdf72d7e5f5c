"""A small world in memory for tests of jobs: truth, streams, store, an offer, drafts, and a worker that speaks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import count, pairwise

import numpy as np

from jobs.drafts import Draft, Source, Wishes, make_draft
from jobs.events import AudioChunk
from jobs.protocols import News, Seen, Store
from jobs.spec import JobRecord, ModelOffer, SegmentResult, SegmentTask, VoiceOffer
from jobs.state import SegmentState
from jobs.stores import open_store
from jobs.streams.memory import MemoryStreams
from jobs.submit import accept
from jobs.takes import Pcm, TakeOrigin, open_samples, write_take
from jobs.truth.memory import MemoryTruth
from tests.helpers_truth import worker

RATE_HZ = 1000
VOICES = (
    VoiceOffer(name="ann", language="en-US", revision="r1", licence="free"),
    VoiceOffer(name="bob", language="en-GB", revision="r2", licence="free"),
    VoiceOffer(name="eva", language="de", revision="r3", licence="free"),
    VoiceOffer(name="far", language="en", revision="", licence="free", installed=False, install_hint="pip install far"),
)
OFFER = ModelOffer(
    name="m",
    description="for tests",
    lane="tokens",
    languages=("en", "de"),
    voices=VOICES,
    default_voice="ann",
    sample_rate_hz=RATE_HZ,
    max_chars=60,
    pack_chars=0,
    chars_per_s=10.0,
    numerics="n1",
    min_speed=0.5,
    max_speed=2.0,
)
BOOK = "CHAPTER I\n\nOne is here. Two is here.\n\nThree is here.\n\nCHAPTER II\n\nFour is here.\n"
_numbers = count()


class World:
    """Everything of one queue, in memory. Each has a store of its own."""

    def __init__(self, store: Store | None = None) -> None:
        self.streams = MemoryStreams(max_audio_bytes=1 << 20)
        self.truth = MemoryTruth(self.streams, worker_ttl_s=60)
        self.store = store or open_store(f"memory://world-{next(_numbers)}")
        self.truth.register(worker("w", OFFER.engine))

    def draft(self, text: str = BOOK, name: str = "book.txt", **wishes: object) -> Draft:
        asked = {"offer": OFFER, "store_url": self.store.url} | wishes
        return make_draft(Source(name, text.encode()), Wishes(**asked))

    def submit(self, text: str = BOOK, name: str = "book.txt", **wishes: object) -> JobRecord:
        return accept(self.draft(text, name, **wishes), self.truth, self.store)

    def lease(self) -> list[SegmentTask]:
        return self.truth.lease("w", 100)

    def speak(self, task: SegmentTask) -> Pcm:
        """Keep a take of a task and report it; returns its samples."""
        pcm = self.speak_unasked(task)
        self.report(task, samples=pcm.size)
        return pcm

    def speak_unasked(self, task: SegmentTask) -> Pcm:
        """Keep a take of a task and tell nobody; returns its samples."""
        samples = voice_of(task)
        origin = TakeOrigin(
            model=task.model,
            voice=task.voice,
            language=task.language,
            spoken=task.spoken,
            seed=task.seed,
            speed=task.speed,
            numerics=OFFER.numerics,
        )
        write_take(self.store, task.take, samples, sample_rate_hz=RATE_HZ, origin=origin)
        return open_samples(self.store, task.take)

    def fail(self, task: SegmentTask) -> None:
        self.report(task, state=SegmentState.FAILED, reason="no")

    def report(self, task: SegmentTask, **fields: object) -> None:
        shown = {"state": SegmentState.DONE, "sample_rate_hz": RATE_HZ} | fields
        told = SegmentResult(job=task.job, segment=task.segment, chapter=task.chapter, take=task.take, **shown)
        assert self.truth.finish("w", [told]) == [True]

    def speak_all(self) -> None:
        for task in self.lease():
            self.speak(task)


def voice_of(task: SegmentTask) -> np.ndarray:
    """What a task sounds like: noise that belongs to its take, some hundred samples."""
    seed = int.from_bytes(hashlib.blake2b(task.take.encode(), digest_size=8).digest(), "big")
    noise = np.random.default_rng(seed)
    return noise.uniform(-0.5, 0.5, 100 + seed % 400).astype(np.float32)


def chunks_of(task: SegmentTask, pcm: Pcm, cuts: Sequence[int]) -> list[AudioChunk]:
    """Audio chunks of a take, cut at the given samples."""
    edges = sorted({0, *(cut % pcm.size for cut in cuts), pcm.size})
    return [
        AudioChunk(
            segment=task.segment,
            take=task.take,
            chunk=number,
            start_sample=start,
            samples=end - start,
            sample_rate_hz=RATE_HZ,
            last=end == pcm.size,
            data=pcm[start:end].tobytes(),
        )
        for number, (start, end) in enumerate(pairwise(edges))
    ]


class Scripted:
    """Streams whose readers find the next thing done each time they wait: a job that goes on while it is heard."""

    def __init__(self, streams: MemoryStreams, moves: Sequence[Callable[[], object]]) -> None:
        self._streams = streams
        self._moves = list(moves)

    def news(self, after: Mapping[str, Seen], *, timeout_s: float) -> dict[str, News]:
        if self._moves and timeout_s > 0:
            self._moves.pop(0)()
        return self._streams.news(after, timeout_s=0.0)

    def events(self, job: str, *, after: str = "0", timeout_s: float = 0.0) -> list[tuple[str, object]]:
        return self._streams.events(job, after=after)
