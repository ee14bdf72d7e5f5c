"""English quantities: numbers with a unit, percent, degrees, feet and inches."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.account import Why
from jobs.speaking.base import Replacement, Rule
from jobs.speaking.english.numerals import (
    DASH,
    NUMBER,
    SIGN,
    START,
    VULGAR,
    is_single,
    number_words,
    on_numbers,
    replaced,
    without_final_stop,
)
from jobs.speaking.english.unit_names import DOTTED, POWERED, UNITS, unit_name
from jobs.speaking.english.words import Locale, cardinal
from jobs.speaking.english.years import SECONDS

_COMMA_NUMBER = rf"(?:[0-9]{{1,9}},[0-9]{{1,2}}(?![0-9]|,[0-9])|{NUMBER})"
_SYMBOLS = sorted(
    {*UNITS, "℃", "℉", "° C", "° F", "μm", "μg", "μs", "um", "ug", "us", "sq. ft", "sq. m", "cu. ft", "c."}, key=len
)
_SINGLE = "|".join(re.escape(symbol) for symbol in reversed(_SYMBOLS))
_POWERED = "|".join(POWERED)
_PER = (
    r"(?:/(?:s[²2]|m[²³23]|cm[²³]|ft[²³]|km²|(?:sec|min|hr|hour|kWh|day|person|year|kg|lb|yr|mo|wk|km|mi|"
    r"ml|dL|dl|mL|gal"
    r"|in|ft|oz|s|h|m|g|l|L|d))(?![A-Za-z0-9²³]))?"
)
_UNIT = rf"(?:(?:(?:{_POWERED})[²³23]|{_SINGLE})(?![A-Za-z0-9²³]){_PER}|[°%‰])"
_QUANTITY = re.compile(
    rf"{START}({SIGN}?)({_COMMA_NUMBER})"
    rf"(?:( ?%| ?°)?( ?[x×] ?|{DASH})({SIGN}?{_COMMA_NUMBER})(?: ?([x×]) ?({NUMBER}))?)?"
    rf"( million| billion| thousand| trillion)?([ -]?)({_UNIT})(\.)?"
)
_AFTER_POWER = re.compile(
    rf"(?:[0-9][⁻⁺]?[⁰¹²³⁴-⁹]{{1,4}}|[0-9][eE][-−+]?[0-9]{{1,3}})[ ](?!in\b|[A-Z](?![A-Za-z])|[°%‰])({_UNIT})(?!\w)"
)
_ANY = re.compile(r"[0-9¼½¾⅐-⅞](?:[ -]| million | billion | thousand )?[A-Za-zµμΩΩ°℃℉%‰]")
_FEET = re.compile(
    rf"{START}([0-9]{{1,3}}) ?(?:'|′) ?([0-9]{{1,2}}(?:[ .]?[0-9]?(?:[½¼¾]|\.[0-9]{{1,2}}))?)"
    r"(?: ?(?:\"|″|”|''|′′))?(?![0-9A-Za-z%'])"
)
_PRIMES = re.compile(rf"{START}({NUMBER}) ?(′|″)")
_FEET_ALONE = re.compile(
    rf"{START}({NUMBER})'(?= ?(?:tall|long|wide|high|deep|thick|x|×|by)\b|(?<=[x×] [0-9]')|(?<=[x×] [0-9][0-9]'))"
)
_INCHES = re.compile(rf"{START}({NUMBER})\"(?=[ -][a-z]| ?[x×])")
_ANGLE = re.compile(
    r"(?<![0-9A-Za-z.])([-−]?)([0-9]{1,3}(?:\.[0-9]{1,9})?) ?°(?: ?([0-9]{1,2}(?:\.[0-9]{1,9})?) ?(?:'|′)"
    r"(?: ?([0-9]{1,2}(?:\.[0-9]{1,9})?) ?(?:\"|″|”|''))?)?(?: ?([NSEW])(?![A-Za-z]))?"
)
_POINTS = {"N": " north", "S": " south", "E": " east", "W": " west"}
_LETTERS = frozenset("AVWKBLNJtdhgslm")
_RISKY = frozenset("AKBNJd")
"""Letters that after a number are more often something else than a unit."""
_RISKY_AFTER = re.compile(
    r"$|[.,;:)\]]|[-/ ](?:fuse|current|supply|circuit|breaker|load|and|at|of|or|per|in|to|is|was|for)\b"
)
_GLUED_CODES = frozenset("AKBNJTd")
"""Letters that glued to a number are a part of its name: `5A`, `4K`."""
_YEAR_BEFORE = re.compile(r"\b(?:in|since|by|until|from|before|after|during|year|of|early|late)\s$", re.IGNORECASE)
_ARTICLE = re.compile(r"\b(?:an?|each|every)\s$", re.IGNORECASE)
_NOUN_AFTER = re.compile(
    r" (?!(?:and|or|of|at|to|in|from|by|per|on|for|is|was|are|were|the|a|an|away|above|below|under|over)\b)[a-z]"
)
_FEW = re.compile(rf"(?:[1-9] ?-?)?(?:[{VULGAR}]|[1-9]/[1-9])|[1-9]|1[0-2]")
_IN_CUPS = re.compile(
    r" (?:of )?(?:(?!(?:and|or|in|to|is|was|of)\b)[a-z-]{2,16},? ){0,3}"
    r"(?:flour|sugar|milk|water|butter|cream|oil|rice|oats|oatmeal|broth"
    r"|stock|cheese|nuts|pecans|walnuts|almonds|raisins|cornmeal|syrup|molasses|honey|vinegar|juice|wine|yogh?urt|buttermilk"
    r"|shortening|cocoa|chocolate|chips|crumbs|onions?|celery|carrots?|beans|peas|corn|berries|blueberries|strawberries"
    r"|apples?|pumpkin|coconut|mayonnaise|ketchup|salsa|sauce|margarine|coffee|tea|lard|salt|starch|cornstarch|spinach"
    r"|parsley|mushrooms|potato(?:es)?|tomato(?:es)?|chicken|ham|macaroni|noodles|lentils|dates|currants|cranberries)\b"
)
"""What is measured in cups."""
_TYPE_AFTER = re.compile(
    r"[ -](?:bold |italic |regular |serif |sans )?(?:fonts?|type|typeface|text|Times|Arial|Helvetica|Courier|Garamond"
    r"|Calibri|Georgia|Verdana|Palatino|Roman|Bodoni|Caslon|lettering|rule|line spacing|leading)\b"
)
_INCH_AFTER = re.compile(r"\.| (?:long|wide|high|tall|deep|thick|across)\b")
_HOURS_BEFORE = re.compile(r"[0-9] ?(?:h|hrs?|hours?),? $")
_FEET_BEFORE = re.compile(r"[0-9] ?(?:ft\.?|feet|') $")
_GUN_OR_FILM = re.compile(
    r" (?:pistols?|guns?|rifles?|films?|lens|lenses|cannons?|bullets?|rounds?|cameras?|bolts?|screws?)\b"
)
_LABEL = re.compile(
    r"\b(?:Exhibit|Room|Section|Apt\.?|Suite|Unit|Gate|Seat|Row|Block|Platform|Figure|Fig\.|Table|Part|"
    r"Grade|Class|Plan|Level|"
    r"Floor|Flat|Route|No\.|Bus|Line|Door|Bay|Pier|Ward|Lot|Form|Schedule) $"
)
_LAW_BEFORE = re.compile(
    r"(?:\b(?:sections?|sec\.|clauses?|paragraphs?|para\.|articles?|art\.|rules?) |§ ?)$", re.IGNORECASE
)
"""`Section 5 d`"""


@on_numbers
def feet(text: str, locale: Locale) -> Iterator[Replacement]:
    """`5'10"`, `6′`, `12" wide`, `45°30′N`."""
    if "°" in text:
        yield from _angles(text, locale)
    for match in _FEET.finditer(text):
        inches = number_words(match[2].strip(), locale)
        words = f"{cardinal(match[1], locale)} {'foot' if match[1] == '1' else 'feet'} {inches}"
        yield replaced(text, match.span(), words, Why.UNIT)
    for match in _PRIMES.finditer(text):
        one, many = ("foot", "feet") if match[2] == "′" else ("inch", "inches")
        words = f"{number_words(match[1], locale)} {one if is_single(match[1]) else many}"
        yield replaced(text, match.span(), words, Why.UNIT)
    for match in _FEET_ALONE.finditer(text):
        words = f"{number_words(match[1], locale)} {'foot' if is_single(match[1]) else 'feet'}"
        yield replaced(text, match.span(), words, Why.UNIT)
    # An even count of straight quotes before: there is no open one that this could close.
    text = _FEET.sub(lambda match: match.group().replace('"', "″"), text)
    quotes, position = 0, 0
    for match in _INCHES.finditer(text):
        quotes += text.count('"', position, match.end() - 1)
        position = match.end() - 1
        if quotes % 2 == 0:
            position = match.end()
            words = f"{number_words(match[1], locale)} {'inch' if is_single(match[1]) else 'inches'}"
            yield replaced(text, match.span(), words, Why.UNIT)


@on_numbers
def quantities(text: str, locale: Locale) -> Iterator[Replacement]:
    """`12 m`, `5-10 km`, `3.5 %`, `30 km/h`, `3 × 4 m²`, `-5 °C`."""
    if not _ANY.search(text):
        return
    for match in _QUANTITY.finditer(text):
        gap, symbol, stop = match[9], match[10], match[11]
        end = match.end(10)
        if not _is_unit(text, match):
            continue
        if stop and symbol in DOTTED:
            end = without_final_stop(text, match.end())
        last = match[7] or match[5]
        single = is_single(match[2]) and last is None and not match[8]
        adjectival = (
            gap == "-"
            or (_ARTICLE.search(_before(text, match)) and _NOUN_AFTER.match(text, end))
            or (symbol == "mm" and _GUN_OR_FILM.match(text, end))
        )
        name = unit_name(symbol, single=bool(single or adjectival), british=locale.british)
        if name is None:
            continue
        if symbol == "pt" and _TYPE_AFTER.match(text, end):
            name = "point"
        if symbol == "m" and _HOURS_BEFORE.search(_before(text, match)):
            name = "minute" if single else "minutes"
        joint = "-" if gap == "-" else " "
        words = f"{_numbers(match, locale)}{match[8] or ''}{joint}{name}"
        yield replaced(text, (match.start(), end), words, Why.UNIT)


@on_numbers
def after_powers(text: str, locale: Locale) -> Iterator[Replacement]:
    """The unit of `3×10⁸ m/s` and `9.1e-31 kg`; the number is read by other rules."""
    if not _AFTER_POWER.search(text):
        return
    british = locale.british
    for match in _AFTER_POWER.finditer(text):
        name = unit_name(match[1], single=False, british=british)
        if name is not None and match[1] not in ("pts", "day", "person", "year", "us", "mo"):
            yield Replacement(*match.span(1), name, Why.UNIT)


def _numbers(match: re.Match[str], locale: Locale) -> str:
    sign, first, _, joint, second, by, third = match.groups()[:7]
    words = _number(sign + first, locale)
    if second is None:
        return words
    between = "by" if "x" in joint or "×" in joint else "to"
    words += f" {between} {_number(second, locale)}"
    return f"{words} by {_number(third, locale)}" if by else words


def _number(number: str, locale: Locale) -> str:
    """`3,5` has a decimal comma: beside a unit it is no list."""
    if re.fullmatch(r"[^0-9]?[0-9]+,[0-9]{1,2}", number):
        number = number.replace(",", ".")
    return number_words(number, locale)


def _is_unit(text: str, match: re.Match[str]) -> bool:
    number, gap, symbol, end = match[2], match[9], match[10], match.end(10)
    if symbol in ("pts", "day", "person", "year", "us", "mo"):
        return False
    if symbol in ("c", "c."):
        return _FEW.fullmatch(number) is not None and _IN_CUPS.match(text, end) is not None
    if symbol == "in":
        return _is_inch(text, match)
    if symbol == "s" and not gap and number.isdigit() and match[5] is None:
        # `20s` and `747s` are plurals, but where something lasts.
        return SECONDS.search(_before(text, match)) is not None
    if symbol not in _LETTERS:
        return True
    if symbol.isupper() and _LABEL.search(_before(text, match)):
        return False
    if symbol.islower() and _LAW_BEFORE.search(_before(text, match)):
        return False
    if gap == "-" and symbol in _GLUED_CODES:
        return False
    if len(number) == 4 and symbol.isupper() and _YEAR_BEFORE.search(_before(text, match)):
        return False
    if symbol.isupper() and re.compile(r"\. ?[A-Z]").match(text, end):
        # `In 1914 W. Churchill`: an initial.
        return False
    if text[end : end + 1] == "'":
        return False
    if symbol in _GLUED_CODES and not gap:
        return False
    return symbol not in _RISKY or _RISKY_AFTER.match(text, end) is not None


def _is_inch(text: str, match: re.Match[str]) -> bool:
    """`5 in.`, `5in`, `5 in wide`, `5 ft 10 in`; never `5 in a row`."""
    if match[9] != " ":
        return True
    return _INCH_AFTER.match(text, match.end(10)) is not None or _FEET_BEFORE.search(_before(text, match)) is not None


def _angles(text: str, locale: Locale) -> Iterator[Replacement]:
    for match in _ANGLE.finditer(text):
        sign, degrees, minutes, seconds, point = match.groups()
        if minutes is None and point is None:
            continue
        words = f"{number_words(sign + degrees, locale)} {'degree' if degrees == '1' else 'degrees'}"
        if minutes:
            words += f" {number_words(minutes, locale)} {'minute' if minutes == '1' else 'minutes'}"
        if seconds:
            words += f" {number_words(seconds, locale)} {'second' if seconds == '1' else 'seconds'}"
        yield replaced(text, match.span(), words + _POINTS.get(point or "", ""), Why.UNIT)


def _before(text: str, match: re.Match[str]) -> str:
    return text[max(0, match.start() - 12) : match.start()]


RULES: tuple[Rule, ...] = (feet, quantities, after_powers)
