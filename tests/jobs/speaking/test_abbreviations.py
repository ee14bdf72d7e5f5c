"""English abbreviations: their words by context, the stop that ends a sentence, and what is left alone."""

import pytest

from jobs.account import Why
from jobs.speaking.base import Context
from jobs.speaking.english import abbreviations
from tests.helpers_speaking import spoken_text


def said(text, *, heading=False):
    (rule,) = abbreviations.RULES
    found = list(rule(text, Context("en", heading=heading)))
    assert all(one.why is Why.ABBREVIATION for one in found)
    return spoken_text(text, found)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Dr. Okafor met Mrs. Penrose at St. Bride's.", "Doctor Okafor met Missus Penrose at Saint Bride's."),
        ("Mr Harlow met Dr Who at St Bride's.", "Mister Harlow met Doctor Who at Saint Bride's."),
        ("mr. and mrs. smith; Mr. and Mrs. Smith", "mister and missus smith; Mister and Missus Smith"),
        ("Ms. Lee, Sgt. Pepper, Mlle. Blanc", "Ms Lee, Sergeant Pepper, Mademoiselle Blanc"),
        ("Lt. Col. Smith and the Rt. Hon. Member", "Lieutenant Colonel Smith and the Right Honourable Member"),
        ("MR. SMITH met Dr.Jones", "Mister SMITH met Doctor Jones"),
        ("Prof. A. B. Smith Jr. left.", "Professor A B Smith Junior left."),
        ("He was King Jr. of York, Acme Inc. USA.", "He was King Junior of York, Acme Incorporated USA."),
        ("“It was Dr. No.”", "“It was Doctor No.”"),
        ("He lives at 12 Elm Dr. in Leeds.", "He lives at 12 Elm Drive in Leeds."),
        ("On Baker St. we met on St. James St.", "On Baker Street we met on Saint James Street."),
        ("St Andrews and St Mary's St.", "Saint Andrews and Saint Mary's Street."),
        ("Ring 12 St. John's Rd., Apt. 4.", "Ring 12 Saint John's Road, Apartment 4."),
        ("Mt. Everest, Ft. Worth, Pt. Reyes", "Mount Everest, Fort Worth, Point Reyes"),
        ("at Cork, Co. Cork, with Hale & Co. of Leeds", "at Cork, County Cork, with Hale & Company of Leeds"),
        (
            "Brook Inc. and Smith Bros. sell it, Ltd. or not",
            "Brook Incorporated and Smith Brothers sell it, Limited or not",
        ),
        ("Boston, Mass. is cold.", "Boston, Massachusetts is cold."),
        ("Kerry (D-Mass.) and Lee, R-Pa., met", "Kerry (D-Massachusetts) and Lee, R-Pennsylvania, met"),
        ("Denver, Colo. and Salem, Ore. 97301", "Denver, Colorado and Salem, Oregon 97301"),
        ("He came from Ore Mill, Pa., in May.", "He came from Ore Mill, Pennsylvania, in May."),
        ("He lives in Paris, Ill.", "He lives in Paris, Illinois."),
        ("MR BENNET AND MRS BENNET AT ST IVES", "Mister BENNET AND Missus BENNET AT Saint IVES"),
        ("DR WATSON, PROF JONES AND CAPT COOK", "Doctor WATSON, Professor JONES AND Captain COOK"),
        ("DR NO AND DR WHO", "Doctor NO AND Doctor WHO"),
    ],
)
def test_titles_places_and_firms(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("an hour, i.e. far too long", "an hour, that is far too long"),
        ("Bring fruit, e.g. pears.", "Bring fruit, for example pears."),
        ("E.g. this; i. e. that; eg this", "For example this; that is that; for example this"),
        ("Roe v. Wade, Lakers vs. Bulls", "Roe versus Wade, Lakers versus Bulls"),
        ("as Smith et al. [2004] say, cf. Jones", "as Smith and others [2004] say, compare Jones"),
        ("born c. 1850 (d. 1910), ca. 1920", "born circa 1850 (died 1910), circa 1920"),
        ("pens, etc. and ink", "pens, et cetera and ink"),
        ("pens, &c.", "pens, et cetera."),
        ("approx. 5, max. speed, 5 kg max.", "approximately 5, maximum speed, 5 kg maximum."),
        ("w/o it, w/ her, c/o Bob", "without it, with her, care of Bob"),
        ("5th ed. of it, ed. by Lee (ed.)", "5th edition of it, edited by Lee (editor)"),
        ("from Sept. to Dec. 25, on Mon. morning", "from September to December 25, on Monday morning"),
    ],
)
def test_latin_and_common_words(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("ask at No. 9 and nos. 3 and 4", "ask at Number 9 and numbers 3 and 4"),
        ("№ 7", "number 7"),
        ("p. 44ff. and pp. 3-5, p.12", "page 44and following and pages 3-5, page 12"),
        (
            "vol. II, ch. 3, Fig. 2a, Fig. A shows, Sec. IV",
            "volume II, chapter 3, Figure 2a, Figure A shows, Section IV",
        ),
        ("the no. of boats", "the number of boats"),
    ],
)
def test_references_need_what_they_count(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("J. R. Whitcombe sailed to the U.S. in May.", "J R Whitcombe sailed to the U S in May."),
        ("The U.S. Navy kept A. B. Tandy.", "The U S Navy kept A B Tandy."),
        ("Edgar F. Codd, J.R.R. Tolkien, J.Smith, e.e. cummings", "Edgar F Codd, J R R Tolkien, J Smith, e e cummings"),
        ("a Ph.D. from the U.K. or a B.Sc.", "a P H D from the U K or a B S C."),
        ("the U.S.'s debt, U.S.-based, U. S. Army, U.S.A", "the U S's debt, U S-based, U S Army, U S A"),
        ("5 p.m. sharp, Washington, D.C.", "5 p m sharp, Washington, D C."),
    ],
)
def test_initials_and_letters_lose_their_stops(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("She came from the U.K.", "She came from the U K."),
        ("Was it the U.S.?", "Was it the U S?"),
        ('"We sell pens, etc."', '"We sell pens, et cetera."'),
        ("(We sell pens, etc.)", "(We sell pens, et cetera)"),
        ("He left the U.S. He never came back.", "He left the U S. He never came back."),
        ("I have a Ph.D. It was hard.", "I have a P H D. It was hard."),
        ("pens, etc... and more", "pens, et cetera.. and more"),
        ("Robert Downey Jr. He acted.", "Robert Downey Junior. He acted."),
    ],
)
def test_a_stop_that_ends_a_sentence_is_kept(text, spoken):
    assert said(text) == spoken


@pytest.mark.parametrize(
    "text",
    [
        "I said no. The fig. was ripe.",
        "He ate a fig.",
        "The Sun. It rose.",
        "I gave it to Jan. She smiled.",
        "It was plan B. Then he left.",
        "He and I. Then we",
        "Chapter I. The Start.",
        "No, no.",
        "just a sec. I will come.",
        "No. I will not.",
        "St. is short.",
        "Vitamin C. Good for you.",
        "He stopped. She ran on, and on.",
        "“Yes, Pa. I will.”",
        "“Well, Del. said so.”",
        "Well, Ore. is heavy.",
        "“Go, Wash. your hands.”",
        "He was sick, Ill. and tired.",
        "“Come here, Tom, Pa.”",
        "“Give it to Tom, Pa.”",
        "“Hello, Tex. How are you?”",
        "the DR Congo and THE ST WAS",
    ],
)
def test_what_may_be_another_word_is_left_alone(text):
    assert said(text) == text


def test_a_numbered_heading_keeps_its_stop():
    assert said("V. The Whale", heading=True) == "V. The Whale"
    assert said("V. Woolf wrote") == "V Woolf wrote"
