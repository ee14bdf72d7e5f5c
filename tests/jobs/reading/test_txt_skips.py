"""Plain text: what is left out, why, and what only looks like it."""

import pytest

from jobs.account import DEFAULT_SKIP, Why
from jobs.reading.options import ReadingOptions
from jobs.reading.text.txt import read_txt

BODY = "He said so, and it was a long day, for nobody came to the house until late."


def read(text, skip=DEFAULT_SKIP):
    return read_txt(text.encode(), "book.txt", ReadingOptions(skip=frozenset(skip)))


def texts(document):
    return [paragraph.text for chapter in document.chapters for paragraph in chapter.paragraphs]


def left_out(document):
    """Why and text of each skip, without those of markup."""
    skips = sorted(document.skipped, key=lambda skip: skip.start)
    return [(skip.why, document.text[skip.start : skip.end]) for skip in skips if skip.why is not Why.MARKUP]


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("The tower fell.[1] It was old,[15] very old.[*]", "The tower fell. It was old, very old."),
        ("Bats[3] fly.[1][2]", "Bats fly."),
        ("He said “no.”[12] Then", "He said “no.” Then"),
        ("It fell.[1, 2] So.[3–5] Yes.[note 4]", "It fell. So. Yes."),
        ("Word¹ and an end.² More”³ here", "Word and an end. More” here"),
    ],
)
def test_note_marks_are_not_spoken(text, spoken):
    document = read(f"{text}\n\n{BODY}")
    assert texts(document)[0] == spoken
    assert {why for why, _ in left_out(document)} == {Why.NOTE_MARKS}
    assert texts(read(f"{text}\n\n{BODY}", DEFAULT_SKIP - {Why.NOTE_MARKS}))[0] == text


@pytest.mark.parametrize(
    "text",
    [
        "Smith et al. [2004] and Doe et al.[2004] agree.",
        "As shown in [3] and [4].",
        "The call list[0] is x[1] = 2.",
        "E = mc² over 5 km², 10³ m and x² + y².",
        "About log² of it and CO² in the air.",
        "[sic] He wrote [so] and [A] there.",
        "The H₂O is wet.",
    ],
)
def test_what_looks_like_note_marks_is_spoken(text):
    document = read(text)
    assert texts(document) == [text]
    assert left_out(document) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[Footnote 1: Made from\nbones.\n\nAnd [so] on.]", Why.NOTES),
        ("[Endnote: Made from bones.]", Why.NOTES),
        ("[Illustration]", Why.ILLUSTRATIONS),
        ("[Illustration: The gate\nat dusk]", Why.ILLUSTRATIONS),
        ("[Image: a gate]", Why.ILLUSTRATIONS),
        ("[Transcriber's Note: misprints were set right.]", Why.LICENCE),
        ("[Pg 12]", Why.PAGE_NUMBERS),
        ("[Page xii]", Why.PAGE_NUMBERS),
        ("- 12 -", Why.PAGE_NUMBERS),
        ("— 12 —", Why.PAGE_NUMBERS),
        ("{12}", Why.PAGE_NUMBERS),
    ],
)
def test_asides_are_left_out_or_spoken_as_chosen(text, why):
    document = read(f"One.\n\n{text}\n\nTwo.")
    assert texts(document) == ["One.", "Two."]
    assert left_out(document) == [(why, text)]
    kept = " ".join(texts(read(f"One.\n\n{text}\n\nTwo.", DEFAULT_SKIP - {why})))
    assert kept.split() == f"One. {text} Two.".split()


def test_asides_inside_a_sentence_leave_it_whole():
    document = read("He went[Footnote 2: On foot.] to the [Pg 12]gate and [Illustration: a gate] opened {13} it.")
    assert texts(document) == ["He went to the gate and opened it."]


@pytest.mark.parametrize("page", ["[Pg 12]", "- 12 -", "\f- 12 -"])
@pytest.mark.parametrize("blank", ["\n", "\n\n"])
def test_a_page_number_does_not_part_a_sentence(page, blank):
    assert texts(read(f"They walked down to the{blank}{page}{blank}gate.")) == ["They walked down to the gate."]
    assert texts(read(f"They walked.{blank}{blank}{page}{blank}{blank}The gate.")) == ["They walked.", "The gate."]


@pytest.mark.parametrize(
    "text",
    ["Hello {0}, you have {1} messages.", "see [page 12] for it", "[Illustration: never closed", "12", "It is 12"],
)
def test_what_looks_like_page_numbers_and_asides_is_spoken(text):
    assert texts(read(f"One.\n\n{text}\n\nTwo.")) == ["One.", text, "Two."]


