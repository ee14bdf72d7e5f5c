"""srt, vtt and lrc, read back by parsers that are not ours: pysubs2, and FFmpeg's through PyAV."""

from __future__ import annotations

import io

import av
import pysubs2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.kinds import SubtitleFormat
from jobs.marks.cues import Cue
from jobs.marks.formats import Shown, Track, lrc, srt, vtt, written
from jobs.marks.widths import clean_text

RATE_HZ = 22_050
NOTE = "Synthetic speech: model fake, voice tone. Made with tts-batch."


def track(*chapters, title="A <Book> & more", author="Zoë", samples=RATE_HZ * 10_000):
    """Chapters are (start_sample, [(start, end, lines)])."""
    shown = [
        Shown(start, tuple(Cue(tuple(lines), first, last, 0) for first, last, lines in cues))
        for start, cues in chapters
    ]
    return Track(title, author, NOTE, RATE_HZ, samples, tuple(shown))


def demuxed(data: bytes, name: str) -> list[tuple[float, float]]:
    """(start, duration) in seconds of each subtitle packet that FFmpeg finds."""
    with av.open(io.BytesIO(data), format=name) as container:
        (stream,) = container.streams
        return [
            (float(packet.pts * packet.time_base), float((packet.duration or 0) * packet.time_base))
            for packet in container.demux(stream)
            if packet.pts is not None
        ]


BOOK = track(
    (0, [(0, 22_050, ["Tom & Jerry <i>", "say --> x"]), (RATE_HZ, RATE_HZ * 2, ["你好。"])]),
    (RATE_HZ * 7200, [(11, RATE_HZ * 3, ["קול"])]),
)


def test_srt_is_exactly_this():
    assert srt(BOOK) == (
        "1\n00:00:00,000 --> 00:00:01,000\nTom & Jerry ‹i>\nsay → x\n\n"
        "2\n00:00:01,000 --> 00:00:02,000\n你好。\n\n"
        "3\n02:00:00,000 --> 02:00:03,000\nקול\n"
    )


def test_vtt_is_exactly_this():
    assert vtt(BOOK) == (
        f"WEBVTT\n\nNOTE\n{NOTE}\n\n"
        "00:00:00.000 --> 00:00:01.000\nTom &amp; Jerry &lt;i&gt;\nsay --&gt; x\n\n"
        "00:00:01.000 --> 00:00:02.000\n你好。\n\n"
        "02:00:00.000 --> 02:00:03.000\nקול\n"
    )


def test_lrc_is_exactly_this():
    assert lrc(BOOK) == (
        "[ti:A <Book> & more]\n[ar:Zoë]\n[length:166:40.00]\n"
        f"[by:{NOTE}]\n[offset:0]\n"
        "[00:00.00]Tom & Jerry <i> say --> x\n[00:01.00]你好。\n[00:02.00]\n[120:00.00]קול\n[120:03.00]\n"
    )


def test_what_players_of_lyrics_take_for_a_tag_is_none():
    lines = lrc(track((0, [(0, 100, ["[12:30] is", "not <00:01.5> a time, [1] is"])]), title="a]b\nc")).split("\n")
    assert lines[0] == "[ti:a)b c]"
    assert lines[5] == "[00:00.00]［12:30] is not ‹00:01.5> a time, [1] is".replace("[1]", "［1]")


def test_a_track_without_cues_is_still_a_file_of_its_format():
    empty = track((0, []))
    assert written(empty, SubtitleFormat.SRT) == b""
    assert written(empty, SubtitleFormat.VTT).startswith(b"WEBVTT\n")
    assert written(empty, SubtitleFormat.LRC).endswith(b"[offset:0]\n")


LINES = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30).map(clean_text).filter(bool), min_size=1, max_size=2
)


@st.composite
def tracks(draw):
    at, cues = 0, []
    for _ in range(draw(st.integers(1, 8))):
        start = at + draw(st.integers(450, 10_000_000))
        at = start + draw(st.integers(450, 100_000))
        cues.append((start, at, draw(LINES)))
    return track((draw(st.integers(0, RATE_HZ * 40_000)), cues), samples=RATE_HZ * 80_000)


@settings(deadline=None)
@given(tracks())
def test_other_parsers_find_every_cue_at_its_time_whatever_its_text_is(made):
    want = [(start / RATE_HZ, (end - start) / RATE_HZ) for start, end, _ in made.cues()]
    for kind, name in ((SubtitleFormat.SRT, "srt"), (SubtitleFormat.VTT, "webvtt")):
        found = demuxed(written(made, kind), name)
        assert len(found) == len(want), kind
        for (start, duration), (start_s, duration_s) in zip(found, want, strict=True):
            assert start == pytest.approx(start_s, abs=0.00051)
            assert duration == pytest.approx(duration_s, abs=0.00101)
    marks = [start for start, _ in demuxed(written(made, SubtitleFormat.LRC), "lrc")]
    for start_s, _ in want:
        assert min(abs(mark - start_s) for mark in marks) <= 0.0151
    assert marks == sorted(set(marks)), "no two lines at one time"


@settings(deadline=None)
@given(tracks())
def test_pysubs2_reads_the_same_cues(made):
    for kind in (SubtitleFormat.SRT, SubtitleFormat.VTT):
        read = pysubs2.SSAFile.from_string(written(made, kind).decode(), format_=kind.value)
        assert [event.start for event in read] == [made.milliseconds(start) for start, _, _ in made.cues()]
        assert [event.end for event in read] == [made.milliseconds(end) for _, end, _ in made.cues()]


def test_pysubs2_reads_the_text_as_it_was():
    read = pysubs2.SSAFile.from_string(vtt(track((0, [(0, 9000, ["Tom and Jerry,", "not Spike."])]))), format_="vtt")
    assert [event.plaintext for event in read] == ["Tom and Jerry,\nnot Spike."]
