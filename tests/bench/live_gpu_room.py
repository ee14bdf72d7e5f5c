"""The machine room of `live_gpu`, in a process of its own: `python -m tests.bench.live_gpu_room SLOTS SMALL OUT`.

Orpheus' shape with random weights, which never stop by themselves: how long a text is spoken follows from its length.
When it is stopped it writes when each speech request was leased, got its slot and gave its first audio, and how the
engine was doing, a look about every second. SMALL=1: a tiny model on the CPU.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import time
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from engine.request import Delta, Request
from engine.tokens.program import TokenProgram
from jobs.settings import Settings, load_settings, use_kernel_cache
from jobs.speech import PREFIX
from models.base import Prepared, Prompt
from models.card import ModelCard
from models.orpheus.model import OrpheusModel, load_random
from workers.bench_meter import Meter
from workers.bench_work import Piece
from workers.catalog import _offer
from workers.context import open_context
from workers.engines import EngineSettings, make_token_engine
from workers.process import StopFlag, configure_logging
from workers.room import SWITCH_S, Loaded, Room
from workers.room_config import RoomConfig

CHARS_PER_S = 18.0
"""How fast texts are spoken: 60 to 110 characters take 3 to 6 s."""
CHARS_PER_ROW = 4
"""Characters of an id of a prompt, about as in Orpheus' tokenizer."""
LOOK_EVERY_S = 1.0
ENDLESS = 10**9


@dataclass(frozen=True)
class Reader:
    """A front end that gives each text a length: pieces as they say, others by their characters.

    `prepared_s` keeps when the inputs of a request were made, by their identity.
    """

    card: ModelCard
    program: TokenProgram
    prepared_s: dict[int, float] = field(default_factory=dict)

    def prepare(self, prompt: Prompt) -> Prepared:
        piece = self._piece(prompt.spoken)
        inputs = piece.inputs(self.program)
        self.prepared_s[id(inputs)] = time.time()
        return Prepared(inputs, length_hint=piece.rows)

    def _piece(self, spoken: str) -> Piece:
        if re.fullmatch(r"tokens=\d+ rows=\d+ seed=\d+", spoken):
            return Piece.parse(spoken)
        frame_s = self.program.codec.samples_per_frame / self.program.sample_rate_hz
        frames = max(1, round(len(spoken) / CHARS_PER_S / frame_s))
        rows = max(8, len(spoken) // CHARS_PER_ROW)
        return Piece(frames * self.program.tokens_per_frame, rows, zlib.crc32(spoken.encode()))


class Watched(Meter):
    """A meter that keeps the moments of speech requests. `moments`: by ref, what happened when (time.time())."""

    def __init__(self, engine: object, reader: Reader) -> None:
        super().__init__(engine, total=ENDLESS, warm_steps=0, audible=True)
        self._watched, self._reader = engine, reader
        self.moments: dict[str, dict[str, float]] = {}
        self.looks: list[dict[str, float]] = []
        self._first_due: set[str] = set()
        self._looked_s = 0.0

    @property
    def program(self) -> TokenProgram:
        return self._watched.program

    def add(self, request: Request) -> None:
        prepared_s = self._reader.prepared_s.pop(id(request.inputs), None)
        if request.request_id.startswith(PREFIX):
            self.moments[request.request_id] = {"leased": prepared_s, "slot": time.time()}
            self._first_due.add(request.request_id)
        super().add(request)

    def step(self) -> list[Delta]:
        deltas = super().step()
        now_s = time.time()
        for delta in deltas:
            if delta.request_id in self._first_due and delta.samples.size:
                self.moments[delta.request_id]["audio"] = now_s
                self._first_due.discard(delta.request_id)
        if now_s - self._looked_s >= LOOK_EVERY_S:
            self._look(now_s)
        return deltas

    def _look(self, now_s: float) -> None:
        self._looked_s, stats = now_s, self._watched.stats()
        numbers = (stats.steps, stats.decode_steps, stats.decode_rows, stats.prefill_passes, stats.codec_launches)
        names = ("steps", "decode_steps", "decode_rows", "prefill_passes", "codec_launches")
        look = {"at": now_s, "busy": self.num_slots - self.free_slots, "audio_samples": stats.audio_samples}
        self.looks.append(look | dict(zip(names, numbers, strict=True)))


def small_model() -> OrpheusModel:
    """A tiny decoder with Orpheus' ids and a narrow codec: everything but the speed is as in the large one."""
    from models.codecs.snac.config import SnacConfig
    from models.codecs.snac.decoder import SnacDecoder
    from models.layers.llama import LlamaDecoder
    from models.layers.llama_config import LlamaConfig
    from models.layers.rope import RopeConfig
    from models.orpheus.model import _card
    from models.orpheus.program import OrpheusProgram

    shape = {"vocab": 156_940, "hidden": 8, "layers": 1, "query_heads": 2, "kv_heads": 1, "head_dim": 4, "ffn": 8}
    config = LlamaConfig(**shape, eps=1e-5, rope=RopeConfig(10_000.0), max_positions=10_000)
    cpu = torch.device("cpu")
    decoder = LlamaDecoder.random(config, seed=0, device=cpu, dtype=torch.float32, max_positions=4096)
    codec = SnacDecoder.random(
        SnacConfig(decoder_dim=64, latent_dim=32), seed=0, device=cpu, compute_dtype=torch.float32
    )
    card = _card("orpheus-random", revision="small", hint="", numerics_name="small")
    return OrpheusModel(OrpheusProgram(decoder, codec), model_card=card, writer=None)


def open_room(settings: Settings, slots: int, *, small: bool) -> tuple[Room, Watched]:
    """A room whose only model is loaded and warm."""
    device = "cpu" if small else "cuda"
    model = small_model() if small else load_random(device=device)
    card = replace(model.card, devices=(device,))
    run = EngineSettings(slots)
    engine = make_token_engine(model.program, run)
    if not small:
        engine.warm()
    reader = Reader(card, model.program)
    watched = Watched(engine, reader)
    config = RoomConfig(worker="room-1", device=device, precision="auto", models=(), engine=run)
    room = Room(config, open_context(settings), loaded=[Loaded(reader, watched, _offer(card, None))])
    return room, watched


def main() -> None:
    slots, small, out = int(sys.argv[1]), sys.argv[2] == "1", Path(sys.argv[3])
    settings = load_settings()
    configure_logging("room", settings.log_level)
    use_kernel_cache(settings)
    sys.setswitchinterval(SWITCH_S)
    torch.set_num_threads(1)
    stop = StopFlag()
    room, watched = open_room(settings, slots, small=small)
    status = room.run(stop, grace_s=0.0)
    threads = sorted(thread.name for thread in threading.enumerate())
    out.write_text(json.dumps({"status": status, "threads": threads, "m": watched.moments, "looks": watched.looks}))


if __name__ == "__main__":
    main()
