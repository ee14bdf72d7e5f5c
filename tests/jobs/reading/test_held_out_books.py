"""Held-out plain texts with matter around the story: licences, contents, notes, pages, running heads, credits."""

import pytest

from jobs.account import DEFAULT_SKIP, Why
from jobs.planning import PlanOptions
from jobs.reading.options import ReadingOptions
from tests.jobs.reading.held_out import Held, held_file, wrong_in

BOOKS = (
    Held(
        "a transcribed book of 1994",
        held_file("gutenberg_1994.txt"),
        chapters=("Pier and Wharf", "Chapter I: The Pier", "Chapter II: The Wharf", "Chapter III: Conclusion"),
        keep=(
            "CHAPTER I", "The Pier",
            "In the year 18-- there lived at L---- a Mr. Bell, who was not a man to be hurried.",
            "He had three rules:", "Never run;", "“IS it?” said he.".replace("“", '"').replace("”", '"'),
            "There was nothing to be done, and nothing was done.", "He ran after all.", "THE END",
        ),
        gone=("Small Print", "lawyers", "Copyright laws", "End of the Project", "deaf", "custom", "[1]", "seventeen",
              "September"),
        why={
            'Why is this "Small Print!" statement here?': "licence",
            "CHAPTER II.  The Wharf .  .": "contents",
            "[1] He was deaf in one ear.": "notes",
            "[2] This was the custom of the place.": "notes",
            "End of the Project Gutenberg Etext": "licence",
        },
    ),
    Held(
        "a transcribed book of 2022",
        held_file("gutenberg_2022.txt"),
        keep=(
            "“You’ll not find it,” said the carter; “there’s no road there at all, nor was in my father’s time.”",
            "She did not turn.", "That night it snowed.", "By noon the road was white with more than salt.",
            "A MAN WITH ONE OAR", "Round and round he went.", "THE END",
        ),
        gone=("anyone anywhere", "Updated editions", "Release Date", "Some Volunteers", "All rights reserved",
              "an old custom", "An old custom", "Obvious errors", "facing page", "twenty-nine", "[A]", "PAGE"),
        why={
            "THE SALT ROAD                                         3": "contents",
            "The mill at night": "contents",
            "[Illustration: Cover]": "illustrations",
            "[Footnote A: An old custom": "notes",
            "Obvious errors were corrected.": "licence",
            "On page 12, “teh” was changed": "licence",
        },
    ),
    Held(
        "the text of a PDF with running heads",
        held_file("pdf_export.txt"),
        chapters=("The Glass Harbour", "Chapter One", "Chapter Two"),
        keep=(
            "and when Ines went down to the steps the boats were standing in it like flies in amber.",
            "There were eleven, and there should have been twelve.",
            "until she had gone out of sight behind the customs house.",
            "said that it was a bad sign. She did not believe in signs.",
            "In the morning there were twelve boats, and one of them was black.",
        ),
        gone=("All rights reserved", "ISBN", "nine seven eight"),
        why={"All rights reserved.": "front"},
    ),
    Held(
        "a manuscript out of a word processor",
        held_file("manuscript.txt"),
        keep=("The pilot was asleep.", '"Wake up," said Mara.', "At six the tide turned, and so did he.",
              '"A.M. or P.M.?"', "40 fathoms, give or take.", "He took off his hat."),
    ),
    Held(
        "a play",
        held_file("play.txt"),
        keep=("MRS. PIKE, a landlady.", "SCENE: A kitchen.", "MRS. PIKE. (without turning) You're late.",
              "[A knock.", "Nobody moves.]", "[Enter BOY.]", "BOY. Telegram, missus.",
              '"ARRIVING TUESDAY STOP LOVE ALBERT." Albert\'s dead these nine years.', "CURTAIN"),
    ),
    Held(
        "poems",
        held_file("poems.txt"),
        chapters=("book", "I. Harbour", "II. 1917", "III. Counting"),
        keep=("The boats come in at five,", "O they were young, O they were ten and nine;", "3 for the book",
              "—C. P., 12 May 1921"),
    ),
    Held(
        "a chat",
        held_file("whatsapp.txt"),
        keep=("Ann: are you up", "Bob: yes", "<Media omitted>", "so what now", "Ann: k"),
    ),
    Held(
        "a textbook",
        held_file("textbook.txt"),
        chapters=("A Short History of Knots: Preface", "Chapter 1: Rope", "Chapter 2: String"),
        keep=("This book is short because rope is long.", "Every sailor knows three knots, and a fourth for luck.",
              "The bowline holds; the reef is for reefing", "(Smith 1987, p. 12)"),
        gone=("0.65", "secret", "Ashby", "Journal", "Sails", "¹", "²"),
        why={
            "Bowline         0.65    1627": "tables",
            "2. The fourth is a secret.": "notes",
            "Ashby, C. Knots and Their Ends.": "bibliography",
            "Reef, see also Sails, 4": "index",
        },
    ),
    Held(
        "a copyright page",
        "THE FERRY\n\nA Novel\n\nby\n\nAnn Author\n\nCopyright © 2019 Ann Author\nAll rights reserved.\n\n"
        "ISBN 978-1-23456-789-7\n\nThis is a work of fiction. Names, characters and places are invented.\n\n"
        "For Tom\n\nCHAPTER ONE\n\nIt rained.\n",
        keep=("THE FERRY", "For Tom", "It rained."),
        gone=("Copyright", "ISBN", "work of fiction"),
        why={"Copyright © 2019 Ann Author\nAll rights reserved.": "front", "ISBN 978-1-23456-789-7": "front"},
    ),
    Held(
        "contents with dots and no heading",
        "Chapter One ........ 3\nChapter Two ........ 9\nChapter Three ...... 21\n\nChapter One\n\nOne.\n\n"
        "Chapter Two\n\n"
        "Two.\n\nChapter Three\n\nThree.\n",
        ("Chapter One", "One.", "Chapter Two", "Two.", "Chapter Three", "Three."),
        chapters=("Chapter One", "Chapter Two", "Chapter Three"),
        why={"Chapter Two ........ 9": "contents"},
    ),
    Held(
        "contents without numbers",
        "Contents\n\nThe Gate\nThe Well\nThe Road\n\nThe Gate\n\nIt was shut.\n\nThe Well\n\nIt was dry.\n\nThe "
        "Road\n\n"
        "It was long.\n",
        ("The Gate", "It was shut.", "The Well", "It was dry.", "The Road", "It was long."),
        why={"Contents\n\nThe Gate\nThe Well\nThe Road": "contents"},
    ),
    Held(
        "facts at the top",
        "Title: The Ferry\nAuthor: A. Nobody\n\nIt came late.\n",
        ("It came late.",),
        chapters=("The Ferry",),
        why={"Title: The Ferry": "metadata"},
    ),
    Held(
        "page numbers between dashes",
        "He went down to the sea and the\n\n- 12 -\n\nsea was gone. He sat.\n\n- 13 -\n\nThen he left.\n",
        ("He went down to the sea and the sea was gone. He sat.", "Then he left."),
        why={"- 12 -": "page_numbers", "- 13 -": "page_numbers"},
    ),
    Held(
        "page numbers in brackets",
        "He went down [Pg 7]to the sea.\n\n{8}The sea was gone, as it had been in the long years before the war.\n\n"
        "{9}He sat. [Page 10]\n",
        ("He went down to the sea.", "The sea was gone, as it had been in the long years before the war.", "He sat."),
        why={"[Pg 7]": "page_numbers", "{8}": "page_numbers", "[Page 10]": "page_numbers"},
    ),
    Held(
        "bare page numbers in a broken text",
        "She had walked for an hour when the\n\n41\n\nroad ended. There was a wall.\n\nNobody had told her of\n\n42\n\n"
        "any wall. She climbed it, and from the top she\n\n43\n\nsaw the sea.\n",
        ("She had walked for an hour when the road ended. There was a wall.",
         "Nobody had told her of any wall. She climbed it, and from the top she saw the sea."),
        why={"41": "page_numbers", "43": "page_numbers"},
    ),
    Held(
        "running heads with page numbers",
        "She had walked for an hour when the\n\n12  THE GLASS HARBOUR\n\nroad ended. There was a wall.\n\n"
        "Nobody had told her of\n\nTHE GLASS HARBOUR  13\n\nany wall. She climbed it, and from the top she\n\n"
        "14  THE GLASS HARBOUR\n\nsaw the sea.\n",
        ("She had walked for an hour when the road ended. There was a wall.",
         "Nobody had told her of any wall. She climbed it, and from the top she saw the sea."),
        why={"12  THE GLASS HARBOUR": "page_numbers", "THE GLASS HARBOUR  13": "page_numbers"},
    ),
    Held(
        "two running heads in turn",
        "He rose and\n34 ANN AUTHOR\nwent out to the yard, where the dog\nTHE GLASS HARBOUR 35\nlay. It was\n"
        "36 ANN AUTHOR\nnot his dog. He had none, and\nTHE GLASS HARBOUR 37\nnever had.\n",
        ("He rose and went out to the yard, where the dog lay. It was not his dog. He had none, and never had.",),
        why={"34 ANN AUTHOR": "page_numbers", "THE GLASS HARBOUR 37": "page_numbers"},
    ),
    Held(
        "page x of y",
        "He rose and\n\nPage 3 of 9\n\nwent out. He came\n\nPage 4 of 9\n\nback.\n",
        ("He rose and went out. He came back.",),
        why={"Page 3 of 9": "page_numbers"},
    ),
    Held(
        "notes at the end of chapters",
        "CHAPTER I\n\nHe came.[1] He saw.[2]\n\nFOOTNOTES:\n\n[1] On foot.\n\n[2] Badly.\n\nCHAPTER II\n\nHe "
        "left.[3]\n\n"
        "FOOTNOTES:\n\n[3] By boat.\n",
        ("CHAPTER I", "He came. He saw.", "CHAPTER II", "He left."),
        why={"[2] Badly.": "notes", "[3] By boat.": "notes"},
    ),
    Held(
        "notes with stars",
        "The abbot* slept.\n\n* A very old man.\n\nThe monk[*] did not.\n\n[*] He was young.\n",
        keep=("slept.", "did not."),
        gone=("He was young",),
        why={"[*] He was young.": "notes"},
    ),
    Held(
        "a note over several paragraphs",
        "He came.[12]\n\n[Footnote 12: On foot.\n\nAnd slowly, as [Bell] says.]\n\nHe left.\n",
        ("He came.", "He left."),
        why={"[Footnote 12: On foot.\n\nAnd slowly, as [Bell] says.]": "notes"},
    ),
    Held(
        "notes that are kept",
        "He came.[1]\n\n[Footnote 1: On foot.]\n",
        keep=("On foot.", "He came."),
        options=PlanOptions(reading=ReadingOptions(skip=DEFAULT_SKIP - {Why.NOTES, Why.NOTE_MARKS})),
    ),
    Held(
        "headings that are not wanted",
        "CHAPTER I\n\nHe came.\n\nCHAPTER II\n\nHe left.\n",
        ("He came.", "He left."),
        chapters=("Chapter I", "Chapter II"),
        why={"CHAPTER II": "headings"},
        options=PlanOptions(reading=ReadingOptions(skip=DEFAULT_SKIP | {Why.HEADINGS})),
    ),
    Held(
        "tables of three kinds",
        "Before.\n\n| Day | Rain |\n|-----|------|\n| Mon | 3 |\n| Tue | 0 |\n\nBetween.\n\nDay\tRain\tWind\n"
        "Mon\t3\t4\n"
        "Tue\t0\t1\nWed\t1\t2\n\nAfter.\n",
        ("Before.", "Between.", "After."),
        why={"| Mon | 3 |": "tables", "Tue\t0\t1": "tables"},
    ),
    Held(
        "an interview",
        "Q: When did you first see the sea?\nA: Late. I was nine.\nQ: And?\nA: It was smaller than I had been told.\n",
        ("Q: When did you first see the sea?", "A: Late. I was nine.", "Q: And?",
         "A: It was smaller than I had been told."),
    ),
    Held(
        "an interview with full names",
        "INTERVIEWER: Did it land?\n\nDr. Amal Okafor: It did.\n\nINTERVIEWER: When?\n\nDr. Amal Okafor: At 9:05.\n",
        ("INTERVIEWER: Did it land?", "Dr. Amal Okafor: It did.", "INTERVIEWER: When?", "Dr. Amal Okafor: At 9:05."),
    ),
    Held(
        "a recipe",
        "Flat Bread\n\nIngredients:\n- 2 cups flour\n- 1/2 tsp salt\n- 1 egg (large)\n\nMethod:\n1. Mix.\n2. "
        "Rest 30 min.\n"
        "3. Bake at 200 °C.\n",
        keep=("Flat Bread", "2 cups flour", "1/2 tsp salt", "1 egg (large)", "1. Mix.", "3. Bake at 200 °C."),
    ),
    Held(
        "csv in a text file",
        'name,age,town\nBob,7,Hull\n"Ann, Jr.",8,York\n',
        keep=("name,age,town", "Bob,7,Hull", '"Ann, Jr.",8,York'),
    ),
    Held(
        "quoted mail",
        "On Monday Ann wrote:\n> Are you there?\n> I am.\n>> Who?\n\nYes, I am.\n\n--\nBob\n",
        keep=("On Monday Ann wrote:", "Are you there?", "I am.", "Who?", "Yes, I am.", "Bob"),
        gone=(">",),
    ),
    Held(
        "symbols between scenes",
        "One.\n\n* * *\n\nTwo.\n\n***\n\nThree.\n\n-o0o-\n\nFour.\n\n~\n\nFive.\n\n§\n\nSix.\n\n. . .\n\nSeven.\n\n"
        "=====\n\nEight.\n\n❦\n\nNine.\n",
        ("One.", "Two.", "Three.", "Four.", "Five.", "Six.", "Seven.", "Eight.", "Nine."),
        why={"* * *": "scene_break", "❦": "scene_break", "~": "scene_break"},
    ),
    Held(
        "divided words of a scan",
        "The nega- tive was lost. A negative is a thing of light. The ﬁrst ﬂat was \u00adold and capabili-\n"
        "ties were few.\n",
        ("The negative was lost. A negative is a thing of light. The ﬁrst ﬂat was old and capabilities were few.",),
        spoken=(
            (
                "The negative was lost. A negative is a thing of light. The first flat was old and capabilities "
                "were few."
            ),
        ),
        why={"- ": "line_hyphen"},
    ),
    Held(
        "underlined headings",
        "The Gate\n========\n\nShut.\n\nThe Well\n--------\n\nDry.\n",
        ("The Gate", "Shut.", "The Well", "Dry."),
        chapters=("The Gate", "The Well"),
    ),
    Held(
        "chapters in German and Chinese",
        "Kapitel 1\n\nEs war spät.\n\nKapitel 2\n\nEr ging.\n",
        ("Kapitel 1", "Es war spät.", "Kapitel 2", "Er ging."),
        chapters=("Kapitel 1", "Kapitel 2"),
        language="de",
    ),
    Held(
        "Chinese lines that are wrapped",
        "第一章 雨\n\n夜里下了雨，他没有\n带伞。\n\n第二章 雪\n\n下了雪。\n",
        ("第一章 雨", "夜里下了雨，他没有带伞。", "第二章 雪", "下了雪。"),
        chapters=("第一章 雨", "第二章 雪"),
        language="zh",
    ),
)  # fmt: skip


@pytest.mark.parametrize("held", BOOKS, ids=[held.id for held in BOOKS])
def test_only_the_text_of_a_book_is_spoken(held):
    assert wrong_in(held) == {}
