"""Held-out Markdown of the kinds that people have: read-me files, notes, posts, stories with odd signs."""

import pytest

from jobs.account import DEFAULT_SKIP, Why
from jobs.planning import PlanOptions
from jobs.reading.options import ReadingOptions
from tests.jobs.reading.held_out import Held, held_file, wrong_in


def kept(*whys: Why) -> PlanOptions:
    return PlanOptions(reading=ReadingOptions(skip=DEFAULT_SKIP - set(whys)))


MARKDOWN = (
    Held(
        "a read-me file",
        held_file("readme.md"),
        name="readme.md",
        chapters=("knotty", "Table of Contents", "Install", "Usage"),
        keep=("knotty", "This is not for climbing.", "Needs Python 3.12+ and pip:", "1. Open ~/.config/knotty.toml.",
              "2. Set max_knots = 3.", "or less", "but not zero", "3. Save.", "Run knotty with --dry-run first;",
              "See the manual or", "tie", "untie", "Term", "A word for a thing.", "More",
              "Hidden until clicked, but text.", "© 2024 Ann Author."),
        gone=("pip install", "indented", "how many", "comment", "|", "`", "https", "logo", "The manual", "[x]"),
        why={"pip install knotty": "code", "<!-- a comment nobody hears -->": "hidden", "The logo": "images",
             "| `knots` | 3 | how many |": "tables"},
    ),
    Held(
        "a notebook with front matter",
        held_file("obsidian.md"),
        name="notebook.md",
        chapters=("Monday", "Evening", "Tuesday"),
        keep=("The tide was out.", "Mind the mud", "It is deep.", "I thought of Bell Tower and the street.",
            "Remember the boots.", "is not about tides.",
              "It came back at 6:05 p.m.", "wash the boots", "eat", "Again."),
        gone=("almanac", "As it does", "tags", "[ ]", "[[", "]]", "mud.png", "==", "equals Remember",
              "do not read", "dollars", "Quay Street"),
        why={"title: \"The Tide Notebook\"": "metadata", "As it does.": "notes", "At 9:30, says the almanac,": "notes"},
    ),
    Held(
        "a story with odd signs",
        "# One\n\nThat d*** dog. He said [laughs] no. {smiles} Fine. Use snake_case_names and 2 * 3 * 4.\n\n"
        "#hashtag is no heading\n\n<sighs> she said.\n",
        ("One", "That d*** dog. He said [laughs] no. {smiles} Fine. Use snake_case_names and 2 * 3 * 4.",
         "#hashtag is no heading", "<sighs> she said."),
        name="one.md",
    ),
    Held(
        "a year at the start of a line",
        "He was born in\n1984. It was cold.\n\n1984. A year of rain.\n\n1985\\. Another.\n",
        ("He was born in 1984. It was cold.", "1984. A year of rain.", "1985. Another."),
        name="year.md",
    ),
    Held(
        "a numbered list is the story",
        "1. Wake up.\n2. Look for the cat.\n\n   It is not there.\n3. Cry.\n",
        ("1. Wake up.", "2. Look for the cat.", "It is not there.", "3. Cry."),
        name="list.md",
    ),
    Held(
        "numbers as they are written",
        "3. Three.\n4. Four.\n7. Seven.\n",
        ("3. Three.", "4. Four.", "7. Seven."),
        name="list.md",
    ),
    Held(
        "hyphens as speech",
        "- Who is it?\n- Me.\n\n— Come in.\n",
        ("Who is it?", "Me.", "— Come in."),
        name="speech.md",
    ),
    Held(
        "a poem with hard breaks",
        "The sea is grey,  \nthe sand is grey,\\\nand so am I.\n",
        ("The sea is grey, the sand is grey, and so am I.",),
        name="poem.md",
    ),
    Held(
        "emphasis of all kinds",
        "*One* _two_ **three** __four__ ***five*** _**six**_ un*frigging*believable ~~seven~~ \\*eight\\*.\n",
        ("One two three four five six unfriggingbelievable seven *eight*.",),
        name="em.md",
    ),
    Held(
        "links of all kinds",
        "[One](http://a.b/c_(d)) [two][t] [three] <http://x.y/z> ![four](i.png) [five](<a b> \"title\").\n\n"
        "[t]: http://t.example\n",
        keep=("One", "two", "[three]", "five"),
        gone=("a.b", "t.example", "i.png", "title", "four"),
        why={"four": "images"},
        name="links.md",
    ),
    Held(
        "notes of all kinds",
        "Came.[^1] Saw.[^big] Left.^[By boat.] Sat [^none].\n\n[^1]: On foot.\n\n[^big]:\n    A long one.\n\n"
        "    In two parts.\n\nThe end.\n",
        ("Came. Saw. Left. Sat [^none].", "The end."),
        why={"[^1]: On foot.": "notes", "In two parts.": "notes", "By boat.": "notes", "[^big]": "note_marks"},
        name="notes.md",
    ),
    Held(
        "notes that are kept",
        "Came.[^1]\n\n[^1]: On foot.\n",
        keep=("Came.", "On foot."),
        name="notes.md",
        options=kept(Why.NOTES),
    ),
    Held(
        "a table that is kept",
        "| Day | Rain |\n| --- | ---: |\n| Mon | 3 mm |\n",
        ("Day, Rain", "Day: Mon, Rain: 3 mm"),
        name="table.md",
        options=kept(Why.TABLES),
    ),
    Held(
        "a table with more cells than it has columns",
        "Day | Rain\n--- | ---\nMon | 3 mm | wet | `so`\n| Tue | 0 mm |\nWed\n",
        ("Day, Rain", "Mon, Rain: 3 mm, wet, so", "Day: Tue, Rain: 0 mm", "Wed"),
        name="table.md",
        options=kept(Why.TABLES),
    ),
    Held(
        "code that is kept",
        "Run:\n\n```sh\nls -l\n```\n",
        keep=("Run:", "ls -l"),
        name="code.md",
        options=kept(Why.CODE),
    ),
    Held(
        "headings of both kinds",
        "The Gate\n========\n\nShut.\n\nThe Well\n--------\n\nDry.\n\n### Deep\n\nVery.\n\n# Road #\n\nLong.\n",
        ("The Gate", "Shut.", "The Well", "Dry.", "Deep", "Very.", "Road", "Long."),
        chapters=("The Gate", "The Well", "Road"),
        name="heads.md",
    ),
    Held(
        "headings with signs",
        "# *The* `Gate` & [Well](x) {#gate .big}\n\nShut.\n",
        ("The Gate & Well", "Shut."),
        chapters=("The Gate & Well",),
        name="heads.md",
    ),
    Held("only a heading", "# One\n", ("One",), name="one.md"),
    Held(
        "a rule right under text is a heading",
        "Not a rule\n---\n\nText.\n\n---\n\nMore.\n",
        ("Not a rule", "Text.", "More."),
        name="rule.md",
    ),
    Held(
        "facts that are no front matter",
        "---\n\nTitle: no facts here\n\n---\n\nText.\n",
        ("Title: no facts here", "Text."),
        name="rule.md",
    ),
    Held(
        "a rule, a colon and text",
        "---\nShe said: come.\n---\n\nText.\n",
        keep=("She said: come.", "Text."),
        name="rule.md",
    ),
    Held(
        "facts of a blog",
        "+++\ntitle = \"Low Tide\"\ndate = 2024-01-01\n+++\n\nText.\n",
        ("Text.",),
        chapters=("Low Tide",),
        why={"title = \"Low Tide\"": "metadata"},
        name="post.md",
    ),
    Held(
        "entities and escapes",
        "Salt &amp; oil &lt;3 &mdash; caf&eacute; \\# \\_x\\_ &copy; &unknown; AT&T\n",
        ("Salt & oil <3 — café # _x_ © &unknown; AT&T",),
        name="ent.md",
    ),
    Held(
        "HTML inside",
        "A<br>B<br/>C H<sub>2</sub>O <kbd>Esc</kbd> <span style=\"display:none\">no</span> end.\n\n<div>\n\n"
        "*Inside*\n\n</div>\n\n<center>* * *</center>\n\nAfter.\n",
        ("A B C H2O Esc end.", "Inside", "After."),
        name="html.md",
    ),
    Held(
        "a quote in a quote",
        "> One\ngoes on.\n>\n> > Two\n>\n> Three\n\nFour\n",
        ("One goes on.", "Two", "Three", "Four"),
        name="quote.md",
    ),
    Held(
        "Windows line ends",
        "# One\r\n\r\nText goes\r\non.\r\n\r\n- a\r\n- b\r\n",
        ("One", "Text goes on.", "a", "b"),
        name="crlf.md",
    ),
    Held(
        "braces of templates",
        "Hello {{ name }}, {% if x %}yes{% endif %} ${HOME}.\n",
        ("Hello {{ name }}, {% if x %}yes{% endif %} ${HOME}.",),
        name="braces.md",
    ),
    Held(
        "a bar in prose",
        "He typed a | b | c.\n\nx | y\nz | w\n",
        ("He typed a | b | c.", "x | y z | w"),
        name="bars.md",
    ),
    Held(
        "text that is set in by four",
        "He wrote:\n\n1. One\n\n    Still one.\n\nDone.\n",
        ("He wrote:", "1. One", "Still one.", "Done."),
        name="indent.md",
    ),
    Held(
        "chapters called notes and contents",
        "# Contents\n\nThe box was full.\n\n# Notes\n\n1. One.\n\n# Index\n\nShe looked, 3 times.\n\n"
        "# References\n\nHe had none.\n",
        ("Contents", "The box was full.", "Notes", "1. One.", "Index", "She looked, 3 times.", "References",
         "He had none."),
        chapters=("Contents", "Notes", "Index", "References"),
        name="names.md",
    ),
    Held(
        "a line of wide blanks before a paragraph",
        "\u00a0\nDr. Who\nMr. No\n\n\u3000\nEnd.\n",
        ("Dr. Who Mr. No", "End."),
        spoken=("Doctor Who Mister No", "End."),
        why={"\u3000\n": "white_space"},
        name="blank.md",
    ),
    Held(
        "dollars and percents are no signs",
        "It cost $5 and $6_000, or $7-$8. He was 100%% sure. a==b and c == d. [[six]] [[fault:x]] a[[0]]\n",
        ("It cost $5 and $6_000, or $7-$8. He was 100%% sure. a==b and c == d. [[six]] [[fault:x]] a[[0]]",),
        name="signs.md",
    ),
    Held(
        "only a picture is nothing to say but its text is there",
        "![A heron](heron.png)\n\nText.\n",
        ("A heron", "Text."),
        name="pic.md",
        options=kept(Why.IMAGES),
    ),
)  # fmt: skip


@pytest.mark.parametrize("held", MARKDOWN, ids=[held.id for held in MARKDOWN])
def test_markdown_is_read_without_its_signs(held):
    assert wrong_in(held) == {}
