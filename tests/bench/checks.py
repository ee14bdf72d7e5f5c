"""How well the checks that need no recogniser tell wrong takes from good ones, and what they cost.

python -m tests.bench.checks --fake      planted faults of the fake model through the engine, 2,000 segments
python -m tests.bench.checks --piper     good and corrupted takes of the real voice (kept in --takes)
python -m tests.bench.checks --time      milliseconds per take

Tables: which share of each kind was caught, and which checks did it. "clean" counts false alarms. Takes are looked at
twice, as in a job: alone (`jobs.checks.free`), and in chapters with the others (`jobs.checks.rate`).
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from engine.request import Samples
from jobs.checks.free import TakeFacts, check_take
from jobs.checks.rate import RateTake, rate_verdicts
from jobs.verdict import Reason, Verdict
from models import registry
from models.base import Prompt
from models.fake.faults import FaultKind
from tests import helpers_corrupt as corrupt
from tests.bench.check_takes import Spoken, piper_takes, speak, texts

CLEAN = "clean"
FAULTS = (
    FaultKind.TRUNCATE,
    FaultKind.REPEAT,
    FaultKind.TAIL,
    FaultKind.SILENCE,
    FaultKind.MUTE,
    FaultKind.CLICK,
    FaultKind.CLIP,
    FaultKind.NAN,
    FaultKind.BUDGET,
    FaultKind.ERROR,
)
"""Those that leave a take behind, or the reason why there is none."""
CHAPTER_SEGMENTS = 50
FAKE_MAX_CHARS = 390
SPEEDS = ((1.0, (1, 4)), (0.7, (2, 6)), (1.4, (3, 7)))
"""Speeds and seeds of the real voice; the second of each pair was not looked at when limits were chosen."""
WRONG_SHARE = 5
"""Every fifth take of a chapter is a corrupted one."""


@dataclass(frozen=True, slots=True)
class Case:
    """A take and what is wrong with it (or CLEAN)."""

    kind: str
    take: Spoken
    card_chars_per_s: float
    voice: str


@dataclass(frozen=True, slots=True)
class Found:
    """What both looks say of a case."""

    case: Case
    verdict: Verdict
    late: Reason | None

    @property
    def checks(self) -> set[str]:
        return {reason.check for reason in (*self.verdict.reasons, *([self.late] if self.late else []))}


def look(cases: Sequence[Case]) -> list[Found]:
    """Both looks at the takes of one chapter, in the order of reading."""
    verdicts = [check_take(case.take.samples, facts_of(case)) for case in cases]
    takes = [
        RateTake(case.voice, "en", case.take.speed, case.take.spoken, verdict)
        for case, verdict in zip(cases, verdicts, strict=True)
    ]
    return [Found(*found) for found in zip(cases, verdicts, rate_verdicts(takes, takes), strict=True)]


def facts_of(case: Case) -> TakeFacts:
    take = case.take
    rate_hz = take.rate_hz
    return TakeFacts(
        rate_hz, take.finish, take.spoken, "en", take.speed, case.card_chars_per_s, rate_hz, error=take.error
    )


# ── the fake ────────────────────────────────────────────────────────────────────────────────────────────────────────
def fake_texts(count: int, seed: int) -> list[str]:
    """Texts of 3 to 60 words: so many sentences as it takes."""
    chance = random.Random(seed)
    pool = texts(900)
    made = []
    while len(made) < count:
        wanted, text = chance.randint(3, 60), ""
        while len(text.split()) < wanted:
            text = f"{text} {chance.choice(pool)}".strip()
        text = " ".join(text.split()[:wanted])
        made += [text] if len(text) <= FAKE_MAX_CHARS else []
    return made


def fake_cases(count: int = 2_000, each: int = 100, *, seed: int = 1, speed: float = 1.0) -> list[Case]:
    """`each` takes of every kind of fault among `count`, in random order, made by the engine."""
    kinds: list[FaultKind | None] = [kind for kind in FAULTS for _ in range(each)]
    kinds += [None] * (count - len(kinds))
    random.Random(seed).shuffle(kinds)
    model = registry.load("fake")
    marks = ["" if kind is None else f" [[fault:{kind}]]" for kind in kinds]
    prompts = [
        Prompt(text + mark, "tone", "en", speed) for text, mark in zip(fake_texts(count, seed), marks, strict=True)
    ]
    takes = speak(model, prompts, [seed * 1_000_000 + index for index in range(count)])
    return [
        Case(CLEAN if kind is None else str(kind), take, model.card.chars_per_s, "tone")
        for kind, take in zip(kinds, takes, strict=True)
    ]


def fake_found(count: int = 2_000, each: int = 100, *, seed: int = 1, speed: float = 1.0) -> list[Found]:
    """Both looks at `fake_cases`, in chapters of 50."""
    cases = fake_cases(count, each, seed=seed, speed=speed)
    chapters = [cases[start : start + CHAPTER_SEGMENTS] for start in range(0, count, CHAPTER_SEGMENTS)]
    return [found for chapter in chapters for found in look(chapter)]


# ── the real voice ──────────────────────────────────────────────────────────────────────────────────────────────────
def corrupted(takes: Sequence[Spoken], seed: int) -> dict[str, list[Samples]]:
    """By kind what may become of each take."""
    rate_hz = takes[0].rate_hz
    samples = [take.samples for take in takes]
    each = list(enumerate(samples))
    return {
        "cut": [corrupt.cut(one, rate_hz, seed + index) for index, one in each],
        "doubled whole": [corrupt.doubled(one, rate_hz, seed + index, whole=True) for index, one in each],
        "doubled phrase": [corrupt.doubled(one, rate_hz, seed + index, whole=False) for index, one in each],
        "swapped": corrupt.swapped(samples, seed),
        "swapped, like length": corrupt.swapped(samples, seed, alike=True),
        "padded": [corrupt.padded(one, samples[index - 1], rate_hz, seed + index) for index, one in each],
    }


def piper_found(takes: Sequence[Spoken], seed: int) -> list[Found]:
    """Both looks at chapters of the real voice: one clean, and for each kind five with every fifth take corrupted."""
    card = registry.card("piper")
    cases = [Case(CLEAN, take, card.chars_per_s, "joe") for take in takes]
    found = in_chapters(cases)
    for kind, wrong in corrupted(takes, seed).items():
        bad = [
            replace(case, kind=kind, take=replace(case.take, samples=samples))
            for case, samples in zip(cases, wrong, strict=True)
        ]
        for turn in range(WRONG_SHARE):
            mixed = [bad[i] if i % WRONG_SHARE == turn else cases[i] for i in range(len(cases))]
            found += [one for one in in_chapters(mixed) if one.case.kind == kind]
    return found


def in_chapters(cases: Sequence[Case]) -> list[Found]:
    """A last chapter of a few takes goes with the one before."""
    count = max(1, len(cases) // CHAPTER_SEGMENTS)
    size = -(-len(cases) // count)
    return [found for start in range(0, len(cases), size) for found in look(cases[start : start + size])]


# ── tables ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def shares(found: Iterable[Found]) -> dict[str, tuple[int, int]]:
    """By kind how many were caught, of how many."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in found:
        counts[one.case.kind][0] += bool(one.checks)
        counts[one.case.kind][1] += 1
    return {kind: (caught, count) for kind, (caught, count) in counts.items()}


