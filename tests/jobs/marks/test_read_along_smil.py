"""Clips: they cover what is heard without a gap, never of no length; clock values are exact to a sample."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from jobs.assembly.timeline import ChapterTimeline, Placed
from jobs.marks.read_along_smil import Clip, Heard, Par, chapter_clips, clock, smil
from jobs.marks.times import PartTime, Word
from tests.jobs.marks.read_along_rules import NS, clock_s


def part(segment: int, start: int, end: int, number: int = 0) -> PartTime:
    return PartTime(segment, number, "One.", start, end, begins=True)


def test_a_clip_lasts_until_the_next_one_and_ends_where_a_gap_begins() -> None:
    placed = (Placed(0, 5, 40, "a"), Placed(1, 44, 64, "b"), Placed(2, 68, 78, None), Placed(3, 82, 90, "d"))
    chapter = ChapterTimeline(4, "Title", 100, placed)
    parts = [part(0, 5, 20), part(0, 20, 40, 1), part(1, 44, 64), part(3, 82, 90)]
    found = {key: (heard.clip, heard.speech_end_sample) for key, heard in chapter_clips(chapter, parts).items()}
    assert found == {
        (0, 0): (Clip(4, 5, 20), 20),
        (0, 1): (Clip(4, 20, 44), 40),
        (1, 0): (Clip(4, 44, 68), 64),
        (3, 0): (Clip(4, 82, 100), 90),
    }


@given(
    st.integers(0, 10**9),
    st.integers(1, 10**7),
    st.integers(0, 10**6),
    st.lists(st.integers(1, 500), min_size=1, max_size=9),
    st.lists(st.integers(0, 10**7), max_size=20),
)
def test_pieces_cover_their_clip_in_order(
    start: int, speech: int, pause: int, weights: list[int], edges: list[int]
) -> None:
    edges = sorted(start + edge % (speech + 1) for edge in edges)
    words = tuple(
        Word("a" * (1 + number % 7), begin, end)
        for number, (begin, end) in enumerate(zip(edges[::2], edges[1::2], strict=False))
    )
    heard = Heard(Clip(0, start, start + speech + pause), start + speech, words)
    cuts = heard.parted(weights)
    assert len(cuts) == len(weights)
    at = start
    for cut in cuts:
        if cut is not None:
            assert cut.start_sample == at < cut.end_sample
            at = cut.end_sample
    assert at == start + speech + pause


def test_pieces_part_between_words_or_by_their_characters() -> None:
    words = (Word("Then", 0, 40), Word("it", 50, 60), Word("was", 80, 90))
    clip = Clip(0, 0, 120)
    assert Heard(clip, 90, words).parted([6, 3]) == [Clip(0, 0, 70), Clip(0, 70, 120)]
    assert Heard(clip, 90).parted([6, 3]) == [Clip(0, 0, 60), Clip(0, 60, 120)]
    assert Heard(clip, 90).parted([9]) == [clip]
    assert Heard(Clip(0, 0, 1), 1).parted([1, 1]) == [None, Clip(0, 0, 1)]


@given(st.integers(0, 10**12), st.sampled_from([8000, 22_050, 24_000, 44_100, 48_000, 96_000]))
def test_clock_values_say_which_sample_is_meant(samples: int, rate_hz: int) -> None:
    assert round(clock_s(clock(samples, rate_hz)) * rate_hz) == samples
    assert abs(clock_s(clock(samples, rate_hz)) - Fraction(samples, rate_hz)) <= Fraction(1, 2_000_000)
    assert clock(3_723 * rate_hz, rate_hz) == "1:02:03.000000"


@pytest.mark.parametrize("name", ["one.xhtml", "a&b.xhtml"])
def test_smil_is_written_as_it_must_be(name: str) -> None:
    made = smil(f"../{name}", [Par("tts-000001", "audio-001.m4a", Clip(0, 22_050, 33_075))], 22_050)
    (par,) = etree.fromstring(made).iter(f"{{{NS['smil']}}}par")
    text, audio = par
    assert text.get("src") == f"../{name}#tts-000001"
    assert dict(audio.attrib) == {"src": "audio-001.m4a", "clipBegin": "1.000000s", "clipEnd": "1.500000s"}
