"""The account: every character of a source is spoken, replaced or skipped, exactly once, in order."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.account import Account, Why
from jobs.accounting import Said, account_of
from jobs.errors import BadSource
from jobs.narration import narrate
from jobs.planning import Planned, PlanOptions
from jobs.reading.document import Chapter, Document, Paragraph, ParagraphKind, Skip
from jobs.reading.options import ReadingOptions
from jobs.speaking.base import Replacement
from jobs.speaking.speaker import Speaker
from tests.helpers_account import check_account, retold
from tests.helpers_reading import epub, planned_of, xhtml

BITS = [
    *("Mr.", "Dr. Who", "e.g.", "U.S.", "p. 44ff.", "No. 9"),
    *("3.14", "$5.30", "5 km", "1884", "12 March 1884", "9:05 a.m."),
    *("http://a.example/b?c=1", "kit@example.org", "…", "...", "—", "-", "“"),
    *("”", "(", ")", "[1]", "«", "»", "「", "」"),
    *("。", "，", "!", "?", ".", ",", ";", "Word"),
    *("WORD", "NASA", "Henry VIII", "CHAPTER I", "1.", "*", "#", "***", "_it_"),
    *("\u00ad", "\u200b", "\u00a0", " \n", "\n\n", "\r\n", "\t"),
    *("\f", "\u2028", "e\u0301", "👩\u200d🚀", "😀", "½", "ﬁ"),
    *("河边", "كم", "،", "well-\nknown", "&amp;", "&nbsp;", "<b>"),
    *("</b>", "`x`", "**", "|", "[a](http://b)", "\\*", "[[x]]"),
    *("[Illustration: a]", "[Footnote 1: b]", "CONTENTS", "ANNA: yes", "BEN: no", "¹"),
    *("²", "℃", "Ⅳ", "⟦a⟧", "\x01", "\x85"),
]  # fmt: skip
PIECES = st.lists(
    st.one_of(
        st.sampled_from(BITS),
        st.text(alphabet=string.ascii_letters + string.digits + ".,!?\"' ", min_size=1, max_size=30),
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=10),
    ),
    max_size=50,
)
TEXTS = st.tuples(PIECES, st.sampled_from([" ", "", "\n", "\n\n"])).map(lambda drawn: drawn[1].join(drawn[0]))
KINDS = st.sampled_from(["book.txt", "book.md", "book.html"])


def planned(text: str, name: str, *, max_chars: int = 80, pack_chars: int = 0) -> Planned | None:
    """The plan of any text, None if it is refused."""
    try:
        return planned_of(text, name, max_chars=max_chars, pack_chars=pack_chars)
    except BadSource as error:
        if error.problems[0].code not in {"no_text", "not_text", "bad_html"}:
            raise
        return None


@settings(deadline=None, max_examples=400)
@given(TEXTS, KINDS, st.integers(min_value=10, max_value=200), st.sampled_from([0, 60]))
def test_every_character_of_any_text_is_in_the_account_once(text, name, max_chars, pack_chars):
    found = planned(text, name, max_chars=max_chars, pack_chars=pack_chars)
    if found is not None:
        check_account(found)


@settings(deadline=None, max_examples=200)
@given(TEXTS)
def test_every_character_of_a_book_is_in_the_account_once(text):
    clean = "".join(char for char in text if char >= " ").replace("&", "").replace("<", "")
    check_account(planned_of(epub({"a.xhtml": xhtml(f"<p>Tale.</p><p>{clean}</p><aside>{clean}</aside>")}), "b.epub"))


@settings(deadline=None, max_examples=300)
@given(TEXTS, KINDS)
def test_what_is_spoken_with_its_replacements_is_the_source_without_what_is_skipped(text, name):
    found = planned(text, name)
    if found is not None:
        spoken = "".join(sentence.spoken for sentence in found.sentences)
        assert "".join(spoken.split()) == "".join(retold(found).split())


@settings(deadline=None, max_examples=300)
@given(TEXTS, KINDS, st.integers(min_value=10, max_value=120), st.sampled_from([0, 60]))
def test_segments_hold_all_that_the_sentences_say_within_the_limit(text, name, max_chars, pack_chars):
    found = planned(text, name, max_chars=max_chars, pack_chars=pack_chars)
    if found is None:
        return
    segments = [segment.spoken for segment in found.plan.segments]
    assert all(0 < len(said) <= max_chars and any(char.isalnum() for char in said) for said in segments)
    letters = [char for said in segments for char in said if char.isalnum()]
    assert letters == [char for sentence in found.sentences for char in sentence.spoken if char.isalnum()]
    starts = [segment.source_start for segment in found.plan.segments]
    assert starts == sorted(starts)


def document(text: str, *paragraphs: Paragraph, skipped: tuple[Skip, ...] = (), **more: object) -> Document:
    return Document("T", "", "en", (Chapter("c", paragraphs),), text, "utf-8", skipped=skipped, **more)


def said(paragraph: Paragraph) -> Said:
    return Said(narrate(paragraph, language="en", speaker=Speaker()))


def body(text: str, at: int = 0) -> Paragraph:
    return Paragraph(ParagraphKind.BODY, text, range(at, at + len(text)))


def ranges(account: Account) -> list[tuple[int, int, str, str]]:
    passages = sorted([*account.replaced, *account.skipped], key=lambda passage: passage.start)
    return [(passage.start, passage.end, passage.why.value, passage.now) for passage in passages]


def test_what_nobody_names_is_called_after_its_weightiest_character():
    text = "One.\n\n<p>\n</p>Two.\u200b \x01\n"
    account = account_of(document(text), [said(body("One.")), said(body("Two.", 14))])
    assert ranges(account) == [(4, 14, "markup", ""), (18, 22, "control", "")]
    assert account.spoken_chars == 8


def test_a_label_names_only_what_is_not_spoken():
    text = "One (note) two."
    first = Paragraph(ParagraphKind.BODY, "One two.", [0, 1, 2, 3, *range(11, 15)])
    account = account_of(document(text, skipped=(Skip(0, 11, Why.NOTES),)), [said(first)])
    assert ranges(account) == [(4, 11, "notes", "")]
    assert account.spoken_chars == 8


def test_passages_that_touch_stay_apart():
    text = "One.ab"
    skipped = (Skip(4, 5, Why.NOTES), Skip(5, 6, Why.NOTES))
    account = account_of(document(text, skipped=skipped), [said(body("One."))])
    assert ranges(account) == [(4, 5, "notes", ""), (5, 6, "notes", "")]


class Fixed(Speaker):
    """Replaces what it is told to."""

    def __init__(self, *found: Replacement) -> None:
        super().__init__()
        self.found = list(found)

    def replacements(self, text, language, *, heading=False):
        return self.found


def test_a_replacement_swallows_what_is_hidden_inside_it_but_not_what_is_named():
    text = "In 18\u00ad84[1] it"
    paragraph = Paragraph(ParagraphKind.BODY, "In 1884 it", [0, 1, 2, 3, 4, 6, 7, 11, 12, 13])
    speaker = Fixed(Replacement(3, 8, "eighteen eighty-four ", Why.YEAR))
    narration = narrate(paragraph, language="en", speaker=speaker)
    account = account_of(document(text, skipped=(Skip(8, 11, Why.NOTE_MARKS),)), [Said(narration)])
    assert ranges(account) == [
        (3, 8, "year", "eighteen eighty-four "),
        (8, 11, "note_marks", ""),
        (11, 12, "year", ""),
    ]
    assert narration.spoken == "In eighteen eighty-four it"


def test_escapes_are_replaced_by_the_character_they_stand_for():
    text = "Salt &amp; oil"
    paragraph = Paragraph(ParagraphKind.BODY, "Salt & oil", [0, 1, 2, 3, 4, 5, *range(10, 14)])
    kept = narrate(paragraph, language="de", speaker=Fixed())
    account = account_of(document(text, escapes=((5, 10),)), [Said(kept)])
    assert ranges(account) == [(5, 10, "escape", "&")]
    spoken = narrate(paragraph, language="en", speaker=Fixed(Replacement(5, 6, "and", Why.SYMBOL)))
    account = account_of(document(text, escapes=((5, 10),)), [Said(spoken)])
    assert ranges(account) == [(5, 10, "symbol", "and")]


def test_a_control_code_that_was_read_as_a_space_is_left_out():
    paragraph = Paragraph(ParagraphKind.BODY, "One two.", range(8))
    account = account_of(document("One\x01two."), [Said(narrate(paragraph, language="en", speaker=Fixed()))])
    assert ranges(account) == [(3, 4, "control", "")]
    assert account_of(document("One\ntwo."), [Said(narrate(paragraph, language="en", speaker=Fixed()))]).skipped == ()


def test_a_piece_that_is_in_no_segment_is_not_called_spoken():
    narration = narrate(body("One. !!"), language="en", speaker=Fixed())
    account = account_of(document("One. !!"), [Said(narration, ((5, 7),))])
    assert ranges(account) == [(5, 7, "punctuation", "")]


def test_what_is_dropped_is_all_of_its_escape():
    planned = planned_of("<p>One &#x1F600; two.</p>", "a.html")
    check_account(planned)
    emoji = [passage.was for passage in planned.plan.account.skipped if passage.why is Why.EMOJI]
    assert emoji == ["&#x1F600;"]


def test_totals_add_up():
    account = planned_of("Dr. Who paid $5.\n\n* * *\n\nHe left.\n").plan.account
    totals = account.totals()
    assert totals.spoken_chars + totals.replaced_chars + totals.skipped_chars == totals.source_chars == account.chars
    assert set(totals.skipped) == {"white_space", "scene_break"}
    assert sum(totals.replaced.values()) == totals.replaced_chars


@pytest.mark.parametrize(("skip", "spoken"), [(frozenset(), True), (frozenset({Why.HEADINGS}), False)])
def test_headings_may_be_left_to_the_chapter_list(skip, spoken):
    options = PlanOptions(reading=ReadingOptions(skip=skip))
    found = planned_of("# The Gate\n\nIt was open.", "b.md", options=options)
    assert ("The Gate" in [sentence.spoken for sentence in found.sentences]) is spoken
    assert [chapter.title for chapter in found.plan.chapters] == ["The Gate"]
    assert any(passage.why is Why.HEADINGS for passage in found.plan.account.skipped) is not spoken
    check_account(found)
