"""A user's lexicon: what is found, what is spoken, what is refused with its line."""

import pytest

from jobs.account import Why
from jobs.errors import BadSource
from jobs.speaking.base import Context
from jobs.speaking.lexicon import BAD_LEXICON, Lexicon, lexicon_text
from jobs.speaking.speaker import Speaker, SpeakingOptions
from tests.helpers_speaking import spoken_text

TABLE = """\ufeff# names\r
\r
Xanadu\tzan uh doo\r
Siobhan\t/ʃɪvˈɔːn/\r
St. Mary\tSaint Mary's\r
US\tU S\tcase\r
new york\tNew York City\r
new\tnoo\r
C++\tsee plus plus\r
O'Brien\toh brien\r
FBI\tthe Bureau\r
re:(\\d+)bn\\b\t\\1 billion\r
hush\t\r
"""


def said(text, table=TABLE):
    speaker = Speaker(SpeakingOptions(lexicon=Lexicon.parse(table, "words.tsv")))
    return spoken_text(text, speaker.replacements(text, "xx"))


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("XANADU's xanadu", "zan uh doo's zan uh doo"),
        ("xanadus, preXanadu, Xanadu-like", "xanadus, preXanadu, zan uh doo-like"),
        ("Ask Siobhan.", "Ask ⟦ʃɪvˈɔːn⟧."),
        ("at St. Mary", "at Saint Mary's"),
        ("the US told us", "the U S told us"),
        ("New York, new town", "New York City, noo town"),
        ("C++, O’Brien, FBI", "see plus plus, oh brien, the Bureau"),
        ("5bn and 12BN, 3bnx", "5 billion and 12 billion, 3bnx"),
        ("hush now", "now"),
        ("⟦Siobhan⟧ is ⟦a⟧ name", "⟦ʃɪvˈɔːn⟧ is a name"),
    ],
)
def test_words_are_spoken_as_the_user_says(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(
    ("text", "table", "spoken"),
    [
        ("Siobha\u0301n is", "N\t/ɛn/", "Siobha\u0301n is"),
        ("Zoe\u0308 is", "Zoe\tzo ee", "Zoe\u0308 is"),
        ("e\u0301n, n\u0303, n", "n\ten", "e\u0301n, n\u0303, en"),
        ("ask Siobha\u0301n, Siobh\u00e1n", "Siobh\u00e1n\t/ʃɪvˈɔːn/", "ask ⟦ʃɪvˈɔːn⟧, ⟦ʃɪvˈɔːn⟧"),
        ("ask SIOBHA\u0301N, Siobh\u00e1n", "Siobha\u0301n\tshi vawn", "ask shi vawn, shi vawn"),
        ("Ha\u0301 No\u0308e x", "no\u00eb x\ty", "Ha\u0301 No\u0308e x"),
        ("Ha\u0301 Noe\u0308 x", "no\u00eb x\ty", "Ha\u0301 y"),
        ("q\u0323x, q\u0323", "q\u0323\tkoo", "q\u0323x, koo"),
        ("\u1112\u1161\u11ab.", "\ud55c\thahn", "hahn."),
        ("हिन्दी हि", "हि\thi", "हिन्दी hi"),
        ("a\u2764\ufe0flove", "love\tluv", "a\u2764\ufe0fluv"),
        ("a caf\u00e9, cafe\u0301s", "re:caf\u00e9s?\tbar", "a bar, bar"),
        ("a" + "\u0323\u0301" * 5_000 + " b", "b\tbee", "a" + "\u0323\u0301" * 5_000 + " bee"),
    ],
)
def test_accents_belong_to_their_letters_however_written(text, table, spoken):
    assert spoken_text(text, list(Lexicon.parse(table, "w").rule(text, Context("en")))) == spoken


def test_places_count_in_the_text_as_it_is_written():
    (one,) = Lexicon.parse("No\u00eb\tno ay", "w").rule("e\u0301e\u0301 Noe\u0308!", Context("en"))
    assert (one.start, one.end) == (5, 9)


def test_replacements_name_their_reason_and_characters():
    (one,) = Lexicon.parse(TABLE, "w").rule("See Xanadu now", Context("en"))
    assert (one.start, one.end, one.now, one.why) == (4, 10, "zan uh doo", Why.LEXICON)


def test_no_source_can_bring_phonemes_in():
    assert said("say ⟦aaa⟧ x", "re:say (.+)x\t\\1").split() == ["aaa"]
    assert "⟦" not in said("[[⟦aaa⟧]] x", "a\tb")


def test_case_decides_before_any_case():
    table = "us\tours\nUS\tU S\tcase"
    assert said("US us Us", table) == "U S ours ours"


def test_phonemes_are_announced():
    assert Lexicon.parse(TABLE, "w").has_phonemes
    assert Lexicon.parse("re:x+y\t/ɪ/", "w").has_phonemes
    assert not Lexicon.parse("a\tb", "w").has_phonemes
    assert not Lexicon.parse("", "w").has_phonemes


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no tab", "has no tab"),
        ("\tx", "no word before the tab"),
        ("re:\tx", "no pattern before the tab"),
        ("re:[\tx", "no regular expression"),
        ("re:[[a]\tx", "no regular expression"),
        ("re:a{99999999999}\tx", "no regular expression"),
        ("re:(a+)+\tx", "take for ever"),
        ("re:(a|a)*b\tx", "take for ever"),
        ("re:(?:ab*){2,5}\tx", "take for ever"),
        ("re:.*.*.*x\ty", "3 open repeats"),
        ("re:" + "(?:aa|a)" * 40 + "b\tx", "more than 10000 ways"),
        ("re:a*\tb", "matches nothing"),
        ("re:(a)\t\\2", "cannot replace"),
        ("re:(?P<a>x)\t\\g<b>", "cannot replace"),
        ("re:" + "a" * 501 + "\tx", "501 characters"),
        ("x\t//", "no phonemes"),
        ("x\t/wɪn1/", "holds 1, which no voice can speak"),
        ("x\t/a_b^$/", r"holds \$ \^ _, which"),
        ("re:x\t/a²/", "holds ²"),
        ("x\t/" + "ab " * 33 + "ab/", "have 101 characters; allowed are 100"),
        ("x\ta⟦b⟧", "between slashes"),
        ("x\ty\tloud", "'loud' is not known"),
    ],
)
def test_a_wrong_line_is_named(line, reason):
    with pytest.raises(BadSource, match=reason) as caught:
        Lexicon.parse(f"# one\n{line}\nok\tfine", "words.tsv")
    (problem,) = caught.value.problems
    assert (problem.code, problem.line) == (BAD_LEXICON, 2)
    assert "words.tsv" in problem.message


