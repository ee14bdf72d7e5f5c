"""What of a user's regular expressions is refused, and how the effort of one is counted."""

import re

import pytest

from jobs.speaking.safe_patterns import MOST_WAYS, effort_of, problem_of


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("a?" * 28 + "a{28}", "ways"),
        ("(?:a?){28}a{28}", "ways"),
        ("(?:aa|a)" * 40 + "b", "ways"),
        ("(?:aa|a){40}b", "ways"),
        ("a{0,64}" * 7 + "b", "ways"),
        ("[a-z]{1,64}" * 5 + "9", "ways"),
        ("(?:x?){1000000000}b", "ways"),
        ("(?:a{0,9}){5}b", "ways"),
        ("(?:(?:a?){4}){4}b", "ways"),
        ("(?=" + "a?" * 14 + "b)a", "ways"),
        ("(a)?" * 7 + "(?(1)b|c)" * 7, "ways"),
        (r"\w{0,50}\w+9", "ways"),
        ("a*a*b", "2 open repeats"),
        ("a*?a*?b", "2 open repeats"),
        ("(?:a+|b)(?:a|b+)c", "2 open repeats"),
        ("(?:.*){1}.+x", "2 open repeats"),
        ("a{3,}b+", "2 open repeats"),
        ("(a+)+", "for ever"),
        ("(?:a?b)*c", "for ever"),
        ("(?:a+b){1,3}c", "for ever"),
        ("(?:(?:a+b){2}c)", "for ever"),
        ("(?:){1000000}a", "10000 signs"),
        ("(?:(?:a{1000}){1000}){1000}", "10000 signs"),
        ("a*", "matches nothing"),
        ("a|", "matches nothing"),
        ("(", "no regular expression"),
    ],
)
def test_what_may_take_long_is_refused(pattern, problem):
    assert problem in problem_of(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"(\d+)mm", "5 or 12mm", "12mm"),
        (r"\b(\w{1,30})-(\w+)\b", "a well-known man", "well-known"),
        (r"(\d+)(?:st|nd|rd|th)\b", "the 23rd", "23rd"),
        (r"(\d+)[.,](\d{1,3}) ?(km|m|cm)", "ran 3.5 km", "3.5 km"),
        (r"(\d{1,3})/(\d{1,3})/(\d{1,4})", "on 3/4/1999", "3/4/1999"),
        (r"(?:Mr|Mrs|Ms|Dr|Prof)\. ?([A-Z])", "said Dr. No", "Dr. N"),
        (r"(\w+) \1\b", "said that that is", "that that"),
        (r"\bcolou?r(?:s|ed|ing)?\b", "coloring", "coloring"),
        (r"(?<=\d)x(?! )", "3xa", "x"),
        (r"(?:ha){2,20}", "hahaha", "hahaha"),
        (r"(?:foo|bar){1,3}", "foobarx", "foobar"),
        (r"\[[^\]]+\]", "a [b c] d", "[b c]"),
        (r"Ch\. ?(?P<number>[IVX]{1,6})", "see Ch. IV", "Ch. IV"),
    ],
)
def test_useful_patterns_are_taken(pattern, text, found):
    assert problem_of(pattern) == ""
    match = re.search(pattern, text)
    assert match is not None
    assert match.group() == found


@pytest.mark.parametrize(
    ("pattern", "ways", "num_open"),
    [
        ("abc", 1, 0),
        ("a?", 2, 0),
        ("a{2,5}", 4, 0),
        ("a{5}", 1, 0),
        ("a?b{0,9}", 20, 0),
        ("(a?){3}", 8, 0),
        ("(a?){1,3}", 24, 0),
        ("foo|bar|quux", 3, 0),
        ("(?:foo|bar)x?", 4, 0),
        ("(?:x?y|z)", 3, 0),
        ("[abc]", 1, 0),
        ("a+", 200, 1),
        ("a?b+", 400, 1),
        ("a+|b+", 400, 1),
        ("(?=a?)b?", 4, 0),
        ("(?>a?)b?", 4, 0),
        ("a?" * 100, MOST_WAYS + 1, 0),
    ],
)
def test_ways_multiply(pattern, ways, num_open):
    effort = effort_of(pattern)
    assert (effort.ways, effort.num_open, effort.endless) == (ways, num_open, False)
