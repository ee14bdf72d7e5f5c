"""The plan of a job: chapters and segments in reading order, as stored in `plan.jsonl`.

The first line is the header (source, chapters, account), every further line one segment. Offsets are characters of the
decoded source (for epub: of the text of its spine).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from enum import StrEnum

from jobs.account import Account
from jobs.spec import Frozen, SourceKind

PLAN_VERSION = 2


class Break(StrEnum):
    """What stands after a segment; decides the pause (`jobs.assembly.pauses`)."""

    NONE = "none"
    """Cut inside a clause, only because the sentence was too long: no audible pause."""
    CLAUSE = "clause"
    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"
    SCENE = "scene"
    HEADING = "heading"
    CHAPTER = "chapter"


class SentenceMark(Frozen):
    """Where a sentence begins inside a segment that holds several: character offsets in its `text` and `spoken`."""

    text_start: int
    spoken_start: int


class SegmentPlan(Frozen):
    """One segment: `text` as it is written (without line ends and marks of the format), `spoken` as the model gets it.

    In `spoken`, IPA of a user's lexicon stands between ⟦ and ⟧. `item` is the id of the JSONL line it came from;
    `voice` and `seed` override the job's; `start_s` is the time at which a subtitle cue wants to begin; `pause_s` the
    pause that a mark asks for after it, instead of that of `break_after`. `sentences` are the sentences that begin in
    it, empty if that is one at its start (`continues`: or none, it goes on with that of the segment before).
    """

    segment: int
    chapter: int
    text: str
    spoken: str
    source_start: int
    source_end: int
    break_after: Break
    language: str
    voice: str | None = None
    seed: int | None = None
    item: str | None = None
    start_s: float | None = None
    pause_s: float | None = None
    sentences: tuple[SentenceMark, ...] = ()
    continues: bool = False


class SentencePlan(Frozen):
    """One sentence, for those who look at a plan: a long one is several segments, short ones may share one.

    `paragraph` counts within the chapter; `text` and `spoken` as in `SegmentPlan`; `language` is what its rules were.
    """

    chapter: int
    paragraph: int
    text: str
    spoken: str
    source_start: int
    source_end: int
    language: str
    voice: str | None = None


class ChapterPlan(Frozen):
    """One chapter: `segments` is how many it has; they are consecutive."""

    chapter: int
    title: str
    segments: int


class SourceInfo(Frozen):
    """What was read: `chars` decoded characters, the encoding that was used, warnings for people."""

    name: str
    kind: SourceKind
    sha256: str
    chars: int
    encoding: str
    title: str = ""
    author: str = ""
    language: str = ""
    warnings: tuple[str, ...] = ()
    cover_type: str = ""
    """`image/jpeg` or `image/png` when the source has a cover (kept beside the plan as `cover`), else empty."""


class Plan(Frozen):
    """A whole plan."""

    source: SourceInfo
    chapters: tuple[ChapterPlan, ...]
    segments: tuple[SegmentPlan, ...]
    account: Account

    @property
    def prompt_chars(self) -> int:
        """Characters the model will get."""
        return sum(len(segment.spoken) for segment in self.segments)

    @property
    def chapter_chars(self) -> Counter[int]:
        """Those of each chapter, by its number."""
        chars: Counter[int] = Counter()
        for segment in self.segments:
            chars[segment.chapter] += len(segment.spoken)
        return chars

    def shares_of(self, amount: float) -> tuple[float, ...]:
        """An amount shared out among the chapters, in order, by the characters that are spoken of each."""
        chars = self.chapter_chars
        each = amount / max(1, chars.total())
        return tuple(chars[chapter.chapter] * each for chapter in self.chapters)

    def dump(self) -> bytes:
        """The plan as JSON lines, UTF-8."""
        header = {"v": PLAN_VERSION, "source": self.source.model_dump(mode="json")}
        header["chapters"] = [chapter.model_dump(mode="json") for chapter in self.chapters]
        header["account"] = self.account.model_dump(mode="json")
        lines = [json.dumps(header, ensure_ascii=False)]
        lines += [segment.model_dump_json() for segment in self.segments]
        return ("\n".join(lines) + "\n").encode()

    @classmethod
    def parse(cls, data: bytes) -> Plan:
        """The plan that `dump` wrote."""
        head, *lines = data.decode().rstrip("\n").split("\n")  # not splitlines(): texts may hold U+2028
        header = json.loads(head)
        if header["v"] != PLAN_VERSION:
            msg = f"plan version {header['v']} is not supported; this program reads version {PLAN_VERSION}"
            raise ValueError(msg)
        return cls(
            source=SourceInfo.model_validate_json(json.dumps(header["source"])),
            chapters=tuple(ChapterPlan.model_validate_json(json.dumps(entry)) for entry in header["chapters"]),
            segments=tuple(SegmentPlan.model_validate_json(line) for line in lines),
            account=Account.model_validate_json(json.dumps(header["account"])),
        )


def take_seed(job_seed: int, spoken: str, attempt: int = 0) -> int:
    """The seed of one take, in [0, 2**63): from the job's seed, the text and the attempt, never from the position.

    So a sentence keeps its sound when text is put in before it, and two jobs with one seed share its take.
    """
    digest = hashlib.blake2b(f"{job_seed}\0{attempt}\0{spoken}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def take_key(**parts: str | float) -> str:
    """The content address of a take: 32 hex digits over everything that decides its samples."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
