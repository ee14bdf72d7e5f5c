"""Plain text: paragraphs, wrapped lines, headings, transcribed books."""

import pytest

from jobs.plan import Break
from jobs.reading.document import ParagraphKind
from tests.helpers_reading import plan_of, read, spoken


def titles(text):
    return [chapter.title for chapter in read(text).chapters]


def texts(text):
    return [paragraph.text for chapter in read(text).chapters for paragraph in chapter.paragraphs]


def test_wrapped_lines_are_one_paragraph_and_blank_lines_end_it():
    assert texts("One line\nand more.\n\n\n  Next\n  one.") == ["One line and more.", "Next one."]


def test_a_line_of_an_unwrapped_text_is_a_paragraph():
    long = "A sentence that goes on and on. " * 8
    assert texts(f"{long}\nShort one.\n{long}") == [long.strip(), "Short one.", long.strip()]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("a well-\nknown word", "a well-known word"),
        ("the company of a com-\npany", "the company of a company"),
        ("the company of a com-\npany, com-pany", "the company of a com-pany, com-pany"),
        ("a dash —\nhere", "a dash —here"),
        ("a soft\u00ad \nhyphen", "a softhyphen"),
        ("from 10-\n20", "from 10- 20"),
        ("a nega- tive and negative thing", "a negative and negative thing"),
        ("the capabili- ties, capabilities", "the capabilities, capabilities"),
        ("two- or three-fold, pre- and post-war", "two- or three-fold, pre- and post-war"),
        ("a one-\nsided, one-sided onesided", "a one-sided, one-sided onesided"),
        ("a nega-\ntive thing", "a negative thing"),
        ("emo\ufffetional and emo\ufffe\ntional", "emotional and emotional"),
        ("inter\u2010\nnational, international", "international, international"),
        ("nega\u00ac\ntive", "negative"),
        ("in Anglo-\nSaxon", "in Anglo-Saxon"),
        ("他每天\n来到石桥。", "他每天来到石桥。"),
        ("mixed 他\nword", "mixed 他 word"),
    ],
)
def test_where_lines_meet(text, joined):
    assert texts(text) == [joined]


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("CHAPTER I.", "Chapter I"),
        ("Chapter 1: The Start", "Chapter 1: The Start"),
        ("Chapter One", "Chapter One"),
        ("CHAPTER THE FIRST", "Chapter the First"),
        ("CHAPTER IV. THE LONG NIGHT", "Chapter IV. The Long Night"),
        ("PROLOGUE", "Prologue"),
        ("Epilogue", "Epilogue"),
        ("Kapitel 3", "Kapitel 3"),
        ("第一章 开始", "第一章 开始"),
        ("# Marked", "Marked"),
        ("## Marked too ##", "Marked too"),
        ("Ruled\n=====", "Ruled"),
        ("Ruled\n-----", "Ruled"),
        ("CHAPTER II\nThe Name Below", "Chapter II: The Name Below"),
        ("CHAPTER II\nTHE LONG\nNIGHT", "Chapter II: The Long Night"),
        ("CHAPTER II. THE LONG\nNIGHT", "Chapter II. The Long Night"),
        ("I: Loomings", "I: Loomings"),
        ("1. The Quiet House", "1. The Quiet House"),
    ],
)
def test_headings_start_chapters(heading, title):
    document = read(f"Before it all.\n\n{heading}\n\nText of the chapter goes here.")
    assert [chapter.title for chapter in document.chapters] == ["book", title]
    assert document.chapters[1].paragraphs[0].kind is ParagraphKind.HEADING


@pytest.mark.parametrize(
    "line",
    [
        "Chapter and verse he knew it.",
        "Chapter two was the one that he liked.",
        "Part one of the plan was easy.",
        "Introduction of the bill was late.",
        "1984 was a year.",
        "7",
        "1. Buy some milk today.",
        "I went home.",
        "#hashtag",
        "Civil war it was.",
        "MIX",
    ],
)
def test_lines_that_are_no_headings(line):
    document = read(f"Before it all.\n\n{line}\n\nText goes on here.")
    assert len(document.chapters) == 1
    assert {paragraph.kind for paragraph in document.chapters[0].paragraphs} == {ParagraphKind.BODY}


def test_bare_numbers_are_headings_in_a_row():
    text = "".join(f"{number}\n\nText of it.\n\n" for number in ("I", "II", "III", "IV", "V", "IX", "X"))
    assert titles(text) == ["I", "II", "III", "IV", "V"]


