"""English money: amounts with a sign or code of a currency, before or after; old shillings and pence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jobs.account import Why
from jobs.speaking.base import Replacement, Rule
from jobs.speaking.english.numerals import DASH, PLAIN, on_numbers, replaced, value_of, without_final_stop
from jobs.speaking.english.numerals import number_words as words_of
from jobs.speaking.english.words import Locale, cardinal


@dataclass(frozen=True, slots=True)
class _Currency:
    """Its name for one and for many, and of its hundredth; without a hundredth places are read as decimals."""

    one: str
    many: str
    cent: str = ""
    cents: str = ""


def _of(one: str, many: str | None = None, cent: str = "cent", cents: str | None = None) -> _Currency:
    return _Currency(one, one + "s" if many is None else many, cent, cent + "s" if cents is None else cents)


_DOLLAR = _of("dollar")
_POUND = _of("pound", cent="penny", cents="pence")
_EURO = _of("euro")
_YEN = _Currency("yen", "yen")
_RUPEE = _of("rupee", cent="paisa", cents="paise")
_FRANC = _of("franc", cent="centime")
_CROWN = _Currency("crown", "crowns")
_NAMES: dict[str, _Currency] = {
    "$": _DOLLAR,
    "£": _POUND,
    "€": _EURO,
    "¥": _YEN,
    "₹": _RUPEE,
    "₽": _of("ruble", cent="kopeck"),
    "₩": _Currency("won", "won"),
    "₺": _of("lira", "lira", cent="kurus", cents="kurus"),
    "₿": _of("bitcoin", cent=""),
    "₪": _of("shekel", cent="agora", cents="agorot"),
    "₦": _of("naira", "naira", cent="kobo", cents="kobo"),
    "₴": _of("hryvnia", cent=""),
    "₫": _Currency("dong", "dong"),
    "₱": _of("peso", cent="centavo"),
    "฿": _of("baht", "baht", cent="satang", cents="satang"),
    "₵": _of("cedi", cent="pesewa"),
    "¢": _of("cent", cent=""),
    "US$": _of("U S dollar"),
    "A$": _of("Australian dollar"),
    "AU$": _of("Australian dollar"),
    "C$": _of("Canadian dollar"),
    "CA$": _of("Canadian dollar"),
    "NZ$": _of("New Zealand dollar"),
    "HK$": _of("Hong Kong dollar"),
    "S$": _of("Singapore dollar"),
    "R$": _Currency("Brazilian real", "Brazilian reais"),
    "USD": _of("U S dollar"),
    "AUD": _of("Australian dollar"),
    "CAD": _of("Canadian dollar"),
    "EUR": _EURO,
    "NZD": _of("New Zealand dollar"),
    "HKD": _of("Hong Kong dollar"),
    "SGD": _of("Singapore dollar"),
    "GBP": _POUND,
    "JPY": _YEN,
    "CNY": _Currency("yuan", "yuan"),
    "RMB": _Currency("yuan", "yuan"),
    "INR": _RUPEE,
    "CHF": _of("Swiss franc", cent="centime"),
    "Fr.": _FRANC,
    "Rs.": _RUPEE,
    "Rs": _RUPEE,
    "SEK": _Currency("Swedish crown", "Swedish crowns"),
    "NOK": _Currency("Norwegian crown", "Norwegian crowns"),
    "DKK": _Currency("Danish crown", "Danish crowns"),
    "CZK": _CROWN,
    "PLN": _Currency("zloty", "zlotys"),
    "RUB": _of("ruble", cent="kopeck"),
    "BRL": _Currency("Brazilian real", "Brazilian reais"),
    "ZAR": _of("rand", "rand"),
    "KRW": _Currency("won", "won"),
    "MXN": _of("Mexican peso", cent="centavo"),
    "BTC": _of("bitcoin", cent=""),
}
_SIGN_CHARS = "$£€¥₹₽₩₺₿₪₦₴₫₱฿₵"
_ANY = re.compile(rf"[{_SIGN_CHARS}¢]|[A-Z]{{3}}|Rs|Fr\.|[0-9½](?:p|s|d)\b")
_CODE = "|".join(re.escape(name) for name in sorted(_NAMES, key=len, reverse=True) if name[0].isalpha())
_BEFORE_SIGN = rf"(?:(?<![A-Za-z])(?:{_CODE}) ?|[{_SIGN_CHARS}] ?)"
_MAGNITUDES = {"k": "thousand", "m": "million", "mn": "million", "mm": "million", "b": "billion", "bn": "billion"}
_MAGNITUDES |= {"t": "trillion", "tn": "trillion", "trn": "trillion"}
_LARGE = (
    r"(?:(?P<hyphen> ?-?)(?P<large>hundred|thousand|million|billion|trillion|crore|lakh)\b"
    r"|(?P<gap> ?)(?P<letter>k|K|mm|mn|m|M|MM|bn|BN|Bn|b|B|trn|tn|t|T)\b)"
)
_AMOUNT = rf"(?:[0-9]{{1,9}},[0-9]{{1,2}}(?![0-9]|,[0-9])|{PLAIN})"
_PREFIXED = re.compile(
    rf"(?P<sign>[-−–+±~≈]?)(?P<currency>{_BEFORE_SIGN})(?P<inner>[-−]?)(?P<first>{_AMOUNT})"
    r"(?:(?P<own> (?:hundred|thousand|million|billion|trillion)\b|(?:k|K|mn|m|M|bn|BN|Bn|b|B|tn|t|"
    r"T)(?=[-–]| [-–] ))?"
    rf"{DASH}(?:{_BEFORE_SIGN})?(?P<last>{_AMOUNT}))?(?:{_LARGE})?"
    r"(?: ?/ ?(?P<per>(?:kg|lb|oz|hr|h|mo|yr|wk|day|g|l|km|mi|sq\.? ft)(?![A-Za-z0-9])|(?=[A-Za-z0-9])))?"
)
_SUFFIXED = re.compile(
    rf"(?<![A-Za-z0-9_])(?<![0-9][.,:/])(?P<sign>[-−]?)(?P<first>{_AMOUNT})(?:{DASH}(?P<last>{_AMOUNT}))?"
    rf"{_LARGE}? ?(?P<currency>[{_SIGN_CHARS}¢](?! ?[0-9])|(?:{_CODE})(?![A-Za-z]| ?[0-9]))"
)
_OLD = re.compile(r"(?<![A-Za-z0-9])(?:£ ?([0-9,]{1,12}),? )?([0-9]{1,3}) ?s\.?,? ?([0-9]{1,2})(½)? ?d\b\.?")
_PENNIES = re.compile(r"(?<![A-Za-z0-9.,:/-])(1[01]|[1-9])(½)?d\.(?=[,;]| [a-z])")
_PENCE = re.compile(r"(?<![A-Za-z0-9.,:/-])([0-9]{1,3}) ?p\b(?![.-])")
_PENCE_AT_END = re.compile(r"(?<![A-Za-z0-9.,:/-])([0-9]{1,3})p(?=[.]?[\"'”’)]*$|\.[^A-Za-z0-9])")
_SIGN_WORDS = {"": "", "-": "minus ", "−": "minus ", "–": "minus ", "+": "plus ", "±": "plus or minus "}
_SIGN_WORDS |= {"~": "about ", "≈": "about "}
_MANY = re.compile(r"(?P<s>s)(?![A-Za-z0-9'’])")
_HUNDREDS = {"100": "hundreds", "1000": "thousands", "1000000": "millions"}
_COMMA_PLACES = re.compile(r"[0-9]+,[0-9]{1,2}")
_BEFORE_MINUS = ("", " ", "(", "[", '"', "'", "“", "‘")
_PER = {
    "kg": "kilogram",
    "lb": "pound",
    "oz": "ounce",
    "h": "hour",
    "hr": "hour",
    "mo": "month",
    "yr": "year",
    "wk": "week",
}
_PER |= {"day": "day", "g": "gram", "l": "liter", "km": "kilometer", "mi": "mile", "sq ft": "square foot"}
_ADJECTIVAL = re.compile(r"-(?!an?\b)[A-Za-z]| (?:bills?|notes?|coins?|stamps?|banknotes?|chips?|piece|pieces)\b")


@on_numbers
def signed(text: str, locale: Locale) -> Iterator[Replacement]:
    """`$5.30`, `-€3.5 million`, `US$ 40`, `$5-10/month`."""
    if not _ANY.search(text):
        return
    for match in _PREFIXED.finditer(text):
        sign, currency, first, last = match["sign"], _NAMES[match["currency"].strip()], match["first"], match["last"]
        gap, letter = match["gap"], match["letter"]
        if letter and gap and letter in ("k", "m", "mm", "b", "t"):
            # `$5 m`: the letter is a word of its own.
            yield replaced(
                text,
                (match.start("currency"), match.start("gap")),
                _words(currency, (first, last or "", ""), locale),
                Why.MONEY,
            )
            continue
        magnitude = _magnitude(match["large"], letter)
        if match["last"] is None and (many := _MANY.match(text, match.end("first"))) is not None:
            words = _many(currency, first, text[many.end("s") : many.end("s") + 32], locale)
            yield replaced(text, (match.start("currency"), many.end("s")), words, Why.MONEY)
            continue
        singular = _ADJECTIVAL.match(text, match.end()) or match["hyphen"] == "-"
        words = _words(currency, (first, last or "", magnitude), locale, adjectival=bool(singular and last is None))
        if match["own"]:
            own = _magnitude(match["own"].strip(), None) if match["own"][0] == " " else _magnitude(None, match["own"])
            words = f"{words_of(_with_point(first), locale)} {own} to {_words(currency, (last, '', magnitude), locale)}"
        per = match["per"]
        if per is not None:
            words += f" per {_per(per, locale)}" if per else " per "
        minus = match["inner"] or (sign if text[max(0, match.start() - 1) : match.start()] in _BEFORE_MINUS else "")
        words = f"{_SIGN_WORDS[minus]}{words}" if minus else words
        start = match.start() if minus and minus == sign else match.start("currency")
        one = replaced(text, (start, match.end()), words, Why.MONEY)
        yield Replacement(one.start, one.end, one.now.replace("  ", " "), one.why)


@on_numbers
def followed(text: str, locale: Locale) -> Iterator[Replacement]:
    """`5 €`, `40 USD`, `5¢`, `5-10 €`."""
    if not _ANY.search(text):
        return
    for match in _SUFFIXED.finditer(text):
        amount = (match["first"], match["last"] or "", _magnitude(match["large"], match["letter"]))
        words = _words(_NAMES[match["currency"]], amount, locale)
        yield replaced(text, match.span(), f"{_SIGN_WORDS[match['sign']]}{words}", Why.MONEY)


@on_numbers
def old(text: str, locale: Locale) -> Iterator[Replacement]:
    """`£3 10s. 6d.`, `2s. 6d.`; `50p` in Britain."""
    if not _ANY.search(text):
        return
    for match in _OLD.finditer(text):
        pounds, shillings, pence, half = match.groups()
        words = f"{cardinal(shillings, locale)} shilling{'' if shillings == '1' else 's'} and "
        words += f"{cardinal(pence, locale)}{' and a half' if half else ''} {'penny' if pence == '1' else 'pence'}"
        if pounds:
            count = pounds.strip(",").replace(",", "")
            words = f"{cardinal(count, locale)} pound{'' if count == '1' else 's'}, {words}"
        yield replaced(text, (match.start(), without_final_stop(text, match.end())), words, Why.MONEY)
    for match in _PENNIES.finditer(text):
        half = " and a half" if match[2] else ""
        words = f"{cardinal(match[1], locale)}{half} {'penny' if match.group() == '1d.' else 'pence'}"
        yield replaced(text, match.span(), words, Why.MONEY)
    if not locale.british:
        return
    for pattern in (_PENCE, _PENCE_AT_END):
        for match in pattern.finditer(text):
            words = f"{cardinal(match[1], locale)} {'penny' if match[1] == '1' else 'pence'}"
            yield replaced(text, match.span(), words, Why.MONEY)


def _words(currency: _Currency, amount: tuple[str, str, str], locale: Locale, *, adjectival: bool = False) -> str:
    """The words of an amount, or of a range of amounts: (first, last or "", magnitude or "")."""
    first, last, magnitude = (_with_point(part) for part in amount)
    name = currency.one if adjectival else currency.many
    large = f" {magnitude}" if magnitude else ""
    if last:
        return f"{words_of(first, locale)} to {words_of(last, locale)}{large} {name}"
    if magnitude:
        return f"{words_of(first, locale)}{large} {name}"
    whole, places = value_of(first)
    if len(places) != 2 or not currency.cent:
        return f"{words_of(first, locale)} {currency.one if whole == '1' and not places else name}"
    cents = cardinal(str(int(places)), locale)
    cent_name = currency.cent if places == "01" else currency.cents
    if whole.strip("0") == "" and places != "00":
        return f"{cents} {cent_name}"
    big = f"{words_of(whole, locale)} {currency.one if whole == '1' else name}"
    if places == "00":
        return big
    return f"{big} and {cents} {cent_name}" if places[0] == "0" else f"{big} {cents}"


def _many(currency: _Currency, amount: str, after: str, locale: Locale) -> str:
    """`$100s of books`, `$100s of dollars`; `$20s` are only an amount."""
    large = _HUNDREDS.get(amount.replace(",", ""))
    if large is None or not after.startswith(" of "):
        return _words(currency, (amount, "", ""), locale)
    return large if after.startswith(f" of {currency.many}") else f"{large} of {currency.many}"


def _magnitude(word: str | None, letter: str | None) -> str:
    return word or (_MAGNITUDES[letter.lower()] if letter else "")


def _with_point(amount: str) -> str:
    """`3,50` with a point: beside a currency it is no list."""
    return amount.replace(",", ".") if _COMMA_PLACES.fullmatch(amount) else amount


def _per(unit: str, locale: Locale) -> str:
    name = _PER[unit.replace(".", "")]
    return name.replace("liter", "litre").replace("meter", "metre") if locale.british else name


RULES: tuple[Rule, ...] = (old, signed, followed)
