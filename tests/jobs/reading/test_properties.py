"""What holds for every text: nothing is lost, doubled or reordered, no segment is too long, offsets lead back."""

import re
import string

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jobs.plan import Break
from jobs.reading.cleaning import clean, speakable
from jobs.reading.languages import language_of
from jobs.reading.splitting.cutter import Piece, cut, visible_chars
from jobs.reading.splitting.segments import segment_pieces
from jobs.reading.splitting.sentences import sentence_spans
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


@given(
    PROSE,
    st.sampled_from(["en", "de", "fr", "ru", "zh", "ja", "ar", "hi", "th", "xx"]),
    st.integers(min_value=24, max_value=120),
    st.sampled_from([0, 60]),
)
def test_no_segment_is_only_marks_if_its_text_has_words(text, language, max_chars, pack_chars):
    cleaned, _ = clean(re.sub(r"[^\w\s]{4,}", "…", text))  # a run of marks as long as the limit is a piece of marks
    pieces = segment_pieces(cleaned, sentence_spans(cleaned, language), max_chars=max_chars, pack_chars=pack_chars)
    assert "".join(cleaned[piece.start : piece.end] for piece in pieces) == cleaned
    assert all(visible_chars(cleaned, piece.start, piece.end) <= max_chars for piece in pieces)
    if speakable(cleaned) and all(len(run) < max_chars // 4 for run in re.findall(r"[\W_]+", cleaned)):
        assert all(speakable(cleaned[piece.start : piece.end]) for piece in pieces)


@given(PROSE, st.sampled_from(["en", "ja", "ko", "uk", "fa"]))
def test_a_language_is_the_default_or_one_of_a_script(text, default):
    assert language_of(text, default)
    assert language_of("".join(char for char in text if char.isascii()), default) == default


@settings(max_examples=200, deadline=None)
@given(PROSE, st.integers(min_value=8, max_value=120), st.sampled_from([0, 60]))
def test_a_plan_accounts_for_every_character_of_a_text_in_order(text, max_chars, pack_chars):
    source = f"Tale. {text}\n\n{'word ' * 20}"
    assume(sum(char < " " or char == "\x7f" for char in source) * 20 < len(source))  # more is refused as no text
    plan = plan_of(source, max_chars=max_chars, pack_chars=pack_chars)
    totals = plan.account.totals()
    assert totals.source_chars == len(source)
    assert totals.spoken_chars + totals.replaced_chars + totals.skipped_chars == len(source)
    told = bytearray(len(source))
    for passage in (*plan.account.replaced, *plan.account.skipped):
        assert not any(told[passage.start : passage.end])
        told[passage.start : passage.end] = b"\1" * passage.chars
    for segment in plan.segments:
        told[segment.source_start : segment.source_end] = b"\1" * (segment.source_end - segment.source_start)
    assert [char for char, named in zip(source, told, strict=True) if char.isalnum() and not named] == []
    assert all(0 < len(segment.spoken) <= max_chars and speakable(segment.spoken) for segment in plan.segments)
    starts = [segment.source_start for segment in plan.segments]
    assert starts == sorted(starts)
    assert plan.parse(plan.dump()) == plan