def test_a_number_and_the_title_below_name_one_chapter():
    assert titles("1\n\nThe Gate\n\nText.\n\n2\n\nThe Well\n\nMore text.") == ["The Gate", "The Well"]


def test_a_part_and_its_first_chapter_are_one():
    text = "PART ONE\n\nChapter 1\n\nText.\n\nChapter 2\n\nText.\n\nPART TWO\n\nChapter 3\n\nText."
    assert titles(text) == ["Part One: Chapter 1", "Chapter 2", "Part Two: Chapter 3"]


def test_a_heading_with_text_right_below_it():
    plan = plan_of("CHAPTER I\nIt was a dark night, and it\nrained in the town.\n")
    assert [(segment.text.replace("\n", " "), segment.break_after) for segment in plan.segments] == [
        ("CHAPTER I", Break.HEADING),
        ("It was a dark night, and it rained in the town.", Break.CHAPTER),
    ]


def test_titles_in_capitals_divide_a_text_that_has_no_other_headings():
    assert titles("THE GATE\n\nText.\n\n\nTHE WELL\n\nText.") == ["The Gate", "The Well"]
    assert titles("CHAPTER I\n\nText.\n\n\nTHE WELL\n\nText.") == ["Chapter I"]


@pytest.mark.parametrize(
    "line", ["* * *", "***", "---", "~~~", "⁂", "#", "•", "* * * * *", "o O o", "~oOo~", "———", ". . .", "❦"]
)
def test_scene_breaks(line):
    plan = plan_of(f"One.\n\n{line}\n\nTwo.")
    assert [(segment.spoken, segment.break_after) for segment in plan.segments] == [
        ("One.", Break.SCENE),
        ("Two.", Break.CHAPTER),
    ]


def test_front_lines_are_facts_and_not_spoken():
    document = read("Title: The Well\nAuthor: Ann Other\nLanguage: German\n\nText: it begins.\n\nTitle: not this")
    assert (document.title, document.author, document.language) == ("The Well", "Ann Other", "de")
    assert [paragraph.text for paragraph in document.chapters[0].paragraphs] == ["Text: it begins.", "Title: not this"]


def test_the_name_is_the_title_of_a_text_that_has_none():
    assert read("Text.", "Dir/My Tale.v2.txt").title == "My Tale.v2"


GUTENBERG = """The Project Gutenberg eBook of Wells

Title: Wells
Author: Ann Other
Language: English

*** START OF THE PROJECT GUTENBERG EBOOK WELLS ***

{}

*** END OF THE PROJECT GUTENBERG EBOOK WELLS ***

Section 1. General Terms of licence
"""


def test_a_transcribed_book_has_its_facts_and_no_licence():
    document = read(GUTENBERG.format("CHAPTER I\n\nIt _was_ deep,[1] snake_case_name said."))
    assert (document.title, document.author, document.language) == ("Wells", "Ann Other", "en")
    assert [paragraph.text for chapter in document.chapters for paragraph in chapter.paragraphs] == [
        "CHAPTER I",
        "It was deep, snake_case_name said.",
    ]


def test_asides_of_a_transcribed_book_end_where_their_bracket_does():
    blocks = ["One.", "[Footnote 1: How [so]", "deep?]", "Two.", "[Illustration]", "[Illustration: open", "Three."]
    body = "\n\n".join([*blocks, "[sic] Four."])
    assert texts(GUTENBERG.format(body)) == ["One.", "Two.", "[Illustration: open", "Three.", "[sic] Four."]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A _very_ odd", "A very odd"),
        ("_All of it\nand more_ now", "All of it and more now"),
        ("A *bold* and **bolder** word", "A bold and bolder word"),
        ("A =bold= and ~wide~ word", "A bold and wide word"),
        ("a snake_case_name and __init__ too", "a snake_case_name and __init__ too"),
        ("2 * 3 * 4 and 2*3*4 = 24 = 6*4", "2 * 3 * 4 and 2*3*4 = 24 = 6*4"),
        ("~5 to ~10 and a_b _c", "~5 to ~10 and a_b _c"),
        ("see /_next_/x", "see /_next_/x"),
    ],
)
def test_emphasis(text, said):
    assert texts(text) == [said]


