"""Cues as SubRip (srt), WebVTT (vtt) and lyrics (lrc): UTF-8 text with \\n line ends. Pure.

Sources: WebVTT, W3C Candidate Recommendation (cue text, escapes, comments). SubRip and LRC have no standard; what is
written here is what players agree on. SubRip knows no escapes, so signs that players take for markup are replaced by
those that look alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jobs.kinds import SubtitleFormat
from jobs.marks.cues import Cue
from jobs.marks.times import nearest
from jobs.marks.widths import clean_text

CLEAR_S = 3.0
"""Players of lyrics show a line until the next one: after a longer pause than this an empty one takes it away."""

_MARKUP = re.compile(r"<(?=[A-Za-z/!])")
_LYRIC_TAG = re.compile(r"[<\[](?=[\d:.,]+[>\]])")
_ALIKE = {"<": "‹", "[": "［"}


@dataclass(frozen=True, slots=True)
class Shown:
    """The cues of one chapter or item, which begins at `start_sample` of the file that they are for."""

    start_sample: int
    cues: tuple[Cue, ...]


@dataclass(frozen=True, slots=True)
class Track:
    """All cues of one audio file of so many samples, and what the file is. `note` says that its speech is synthetic."""

    title: str
    author: str
    note: str
    sample_rate_hz: int
    samples: int
    chapters: tuple[Shown, ...]

    def cues(self) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """(start, end, lines) of each cue; samples of the file."""
        for chapter in self.chapters:
            for cue in chapter.cues:
                yield chapter.start_sample + cue.start_sample, chapter.start_sample + cue.end_sample, cue.lines

    def milliseconds(self, sample: int) -> int:
        """The time of a sample, to the nearest millisecond."""
        return nearest(sample * 1000, self.sample_rate_hz)


def written(track: Track, subtitle_format: SubtitleFormat) -> bytes:
    """A track as a file of one format."""
    return _WRITERS[subtitle_format](track).encode()


def srt(track: Track) -> str:
    """SubRip."""
    blocks = [
        f"{number}\n{_stamp(track.milliseconds(start), ',')} --> {_stamp(track.milliseconds(end), ',')}\n"
        + "".join(f"{_srt_line(line)}\n" for line in lines)
        for number, (start, end, lines) in enumerate(track.cues(), start=1)
    ]
    return "\n".join(blocks)


def vtt(track: Track) -> str:
    """WebVTT. A comment before the first cue says that the speech is synthetic.

    There are none between cues: some parsers take them for text of the cue before.
    """
    blocks = ["WEBVTT\n", f"NOTE\n{clean_text(track.note).replace('-->', '→')}\n"]
    for start, end, lines in track.cues():
        shown = "".join(f"{_escaped(line)}\n" for line in lines)
        blocks.append(f"{_stamp(track.milliseconds(start), '.')} --> {_stamp(track.milliseconds(end), '.')}\n{shown}")
    return "\n".join(blocks)


def lrc(track: Track) -> str:
    """Lyrics: a line for each cue, in hundredths of a second; minutes go on above 99."""
    length = _clock(nearest(track.samples * 100, track.sample_rate_hz))
    lines = [f"[ti:{_tag(track.title)}]"]
    lines += [f"[ar:{_tag(track.author)}]"] if track.author else []
    lines += [f"[length:{length}]", f"[by:{_tag(track.note)}]", "[offset:0]"]
    cues = list(track.cues())
    last = -1
    for at, (start, end, texts) in enumerate(cues):
        begin = max(nearest(start * 100, track.sample_rate_hz), last + 1)
        lines.append(f"[{_clock(begin)}]{_LYRIC_TAG.sub(lambda sign: _ALIKE[sign.group()], ' '.join(texts))}")
        following = cues[at + 1][0] if at + 1 < len(cues) else None
        last = begin
        if following is None or following - end > CLEAR_S * track.sample_rate_hz:
            last = max(nearest(end * 100, track.sample_rate_hz), begin + 1)
            lines.append(f"[{_clock(last)}]")
    return "\n".join(lines) + "\n"


_WRITERS: dict[SubtitleFormat, Callable[[Track], str]] = {
    SubtitleFormat.SRT: srt,
    SubtitleFormat.VTT: vtt,
    SubtitleFormat.LRC: lrc,
}


def _stamp(time_ms: int, point: str) -> str:
    """hh:mm:ss and milliseconds; hours have two digits or more."""
    seconds, rest = divmod(time_ms, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{point}{rest:03d}"


def _clock(hundredths: int) -> str:
    """mm:ss.xx."""
    seconds, rest = divmod(hundredths, 100)
    return f"{seconds // 60:02d}:{seconds % 60:02d}.{rest:02d}"


def _srt_line(line: str) -> str:
    return _MARKUP.sub("‹", line.replace("-->", "→")).replace("{\\", "(\\")


def _escaped(line: str) -> str:
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _tag(text: str) -> str:
    return clean_text(text).replace("]", ")").replace("[", "(")
