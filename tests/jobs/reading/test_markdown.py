"""Markdown."""

import pytest

from jobs.plan import Break
from tests.helpers_reading import plan_of, read, spoken


def said(text):
    return spoken(plan_of(text, "x.md"))


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("**bold** and _soft_ and ~~gone~~", "bold and soft and gone"),
        ("a [link](https://example.org/x 'title') here", "a link here"),
        ("a [named][n] one\n\n[n]: https://example.org", "a named one"),
        ("see <https://example.org>", "see https://example.org"),
        ("`code` stays", "code stays"),
        ("soft\nbreak and hard  \nbreak", "soft break and hard break"),
        ("Fish &amp; chips, 5 \\* 3", "Fish & chips, 5 * 3"),
        ("one ![A heron](h.png) two", "one two"),
        ("line<br>break <sup>up</sup>", "line break up"),
        ("a word[^1], then", "a word, then"),
        ("snake_case_name", "snake_case_name"),
    ],
)
def test_inline_marks(text, heard):
    assert said(text) == [heard]


def test_blocks():
    text = """# One

> A quote.
> Its end.

- first
- second

  more of it

3. third
4) fourth

***

### Deeper

The end.
"""
    plan = plan_of(text, "x.md")
    assert spoken(plan) == [
        "One",
        "A quote.",
        "Its end.",
        "first",
        "second",
        "more of it",
        "3. third",
        "4) fourth",
        "Deeper",
        "The end.",
    ]
    assert plan.segments[7].break_after is Break.SCENE
    assert [chapter.title for chapter in plan.chapters] == ["One"]


def test_what_is_left_out_is_warned_of():
    document = read(
        "a\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n\n    indented\n\n[^1]: Note\n    goes on.\n\nb",
        "x.md",
    )
    assert document.warnings == ("2 x code listing not spoken", "1 x note not spoken", "1 x table not spoken")
    assert [paragraph.text for paragraph in document.chapters[0].paragraphs] == ["a", "b"]


def test_html_inside_markdown():
    text = "<!-- hidden -->\n\n<div><p>Shown &amp; said.</p><script>x()</script></div>\n\nafter"
    assert said(text) == ["Shown & said.", "after"]


def test_chapters_and_titles():
    document = read("# The Book\n\n## First\n\nText.\n\n### Part of it\n\nText.\n\n## Second\n\nText.", "x.md")
    assert document.title == "The Book"
    assert [chapter.title for chapter in document.chapters] == ["First", "Second"]
    assert document.chapters[0].paragraphs[0].text == "The Book"


def test_two_top_headings_are_parts():
    document = read("# Part\n\n## First\n\nText.\n\n# Other\n\nText.", "tale.md")
    assert document.title == "tale"
    assert [chapter.title for chapter in document.chapters] == ["Part: First", "Other"]


def test_front_matter():
    document = read("---\ntitle: 'My Tale'\nauthor: Ann\nlang: en-GB\ntags: [a]\n---\nText.", "x.md")
    assert (document.title, document.author, document.language) == ("My Tale", "Ann", "en-GB")
    assert [paragraph.text for paragraph in document.chapters[0].paragraphs] == ["Text."]


def test_a_rule_on_top_is_no_front_matter():
    assert said("---\n\nText.\n\nMore.") == ["Text.", "More."]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_offsets_lead_back_to_the_source(end):
    text = "# A *b* c\n\nSome **bold** [link](http://x.y/some) text. The next one ends.\n\n1. item `x`\n".replace(
        "\n", end
    )
    document = read(text, "x.md")
    plan = plan_of(text, "x.md")
    assert [segment.text for segment in plan.segments] == [
        "A *b* c",
        "Some **bold** [link](http://x.y/some) text.",
        "The next one ends.",
        "1. item `x",
    ]
    assert all(document.text[one.source_start : one.source_end] == one.text for one in plan.segments)


def test_many_marks_are_read_in_linear_time():
    """Under the time limit of a test only when nothing is quadratic."""
    assert len(said("Some *bold* [link](http://x.y/z) and &amp; more. " * 5000)) == 5000
    assert read("[^1]: x\n" + "   \n" * 50_000 + "a", "x.md").chapters
