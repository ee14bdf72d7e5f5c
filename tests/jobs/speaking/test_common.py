"""What holds for every language: addresses, pictures, punctuation, plain forms."""

import pytest

from jobs.account import Why
from jobs.speaking import common
from jobs.speaking.base import Addresses, Context
from jobs.speaking.speaker import Speaker, SpeakingOptions
from tests.helpers_speaking import spoken_text


def said(text, language="en", addresses=Addresses.HOST):
    speaker = Speaker(SpeakingOptions(addresses=addresses))
    return spoken_text(text, speaker.replacements(text, language)).rstrip()


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Open https://www.example.com/a/b_c?x=1&y=2 before noon.", "Open example dot com before noon."),
        ("Write to kit.lowe@example.org, please.", "Write to kit dot lowe at example dot org, please."),
        ("Visit example.net. Then rest.", "Visit example dot net. Then rest."),
        ("See (www.bbc.co.uk), <https://x.org/>.", "See (B B C dot co dot U K), X dot org."),
        (
            "The file notes.v2.txt is in C:\\data\\old.",
            "The file notes dot V two dot T X T is in C colon backslash data backslash old.",
        ),
        ("Run /usr/local/bin now.", "Run slash U S R slash local slash bin now."),
        ("a_b+c@ex-ample.co.uk", "A underscore B plus C at ex dash ample dot co dot U K"),
        ("EXAMPLE.COM and Example.com/x", "Example dot com and Example dot com"),
        ("http://user:pw@host.org:8080/p", "host dot org"),
    ],
)
def test_addresses_by_host(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(
    "text", ["At the end.Then he went.", "He said so.And left.", "One e.g.this", "Wait...what", "fin.de sido"]
)
def test_a_missing_space_is_no_address(text):
    rule = common.FIRST[0]
    assert list(rule(text, Context("es"))) == []


@pytest.mark.parametrize(
    ("addresses", "spoken"),
    [
        (Addresses.SPELL, "Open H T T P S colon slash slash example dot org slash A question mark B equals one."),
        (Addresses.DROP, "Open."),
    ],
)
def test_addresses_spelled_or_dropped(addresses, spoken):
    assert said("Open https://example.org/a?b=1.", addresses=addresses) == spoken


def test_other_languages_keep_the_host_as_it_is_written():
    text = "Siehe https://www.example.com/a_b?x oder kit.lowe@example.org in C:\\data."
    assert said(text, "de") == "Siehe example.com oder kit.lowe@example.org in C data."
    (first, *_) = Speaker().replacements(text, "de")
    assert first.why is Why.ADDRESS


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("I love you <3 so much :) and 😀👍🏽 🇬🇧 1️⃣ ok ❤️!", "I love you so much and one ok!"),
        ("a family 👩‍👩‍👧‍👦 here", "a family here"),
        ("I <3 you and <3 him.", "I you and him."),
        ("glued😀word", "glued word"),
        ("Thanks ;-)", "Thanks"),
        ("─── ✓ ❦ done \ue000", "done"),
        ("⟦ɪpə⟧ said", "ɪpə said"),
    ],
)
def test_pictures_and_ornaments_are_dropped(text, spoken):
    assert said(text) == spoken


def test_less_than_three_is_a_comparison_beside_a_quantity():
    assert said("if n <3 then") == "if n less than three then"
    assert said("values <3 mm").startswith("values less than three millimet")


def test_reasons():
    found = Speaker().replacements("😀 ⟦x⟧ ﬁne!!", "en")
    assert [one.why for one in found] == [Why.EMOJI, Why.SYMBOL, Why.SYMBOL, Why.COMPATIBILITY, Why.PUNCTUATION]


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("What??? No!!! Really?!?! Well.... ok,, then‼", "What? No! Really?! Well... ok, then!"),
        ("No one came. (!!!) ???", "No one came."),
        ("word , next , more", "word, next, more"),
        ('He said , " go " . So " it " is', 'He said, "go". So "it" is'),
        ("He said “ go ” and left", "He said “go” and left"),
        ('a "b" c "d"', 'a "b" c "d"'),
        ("Oh , no ! Ok .", "Oh, no! Ok."),
        ("Wait . . . what", "Wait... what"),
        ("a [...] b (…) c", "a... b... c"),
        ("- Who is it?", "Who is it?"),
        ("Wait... and … and ?! and 'so'.", "Wait... and... and?! and 'so'."),
    ],
)
def test_runs_of_punctuation(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(("text", "spoken"), [("مرحبا .", "مرحبا."), ("שלום , לך", "שלום, לך")])
def test_no_language_has_a_space_before_a_full_stop_or_comma(text, spoken):
    assert said(text, "he") == spoken


def test_french_keeps_its_spaces_before_marks():
    assert Speaker().replacements("Vraiment ? Oui !", "fr") == []


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("ﬁne ﬂow ＡＢ", "fine flow AB"),
        ("𝐇𝐞𝐥𝐥𝐨 ℌ", "Hello H"),
        ("H₂", "H2"),
        ("cafe\u0301", "café"),
        ("你好，世界。", "你好，世界。"),
        ("नमस्ते क्\u200dष می\u200cخواهم", "नमस्ते क्\u200dष می\u200cخواهم"),
    ],
)
def test_forms_of_plain_characters(text, spoken):
    assert said(text, "xx") == spoken
