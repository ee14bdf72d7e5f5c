"""Markdown: what is heard, what is left out and why, and that places lead back to the source."""

import pytest

from jobs.account import DEFAULT_SKIP, Why
from jobs.plan import Break
from jobs.reading import read_source
from jobs.reading.document import ParagraphKind
from jobs.reading.options import ReadingOptions
from tests.helpers_reading import plan_of, read


def paragraphs(document):
    return [paragraph for chapter in document.chapters for paragraph in chapter.paragraphs]


def said(text):
    return [paragraph.text for paragraph in paragraphs(read(text, "x.md")) if paragraph.text]


def keeping(text, *kept):
    return read_source(text.encode(), "x.md", options=ReadingOptions(skip=DEFAULT_SKIP - set(kept)))


def skips(document):
    return [(skip.why.value, document.text[skip.start : skip.end]) for skip in document.skipped]


def written(document, paragraph):
    """The source between the first and the last character of a paragraph."""
    return document.text[paragraph.source_start : paragraph.source_end]


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("**bold** and _soft_ and ~~gone~~", "bold and soft and gone"),
        ("***both*** and **a *b* c** and __d__", "both and a b c and d"),
        ("a [link](https://example.org/x 'title') here", "a link here"),
        ("a [**bold** link](x) and [one [two] three](y)", "a bold link and one [two] three"),
        ("a [named][n] one\n\n[n]: https://example.org", "a named one"),
        ("a [named] one, [no][such]\n\n[named]: <https://example.org> 'Title'", "a named one, [no][such]"),
        ("see <https://example.org/%20a>", "see https://example.org/%20a"),
        ("see https://example.org/a_b_c or <kit@example.org>", "see https://example.org/a_b_c or kit@example.org"),
        ("`code` stays, `` a ` b `` too", "code stays, a ` b too"),
        ("soft\nbreak and hard  \nbreak", "soft break and hard break"),
        ("back\\\nslash\n   indented", "back slash indented"),
        ("Fish &amp; chips, 5 \\* 3", "Fish & chips, 5 * 3"),
        ("&#8217;tis &eacute;t&eacute;&nbsp;now \\[not a link\\](x)", "’tis été now [not a link](x)"),
        ("a 5 &lt; 6 &madeup; AT&T", "a 5 < 6 &madeup; AT&T"),
        ("one ![A heron](h.png) two", "one two"),
        ("one [![A heron](h.png) seen](x) two", "one seen two"),
        ("line<br>break <sup>up</sup>", "line break up"),
        ("H<sub>2</sub>O and 10^2^ and <u>under</u>", "H2O and 10^2^ and under"),
        ("a word[^1], then", "a word, then"),
        ("a word[^n], then\n\n[^n]: Note.", "a word, then"),
        ("a word^[With a note inside.], then", "a word, then"),
        ("a [^word] that is no note", "a [^word] that is no note"),
        ("`[^1]` and `[^a-z]`", "[^1] and [^a-z]"),
        ("w<sup><a href='#n1'>1</a></sup> x<sup>[2](#n2)</sup> y<a href='#a'><sup>*</sup></a>.", "w x y."),
        ("20<sup>[th](#century)</sup> of May", "20th of May"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("not <!-- said --> this <span hidden>nor this</span> but this", "not this but this"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>字", "漢字"),
        ("He left <sighs> and <Tab>came</Tab> back <kbd>x</kbd>", "He left <sighs> and came back x"),
        ("a < b and c > d, x <3 y", "a < b and c > d, x <3 y"),
        ("[pause: 1s] x [voice: x](y) [voice: b]\n(he said)", "[pause: 1s] x [voice: x](y) [voice: b] (he said)"),
        ("[voice: _x_ y](Quiet now) [pause](he said)", "[voice: _x_ y](Quiet now) [pause](he said)"),
        ("press [pause](https://example.org/#p)", "press pause"),
        ("a\x00b and that is all of it", "a b and that is all of it"),
    ],
)
def test_inline_marks(text, heard):
    assert said(text) == [heard]


