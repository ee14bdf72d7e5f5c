"""English times and other colons, as a voice is given them."""

from __future__ import annotations

import pytest

from jobs.speaking.speaker import Speaker
from tests.helpers_speaking import spoken_text


def said(text, language="en-US", *, heading=False):
    return spoken_text(text, Speaker().replacements(text, language, heading=heading))


TIMES = {
    "at 9:05": "at nine oh five",
    "at 14:30.": "at fourteen thirty.",
    "at 12:00": "at twelve",
    "at 9:00": "at nine o'clock",
    "at 00:30": "at zero thirty",
    "9:05 a.m.": "nine oh five a m.",
    "He came at 5 p.m.": "He came at five p m.",
    "at 5 p.m. sharp": "at five p m sharp",
    "5pm": "five p m",
    "9:05am": "nine oh five a m",
    "at 9 AM": "at nine a m",
    "10 P.M. sharp": "ten p m sharp",
    "9.30 pm": "nine thirty p m",
    "11:59 PM": "eleven fifty-nine p m",
    "9-11 a.m.": "nine to eleven a m.",
    "9 a.m.–5 p.m.": "nine a m to five p m.",
    "from 5 to 6pm": "from five to six p m",
    "5:30-6:45 pm": "five thirty to six forty-five p m",
    "9:05–10:30": "nine oh five to ten thirty",
    "10:15:30": "ten fifteen thirty",
    "1:23:45": "one twenty-three forty-five",
    "14:00": "fourteen hundred",
    "00:00": "midnight",
    "12:00 noon": "twelve noon",
    "0900 hours": "oh nine hundred hours",
    "1430 hrs": "fourteen thirty hours",
    'He said "5 p.m."': 'He said "five p m."',
    "in the 5 a.m. light": "in the five a m light",
}
COLONS = {
    "The ratio is 3:1.": "The ratio is three to one.",
    "16:9": "sixteen to nine",
    "1:50,000": "one to fifty thousand",
    "odds of 10:30": "odds of ten to thirty",
    "50:50": "fifty fifty",
    "John 3:16": "John three sixteen",
    "Gen. 1:1-5": "Gen. one one to five",
    "Psalm 119:105": "Psalm one hundred nineteen one hundred five",
    "1 John 4:8": "first John four eight",
    "1 Cor. 13:4": "first Cor. thirteen four",
    "Mark 4:3": "Mark four three",
    "6: seven": "six: seven",
}


@pytest.mark.parametrize("text", TIMES)
def test_times(text):
    assert said(text) == TIMES[text]


@pytest.mark.parametrize("text", COLONS)
def test_colons(text):
    assert said(text) == COLONS[text]
