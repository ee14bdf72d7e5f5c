"""English dates and years, as a voice is given them."""

from __future__ import annotations

import pytest

from jobs.speaking.speaker import Speaker
from tests.helpers_speaking import spoken_text


def said(text, language="en-US", *, heading=False):
    return spoken_text(text, Speaker().replacements(text, language, heading=heading))


AMERICAN = {
    "The deed is dated 12 March 1884.": "The deed is dated the twelfth of March eighteen eighty-four.",
    "March 12, 1884, was a day.": "March twelfth, eighteen eighty-four, was a day.",
    "March 12th": "March twelfth",
    "12th of March": "the twelfth of March",
    "the 4th of July 1776": "the fourth of July seventeen seventy-six",
    "July 4, 1776": "July fourth, seventeen seventy-six",
    "JULY 4, 1776": "July fourth, seventeen seventy-six",
    "on Mar. 5": "on March fifth",
    "Sept 3": "September third",
    "the 5 Mar.": "the fifth of March.",
    "Jan. 6th": "January sixth",
    "Dec. 25, 2020": "December twenty-fifth, twenty twenty",
    "1 Jan 2021": "the first of January twenty twenty-one",
    "March 12-14, 1990": "March twelfth to fourteenth, nineteen ninety",
    "12-14 March 1990": "the twelfth to fourteenth of March nineteen ninety",
    "12th–14th March": "the twelfth to fourteenth of March",
    "Sept. 1884": "September eighteen eighty-four",
    "March 2005": "March two thousand five",
    "in May 2010.": "in May twenty ten.",
    "It was copied on 2024-05-06 at noon.": "It was copied on May sixth, twenty twenty-four at noon.",
    "2025-09-28T14:30": "September twenty-eighth, twenty twenty-five, fourteen thirty",
    "2025-09-28T14:30:15Z": "September twenty-eighth, twenty twenty-five, fourteen thirty fifteen U T C",
    "2024/05/06": "May sixth, twenty twenty-four",
    "2024-13-45": "two zero two four, one three, four five",
    "31/12/2020": "December thirty-first, twenty twenty",
    "12/31/2020": "December thirty-first, twenty twenty",
    "12-31-2020": "December thirty-first, twenty twenty",
    "2023-01-05T14:30:00Z": "January fifth, twenty twenty-three, fourteen thirty U T C",
    "On 3/14 we ate.": "On March fourteenth we ate.",
    "since 5/6, he slept": "since May sixth, he slept",
    "About 3/14 of it, on 1/2 of it": "About three fourteenths of it, on one half of it",
    "It grew by 3/4.": "It grew by three quarters.",
    "It is Oct.": "It is October.",
    "on Mon. 4 June": "on Monday the fourth of June",
    "on 9/11/2001": "on September eleventh, two thousand one",
    "In March 12 men died.": "In March twelve men died.",
    "On March 12 soldiers came.": "On March twelfth soldiers came.",
    "They met in March.": "They met in March.",
    "May 5 people join?": "May five people join?",
    "they may 5 times": "they may five times",
    "on １２ March": "on the twelfth of March",
}
BRITISH = {
    "It was copied on 2024-05-06 at noon.": "It was copied on the sixth of May twenty twenty-four at noon.",
    "3/4/2021": "the third of April twenty twenty-one",
    "31/12/2020": "the thirty-first of December twenty twenty",
    "12/31/2020": "the thirty-first of December twenty twenty",
    "12 March 1905": "the twelfth of March nineteen oh five",
    "March 3, 2005": "March third, two thousand and five",
    "4/5/1999": "the fourth of May nineteen ninety-nine",
}
YEARS = {
    "The war of 1914—18 was long.": "The war of nineteen fourteen to eighteen was long.",
    "They fell in 1914—18 men.": "They fell in nineteen fourteen—eighteen men.",
    "Lund et al. 2019 report it.": "Lund and others twenty nineteen report it.",
    "in 1884": "in eighteen eighty-four",
    "since 1999": "since nineteen ninety-nine",
    "by 2010": "by twenty ten",
    "the summer of 1969": "the summer of nineteen sixty-nine",
    "in 1900": "in nineteen hundred",
    "in 1905": "in nineteen oh five",
    "in 2000": "in two thousand",
    "in 2005": "in two thousand five",
    "in 2015": "in twenty fifteen",
    "in 1066": "in ten sixty-six",
    "until 1845": "until eighteen forty-five",
    "before 1914 and after 1918": "before nineteen fourteen and after nineteen eighteen",
    "(1869–1948)": "(eighteen sixty-nine to nineteen forty-eight)",
    "the 1990s": "the nineteen nineties",
    "mid-1990s": "mid-nineteen nineties",
    "the 1800s": "the eighteen hundreds",
    "the 2010s": "the twenty tens",
    "the 2000s": "the two thousands",
    "the 1990's": "the nineteen nineties",
    "the '90s": "the nineties",
    "the ’80s": "the eighties",
    "in his 20s": "in his twenties",
    "the summer of '69": "the summer of sixty-nine",
    "300 BC": "three hundred B C",
    "AD 79": "A D seventy-nine",
    "1066 AD": "ten sixty-six A D",
    "From 1914-18 the mill stood still.": "From nineteen fourteen to eighteen the mill stood still.",
    "1914–1918": "nineteen fourteen to nineteen eighteen",
    "1990-2000": "nineteen ninety to two thousand",
    "2009-10": "two thousand nine to ten",
    "1999/2000": "nineteen ninety-nine to two thousand",
    "1999-00": "nineteen ninety-nine to two thousand",
    "between 1905 and 1910": "between nineteen oh five and nineteen ten",
    "In 1905, 1906 and 1907": "In nineteen oh five, nineteen oh six and nineteen oh seven",
    "the year 1066": "the year ten sixty-six",
    "circa 1700": "circa seventeen hundred",
    "born 1905": "born nineteen oh five",
    "Christmas 1914": "Christmas nineteen fourteen",
    "the 1905 revolution": "the nineteen oh five revolution",
    "his 1984 novel": "his nineteen eighty-four novel",
    "1884 was a hard year.": "eighteen eighty-four was a hard year.",
    "Paris, 1789.": "Paris, seventeen eighty-nine.",
    "(Smith, 1984)": "(Smith, nineteen eighty-four)",
    "Smith (1984)": "Smith (nineteen eighty-four)",
    "In 2008 banks collapsed.": "In two thousand eight banks collapsed.",
    "since 1999 people have left": "since nineteen ninety-nine people have left",
    "In 2020, 1200 people died.": "In twenty twenty, one thousand two hundred people died.",
    "back to 1905": "back to nineteen oh five",
    "Spring 1905": "Spring nineteen oh five",
    "Q3 2021": "Q three twenty twenty-one",
    "the 18th century": "the eighteenth century",
}
CARDINALS = {
    "Room 1905 is not a year.": "Room one thousand nine hundred five is not a year.",
    "1905 people": "one thousand nine hundred five people",
    "1,905": "one thousand nine hundred five",
    "page 1905": "page one thousand nine hundred five",
    "1905 km": "one thousand nine hundred five kilometers",
    "in 1905 cases the patient lived": "in one thousand nine hundred five cases the patient lived",
    "of 1200 men": "of one thousand two hundred men",
    "from 1500 to 2000 people": "from one thousand five hundred to two thousand people",
    "1500-2000 people": "one thousand five hundred to two thousand people",
    "a crowd of 1200": "a crowd of one thousand two hundred",
    "rose by 1500": "rose by one thousand five hundred",
    "up to 2000": "up to two thousand",
    "Flight 1905 to Rome": "Flight one thousand nine hundred five to Rome",
    "Model 1895": "Model one thousand eight hundred ninety-five",
    "I counted 1884.": "I counted one thousand eight hundred eighty-four.",
    "No. 1905": "Number one thousand nine hundred five",
    "line 1905": "line one thousand nine hundred five",
}


