"""English units, as a voice is given them."""

from __future__ import annotations

import pytest

from jobs.speaking.speaker import Speaker
from tests.helpers_speaking import spoken_text


def said(text, language="en-US", *, heading=False):
    return spoken_text(text, Speaker().replacements(text, language, heading=heading))


AMERICAN = {
    "12 m": "twelve meters",
    "The rope is 12 m long.": "The rope is twelve meters long.",
    "4 kg": "four kilograms",
    "7%": "seven percent",
    "3.5 %": "three point five percent",
    "50–60%": "fifty to sixty percent",
    "5%-10%": "five to ten percent",
    "-5%": "minus five percent",
    "99.9%": "ninety-nine point nine percent",
    "37,5 %": "thirty-seven point five percent",
    "5‰": "five per mille",
    "30 km/h": "thirty kilometers per hour",
    "60 mph": "sixty miles per hour",
    "9.8 m/s²": "nine point eight meters per second squared",
    "120 g/cm³": "one hundred twenty grams per cubic centimeter",
    "100 m²": "one hundred square meters",
    "5 m3": "five cubic meters",
    "5 sq ft": "five square feet",
    "5 sq. ft": "five square feet",
    "1 km": "one kilometer",
    "0.5 km": "zero point five kilometers",
    "3 mm": "three millimeters",
    "12m long": "twelve meters long",
    "3 µg": "three micrograms",
    "3 μm": "three micrometers",
    "1 ft": "one foot",
    "1 lb": "one pound",
    "2 lbs.": "two pounds.",
    "2 oz. of gin": "two ounces of gin",
    "5 in.": "five inches.",
    "5in": "five inches",
    "5 in wide": "five inches wide",
    "5 in a row": "five in a row",
    "page 5 in the book": "page five in the book",
    "26.2 mi": "twenty-six point two miles",
    "3 yd": "three yards",
    "5 l": "five liters",
    "500 ml": "five hundred milliliters",
    "20°C": "twenty degrees Celsius",
    "-5 °C": "minus five degrees Celsius",
    "98.6°F": "ninety-eight point six degrees Fahrenheit",
    "45°": "forty-five degrees",
    "5° C": "five degrees Celsius",
    "20º": "twenty degrees",
    "45°N": "forty-five degrees north",
    "45°30′N": "forty-five degrees thirty minutes north",
    "300 K": "three hundred kelvins",
    "60 Hz": "sixty hertz",
    "2.4 GHz": "two point four gigahertz",
    "100 W": "one hundred watts",
    "5 kWh": "five kilowatt hours",
    "12 V": "twelve volts",
    "3 Ω": "three ohms",
    "8 GB": "eight gigabytes",
    "512 MB": "five hundred twelve megabytes",
    "50 Mbps": "fifty megabits per second",
    "30 s": "thirty seconds",
    "100 ms": "one hundred milliseconds",
    "2.5s": "two point five seconds",
    "It took 15s": "It took fifteen seconds",
    "a 3s delay": "a three second delay",
    "30 min": "thirty minutes",
    "2 hrs": "two hours",
    "1 h": "one hour",
    "10 px": "ten pixels",
    "See section 5 c and d.": "See section five c and d.",
    "See clause 4 d and section 5 m of it": "See clause four d and section five m of it",
    "The 5 c. was gone": "The five c. was gone",
    "2 c. brown sugar": "two cups brown sugar",
    "1/2 c milk": "one half cup milk",
    "a 12 pt font": "a twelve point font",
    "in 12 pt Times": "in twelve point Times",
    "2 pt milk": "two pints milk",
    "10 dB": "ten decibels",
    "250 kcal": "two hundred fifty kilocalories",
    "5'10\"": "five feet ten",
    "5′10″": "five feet ten",
    "6'2\"": "six feet two",
    "6' tall": "six feet tall",
    '12" and 10" pipes': "twelve inches and ten inches pipes",
    '"I am 5"': '"I am five"',
    "5-10 km": "five to ten kilometers",
    "5–10 km": "five to ten kilometers",
    "5 to 10 km": "five to ten kilometers",
    "3 x 4 m": "three by four meters",
    "3×4×5 cm": "three by four by five centimeters",
    "a 5 km run": "a five kilometer run",
    "a 5-km run": "a five-kilometer run",
    "the 12-ft wall": "the twelve-foot wall",
    "1/2 km": "one half kilometer",
    "½ mile": "one half mile",
    "2½ lb": "two and a half pounds",
    "9mm pistol": "nine millimeter pistol",
    "5 million km": "five million kilometers",
    "In 1914 W. Churchill spoke.": "In nineteen fourteen W Churchill spoke.",
    "Room 5A": "Room five A",
    "Exhibit 5 B": "Exhibit five B",
    "4G and 5G": "four G and five G",
    "5 A grades": "five A grades",
    "a 5 A fuse": "a five amp fuse",
    "It weighs 5 kg.": "It weighs five kilograms.",
}
BRITISH = {
    "1 km": "one kilometre",
    "5 km": "five kilometres",
    "3 l": "three litres",
    "5 km/h": "five kilometres per hour",
    "2 t": "two tonnes",
    "5 m²": "five square metres",
    "105 kg": "one hundred and five kilograms",
}


@pytest.mark.parametrize("text", AMERICAN)
def test_american(text):
    assert said(text) == AMERICAN[text]


@pytest.mark.parametrize("text", BRITISH)
def test_british(text):
    assert said(text, "en-GB") == BRITISH[text]