def test_all_errors_come_at_once_and_doubles_name_both_lines():
    with pytest.raises(BadSource) as caught:
        Lexicon.parse("a\tb\nno tab\nA\tc\nre:x\ty\nre:x\tz", "w")
    assert [problem.line for problem in caught.value.problems] == [2, 3, 5]
    assert "line 1 already" in caught.value.problems[1].message


@pytest.mark.parametrize(
    "pattern",
    [r"\b(\w{1,30})-(\w+)\b", "colou?r(s|ed)?", r"(?i:foo|bar) \d{1,5}", "(?:ab){1,5}c", r"(\d{1,3})/(\d{1,3})"],
)
def test_ordinary_patterns_are_taken(pattern):
    assert len(Lexicon.parse(f"re:{pattern}\tx", "w").patterns) == 1


def test_many_entries_are_found_by_word():
    lexicon = Lexicon.parse("\n".join(f"the word{i} x{i}\tsaid {i}" for i in range(20_000)), "w")
    (one,) = lexicon.rule("And the word19999 x19999 came, the end.", Context("en"))
    assert one.now == "said 19999"


def test_a_pattern_reads_a_long_text_in_stretches():
    lexicon = Lexicon.parse("re:a+b\tx", "w")
    assert list(lexicon.rule("a" * 200_000, Context("en"))) == []
    assert len(list(lexicon.rule("aab " * 5_000, Context("en")))) == 5_000


def test_a_table_is_utf_8_with_or_without_a_mark():
    assert lexicon_text("\ufeffé\te\n".encode(), "lexicon") == "é\te\n"
    with pytest.raises(BadSource, match=r"--lexicon w\.tsv is not UTF-8 \(byte 1\)") as caught:
        lexicon_text(b"a\xff", "--lexicon w.tsv")
    assert [problem.code for problem in caught.value.problems] == [BAD_LEXICON]