BLOCKS = """# One

> A quote.
> Its end.
goes on

- first
- second

  more of it
  1. inside
     * deeper

3. third
4) fourth
5. 6. seventh

- [ ] open
- [x] done

***

### Deeper ###

Term
: What it means
: Or this

> [!WARNING]
> Take care.

::: note
Fenced.
:::

:::{tip} Title
More.
:::

```{note}
Some **bold**
text.

Twice.
```

Set
---

The end.
"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blocks(end):
    document = read(BLOCKS.replace("\n", end), "x.md")
    assert [paragraph.text for paragraph in paragraphs(document)] == [
        *("One", "A quote. Its end. goes on", "first", "second", "more of it", "1. inside", "deeper"),
        *("3. third", "4) fourth", "5. 6. seventh", "open", "done", "", "Deeper"),
        *("Term", "What it means", "Or this", "Take care.", "Fenced.", "Title More.", "Some bold text.", "Twice."),
        *("Set", "The end."),
    ]
    assert [chapter.title for chapter in document.chapters] == ["One", "Set"]
    assert skips(document) == [("scene_break", "***")]


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("It was in\n\n1984.\n\nThen", ["It was in", "1984.", "Then"]),
        ("1986. What a season.", ["1986. What a season."]),
        ("> 3) 4. a\n> 5)\n\nb", ["3) 4. a", "5)", "b"]),
        ("1. ![x](y)\n2. [r]: z.org\n", ["1.", "2."]),
        ("01. a\n    ```\n    code\n    ```\n    b", ["01. a", "b"]),
        ("- 1. - x", ["1. x"]),
    ],
)
def test_numbers_of_items_are_heard(text, heard):
    assert said(text) == heard


def test_a_rule_is_a_scene_break():
    plan = plan_of("One.\n\n- - -\n\nTwo.", "x.md")
    assert [segment.break_after for segment in plan.segments] == [Break.SCENE, Break.CHAPTER]


LEFT_OUT = """---
title: "My Tale"
---
a[^1]

| Day | Rain |
| --- | ---: |
| Mon | 3 \\| 4 mm |
| | **none** |

```py
code()

    more()
```

    indented

![A *heron*](h.png "t") <img src="x" alt="A cat">

<!-- hidden
-->

[^1]: Note
lazy

    goes on.

b <!-- c -->
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_is_left_out_is_told_with_its_why(end):
    document = read(LEFT_OUT.replace("\n", end), "x.md")
    assert [paragraph.text for paragraph in paragraphs(document)] == ["a", "b"]
    assert document.warnings == ()
    assert sorted((why, text.replace("\r\n", "\n")) for why, text in skips(document)) == [
        ("code", "    indented"),
        ("code", "```py\ncode()\n\n    more()\n```"),
        ("hidden", "<!-- c -->"),
        ("hidden", "<!-- hidden\n-->"),
        ("images", "A *heron*"),
        ("images", "A cat"),
        ("metadata", '---\ntitle: "My Tale"\n---'),
        ("note_marks", "[^1]"),
        ("notes", "[^1]: Note\nlazy\n\n    goes on."),
        ("tables", "| Day | Rain |\n| --- | ---: |\n| Mon | 3 \\| 4 mm |\n| | **none** |"),
    ]


@pytest.mark.parametrize(
    ("kept", "heard"),
    [
        (Why.TABLES, ["a", "Day, Rain", "Day: Mon, Rain: 3 | 4 mm", "Rain: none", "b"]),
        (Why.CODE, ["a", "code()", "more()", "indented", "b"]),
        (Why.IMAGES, ["a", "A heron A cat", "b"]),
        (Why.NOTES, ["a", "Note lazy", "goes on.", "b"]),
        (Why.NOTE_MARKS, ["a[^1]", "b"]),
    ],
)
def test_what_is_kept_is_heard(kept, heard):
    document = keeping(LEFT_OUT, kept)
    assert [paragraph.text for paragraph in paragraphs(document)] == heard
    assert kept not in {skip.why for skip in document.skipped}


def test_a_line_that_looks_like_a_tag_is_read():
    assert said("<applause>\nThey *rose*.\n\n<Tabs>\n\na\n\n</Tabs>") == ["<applause> They rose.", "a"]


def test_the_names_of_columns_stand_for_bars():
    document = keeping("a | b\n--|--\n**c** | “d”\n", Why.TABLES)
    row = paragraphs(document)[1]
    assert row.text == "c, b: “d”"
    assert [document.text[place] for place in row.offsets] == ["c", *"|||||", "“", "d", "”"]


def test_html_inside_markdown():
    text = "<!-- hidden -->\n\n<div><p>Shown &amp; said.</p><script>x()</script></div>\n\nafter"
    assert said(text) == ["Shown & said.", "after"]
    document = read("> <div hidden>secret</div><p lang=fr>dit <b>cela</b></p>\n\n<h2>Part</h2>\n\nx\n\n<hr>", "x.md")
    assert [(one.kind.value, one.text, one.lang) for one in paragraphs(document)] == [
        ("body", "dit cela", "fr"),
        ("heading", "Part", None),
        ("body", "x", None),
        ("scene_break", "", None),
    ]
    assert ("hidden", "secret") in skips(document)
    assert [written(document, one) for one in paragraphs(document)[:2]] == ["dit <b>cela", "Part"]


def test_a_comment_without_end_is_warned_of():
    document = read("a\n\n<!-- b\n\nc", "x.md")
    assert skips(document) == [("hidden", "<!-- b\n\nc")]
    assert document.warnings == ("the comment in line 3 is never closed: all after it is not spoken",)
    assert read("a\n\n<!-- b --> c", "x.md").warnings == ()