def print_table(title: str, found: Sequence[Found]) -> None:
    print(f"\n{title}\n{'kind':22s}{'caught':>8s}{'of':>7s}{'share':>9s}  checks")
    for kind, (caught, count) in shares(found).items():
        checks = Counter(check for one in found if one.case.kind == kind for check in one.checks)
        said = ", ".join(f"{check} {number}" for check, number in checks.most_common())
        print(f"{kind:22s}{caught:8d}{count:7d}{caught / count:9.2%}  {said}")


def print_missed(found: Sequence[Found], most: int) -> None:
    for kind in shares(found):
        wrong = [one for one in found if one.case.kind == kind and bool(one.checks) == (kind == CLEAN)]
        for one in wrong[:most]:
            print(f"  {kind}: {one.case.take.spoken!r} {one.verdict.text} {one.late.text if one.late else ''}")


def print_scores(found: Sequence[Found]) -> None:
    """The range of each figure over clean takes: where the limits come from."""
    scores: dict[str, list[float]] = defaultdict(list)
    for one in found:
        if one.case.kind == CLEAN:
            for name, value in one.verdict.scores.items():
                scores[name].append(value)
    print(f"\n{'clean takes':22s}{'lowest':>9s}{'1 %':>9s}{'middle':>9s}{'99 %':>9s}{'highest':>9s}")
    for name, values in scores.items():
        low, one, middle, most, high = np.quantile(values, (0, 0.01, 0.5, 0.99, 1))
        print(f"{name:22s}{low:9.3f}{one:9.3f}{middle:9.3f}{most:9.3f}{high:9.3f}")


def print_times() -> None:
    """Median time of the free checks of one take of ten seconds, on this machine."""
    model = registry.load("fake")
    text = " ".join(texts(60))[:200].rpartition(" ")[0]
    (take,) = speak(model, [Prompt(text, "tone", "en")], [1])
    for seconds in (2, 5, 10, 20, 30):
        samples = np.resize(take.samples, seconds * take.rate_hz)
        case = Case(CLEAN, replace(take, samples=samples), model.card.chars_per_s, "tone")
        times_s = []
        for _ in range(15):
            started_s = time.perf_counter()
            check_take(samples, facts_of(case))
            times_s.append(time.perf_counter() - started_s)
        print(f"{seconds:3d} s at {take.rate_hz} Hz: {statistics.median(times_s) * 1_000:6.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fake", action="store_true")
    parser.add_argument("--piper", action="store_true")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--seed", type=int, default=1, help="of the fake's takes and of the corruptions")
    parser.add_argument("--sentences", type=int, default=300, help="of the real voice at each speed and seed")
    parser.add_argument(
        "--takes", type=Path, default=Path(tempfile.gettempdir()) / "takes-of-joe", help="folder in which they are kept"
    )
    parser.add_argument("--missed", type=int, default=0, help="so many of each kind that were judged wrong are shown")
    options = parser.parse_args()
    if options.fake:
        found = fake_found(seed=options.seed)
        print_table("fake, 2,000 segments", found)
        print_missed(found, options.missed)
    if options.piper:
        _print_piper(options)
    if options.time or not (options.fake or options.piper):
        print_times()


def _print_piper(options: argparse.Namespace) -> None:
    spoken = texts(2 * options.sentences)
    every: list[Found] = []
    for speed, seeds in SPEEDS:
        for place, seed in enumerate(seeds):
            mine = spoken[place :: len(seeds)]
            found = piper_found(piper_takes(mine, speed=speed, seed=seed, folder=options.takes), options.seed)
            print_table(f"joe, speed {speed}, seed {seed}, {len(mine)} sentences", found)
            print_missed(found, options.missed)
            every += found
    print_table("joe, all", every)
    wrong = [one for one in every if one.case.kind not in {CLEAN, "swapped, like length"}]
    share = statistics.mean(bool(one.checks) for one in wrong)
    print(f"wrong takes caught, those swapped with one of like length apart: {share:.2%}")
    print_scores(every)


if __name__ == "__main__":
    main()
