"""What Markdown would take for syntax although it may be the story: in doubt it is heard, or warned of."""

import pytest

from tests.helpers_reading import read


def said(document):
    return [one.text for chapter in document.chapters for one in chapter.paragraphs if one.text]


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ('[Anna]: Hello.\n\n[Ben]: "Gone."\n\nHe left.', ["[Anna]: Hello.", '[Ben]: "Gone."', "He left."]),
        ("[Anna] left.\n\n[Anna]: Hello\n\n[Ben]: never", ["[Anna] left.", "[Anna]: Hello", "[Ben]: never"]),
        ("[A]: Yes/no.\n\n[B]: Wait...what\n\n[B]: <sighs>", ["[A]: Yes/no.", "[B]: Wait...what", "[B]: <sighs>"]),
        ("a [x][y] [z]\n\n[y]: foo\n[z]: <a b>\n[w]: docs/a.html 'T'\n[v]: mailto:a@b", ["a x z"]),
        ("a\n\n[v]: #top\n[w]: ../up\n[x]: kit.example\n[y]: /a", ["a"]),
        ("| a |\n|---|\n| 1 |\nShe went home.\nThen he.", ["She went home. Then he."]),
        ("    He set in his lines.\n\n    She *too*.", ["He set in his lines.", "She too."]),
        ("x\n\n    The sea is grey and wide\n    The sand is cold", ["x", "The sea is grey and wide The sand is cold"]),
        ("> x\n>\n>     “No,” she said.", ["x", "“No,” she said."]),
        ("x\n\n    他走了。", ["x", "他走了。"]),
        ("x\n\n    git add .\n    git commit", ["x"]),
        ("x\n\n    for i in range(10):\n        print(i)", ["x"]),
        ("x\n\n    # Says a thing.", ["x"]),
        ("---\nHe: said\nShe: said\n---\n\nx", ["He: said She: said", "x"]),
        ("---\nTags: said\nodd: said\n---\n\nx", ["x"]),
        ("<p>one</p>text<!-- x\n\ny -->z\n\nmore", ["one", "text z", "more"]),
        ("- <p>one</p>text<!-- x\n\n  y -->z\n\nmore", ["one", "text z", "more"]),
        ("a <span style='visibility:hidden'>b</span> c", ["a c"]),
    ],
)
def test_text_that_looks_like_syntax_is_heard(text, heard):
    document = read(text, "x.md")
    assert said(document) == heard
    assert document.warnings == ()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("x\n\n```\nHe went.\n\nShe too.", "the listing in line 3 is never closed: all of it is not spoken"),
        ("x <b>y</b>\n\nf <button>g\nh", "<button> in line 3 is never closed: the rest of its paragraph is not spoken"),
        ("f <span hidden>g", "<span> in line 1 is never closed: the rest of its paragraph is not spoken"),
        ("<p>a</p>b<!-- c\n\nd", "the comment in line 1 is never closed: the rest of its block is not spoken"),
        ("a\n\n<!-- c\n\nd", "the comment in line 3 is never closed: all after it is not spoken"),
    ],
)
def test_what_is_never_closed_is_warned_of(text, warning):
    assert read(text, "x.md").warnings == (warning,)


@pytest.mark.parametrize("text", ["> ```\n> a\n> ```\nb", "~~~\na\n~~~~~\nb", "- ```\n  a\n  ```\n\nb", "b\n```"])
def test_fences_that_are_closed_or_empty_are_not(text):
    document = read(text, "x.md")
    assert (said(document), document.warnings) == (["b"], ())


@pytest.mark.parametrize("piece", ["^[", "<p>a<!-- \n\n", "[a]: b\n\n", "    No.\n\nx\n\n", "|a|\n|-|\n", "<button>"])
def test_hostile_text_is_read_in_linear_time(piece):
    """Under the time limit of a test only when nothing is quadratic."""
    text = piece * (100_000 // len(piece))
    assert said(read("start\n\n" + text, "x.md"))[0] == "start"
