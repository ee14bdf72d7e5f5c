"""Clips of audio for spans of text, and the SMIL that says so (EPUB 3.3 section 9: media overlays). Pure.

Clips of one chapter follow each other without a gap: the pause after a sentence is heard before the next is marked.
They begin and end at whole samples, and their times are written with six digits, which is finer.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, zip_longest

from jobs.assembly.timeline import ChapterTimeline
from jobs.marks.times import PartTime, Word, nearest

SMIL_TYPE = "application/smil+xml"
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Clip:
    """Samples [start_sample, end_sample) of the file of a chapter; never empty."""

    chapter: int
    start_sample: int
    end_sample: int


@dataclass(frozen=True, slots=True)
class Par:
    """A span and the clip that is heard while it is marked. `audio` is the file's address as the SMIL names it."""

    id: str
    audio: str
    clip: Clip


@dataclass(frozen=True, slots=True)
class Heard:
    """When a sentence of a segment is heard. Its speech ends at `speech_end_sample`; the pause after it is its own."""

    clip: Clip
    speech_end_sample: int
    words: tuple[Word, ...] = ()

    def parted(self, weights: Sequence[int]) -> list[Clip | None]:
        """The clip for pieces of its text by their weights (characters); None for what would get no sample.

        They part between the words where the share of characters puts it; at that share where no words are known.
        """
        total = max(1, sum(weights))
        inner = [self._place(share, total) for share in accumulate(weights)][:-1]
        bounds = [self.clip.start_sample, *inner, self.clip.end_sample]
        cuts = [Clip(self.clip.chapter, start, end) for start, end in pairwise(bounds)]
        return [cut if cut.end_sample > cut.start_sample else None for cut in cuts]

    def _place(self, share: int, total: int) -> int:
        start = self.clip.start_sample
        if len(self.words) < 2:
            return start + (self.speech_end_sample - start) * share // total
        chars = list(accumulate(len(word.text) for word in self.words))
        best = min(range(1, len(self.words)), key=lambda at: abs(chars[at - 1] * total - share * chars[-1]))
        return (self.words[best - 1].end_sample + self.words[best].start_sample) // 2


def chapter_clips(chapter: ChapterTimeline, parts: Sequence[PartTime]) -> dict[tuple[int, int], Heard]:
    """When each part (segment, part) of a chapter is heard. `parts`: those of the chapter, from `times_of`.

    A clip ends where the next one begins. What failed has none, and the clip before it ends where its gap begins.
    """
    starts = [placed.start_sample for placed in chapter.segments]
    following = dict(zip((placed.segment for placed in chapter.segments), [*starts[1:], chapter.samples], strict=True))
    heard: dict[tuple[int, int], Heard] = {}
    for part, after in zip_longest(parts, parts[1:]):
        end = following[part.segment]
        if after is not None and after.segment == part.segment:
            end = after.start_sample
        if end > part.start_sample:
            clip = Clip(chapter.chapter, part.start_sample, end)
            heard[part.segment, part.part] = Heard(clip, min(part.end_sample, end), part.words)
    return heard


def smil(document: str, pars: Sequence[Par], sample_rate_hz: int) -> bytes:
    """The overlay of one document (its address as the SMIL names it)."""
    source = html.escape(document)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<smil xmlns="http://www.w3.org/ns/SMIL" xmlns:epub="http://www.idpf.org/2007/ops" version="3.0">',
        f'<body><seq id="text" epub:textref="{source}">',
    ]
    for number, par in enumerate(pars, start=1):
        begin, end = (_seconds(at, sample_rate_hz) for at in (par.clip.start_sample, par.clip.end_sample))
        lines.append(
            f'<par id="par-{number}"><text src="{source}#{html.escape(par.id)}"/>'
            f'<audio src="{html.escape(par.audio)}" clipBegin="{begin}" clipEnd="{end}"/></par>'
        )
    lines.append("</seq></body></smil>\n")
    return "\n".join(lines).encode()


def clock(samples: int, sample_rate_hz: int) -> str:
    """A length as a full clock value, `1:02:03.456789`."""
    seconds, micro = divmod(_micro(samples, sample_rate_hz), _MICROSECONDS)
    return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micro:06d}"


def _seconds(samples: int, sample_rate_hz: int) -> str:
    seconds, micro = divmod(_micro(samples, sample_rate_hz), _MICROSECONDS)
    return f"{seconds}.{micro:06d}s"


def _micro(samples: int, sample_rate_hz: int) -> int:
    """To the nearest microsecond, which is less than a sample."""
    return nearest(samples * _MICROSECONDS, sample_rate_hz)