def test_chapters_and_titles():
    document = read("# The Book\n\n## First\n\nText.\n\n### Part of it\n\nText.\n\n## Second {#s}\n\nText.", "x.md")
    assert document.title == "The Book"
    assert [chapter.title for chapter in document.chapters] == ["First", "Second"]
    assert document.chapters[0].paragraphs[0].text == "The Book"
    assert document.chapters[1].paragraphs[0].kind is ParagraphKind.HEADING


def test_two_top_headings_are_parts():
    document = read("# Part\n\n## First\n\nText.\n\n# Other\n\nText.", "tale.md")
    assert document.title == "tale"
    assert [chapter.title for chapter in document.chapters] == ["Part: First", "Other"]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("---\ntitle: 'My Tale'\nauthor: Ann\nlang: en-GB\ntags: [a]\n---\nText.", ("My Tale", "Ann", "en-GB")),
        ("---\r\ntitle: My Tale # why\r\nauthor: [Ann]\r\n...\r\nText.", ("My Tale", "Ann", "")),
        ('+++\ntitle = "My Tale"\ndate = 2021-01-01\n+++\nText.', ("My Tale", "", "")),
        ("---\ntitle: >\n  folded\nauthor:\n  - Ann\n---\nText.", ("x", "", "")),
    ],
)
def test_front_matter(text, facts):
    document = read(text, "x.md")
    assert (document.title, document.author, document.language) == facts
    assert [paragraph.text for paragraph in paragraphs(document)] == ["Text."]
    assert [why for why, _ in skips(document)] == ["metadata"]


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("---\n\nText.\n\nMore.", ["Text.", "More."]),
        ("---\n\nText: it is.\n\n---\n\nMore.", ["Text: it is.", "More."]),
        ("---\nHe said\n---\nMore.", ["He said", "More."]),
        ("---\ntitle: never closed\n\nMore.", ["title: never closed", "More."]),
    ],
)
def test_a_rule_on_top_is_no_front_matter(text, heard):
    assert said(text) == heard


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_places_lead_back_to_the_source(end):
    text = "# A *b* c\n\nSome **bold** [link](http://x.y/some) text. Its end.\n\n1. item `x`\n\n> q\n> r &amp; s\n"
    document = read(text.replace("\n", end), "x.md")
    assert document.text == text.replace("\n", end)
    assert [written(document, paragraph) for paragraph in paragraphs(document)] == [
        "A *b* c",
        "Some **bold** [link](http://x.y/some) text. Its end.",
        "1. item `x",
        f"q{end}> r &amp; s",
    ]


def test_a_word_is_not_looked_for_in_the_address_before_it():
    document = read('[x](http://a.org/some "t some") some', "x.md")
    (paragraph,) = paragraphs(document)
    assert (paragraph.text, paragraph.source_start, paragraph.source_end) == ("x some", 1, len(document.text))
    assert paragraph.place(2, 6) == (32, 36)


@pytest.mark.parametrize("escape", ["\\*", "&amp;", "&#x27;", "&nbsp;"])
def test_an_escape_has_the_place_of_its_first_sign(escape):
    document = read(f"ab {escape} cd", "x.md")
    assert document.escapes == ((3, 3 + len(escape)),)
    assert [written(document, paragraph) for paragraph in paragraphs(document)] == [document.text]


def test_what_is_nested_too_deep_to_be_parsed_is_not_lost():
    assert said("> " * 120 + "deep **words**\n\nok") == ["deep **words**", "ok"]
    assert "deep" in said("- " * 120 + "deep")[-1]


@pytest.mark.parametrize(
    "text",
    [
        "Some *bold* [link](http://x.y/z) and &amp; more. " * 5000,
        "[^1]: x\n" + "   \n" * 50_000 + "a",
        "[" * 5000 + "a",
        "[a " * 50_000 + "]",
        "![a " * 20_000 + "]" * 20_000,
        "*a _b " * 5000,
        "<a " * 20_000 + "b",
        "b <!-- " * 20_000 + "b",
        "`a``b" * 10_000,
        "| a " * 5000 + "|\n" + "| - " * 5000 + "|\n",
        "a\n" * 50_000,
        "[pause: " * 20_000,
    ],
    ids=[
        "marks",
        "blank lines",
        "brackets",
        "open brackets",
        "nested brackets",
        "stars",
        "tags",
        "comments",
        "ticks",
        "cells",
        "lines",
        "pauses",
    ],
)
def test_hostile_text_is_read_in_linear_time(text):
    """Under the time limit of a test only when nothing is quadratic."""
    assert read(text + "\n\nthe end", "x.md").chapters[-1].paragraphs[-1].text.endswith(("the end", "b"))
