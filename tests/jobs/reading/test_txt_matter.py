"""Plain text: copyright pages, notes, indexes, bibliographies and licences, and stories that only look like them."""

import pytest

from jobs.account import Why
from tests.helpers_account import check_account
from tests.helpers_reading import planned_of

LONG = "He said so, and it was a long day, for nobody came to the house until late. "
BEFORE = "\n\n".join([LONG * 4] * 6)
START = "*** START OF THE PROJECT GUTENBERG EBOOK {} ***"
END = "*** END OF THE PROJECT GUTENBERG EBOOK {} ***"
_SIGNS = {Why.WHITE_SPACE, Why.SCENE_BREAK, Why.MARKUP, Why.SYMBOL}


def skipped(text):
    """What is not spoken, label and characters, but for white space and signs."""
    planned = planned_of(text)
    check_account(planned)
    return [
        (one.why, planned.text[one.start : one.end])
        for one in planned.plan.account.skipped
        if one.why not in _SIGNS and planned.text[one.start : one.end].strip()
    ]


STORY = [
    "Chapter 1\n\nAll rights reserved, the notice said, and he laughed. He read it again.",
    "Chapter 1\n\n© was the only sign.\n\nNobody knew why.",
    "Chapter 1\n\nCopyright © 2019 Ann Author\n\nThat was on the card he held.",
    "He came.\n\n© is a sign that she knew well.\n\nHe left.",
    "A sign said so. © 2024 is the year. It fell.",
    "A sign said so.\n\n© 2024 is the year.\n\nIt fell.",
    "All rights reserved. That was what it said on the door.",
    "Copyright 2024 means nothing here.",
    "Anna owned copyright 2019.\n\nIt was all.",
    "© IS A SIGN\n\nHe knew.",
    "No part of this book may be true.\n\nYet it is.",
    "No part of this work may be reproduced, he said, and he smiled.",
    "It rained all day.\n\nNobody came.\n\nAll rights reserved.\n\nThat was all the paper said.",
    f"{LONG * 2}\n\nCopyright 2001 Ann\n\nThat was all the paper said.",
    "1\n\nAll rights reserved.\n\nThat was all the paper said.",
    "REFERENCES\n\nHe asked for his references in the year, 1884, when all was well.",
    "REFERENCES\n\nSmith, he said, came here in 1884.\n\nAnn, who was old, left in 1885.",
    "Bibliography\n\nThe shop had opened (in 1901) and shut (in 1902).\n\nNobody (but Ann, in 1903) cared.",
    "Index\n\nHe was born in 1884\n\nHe was born in 1884\n\nHe was born in 1884",
    "Index\n\nBorn in Hull in 1884\n\nMarried in York in 1901\n\nDead in Ryde in 1950",
    "Index\n\nThe room was 12\n\nCall for Ann at 4\n\nHe came to see Ann",
    "Index\n\nWell, 12\n\nGun, 7\n\nBoat, 3\n\nAxe, 1",
    "Footnotes\n\n* * *\n\nThe story goes on here.",
    "Notes\n\n1. Milk\n\n2. Mum",
    "Footnotes\n\nHe had a drawer of them.\n\n1. That was the first rule, he said.",
]


@pytest.mark.parametrize("text", STORY)
def test_a_story_that_looks_like_front_or_back_matter_is_spoken(text):
    assert skipped(f"{BEFORE}\n\n{text}" if text.lower().startswith(("ind", "ref", "bib")) else text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Edited by the night, he came home and slept.",
        "Names, characters: he loved them all.",
        "Published by nobody, the poem went from hand to hand.",
        "First printing was a trade, then an art.",
        "Printing the bills took all night.",
        "This is for Tom.",
        "A work of fiction lay on the table.",
        "By permission of the king, Ann goes home.",
        "The Wind\nBlows Cold",
    ],
)
@pytest.mark.parametrize("blank", ["\n", "\n\n"])
def test_text_beside_a_copyright_line_is_spoken(text, blank):
    assert skipped(f"THE WELL\n\nCopyright 2001 Ann{blank}{text}\n\nHe left.") == [(Why.FRONT, "Copyright 2001 Ann")]


@pytest.mark.parametrize(
    "page",
    [
        "Copyright © 2019 Ann Author",
        "Copyright © 2019, 2021 by Ann Author. All rights reserved.",
        "© Ann Author, 2019",
        "Copyright MCMXLV by Ann Author",
        "Cover art copyright © 2019 by Bob Lee",
        "(c) 2019 Foo Press Ltd.",
        "Text copyright © 2019 by the Estate of Ann Author\nIllustrations copyright © 2019 by Bob Lee",
        "Copyright, 1901, by Harper & Brothers.\nAll rights reserved, including that of translation.",
        "First published in Great Britain in 2019 by Foo Press\n\nCopyright © Ann Author 2019",
        (
            "Copyright © 2019 by Ann Author\n\nNo part of this book may be reproduced in any form or by any means,\n"
            "electronic or mechanical, without written permission."
        ),
        (
            "All rights reserved.\n\nPublished by\nFoo Press,\nLondon\n\nISBN 978-1-234-56789-0 (paperback)\n\n"
            "10 9 8 7 6 5 4 3 2 1"
        ),
        (
            "Copyright © 2019 Ann Author\n\nThis is a work of fiction. Names, characters and places are invented. Any "
            "resemblance to actual persons, living or dead, is entirely coincidental."
        ),
        "Copyright © 2019 Ann Author\nCover design by Bob Lee\nwww.annauthor.com\nFirst edition: May 2019",
        "Copyright © 2019\nAnn Author",
        "COPYRIGHT, 1923, BY\nFOO & BAR\n\nAll rights reserved\n\nPRINTED IN THE UNITED STATES OF AMERICA",
        "Copyright © 2019 für die deutsche Ausgabe bei Foo Verlag",
    ],
)
def test_copyright_pages(page):
    text = f"THE WELL\n\nby Ann Author\n\n{page}\n\nFor Tom\n\nChapter One\n\nIt rained."
    assert skipped(text) == [(Why.FRONT, page)]


