"""Held-out plain texts in layouts that look like something else: nothing of their story may be lost or changed."""

import pytest

from tests.jobs.reading.held_out import Held, wrong_in

LAYOUTS = (
    Held(
        "an inventory",
        "Contents of the box:\n\nCandles      12\nMatches     200\n\nShe closed it.\n",
        keep=("Contents of the box:", "Candles", "12", "Matches", "200", "She closed it."),
    ),
    Held(
        "contents of a volume",
        "CONTENTS OF VOLUME II\n\nThe Gate ..... 3\nThe Well ..... 9\n\nThe Gate\n\nShut.\n\nThe Well\n\nDry.\n",
        ("The Gate", "Shut.", "The Well", "Dry."),
    ),
    Held(
        "picture this",
        "[Picture this: a dog.] He laughed.\n\n[Figure 3: a dog]\n\n[Map: the valley]\n\nThe end.\n",
        ("[Picture this: a dog.] He laughed.", "The end."),
        why={"[Figure 3: a dog]": "illustrations", "[Map: the valley]": "illustrations"},
    ),
    Held(
        "places to be filled in",
        "Dear {1}, thank you very much for the long letter of last week, {2} will answer it.\n",
        ("Dear {1}, thank you very much for the long letter of last week, {2} will answer it.",),
    ),
    Held("a ghost", "It spoke.\n\nOoo\n\nThen louder.\n\nOOO\n\noOo\n\nGone.\n",
         ("It spoke.", "Ooo", "Then louder.", "OOO", "Gone.")),
    Held(
        "a script with tabs",
        "Ann:\tHello there\nBob:\tHi\nAnn:\tBye\n",
        keep=("Ann: Hello there", "Bob: Hi", "Ann: Bye"),
    ),
    Held(
        "a list with tabs",
        "1.\tWake up\n2.\tCry\n3.\tSleep\n\nThat was all.\n",
        ("1. Wake up", "2. Cry", "3. Sleep", "That was all."),
    ),
    Held(
        "a list with wide gaps",
        "1.   Wake up\n2.   Cry\n3.   Sleep\n\nThat was all.\n",
        ("1. Wake up", "2. Cry", "3. Sleep", "That was all."),
    ),
    Held(
        "a glossary with tabs",
        "bowline\ta knot\nreef\ta fold\nclove\ta hitch\n",
        keep=("bowline", "a knot", "reef", "a fold", "clove", "a hitch"),
    ),
    Held(
        "a court record",
        "Q. Where were you?\nA. At home.\nQ. Alone?\nA. With the cat.\n",
        ("Q. Where were you?", "A. At home.", "Q. Alone?", "A. With the cat."),
    ),
    Held("sections in brackets", "[1]\n\nHe rose.\n\nHe ate.\n\n[2]\n\nHe left.\n\nIt rained.\n\n[3]\n\nHe slept.\n",
         keep=("He rose.", "[2]", "[3]", "He slept.")),
    Held(
        "references that are a story",
        "She wanted work, and a lot of it, and soon.\n\nReferences\n\nIn 1931 I asked for them.\n\nBy 1932 I "
        "had one.\n",
        ("She wanted work, and a lot of it, and soon.", "References", "In 1931 I asked for them.",
         "By 1932 I had one."),
    ),
    Held(
        "a claim right above the story",
        "The Ferry\n(c) 2020 Ann Author\nIt rained on the quay and nobody came.\nThe pilot slept on.\n",
        keep=("The Ferry", "It rained on the quay and nobody came.", "The pilot slept on."),
        gone=("Author",),
    ),
    Held(
        "language as the first word",
        "Language: the last thing we lost.\n\nWe sat.\n",
        ("Language: the last thing we lost.", "We sat."),
    ),
    Held("a word alone is no number", "I\n\nam late.\n\nSo are you.\n", ("I", "am late.", "So are you."),
         spoken=("I", "am late.", "So are you.")),
    Held(
        "chapters as words",
        "Chapter two of her life began in Hull.\n\nPart of me left.\n\nBook one was lost, and act two was worse.\n\n"
        "Letter I wrote, letter you burned.\n",
        ("Chapter two of her life began in Hull.", "Part of me left.", "Book one was lost, and act two was worse.",
         "Letter I wrote, letter you burned."),
        chapters=("book",),
    ),
    Held(
        "a chapter mentioned at the start of a wrapped line",
        "He had read as far as the end of\nChapter Two\nand no further, for the lamp was out.\n",
        ("He had read as far as the end of Chapter Two and no further, for the lamp was out.",),
    ),
    Held(
        "headings without blank lines",
        "CHAPTER I\nIt rained all day.\nNobody came.\nCHAPTER II\nThen it snowed.\nNobody came.\n",
        chapters=("Chapter I", "Chapter II"),
        keep=("It rained all day.", "Then it snowed."),
    ),
    Held(
        "days as headings that come again",
        "Day 1\n\nWe sailed.\n\nThe wind was fair.\n\nDay 2\n\nWe sailed.\n\nNo wind.\n\nDay 3\n\nWe rowed.\n",
        ("Day 1", "We sailed.", "The wind was fair.", "Day 2", "We sailed.", "No wind.", "Day 3", "We rowed."),
    ),
    Held(
        "a counting rhyme",
        "1 potato\n2 potato\n3 potato\n4\n\n5 potato\n6 potato\n7 potato\nmore\n",
        ("1 potato 2 potato 3 potato 4", "5 potato 6 potato 7 potato more"),
    ),
    Held(
        "a refrain is no running head",
        "THE BELL TOLLED\n\nHe rose and went.\n\nTHE BELL TOLLED\n\nHe came back.\n\nTHE BELL TOLLED\n",
        ("THE BELL TOLLED", "He rose and went.", "THE BELL TOLLED", "He came back.", "THE BELL TOLLED"),
    ),
    Held(
        "scores",
        "HULL 1\n\nThey cheered.\n\nWe wept.\n\nHULL 2\n\nThey sang.\n\nWe left.\n\nHULL 3\n\nNobody was there.\n",
        ("HULL 1", "They cheered.", "We wept.", "HULL 2", "They sang.", "We left.", "HULL 3", "Nobody was there."),
    ),
    Held(
        "a chat with times",
        "[12:01] Ann: hi\n[12:02] Bob: hello\nstill me\n[12:03] Ann: k\n",
        ("[12:01] Ann: hi", "[12:02] Bob: hello still me", "[12:03] Ann: k"),
    ),
    Held(
        "times at the start of wrapped lines",
        "The train left at\n12:05 and came at\n13:10 to the sea.\n",
        ("The train left at 12:05 and came at 13:10 to the sea.",),
    ),
    Held(
        "a screenplay",
        "INT. KITCHEN - NIGHT\n\nANNA\n(whispering)\nDid it land?\n\nBEN\nIt did.\n\nCUT TO:\n\nEXT. YARD - "
        "DAY\n\nRain.\n",
        keep=("INT. KITCHEN - NIGHT", "ANNA (whispering) Did it land?", "BEN It did.", "CUT TO:", "EXT. YARD - DAY"),
    ),
    Held(
        "an address and a date",
        "12 Quay Street\nHull\n3 May 1921\n\nDear Sir,\n\nNo.\n\nYrs. etc.\nA. B. Tandy\n",
        ("12 Quay Street Hull 3 May 1921", "Dear Sir,", "No.", "Yrs. etc. A. B. Tandy"),
    ),
    Held(
        "a long poem in stanzas with numbers",
        "1\n\nO sea,\nO grey,\n\n2\n\nO sand,\nO day,\n\n3\n\nO me.\n",
        ("1", "O sea, O grey,", "2", "O sand, O day,", "3", "O me."),
        chapters=("1", "2", "3"),
    ),
    Held(
        "words with signs inside",
        "AT&T, C++, C#, #1, R&D, and/or, 50/50, he/she, o'clock, 9-to-5, e-mail@, <3, =), x_1.\n",
        ("AT&T, C++, C#, #1, R&D, and/or, 50/50, he/she, o'clock, 9-to-5, e-mail@, <3, =), x_1.",),
    ),
    Held(
        "a book of lists",
        "a) one\nb) two\nc) three\n\ni. first\nii. second\niii. third\n\n(1) odd\n(2) even\n",
        ("a) one", "b) two", "c) three", "i. first", "ii. second", "iii. third", "(1) odd", "(2) even"),
    ),
    Held(
        "Spanish and French speech",
        "—¿Quién es?\n—Yo.\n—Pasa.\n\n« Qui est là ? »\n\n– Moi.\n",
        ("—¿Quién es?", "—Yo.", "—Pasa.", "« Qui est là ? »", "– Moi."),
        language="es",
    ),
)  # fmt: skip


@pytest.mark.parametrize("held", LAYOUTS, ids=[held.id for held in LAYOUTS])
def test_what_looks_like_something_else_is_still_text(held):
    assert wrong_in(held) == {}