def test_bare_numbers_that_run_through_the_text_are_pages():
    page = f"so {BODY}\n{BODY}\nand then they went to the"
    document = read(f"{page}\n41\n{page}\n\n42\n\n{page}\n43\n{page} end.")
    assert left_out(document) == [(Why.PAGE_NUMBERS, number) for number in ("41", "42", "43")]
    assert len(texts(document)) == 1


def test_bare_numbers_of_chapters_and_columns_of_numbers_are_spoken():
    chapters = read("".join(f"{number}\n\n{BODY}\n\n" for number in (1, 2, 3)))
    assert [chapter.title for chapter in chapters.chapters] == ["1", "2", "3"]
    assert left_out(read("Ten\n\n12\n13\n14\n\nTwo.")) == []


def test_notes_below_their_heading_go_and_the_next_chapter_stays():
    notes = "FOOTNOTES:\n\n[1] Foo\nbar.\n\n[2] Bar."
    text = f"CHAPTER I\n\nOne.[1]\n\n{notes}\n\nCHAPTER II\n\nTwo.\n\nNotes\n\n1. Milk\n2. Mum"
    document = read(text)
    assert texts(document) == ["CHAPTER I", "One.", "CHAPTER II", "Two.", "Notes", "1. Milk", "2. Mum"]
    assert left_out(document)[1] == (Why.NOTES, notes)


def test_a_note_below_a_paragraph_goes_when_the_text_refers_to_it():
    assert texts(read("One.[A]\n\n[A] Made from bones.\n\nTwo.")) == ["One.", "Two."]
    assert texts(read("One.\n\n[1] A first point.\n\nTwo.")) == ["One.", "[1] A first point.", "Two."]


INDEX = "INDEX\n\nA\n\nBell, 12, 14-16\nBoat, 20\n\nG\n\nGate, see Well\nGun, 7"
BOOKS = "BIBLIOGRAPHY\n\nSmith, J. The Well. London, 1901.\n\nDoe, A. (2004). Gates."


@pytest.mark.parametrize(("section", "why"), [(INDEX, Why.INDEX), (BOOKS, Why.BIBLIOGRAPHY)])
def test_back_matter(section, why):
    text = f"{BODY}\n\n{BODY}\n\n{BODY}\n\n{section}"
    assert left_out(read(text)) == [(why, section)]
    kept = texts(read(text, DEFAULT_SKIP - {why}))
    assert " ".join(kept[3:]).split() == section.split()


@pytest.mark.parametrize("text", ["Index\n\nHe put his finger on it.", "References\n\nShe had good ones."])
def test_words_of_back_matter_as_words_of_the_text(text):
    assert left_out(read(f"{BODY}\n\n{text}")) == []


def test_the_copyright_page():
    front = "Copyright © 2021 by Ann Other\n\nAll rights reserved.\n\nPublished by Foo Press\n\nISBN 978-1-234-56789-0"
    document = read(f"THE WELL\n\nby Ann Other\n\n{front}\n\nChapter One\n\n{BODY}")
    assert left_out(document) == [(Why.FRONT, front)]
    assert texts(document)[:2] == ["THE WELL", "by Ann Other"]


@pytest.mark.parametrize("text", ["“All rights reserved,” said he.", "Copyright law was new then.", f"{BODY * 6}\n\n©"])
def test_words_of_a_copyright_page_as_words_of_the_text(text):
    assert left_out(read(f"{text}\n\n{BODY}")) == []


LISTED = "Chapter 1\nChapter 2\nChapter 3"


@pytest.mark.parametrize(
    "listed",
    [
        LISTED,
        LISTED.replace("\n", "\n\n"),
        f"CONTENTS\n\n{LISTED}",
        "Contents\n\n1. The Gate ..... 1\n2. The Well ..... 20\n3. The End  . . . . xii",
        "CONTENTS\n\nThe Gate    1\nThe Well    20",
    ],
)
def test_contents_lists(listed):
    body = "".join(f"Chapter {number}\n\n{BODY}\n\n" for number in (1, 2, 3))
    document = read(f"{listed}\n\n{body}")
    assert [chapter.title for chapter in document.chapters] == ["Chapter 1", "Chapter 2", "Chapter 3"]
    assert left_out(document) == [(Why.CONTENTS, listed)]
    kept = read(f"{listed}\n\n{body}", DEFAULT_SKIP - {Why.CONTENTS})
    assert " ".join(texts(kept)).split() == f"{listed} {body}".split()


