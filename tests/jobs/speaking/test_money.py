"""English money, as a voice is given them."""

from __future__ import annotations

import pytest

from jobs.speaking.speaker import Speaker
from tests.helpers_speaking import spoken_text


def said(text, language="en-US", *, heading=False):
    return spoken_text(text, Speaker().replacements(text, language, heading=heading))


AMERICAN = {
    "It cost $5.30.": "It cost five dollars thirty.",
    "$5": "five dollars",
    "$100s of books": "hundreds of dollars of books",
    "$1,000s of dollars": "thousands of dollars",
    "He paid with $20s.": "He paid with twenty dollars.",
    "$1": "one dollar",
    "$0.99": "ninety-nine cents",
    "$.50": "fifty cents",
    "$0.01": "one cent",
    "$1.01": "one dollar and one cent",
    "$5.05": "five dollars and five cents",
    "$5.00": "five dollars",
    "$5.5": "five point five dollars",
    "$1,200": "one thousand two hundred dollars",
    "£1,200": "one thousand two hundred pounds",
    "£3.50": "three pounds fifty",
    "£1": "one pound",
    "£0.50": "fifty pence",
    "£0.01": "one penny",
    "€3.5 million": "three point five million euros",
    "$2bn": "two billion dollars",
    "$1.5M": "one point five million dollars",
    "$3.5m": "three point five million dollars",
    "$10k": "ten thousand dollars",
    "$1 million": "one million dollars",
    "¥900": "nine hundred yen",
    "5 €": "five euros",
    "5,30 €": "five euros thirty",
    "€3,50": "three euros fifty",
    "€1.200,50": "one thousand two hundred euros fifty",
    "€1.000.000": "one million euros",
    "US$ 40": "forty U S dollars",
    "A$5": "five Australian dollars",
    "C$5": "five Canadian dollars",
    "R$50": "fifty Brazilian reais",
    "₹500": "five hundred rupees",
    "₹1,00,000": "one hundred thousand rupees",
    "5¢": "five cents",
    "40 USD": "forty U S dollars",
    "EUR 50": "fifty euros",
    "USD 1.5 million": "one point five million U S dollars",
    "$5-10": "five to ten dollars",
    "$5–$10": "five to ten dollars",
    "$5 to $10": "five dollars to ten dollars",
    "$5bn-$10bn": "five billion to ten billion dollars",
    "$5-10 million": "five to ten million dollars",
    "$5/month": "five dollars per month",
    "$5/kg": "five dollars per kilogram",
    "$5 per month": "five dollars per month",
    "-$5": "minus five dollars",
    "$-5": "minus five dollars",
    "−$5": "minus five dollars",
    "($5)": "(five dollars)",
    "a $5 bill": "a five dollar bill",
    "a $20 note": "a twenty dollar note",
    "a $5-million deal": "a five million dollar deal",
    "$12,345.67": "twelve thousand three hundred forty-five dollars sixty-seven",
    "£3 10s. 6d.": "three pounds, ten shillings and six pence.",
    "2s. 6d.": "two shillings and six pence.",
    "Rs. 500": "five hundred rupees",
    "50p": "fifty p",
    "I paid $5.": "I paid five dollars.",
}
BRITISH = {
    "50p": "fifty pence",
    "1p": "one penny",
    "£105": "one hundred and five pounds",
    "€5/l": "five euros per litre",
    "£3.50": "three pounds fifty",
}


@pytest.mark.parametrize("text", AMERICAN)
def test_american(text):
    assert said(text) == AMERICAN[text]


@pytest.mark.parametrize("text", BRITISH)
def test_british(text):
    assert said(text, "en-GB") == BRITISH[text]
