"""Held-out plain texts of the kinds that people have: what must be spoken, written down before it was tried."""

import pytest

from tests.jobs.reading.held_out import Held, wrong_in

STORY = (
    # Words of front and back matter that are story.
    Held(
        "an index in a story",
        "THE INDEX\n\nShe opened the index and ran her finger down it.\n\nApples, 4. Pears, 7. It was all there.\n\n"
        "Nobody spoke.\n",
        ("THE INDEX", "She opened the index and ran her finger down it.", "Apples, 4. Pears, 7. It was all there.",
         "Nobody spoke."),
    ),
    Held(
        "chapters called contents and notes",
        "CHAPTER ONE\nCONTENTS\n\nThe box was small.\n\nA key, a comb, a letter.\n\nCHAPTER TWO\nNOTES\n\n"
        "1. He wrote the first note at dawn.\n\n2. The second he burned.\n\nThen he slept.\n",
        ("CHAPTER ONE", "CONTENTS", "The box was small.", "A key, a comb, a letter.", "CHAPTER TWO", "NOTES",
         "1. He wrote the first note at dawn.", "2. The second he burned.", "Then he slept."),
        chapters=("Chapter One: Contents", "Chapter Two: Notes"),
    ),
    Held(
        "a story called notes",
        "NOTES\n\nShe kept her notes in a tin.\n\n1. Buy string.\n\n2. Call Ada.\n\nThe list went on.\n",
        ("NOTES", "She kept her notes in a tin.", "1. Buy string.", "2. Call Ada.", "The list went on."),
    ),
    Held(
        "a chapter of numbered notes",
        "Chapter 1\n\nHe packed.\n\nChapter 2\n\nNotes\n\n1. Leave by the back door.\n2. Take the tin.\n3. Run.\n\n"
        "Chapter 3\n\nHe ran.\n",
        keep=("1. Leave by the back door.", "2. Take the tin.", "3. Run.", "He ran."),
    ),
    Held(
        "references as words",
        "The clerk asked for references.\n\nReferences\n\nI had none, so I wrote them in 1931 myself.\n\nHe "
        "read them.\n",
        ("The clerk asked for references.", "References", "I had none, so I wrote them in 1931 myself.",
         "He read them."),
    ),
    Held(
        "a list of pears is no index",
        "The shop was closed.\n\nIndex\n\nwas the name of the cat, and it was fat.\n\nIt weighed 9.\n",
        ("The shop was closed.", "Index", "was the name of the cat, and it was fat.", "It weighed 9."),
    ),
    Held(
        "rights as the first words",
        "All rights reserved was the first phrase I learned to read.\n\nMy father laughed.\n",
        ("All rights reserved was the first phrase I learned to read.", "My father laughed."),
    ),
    Held(
        "copyright as a subject",
        "Copyright by then was the only thing he talked of.\n\nWe let him talk.\n",
        ("Copyright by then was the only thing he talked of.", "We let him talk."),
    ),
    Held(
        "published and printed",
        "Published in 1920, the book was burned in 1921.\n\nPrinted words burn well.\n\nSo we learned.\n",
        ("Published in 1920, the book was burned in 1921.", "Printed words burn well.", "So we learned."),
    ),
    Held(
        "a note in the text",
        "The ferry leaves at noon.\n\nNote: it does not run on Sunday.\n\nNotes: none.\n\nWe walked.\n",
        ("The ferry leaves at noon.", "Note: it does not run on Sunday.", "Notes: none.", "We walked."),
    ),
    Held(
        "title inside the text",
        "He showed me a card.\n\nTitle: Doctor\n\nAuthor: unknown\n\nI laughed.\n",
        ("He showed me a card.", "Title: Doctor", "Author: unknown", "I laughed."),
    ),
    Held(
        "produced by in a story",
        "The rabbit was produced by the man in the cape.\n\nProduced by hand, each hat was a wonder.\n\nWe clapped.\n",
        ("The rabbit was produced by the man in the cape.", "Produced by hand, each hat was a wonder.", "We clapped."),
    ),
    Held(
        "transcriber as a person",
        "The transcriber's notes were in a drawer.\n\nTranscriber's notes are dull, said Ada.\n\nShe burned them.\n",
        ("The transcriber's notes were in a drawer.", "Transcriber's notes are dull, said Ada.", "She burned them."),
    ),
    # Numbers.
    Held(
        "a diary of years",
        "1914\n\nWar came to the valley.\n\nWe hid the cow.\n\n1915\n\nIt stayed.\n\nThe cow died.\n\n1916\n\n"
        "It grew.\n\n"
        "We ate roots.\n\n1917\n\nStill there.\n",
        ("1914", "War came to the valley.", "We hid the cow.", "1915", "It stayed.", "The cow died.", "1916",
         "It grew.", "We ate roots.", "1917", "Still there."),
    ),
    Held(
        "sections that begin again in each chapter",
        "CHAPTER ONE\n\n1\n\nHe rose.\n\nHe ate.\n\n2\n\nHe went out.\n\nIt rained.\n\n3\n\nHe came back.\n\n"
        "CHAPTER TWO\n\n1\n\nShe rose.\n\nShe ate.\n\n2\n\nShe stayed.\n\nIt rained.\n\n3\n\nShe slept.\n",
        ("CHAPTER ONE", "1", "He rose.", "He ate.", "2", "He went out.", "It rained.", "3", "He came back.",
         "CHAPTER TWO", "1", "She rose.", "She ate.", "2", "She stayed.", "It rained.", "3", "She slept."),
    ),
    Held(
        "a countdown",
        "The voice began.\n\n10\n\n9\n\n8\n\nNobody breathed.\n\n3\n\n2\n\n1\n\nThen it flew.\n",
        ("The voice began.", "10", "9", "8", "Nobody breathed.", "3", "2", "1", "Then it flew."),
    ),
    Held(
        "dates alone on a line",
        "12 March 1884\n\nThe boat is late.\n\n13 March 1884\n\nNo boat.\n",
        ("12 March 1884", "The boat is late.", "13 March 1884", "No boat."),
    ),
    Held(
        "a house number alone",
        "He stopped at the door and read the number on it.\n\n12\n\nIt was the right one.\n",
        ("He stopped at the door and read the number on it.", "12", "It was the right one."),
    ),
    Held(
        "a numbered list is the story",
        "1. Wake up.\n2. Look for the cat.\n3. Cry.\n",
        ("1. Wake up.", "2. Look for the cat.", "3. Cry."),
    ),
    Held(
        "numbered chapters that are lists of one",
        "1. The Gate\n\nIt was shut.\n\n2. The Well\n\nIt was dry.\n",
        ("1. The Gate", "It was shut.", "2. The Well", "It was dry."),
        chapters=("1. The Gate", "2. The Well"),
    ),
    Held(
        "a year in brackets is no note",
        "The case (Smith [1987]) was lost, and the next one [2004] too. See [12] and list[0].\n",
        ("The case (Smith [1987]) was lost, and the next one [2004] too. See [12] and list[0].",),
    ),
    Held(
        "a poem with a number in it",
        "7 swans on the lake,\n6 on the shore,\n5 in the air,\nand no more.\n",
        ("7 swans on the lake, 6 on the shore, 5 in the air, and no more.",),
    ),
    # Signs that are text.
    Held(
        "asterisks that hide a word",
        "That d*** dog and that b**tard fox. F*** it, she said. He ***ing left.\n",
        ("That d*** dog and that b**tard fox. F*** it, she said. He ***ing left.",),
    ),
    Held(
        "hidden words and emphasis",
        "What the f*** is *this* thing? A D*mn shame, you d*mn fool.\n",
        ("What the f*** is this thing? A D*mn shame, you d*mn fool.",),
    ),
    Held(
        "identifiers",
        "Set max_len_chars and __init__ in my_file_name.py, not MAX_LEN.\n",
        ("Set max_len_chars and __init__ in my_file_name.py, not MAX_LEN.",),
    ),
    Held(
        "laughs and braces",
        'He said [laughs] no. {smiles} Fine. <sighs> "Go."\n',
        ('He said [laughs] no. {smiles} Fine. <sighs> "Go."',),
    ),
    Held(
        "a hashtag at the start of a line",
        "She typed it.\n\n#blessed and #tired\n\n#1 in the charts again.\n",
        ("She typed it.", "#blessed and #tired", "#1 in the charts again."),
    ),
    Held(
        "a blank to fill in",
        "My name is ____ and I live in _____. Mr. B----- of L—— agreed.\n",
        ("My name is ____ and I live in _____. Mr. B----- of L—— agreed.",),
    ),
    Held(
        "sums",
        "If a = b and b = c then a = c. 2 * 3 * 4 is 24. 5 > 3 and 2 < 3.\n",
        ("If a = b and b = c then a = c. 2 * 3 * 4 is 24. 5 > 3 and 2 < 3.",),
    ),
    Held(
        "a remark with a star",
        "*See the last page. He left *early, he said.\n",
        ("*See the last page. He left *early, he said.",),
    ),
    Held(
        "square brackets of an editor",
        "He wrote that [the] house was [sic] hare. [Here a page is torn.] It went on.\n",
        ("He wrote that [the] house was [sic] hare. [Here a page is torn.] It went on.",),
    ),
    Held(
        "illustration as a word in brackets",
        "It was [as the illustrations showed] a mule. An [illustrated] book. [Picture this] she said.\n",
        ("It was [as the illustrations showed] a mule. An [illustrated] book. [Picture this] she said.",),
    ),
    Held(
        "a footnote as a word",
        "He was a footnote. [Footnotes bore me.] She nodded.\n",
        ("He was a footnote. [Footnotes bore me.] She nodded.",),
    ),
    Held("a smiley and a heart", "I <3 you :) she wrote. XOXO >:(\n", keep=("you", "she wrote.", "XOXO")),
    # Layout.
    Held(
        "letters signed with initials",
        "Dear Tom,\n\nCome at once.\n\nYours ever,\nJ. R.\n\nP.S. Bring the dog.\n",
        ("Dear Tom,", "Come at once.", "Yours ever, J. R.", "P.S. Bring the dog."),
    ),
    Held(
        "signed by one letter",
        "Come at once.\n\nV.\n\nI went.\n\nM.\n\nHe came.\n",
        ("Come at once.", "V.", "I went.", "M.", "He came."),
        chapters=("book",),
    ),
    Held(
        "telegrams",
        "ARRIVE MONDAY STOP\nBRING MONEY STOP\n\nHe read it twice.\n",
        ("ARRIVE MONDAY STOP BRING MONEY STOP", "He read it twice."),
    ),
    Held(
        "a sign in capitals in a chapter",
        "Chapter 1\n\nHe saw a sign.\n\nNO DOGS ALLOWED\n\nHe had a dog.\n\nChapter 2\n\nThe dog bit.\n",
        ("Chapter 1", "He saw a sign.", "NO DOGS ALLOWED", "He had a dog.", "Chapter 2", "The dog bit."),
        chapters=("Chapter 1", "Chapter 2"),
    ),
    Held(
        "dialogue with hyphens",
        "- Who is it?\n- Me.\n- Come in.\n",
        ("- Who is it?", "- Me.", "- Come in."),
        spoken=("Who is it?", "Me.", "Come in."),
    ),
    Held(
        "dialogue with dashes",
        "— Who is it?\n— Me.\n— Come in, said Ada — and be quick.\n",
        ("— Who is it?", "— Me.", "— Come in, said Ada — and be quick."),
    ),
    Held(
        "a contents list without page numbers in a story",
        "In the box there were:\n\na key\na comb\na letter\n\nShe took the key.\n",
        ("In the box there were:", "a key a comb a letter", "She took the key."),
    ),
    Held(
        "a verse with wide gaps",
        "The wolf    the winter\nThe hound   the hare\nThe sea     the sailor\n",
        keep=("The wolf", "the winter", "The hound", "the hare", "The sea", "the sailor"),
    ),
    Held(
        "a form is no table",
        "Name    Bob\nAge     seven\nTown    Hull\n\nHe handed it in.\n",
        keep=("Name", "Bob", "Age", "seven", "Town", "Hull", "He handed it in."),
    ),
    Held(
        "bars in prose",
        "He typed cat x | sort | uniq and waited.\n\nIt was a | b or c | d.\n",
        ("He typed cat x | sort | uniq and waited.", "It was a | b or c | d."),
    ),
    Held(
        "a name and a colon in prose",
        "He had one rule:\nnever ask.\n\nIn short: he lied.\nAnd then: nothing.\n",
        keep=("He had one rule: never ask.", "In short: he lied.", "And then: nothing."),
    ),
    Held(
        "only a heading",
        "CHAPTER ONE\n",
        ("CHAPTER ONE",),
    ),
    Held(
        "only headings",
        "Chapter 1\n\nChapter 2\n\nChapter 3\n",
        ("Chapter 1", "Chapter 2", "Chapter 3"),
    ),
    Held("one word", "Fire!", ("Fire!",), chapters=("book",)),
    Held("one letter", "A", ("A",)),
    Held("one number", "42", ("42",), spoken=("forty-two",)),
    Held("old Mac line ends", "One line\rof text.\r\rTwo.\r", ("One line of text.", "Two.")),
    Held("mixed line ends", "One\r\nline.\n\r\nTwo\rlines.\n\nThree.", ("One line.", "Two lines.", "Three.")),
    Held("form feeds", "The page\f\fNext page.\n\fLast.", ("The page", "Next page.", "Last.")),
    Held(
        "a very long line among short ones",
        "Short.\n" + "He went on and on. " * 30 + "\nShort again.\n",
        ("Short.", ("He went on and on. " * 30).strip(), "Short again."),
    ),
    Held(
        "paragraphs by indent",
        "    It was late. The road was\nempty and the moon was thin.\n    He walked on. Nobody was\nthere to "
        "see him go.\n",
        ("It was late. The road was empty and the moon was thin.",
         "He walked on. Nobody was there to see him go."),
    ),
    Held(
        "divided and hyphened words",
        "The well-\nknown man wore a one-\nsided, won-\nderful hat. It was wonderful.\n",
        ("The well-known man wore a one-sided, wonderful hat. It was wonderful.",),
    ),
)  # fmt: skip


@pytest.mark.parametrize("held", STORY, ids=[held.id for held in STORY])
def test_story_text_is_kept_as_it_is(held):
    assert wrong_in(held) == {}
