"""Where sentences end, and where they do not."""

import pytest

from jobs.reading.splitting import sentences
from jobs.reading.splitting.sentences import sentence_spans


def split(text, language="en"):
    return [text[start:end].strip() for start, end in sentence_spans(text, language)]


@pytest.mark.parametrize(
    "text",
    [
        "See p. 44ff. for more of it.",
        "As Smith et al. [2004] said, it works.",
        "Use version 2.0.1 or 192.168.0.1 at 3.14 percent.",
        "Edgar F. Codd met King Jr. that day.",
        "Write to a.b@example.org or see https://example.org/x.y?z=1.2 first.",
        "1. First step of all",
        "He paused... then ran.",
        "“Why?” she asked.",
        "It cost 1.000,50 in all.",
    ],
)
def test_one_sentence(text):
    assert split(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "“He told me, ‘Not yet.’”|She left.",
        "(She slept.)|Then it rained.",
        "[Not so.]|Yes.",
        "He stopped…|Then he ran.",
        "He stopped...|Then he ran.",
        "She said no.|He left.",
        "Speed rose to 30 km/h.|A loss.",
        "“No.”|He left.",
        "他来了。|她走了！|真的？",
        "彼は来た。|今日。",
        "No one came. (!!!) ???",
    ],
)
def test_ends(text):
    assert split(text.replace("|", " ")) == text.split("|") or split(text.replace("|", "")) == text.split("|")


def test_windows_do_not_show(monkeypatch):
    text = "“Is it?” he asked. Mr. Jones said (not at once.) that it was. " * 40
    whole = split(text)
    monkeypatch.setattr(sentences, "_WINDOW_CHARS", 150)
    assert split(text) == whole


def test_text_is_handed_over_in_windows(monkeypatch):
    """sentencex is quadratic in open quotes: no call may grow with the paragraph."""
    sizes = []
    real = sentences.get_sentence_boundaries

    def counted(language, text):
        sizes.append(len(text))
        return real(language, text)

    monkeypatch.setattr(sentences, "get_sentence_boundaries", counted)
    text = "“" * 50_000 + "a. B." * 2000
    assert "".join(text[start:end] for start, end in sentence_spans(text, "en")) == text
    assert max(sizes) <= 4096
    assert sum(sizes) <= 3 * len(text)


def test_nothing_gives_nothing():
    assert sentence_spans("", "en") == []