def test_quoted_mail():
    text = "> Hello there,\n> he wrote.\n>\n>> Deep.\n\n> 5 is more.\n\nx <3 you."
    assert texts(text) == ["Hello there, he wrote.", "Deep.", "> 5 is more.", "x <3 you."]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Buy:\n- milk and\n  honey\n- bread", ["Buy:", "- milk and honey", "- bread"]),
        ("* one\n* two", ["one", "two"]),
        ("• one\n• two\nmore", ["one", "two more"]),
        ("1. First\n2. Second\ngoes on\n3. Third", ["1. First", "2. Second goes on", "3. Third"]),
        ("a) this\nb) that", ["a) this", "b) that"]),
        ("(1) this\n(2) that", ["(1) this", "(2) that"]),
        ("i. one\nii. two", ["i. one", "ii. two"]),
        ("- Who is it?\n- Me.", ["- Who is it?", "- Me."]),
        ("He was born in\n14. He died\nin 15. And so.", ["He was born in 14. He died in 15. And so."]),
        ("It was\n- of all things - his.", ["It was - of all things - his."]),
    ],
)
def test_lists(text, items):
    assert texts(text) == items


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("ANNA: Hi.\nBEN: So\nit is.\nOLD MAN (low): Go.", ["ANNA: Hi.", "BEN: So it is.", "OLD MAN (low): Go."]),
        ("The kitchen.\nANNA: Hi.\nBEN: So.", ["The kitchen.", "ANNA: Hi.", "BEN: So."]),
        ("Dr. Smith: Hello\nMary Jane: Hi", ["Dr. Smith: Hello", "Mary Jane: Hi"]),
        ("ANNA:\nHi.\nBEN:\nSo.", ["ANNA: Hi.", "BEN: So."]),
        ("Note: it is\nlate now.", ["Note: it is late now."]),
        ("He said one thing: go\naway from here: now.", ["He said one thing: go away from here: now."]),
    ],
)
def test_turns_of_a_script_are_paragraphs(text, turns):
    assert texts(text) == turns


def test_indented_first_lines_begin_paragraphs():
    text = "  It was dark. The wind\nblew and the house was still.\n  He got up.\n  “Who is it?” he said, and\nwent."
    said = ["It was dark. The wind blew and the house was still.", "He got up.", "“Who is it?” he said, and went."]
    assert texts(text) == said
    assert texts("\u3000\u3000他来了。\n\u3000\u3000她走了。") == ["他来了。", "她走了。"]


def test_indented_verse_is_one_paragraph():
    assert texts("The rose is red\n  The violet blue\nAnd so are you\n  To me") == [
        "The rose is red The violet blue And so are you To me"
    ]


def test_short_dialogue_between_long_lines_is_a_paragraph_a_line():
    lines = ["“No.”", "“Yes.”", "It went on and on. " * 8, "“Why?”", "“So.”"]
    assert texts("\n".join(lines)) == [line.strip() for line in lines]


@pytest.mark.parametrize("rule", ["* * *", "***", "———", "⁂", "o O o", "~~~"])
def test_a_rule_parts_text_without_blank_lines(rule):
    kinds = [paragraph.kind for paragraph in read(f"One.\n{rule}\nTwo.").chapters[0].paragraphs]
    assert kinds == [ParagraphKind.BODY, ParagraphKind.SCENE_BREAK, ParagraphKind.BODY]


@pytest.mark.parametrize("heading", ["CONTENTS", "Table of Contents", "Contents."])
@pytest.mark.parametrize("separate", ["\n", "\n\n"])
def test_a_contents_list_is_not_spoken(heading, separate):
    entries = separate.join(["CHAPTER I. The Gate ..... 3", "CHAPTER II. The Well ..... 14"])
    text = f"{heading}\n\n{entries}\n\nCHAPTER I. The Gate\n\nText.\n\nCHAPTER II. The Well\n\nMore."
    assert texts(text) == ["CHAPTER I. The Gate", "Text.", "CHAPTER II. The Well", "More."]


def test_the_first_heading_after_a_contents_list_stays_though_its_number_comes_again():
    parts = ["PART ONE", "CHAPTER I", "CHAPTER II", "PART TWO", "CHAPTER I"]
    body = "\n\n".join(f"{part}\n\nText of it." for part in parts)
    text = "CONTENTS\n\n" + "\n".join(parts) + "\n\n" + body
    assert texts(text) == [line for part in parts for line in (part, "Text of it.")]


def test_contents_as_a_word_of_the_text_is_spoken():
    assert spoken(plan_of("Contents\n\nof the box were few.\n\nThe end.")) == [
        "Contents",
        "of the box were few.",
        "The end.",
    ]


def test_html_in_a_text_file_is_warned_of():
    assert "HTML" in read("<!DOCTYPE html><p>Text").warnings[0]