def test_headings_in_a_row_that_do_not_come_again_are_spoken():
    document = read(f"{LISTED}\n\n{BODY}")
    assert texts(document) == [*LISTED.split("\n"), BODY]


HEADER = "Some header\n\nTitle: Wells\n       of Old\n\nAuthor: Ann Other\n"
START = "*** START OF THE PROJECT GUTENBERG EBOOK {} ***"
END = "*** END OF THE PROJECT GUTENBERG EBOOK {} ***"


def test_header_and_licence():
    start = START.format("A LONG\nTITLE")
    document = read(f"{HEADER}\n{start}\n\nProduced by Foo\n\n{BODY}\n\n{END.format('X')}\n\nLicence words.")
    assert (document.title, document.author) == ("Wells of Old", "Ann Other")
    assert texts(document) == [BODY]
    assert {why for why, _ in left_out(document)} == {Why.LICENCE, Why.METADATA}
    assert (Why.METADATA, "Author: Ann Other") in left_out(document)
    assert document.warnings == ()


def test_a_kept_licence_is_spoken_but_for_the_facts():
    text = f"{HEADER}\n{START.format('X')}\n\n{BODY}\n\n{END.format('X')}\n\nLicence words."
    kept = texts(read(text, DEFAULT_SKIP - {Why.LICENCE}))
    assert kept == ["Some header", "of Old", START.format("X"), BODY, END.format("X"), "Licence words."]


def test_two_books_in_one_file_are_both_spoken():
    books = [f"{START.format(name)}\n\nBook {name}.\n\n{END.format(name)}\n\nLicence." for name in ("A", "B")]
    assert texts(read("\n\n".join(books))) == ["Book A.", "Book B."]


@pytest.mark.parametrize("close", ["CHAPTER I", "\n\nA TALE"])
def test_notes_of_a_transcriber_without_brackets(close):
    document = read(f"Transcriber's Note:\n\nMisprints were set right.\n\n{close}\n\n{BODY}")
    assert left_out(document) == [(Why.LICENCE, "Transcriber's Note:\n\nMisprints were set right.")]


TABLES = [
    "Name    Age   City\n----    ---   ----\nAnna    12    Rome\nBen     130   Paris",
    "| Name | Age |\n|------|-----|\n| Anna | 12 |\n| Ben | 13 |",
    "Name\tAge\tCity\nAnna\t12\tRome\nBen\t13\tParis",
    "Soup    4.50\nBread   1.20\nMilk    0.99",
]


@pytest.mark.parametrize("table", TABLES)
def test_tables(table):
    document = read(f"Before.\n\n{table}\n\nAfter.")
    assert texts(document) == ["Before.", "After."]
    assert left_out(document) == [(Why.TABLES, table)]


def test_rows_of_a_kept_table_are_sentences():
    kept = [texts(read(table, DEFAULT_SKIP - {Why.TABLES})) for table in TABLES]
    assert kept[0] == ["Name, Age, City", "Anna, 12, Rome", "Ben, 130, Paris"]
    assert kept[1] == ["Name, Age", "Anna, 12", "Ben, 13"]
    assert kept[2] == ["Name, Age, City", "Anna, 12, Rome", "Ben, 13, Paris"]


@pytest.mark.parametrize(
    "text",
    [
        "It was old.  The wood was\nvery dry.  He came to the\nhouse late.  Night it was.",
        "ANNA   a widow\nBEN    her brother\nCARL   a doctor",
        "Anna\tHello there, how are you?\nBen\tFine, and you?\nAnna\tFine.",
        "Soup    4.50\nBread   1.20",
    ],
)
def test_text_that_is_no_table(text):
    assert left_out(read(text)) == []
    assert "".join(texts(read(text))).replace(",", "").replace(" ", "") == "".join(text.replace(",", "").split())


@pytest.mark.parametrize("line", ["|", "aa\tb.", "|---|---|", "One.  Two.", "a  b."])
def test_lines_that_almost_are_a_table_are_looked_at_once(line):
    lines = "\n".join([line] * 20_000)  # with a look ahead from each line this would take hours
    document = read(f"{BODY}\n\n{lines}\n\n{BODY}")
    assert left_out(document) == []
    assert texts(document)[0] == texts(document)[-1] == BODY
