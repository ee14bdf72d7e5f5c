"""What holds for every text: nothing is lost, doubled or reordered, no segment is too long, offsets lead back."""

import re
import string

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jobs.plan import Break
from jobs.reading.cleaning import clean, speakable
from jobs.reading.cutter import Piece, cut, visible_chars
from jobs.reading.segments import segment_pieces
from jobs.reading.sentences import sentence_spans
from tests.helpers_reading import plan_of

ATOMS = [
    *("Mr.", "Dr.", "e.g.", "U.S.", "p. 44ff.", "No. 9", "no.", "3.14", "v2.0.1", "http://a.b/c?d=1", "km/h."),
    *("…", "...", "—", "–", "-", "“", "”", "‘", "’", "(", ")", "[", "]", "«", "»", "「", "」", "。", "，"),
    *("!", "?", ".", ",", ";", ":", "a", "Word", "CHAPTER I", "II", "1.", "*", "#", "***"),
    *("\u00ad", "\u200b", "\u00a0", " \n", "\n\n", "\r\n", "\t", "\f", "\u2028", "e\u0301", "👩\u200d🚀"),
    *("河边", "كم", "،", "well-\nknown"),
]
PROSE = st.lists(
    st.one_of(
        st.sampled_from(ATOMS),
        st.text(alphabet=string.ascii_letters + ".,!?\"' ", min_size=1, max_size=30),
        st.text(min_size=1, max_size=10),
    ),
    max_size=60,
).flatmap(lambda parts: st.sampled_from([" ".join(parts), "".join(parts)]))


@given(PROSE)
def test_clean_text_is_a_subsequence_of_its_source(text):
    cleaned, offsets = clean(text)
    assert len(cleaned) == len(offsets)
    assert list(offsets) == sorted(set(offsets))
    for char, offset in zip(cleaned, offsets, strict=True):
        assert text[offset] == char or (char == " " and not text[offset].isalnum())
    assert [char for char in text if char.isalnum()] == [char for char in cleaned if char.isalnum()]


@given(PROSE)
def test_clean_text_is_clean(text):
    cleaned, _ = clean(text)
    assert clean(cleaned)[0] == cleaned
    assert cleaned == cleaned.strip()
    assert "  " not in cleaned
    assert not re.search("[\x00-\x1f\x7f-\x9f\u00ad\u200b\u2060\ufeff\ud800-\udfff]", cleaned)


@given(PROSE, st.sampled_from(["en", "de", "zh", "ja", "ar", "pt-BR", "xx"]))
def test_sentences_follow_each_other_and_cover_the_text(text, language):
    cleaned, _ = clean(text)
    spans = sentence_spans(cleaned, language)
    assert "".join(cleaned[start:end] for start, end in spans) == cleaned
    assert all(start < end for start, end in spans)
    if speakable(cleaned):
        assert all(speakable(cleaned[start:end]) for start, end in spans)


@given(PROSE, st.integers(min_value=1, max_value=120))
def test_pieces_of_a_cut_are_short_and_cover_it(text, max_chars):
    cleaned, _ = clean(text)
    pieces = cut(cleaned, Piece(0, len(cleaned), Break.SENTENCE), max_chars)
    assert "".join(cleaned[piece.start : piece.end] for piece in pieces) == cleaned
    assert all(visible_chars(cleaned, piece.start, piece.end) <= max_chars for piece in pieces)
    assert pieces[-1].after is Break.SENTENCE


@given(PROSE, st.integers(min_value=1, max_value=120), st.integers(min_value=0, max_value=200))
def test_segments_cover_the_text_within_the_limit(text, max_chars, pack_chars):
    cleaned, _ = clean(text)
    pieces = segment_pieces(cleaned, sentence_spans(cleaned, "en"), max_chars=max_chars, pack_chars=pack_chars)
    assert "".join(cleaned[piece.start : piece.end] for piece in pieces) == cleaned
    assert all(visible_chars(cleaned, piece.start, piece.end) <= max_chars for piece in pieces)


@settings(max_examples=300)
@given(PROSE, st.integers(min_value=8, max_value=120), st.sampled_from([0, 60]))
def test_a_plan_speaks_every_word_of_a_text_in_order(text, max_chars, pack_chars):
    source = f"Tale. {text}\n\n{'word ' * 20}"
    assume(sum(char < " " or char == "\x7f" for char in source) * 20 < len(source))  # more is refused as no text
    plan = plan_of(source, max_chars=max_chars, pack_chars=pack_chars)
    letters = [char for segment in plan.segments for char in segment.spoken if char.isalnum()]
    assert letters == [char for char in source if char.isalnum()]
    assert all(0 < len(segment.spoken) <= max_chars for segment in plan.segments)
    for segment in plan.segments:
        assert segment.text == source[segment.source_start : segment.source_end]
        assert clean(segment.text)[0].replace(" ", "") == segment.spoken.replace(" ", "")
    starts = [segment.source_start for segment in plan.segments]
    assert starts == sorted(set(starts))
    assert plan.parse(plan.dump()) == plan
