"""The same requests through the whole queue: a Valkey, a job, a machine room in this process, takes in a file store.

Only the parts around the engine differ from a worker's: model and engine are there already, and the text of a segment
says how many tokens it shall draw.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.tokens.program import TokenProgram
from jobs.connect import open_broker
from jobs.embedded import Embedded
from jobs.errors import BrokerUnavailable
from jobs.kinds import OnBad
from jobs.plan import take_key
from jobs.settings import Settings, child_environment
from jobs.spec import JobRecord, JobSpec, ModelOffer, SegmentTask, SourceKind
from jobs.state import JobState
from models.base import Prepared, Prompt
from models.card import ModelCard
from workers.bench_meter import Meter, Window
from workers.bench_work import Piece
from workers.context import Context, open_context
from workers.engines import EngineSettings
from workers.process import spawn, stop
from workers.room import SWITCH_S, Loaded, Room
from workers.room_config import RoomConfig

BROKER_START_S = 15.0
BROKER_STOP_S = 15.0
POLL_S = 0.02
JOB = "bench"
CHAPTER_SEGMENTS = 100


@dataclass(frozen=True, slots=True)
class QueueReport:
    """How the queue kept the engine busy. `takes` and `takes_audio_s` are what was in the store and told at the end,
    `elapsed_s` after the first request got its slot."""

    window: Window
    takes: int
    takes_audio_s: float
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class BenchModel:
    """A token model whose front end reads `Piece` texts."""

    card: ModelCard
    program: TokenProgram

    def prepare(self, prompt: Prompt) -> Prepared:
        """What the text of a segment asks for. Raises ValueError."""
        piece = Piece.parse(prompt.spoken)
        return Prepared(piece.inputs(self.program), length_hint=piece.rows)


def run_queue(model: BenchModel, meter: Meter, pieces: Sequence[Piece], settings: Settings) -> QueueReport:
    """Speak the pieces as one job until the last of them got its slot; what is then unfinished is dropped.

    Raises:
        BrokerUnavailable: the broker does not start, or the room stopped by itself.
    """
    with tempfile.TemporaryDirectory(prefix="tts-batch-bench-") as folder, _broker(Path(folder), settings) as inside:
        context = open_context(inside)
        _queue_job(context, model.card, pieces)
        config = RoomConfig(
            worker=JOB,
            device=model.program.device.type,
            precision=settings.precision,
            models=(),
            engine=EngineSettings(meter.num_slots),
        )
        room = Room(config, context, loaded=[Loaded(model, meter, _offer(model.card))])
        with _quick_switches():
            status = room.run(_Measured(meter, room), grace_s=0.0)
        ended_s = time.perf_counter()
    if meter.first is None or meter.end is None:
        msg = f"the machine room of the benchmark ended (status {status}) before all requests had a slot; see the log"
        raise BrokerUnavailable(msg)
    return QueueReport(
        window=meter.window(),
        takes=room.outlet.segments_done,
        takes_audio_s=room.outlet.audio_s,
        elapsed_s=ended_s - meter.first.at_s,
    )


@dataclass(frozen=True, slots=True)
class _Measured:
    """Stops the room when the meter has seen enough, or when a thread of the room is gone."""

    meter: Meter
    room: Room

    @property
    def stopping(self) -> bool:
        works = self.room.intake.thread.is_alive() and self.room.outlet.works
        return self.meter.end is not None or not works


def _queue_job(context: Context, card: ModelCard, pieces: Sequence[Piece]) -> None:
    """One job with a segment for each piece, in order."""
    store_url = context.settings.store_url
    spec = JobSpec(
        source_name=JOB,
        source_kind=SourceKind.TXT,
        model=card.name,
        voice=JOB,
        language="en",
        voice_revision="",
        numerics=card.numerics,
        store_url=store_url,
    )
    now_s = time.time()
    record = JobRecord(
        job=JOB, spec=spec, state=JobState.PLANNING, title=JOB, author="", created_at_s=now_s, updated_at_s=now_s
    )
    context.truth.create_job(record)
    tasks = [
        SegmentTask(
            job=JOB,
            segment=place,
            chapter=place // CHAPTER_SEGMENTS,
            model=card.name,
            spoken=piece.text,
            voice=JOB,
            language="en",
            speed=1.0,
            seed=piece.seed,
            take=take_key(spoken=piece.text),
            store_url=store_url,
            on_bad=OnBad.KEEP,  # made of random tokens: what is measured is the way of a take, not the take
        )
        for place, piece in enumerate(pieces)
    ]
    context.truth.enqueue(JOB, tasks, [])


def _offer(card: ModelCard) -> ModelOffer:
    fields = {name: getattr(card, name) for name in ModelOffer.model_fields if name != "voices"}
    return ModelOffer(**fields, voices=())


@contextlib.contextmanager
def _quick_switches() -> Iterator[None]:
    """Threads change places as often as in a synthesis process."""
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before_s)


@contextlib.contextmanager
def _broker(folder: Path, settings: Settings) -> Iterator[Settings]:
    """A broker of its own in a folder; gives the settings for it, with the store in the same folder."""
    place = Embedded(folder)
    place.prepare()
    inside = replace(settings, broker=place.url, data_dir=folder, store=None)
    environment = child_environment(inside)
    server = spawn(place.server_command(), environment=environment, log_path=place.log_dir / "broker.log")
    try:
        deadline_s = time.monotonic() + BROKER_START_S
        while not _answers(inside, place.url):
            if server.poll() is not None or time.monotonic() > deadline_s:
                msg = f"the broker of the benchmark does not start: {(place.log_dir / 'broker.log').read_text()[-400:]}"
                raise BrokerUnavailable(msg)
            time.sleep(POLL_S)
        yield inside
    finally:
        stop(server, grace_s=BROKER_STOP_S)


def _answers(settings: Settings, url: str) -> bool:
    try:
        open_broker(url, settings).close()
    except BrokerUnavailable:
        return False
    return True
