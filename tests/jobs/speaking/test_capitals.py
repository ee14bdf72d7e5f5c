"""English capitals: letters, words as they stand, and shouting."""

import pytest

from jobs.account import Why
from jobs.speaking.base import Context
from jobs.speaking.english import capitals
from jobs.speaking.letters import pronounceable
from tests.helpers_speaking import spoken_text

VOCABULARY = frozenset(["sec", "the", "second", "day", "this", "was", "storm"])


def found(text, *, heading=False):
    (rule,) = capitals.RULES
    return list(rule(text, Context("en", heading=heading, vocabulary=VOCABULARY)))


def said(text, *, heading=False):
    return spoken_text(text, found(text, heading=heading))


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("NASA and the BBC sent no one.", "NASA and the B B C sent no one."),
        ("The UNESCO desk and the FBI agreed. OK.", "The UNESCO desk and the F B I agreed. OK."),
        ("the BBC's DVDs, two MPs, URLs", "the B B C's D V Ds, two M Ps, U R Ls"),
        ("a CD-ROM, TCP/IP, the UN-backed EU", "a C D-ROM, T C P/I P, the U N-backed E U"),
        ("the CEO of IBM, UCLA and the USA", "the C E O of I B M, U C L A and the U S A"),
        ("NATO's HQ, AIDS, SCUBA, JPEG", "NATO's H Q, AIDS, SCUBA, JPEG"),
        ("the IT department; the WHO; the US and us", "the I T department; the W H O; the U S and us"),
        ("a PhD, WWII", "a P H D, World War Two"),
        ("FROM LA TO NY; the ER; an MA; LA is big; the SEC", "From L A to N Y; the E R; an M A; L A is big; the S E C"),
        ("a B&B, the R&D team, AT&T", "a B&B, the R&D team, A T&T"),
    ],
)
def test_acronyms(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("THE HARBOUR AT NIGHT", "The harbour at night"),
        ('"STOP," she said.', '"Stop," she said.'),
        ("THIS WAS THE SECOND DAY of the storm.", "This was the second day of the storm."),
        ("ONCE UPON A TIME there was a BBC man.", "Once upon a time there was a B B C man."),
        ("THE FBI AND THE CIA KNEW ABOUT US.", "The F B I and the C I A knew about us."),
        ("THE US ARMY TOLD US TO GO", "The U S army told us to go"),
        ("\"I DON'T KNOW! I'M LATE, IT’S DARK,\" she said.", "\"I don't know! I'm late, it’s dark,\" she said."),
        ("NOOOO! HMMM. SHHH! ARGH!", "Noooo! Hmmm. Shhh! Argh!"),
        ("I told HIM, not HER. It is VERY odd.", "I told him, not her. It is very odd."),
        ("A BIG ONE. I AM HERE. O CAPTAIN!", "A big one. I am here. O captain!"),
        ("An X-RAY. T-SHIRTS FOR ALL.", "An X-ray. T-shirts for all."),
        ("WE WERE IN THE USA WITH NASA.", "We were in the U S A with NASA."),
        ("DÉJÀ VU", "Déjà vu"),
        ("ANNA: Did it land?", "Anna: Did it land?"),
        ("LA LA LA, HE SANG", "La la la, he sang"),
        ("“MI MI,” she sang.", "“Mi mi,” she sang."),
        ("ER, NO. DO RE MI FA SO LA", "Er, no. Do re mi fa so la"),
        ("MA AND PA WERE HERE.", "Ma and pa were here."),
        ("GIVE ME A SEC", "Give me a sec"),
    ],
)
def test_shouting(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(
    "text",
    [
        "OK.",
        "McDONALD had an iPhone and a MacBook.",
        "I am here.",
        "Plan B, vitamin C.",
        "Louis XIV and Henry VIII.",
        "Chapter IV",
    ],
)
def test_what_stays(text):
    assert said(text) == text


def test_headings_and_reasons():
    assert said("PROLOGUE", heading=True) == "Prologue"
    assert said("CHAPTER IV", heading=True) == "Chapter IV"
    assert [one.why for one in found("The BBC said NO.")] == [Why.ACRONYM, Why.CAPITALS]


def test_words_that_can_be_said_and_those_that_cannot():
    words = [
        "stop",
        "strength",
        "twelfth",
        "knight",
        "psalm",
        "school",
        "queen",
        "rhythm",
        "night",
        "watched",
        "fjord",
        "john",
    ]
    assert [word for word in words if not pronounceable(word)] == []
    letters = ["bbc", "fbi", "dna", "ibm", "html", "nhs", "sql", "oecd", "mtv", "rspca", "gdp"]
    assert [word for word in letters if pronounceable(word)] == []