def test_notes_end_at_a_rule_and_at_numbers_of_another_form():
    story = "The story goes on here.\n\nAnd here he counted.\n\n2. That was the second rule, he said."
    for between in ("\n\n* * *\n\n", "\n\n"):
        found = skipped(f"It fell.\n\nFootnotes\n\n[1] A note.{between}{story}")
        assert found == [(Why.NOTES, "Footnotes\n\n[1] A note.")]


@pytest.mark.parametrize(
    ("notes", "story"),
    [
        ("[1] One.\n\n[2] Two.", "[1] was on the door again."),
        ("1. One.\n\n2. Two.", "1. That was the first rule, he said."),
        ("1. One.\n\nMore of it.\n\n2. Two.", "He sat.\n\n7. That was the number of the house."),
        ("[A] One.\n\n[B] Two.", "[3] was on the door."),
        ("1. One.", "He sat.\n\nHe rose.\n\nHe left.\n\n2. That was the number of the house."),
        ("1. One.\n2. Two.\n\n3. Three.", "2. That was the number of the house."),
    ],
)
def test_notes_count_up_in_one_form(notes, story):
    assert skipped(f"It fell.\n\nFootnotes:\n\n{notes}\n\n{story}") == [(Why.NOTES, f"Footnotes:\n\n{notes}")]


@pytest.mark.parametrize(
    ("section", "why"),
    [
        ("REFERENCES\n\n[1] Smith, J. Wells. 1901.\n\n[2] Doe, A. and Lee, B. (2004). Gates.", Why.BIBLIOGRAPHY),
        ("Works Cited\nSmith, John. Wells. Hull, 1901.\n---. Gates. Hull, 1903.\nvan Dyke, B. Sea. 1904.",
         Why.BIBLIOGRAPHY),
        ("References\n\n1. Smith J. Wells. J Wells. 2001;3:4-5.\n\n2. Doe A, Lee B. Gates. 2004.", Why.BIBLIOGRAPHY),
        ("Bibliography\n\nJ. R. Smith, Wells (1901)\n\nWorld Health Organization (2004). Water.", Why.BIBLIOGRAPHY),
        ("Index\n\nAbbot, John, 12, 45.\nBell, 14\nBoat: 20\n  of Ann, 3\nGate, see Well\nWell 7, 9-11", Why.INDEX),
        ("Index of Names\n\nA\n\nAbbot, 1\n\nAxe, 2n\n\nB\n\nBell 5", Why.INDEX),
    ],
)  # fmt: skip
def test_back_matter_with_entries(section, why):
    assert skipped(f"{BEFORE}\n\n{section}") == [(why, section)]


def test_a_first_book_without_a_start_mark_is_spoken():
    end = "End of Project Gutenberg's One"
    text = f"Story one.\n\n{end}\n\n{START.format('TWO')}\n\nStory two.\n\n{END.format('TWO')}\n\nLicence."
    assert skipped(text) == [
        (Why.LICENCE, f"{end}\n\n{START.format('TWO')}"),
        (Why.LICENCE, f"{END.format('TWO')}\n\nLicence."),
    ]


@pytest.mark.parametrize("numbers", [(2, 3, 4, 5, 6), (12, 13, 14)])
def test_chapters_of_an_excerpt_are_no_pages(numbers):
    assert skipped("\n\n".join(f"{number}\n\n{LONG}\n{LONG}" for number in numbers)) == []


def test_numbers_that_leave_some_out_are_pages():
    found = skipped("\n\n".join(f"{LONG}\n{LONG}\n\n{number}" for number in (41, 43, 44)))
    assert found == [(Why.PAGE_NUMBERS, "41"), (Why.PAGE_NUMBERS, "43"), (Why.PAGE_NUMBERS, "44")]


@pytest.mark.parametrize(
    "text",
    [
        "[Illustration: The gate\n\nHe went out.\n\nThe key] was lost.",
        "[Illustration: The gate\n\nHe went out] and left.",
        "[Illustration: The gate\n\nHe went out.\n\nHe left.]",
        "[Footnote 1: On foot.\n\nHe went out.\n\nThe key] was lost.",
        "[Footnote 1: On foot.\r\n\r\nHe went out.\r\n\r\nThe key]\r\nwas lost.",
        "[Footnote 1: On foot.\n\nA.\n\nB.\n\nC.\n\nD.]",
    ],
)
def test_an_aside_that_is_never_closed_swallows_no_story(text):
    assert skipped(f"One.\n\n{text}\n\nTwo.") == []


@pytest.mark.parametrize(
    ("aside", "why"),
    [
        ("[Illustration:\n\nTHE GATE]", Why.ILLUSTRATIONS),
        ("[Footnote 1: On foot.\n\nAnd slowly, as [Bell] says.\n\nSo.]", Why.NOTES),
        ("[Transcriber's Note:\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.]", Why.LICENCE),
    ],
)
def test_asides_of_a_few_blocks(aside, why):
    assert skipped(f"One.\n\n{aside}\n\nTwo.") == [(why, aside)]