@pytest.mark.parametrize("text", AMERICAN)
def test_american(text):
    assert said(text) == AMERICAN[text]


@pytest.mark.parametrize("text", BRITISH)
def test_british(text):
    assert said(text, "en-GB") == BRITISH[text]


@pytest.mark.parametrize("text", YEARS)
def test_years(text):
    assert said(text) == YEARS[text]


@pytest.mark.parametrize("text", CARDINALS)
def test_cardinals(text):
    assert said(text) == CARDINALS[text]


@pytest.mark.parametrize(
    ("text", "language", "told"),
    [
        ("3/4/2021", "en", "3/4/2021 is read as March 4 (en-US); pass --lang en-GB for day first"),
        ("3/4/2021", "en-US", "3/4/2021 is read as March 4 (en-US); pass --lang en-GB for day first"),
        ("3/4/2021", "en-GB", "3/4/2021 is read as 3 April (en-GB); pass --lang en-US for month first"),
        ("3/4/2021", "en_AU", "3/4/2021 is read as 3 April (en-AU); pass --lang en-US for month first"),
        ("3.4.2021", "en-US", "3.4.2021 is read as 3 April (day first, as dates with points are written)"),
        ("1/2/99", "en-IN", "1/2/99 is read as 1 February (en-IN); pass --lang en-US for month first"),
    ],
)
def test_a_date_that_reads_both_ways_is_told(text, language, told):
    speaker = Speaker()
    speaker.replacements(text, language)
    assert speaker.warnings == (told,)


@pytest.mark.parametrize("text", ["31/12/2020", "12/31/2020", "4/4/2020", "2024-05-06", "March 4, 2021", "5/6"])
def test_a_date_that_reads_one_way_is_not_told(text):
    speaker = Speaker()
    speaker.replacements(text, "en-US")
    assert speaker.warnings == ()


@pytest.mark.parametrize(
    ("text", "words"), [("1984", "nineteen eighty-four"), ("12", "twelve"), ("2001.", "two thousand one.")]
)
def test_a_heading_that_is_a_number(text, words):
    assert said(text, heading=True) == words
