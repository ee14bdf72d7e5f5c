"""Takes to try the checks on: texts of the repository, spoken by the real voice or sung by the fake, and their store.

takes = piper_takes(texts(300), speed=1.0, seed=1, folder=Path("/tmp/takes"))
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.engine import UtteranceEngine
from engine.request import Request, Samples
from models.base import Prompt, SpeechModel
from tests.bench import long_text
from tests.helpers_reading import planned_of

ROOT = Path(__file__).parent.parent.parent
DATA = ROOT / "tests" / "data"
BOOKS = (ROOT / "examples" / "book.txt", *sorted((DATA / "held_out").glob("*.txt")), DATA / "cases" / "35_repeats.txt")
MAX_CHARS = 300
"""Longest segment of the real voice."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One take as a worker gets it from the engine."""

    spoken: str
    samples: Samples
    rate_hz: int
    finish: str
    error: str
    speed: float


def texts(count: int) -> list[str]:
    """So many spoken texts, all different: of books, of sentences hard to read, and of made-up prose in turn."""
    books = [
        segment.spoken
        for book in BOOKS
        for segment in planned_of(book.read_bytes(), book.name, max_chars=MAX_CHARS).plan.segments
    ]
    with (DATA / "held_out" / "speaking.tsv").open(encoding="utf-8", newline="") as rows:
        hard = [text for row in csv.reader(rows, delimiter="\t", quoting=csv.QUOTE_NONE) for text in row[1].split("|")]
    random.Random(1).shuffle(hard)
    turns = itertools.zip_longest(books, hard, long_text.sentences(count), fillvalue="")
    spoken = (text for turn in turns for text in turn)
    different = [text for text in dict.fromkeys(spoken) if any(map(str.isalpha, text)) and len(text) <= MAX_CHARS]
    return different[:count]


def speak(model: SpeechModel, prompts: list[Prompt], seeds: list[int], *, num_slots: int = 16) -> list[Spoken]:
    """What the engine makes of the prompts, in their order."""
    engine = UtteranceEngine(model.program, num_slots=num_slots)
    pieces: dict[str, list[Samples]] = {}
    ends: dict[str, tuple[str, str]] = {}
    waiting = list(enumerate(zip(prompts, seeds, strict=True)))[::-1]
    while waiting or not engine.idle:
        while waiting and engine.free_slots:
            index, (prompt, seed) = waiting.pop()
            ready = model.prepare(prompt)
            engine.add(Request(str(index), ready.inputs, seed, ready.length_hint, group=ready.group))
        for delta in engine.step():
            pieces.setdefault(delta.request_id, []).append(delta.samples)
            if delta.finish is not None:
                ends[delta.request_id] = (str(delta.finish), delta.error or "")
    rate_hz = model.program.sample_rate_hz
    return [
        Spoken(prompt.spoken, np.concatenate(pieces[str(index)]), rate_hz, *ends[str(index)], prompt.speed)
        for index, prompt in enumerate(prompts)
    ]


def piper_takes(spoken: list[str], *, speed: float, seed: int, folder: Path) -> list[Spoken]:
    """Takes of the real voice, from the folder where they are in it: speaking them takes a minute or two."""
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256("\n".join([*spoken, f"{speed} {seed}"]).encode()).hexdigest()[:16]
    path = folder / f"{digest}.npz"
    if not path.exists():
        import torch

        from models import registry

        torch.set_num_threads(1)
        model = registry.load("piper")
        prompts = [Prompt(text, "joe", "en", speed) for text in spoken]
        takes = speak(model, prompts, [seed * 100_000 + index for index in range(len(spoken))])
        assert {take.finish for take in takes} == {"stop"}, [take for take in takes if take.finish != "stop"][:3]
        temporary = path.with_suffix(".part.npz")
        np.savez(temporary, *[take.samples for take in takes])
        temporary.rename(path)
    with np.load(path) as stored:
        return [Spoken(text, stored[f"arr_{index}"], 22_050, "stop", "", speed) for index, text in enumerate(spoken)]
