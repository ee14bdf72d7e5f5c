"""English: Roman numerals, only where something says that they are: headings, counted parts, rulers, centuries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from jobs.account import Why
from jobs.speaking.base import Context, Replacement, Rule
from jobs.speaking.english.numerals import replaced
from jobs.speaking.english.words import Locale, cardinal, locale_of, ordinal, year
from jobs.speaking.letters import word_set

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_FIRST_NO_YEAR = 2200
_WELL_FORMED = re.compile(r"(?=.)M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_ROMAN = r"[IVXLCDM]{1,12}"
_SMALL = r"[ivxl]{1,9}"
_CANDIDATE = re.compile(r"\b(?:[IVXLCDM]{1,12}|[ivxl]{1,9})(?:th|st|nd|rd|e)?\b")
_PARTS = word_set("""
Chapter Chapters Chap Ch Part Parts Pt Book Books Bk Act Acts Scene Scenes Sc Volume Volumes Vol Vols Section
Sections Sec Canto Cantos Appendix Phase Phases Type Types Class Title Article Articles Art Stage Stages Figure
Figures Fig Figs Table Tables Plate Plates Lesson Level Levels Episode Season Stave Psalm Sonnet Mark Mk Grade
Category Schedule Annex Exhibit Unit Group Round Rule Step Series Division Amendment Amendments Bowl War Page
Pages Letter Sura Ode Elegy Line Numeral Numerals Corps Olympiad Symphony Sonata Quartet Concerto Apollo Gemini
Saturn
""")
_PART_FORMS = (
    _PARTS | {part.upper() for part in _PARTS} | {part.lower() for part in _PARTS} | word_set("p pp No Nos no nos §")
)
_LIST = r"(?:(?:, (?:and )?| and | or | to | & | ?[-–] ?){0}\b){{0,8}}"
_AFTER_WORD = re.compile(
    rf"(?:\b([A-Za-z]{{1,12}})\.?|(§)) ({_ROMAN}\b{_LIST.format(_ROMAN)}|{_SMALL}\b{_LIST.format(_SMALL)})"
    r"(?![-'][A-Za-z]{2})"
)
_ONE = re.compile(rf"\b(?:{_ROMAN}|{_SMALL})\b")
_HIGH_SINGLE = word_set("chapter chap ch canto cantos psalm sonnet ode")
_NAMES = word_set("""
Abdul Abdullah Adrian Afonso Agapetus Albert Alexander Alexios Alfonso Alfred Amenhotep Anastasius Antiochus
Artaxerxes August Augustus Baldwin Basil Benedict Bohemond Boniface Boris Casimir Catherine Celestine Charles
Christian Christina Clement Cleopatra Conrad Constans Constantine Constantius Cyrus Darius David Demetrius Edgar
Edmund Edward Elizabeth Eric Ethelred Eugene Eugenius Ferdinand Francis Frederick Friedrich Fuad Fulk George
Gregory Gustav Gustavus Haakon Hadrian Hamid Harald Harold Henri Henry Hussein Innocent Isaac Isabella Ivan Ivar
James Joan Johan John Joseph Juan Julius Justin Justinian Karl Ladislaus Leo Leon Leonidas Leopold Lothair Louis
Ludwig Magnus Mahmud Malcolm Manuel Margaret Maria Mary Martin Matthias Maximilian Mehmed Michael Mithridates
Mohammed Moritz Murad Mustafa Napoleon Nero Nicholas Olaf Oscar Otto Paul Pedro Pepin Peter Philip Pius Ptolemy
Rainier Rama Ramesses Ramses Richard Robert Romanos Rudolf Rudolph Sancho Seti Sigismund Sixtus Stephen Suleiman
Sverre Sweyn Sylvester Theodore Theodosius Theodoric Thutmose Tiberius Umberto Urban Valdemar Valentinian Victor
Vittorio Vladimir Wenceslaus Wilhelm William Willem Xerxes Yazid Zog
""")
_TITLE_BEFORE = re.compile(
    r"\b(?:King|Queen|Pope|Emperor|Empress|Tsar|Czar|Sultan|Prince|Duke|Kaiser|Shah|Pharaoh|Caliph|Patriarch|Earl|Count)"
    r" (?:[A-Z][a-zé]{2,20} )?$"
)
_RULER = re.compile(r"\b([A-Z][A-Za-zé]{1,20}) ([IVX]{1,7})\b(?!-?[A-Za-z0-9])")
_NOT_RULERS = frozenset({"Malcolm X"})
_OWN_STOP = re.compile(r"\.(?= [a-z])")
_CENTURY = re.compile(
    r"\b([IVXL]{1,7})(?:th|st|nd|rd|e)?(?:( and | or | to | ?[-–] ?)([IVXL]{1,7})(?:th|st|nd|rd|"
    r"e)?)?(?=[- ](?:century|centuries|c\.|Corps|Legion|Olympiad|Dynasty|dynasty))"
)
_WITH_SUFFIX = re.compile(r"\b(?:([IVXLC]{2,9})(?:th|st|nd|rd)|([VX])th)\b")
"""A single letter only where no word looks like it (`Ind.`, `Ist`)."""
_HEADING = re.compile(rf"[\"“(\[]?({_ROMAN}|{_SMALL})(?:([.:)\]]|\s*[—–-]|\.\s*[—–-])(?=\s|$|\w)|$)")
_SEQUEL = re.compile(
    r"\b(?:([A-Z][a-zé]{1,24})|[A-Z]{3,24}) (II|III|IV|VI{1,3}|IX|XI{1,3}|XIV|XVI{0,3}|XI?X|"
    r"XXI{0,3})\b(?!-?[A-Za-z0-9])"
)
_NO_SEQUEL = word_set("""
The A An This That These Those His Her My Your Their Our Its In On At By With From For And But Or When If No Not
Each Every Use Open Run Start Launch Begin Hang Remove Give Via Then Both Some Any As To An Another New Old
Editor
""")
_NO_NUMERAL_AFTER = re.compile(
    r"\s(?:drips?|fluids?|lines?|bags?|therapy|antibiotics?|poles?|stands?|tubes?|needles?|access|"
    r"catheters?|solutions?|push|"
    r"infusions?|medications?|drugs?|use|editor|commands?)\b"
)
_LETTERS_IV = re.compile(r"(?<![\w.-])IV(?= [a-z])")
_MEMBER = re.compile(r"[IVXLC]{1,8}")
_ROW = re.compile(r"[IVXLC]{1,8}(?:, (?:and |or )?[IVXLC]{1,8}){1,30}\s?[.!?]?\s?")
_ENDS_HERE = re.compile(r"$|[.,;:)\]]")
_PRONOUN_AFTER = re.compile(
    r"(?:'|’)(?:m|ve|d|ll)\b| (?:am|have|do|don['’]t|think|want|wanted|love|loved|like|liked|know|knew|"
    r"wrote|mean|hope|wish|never|read|said|saw|found|told|asked|thought|"
    r"(?:ca|wo|did|could|would|should)n['’]t)\b"
)
_DID_AFTER = re.compile(
    r" (?:always |once |just |first |ever |only |had |was [a-z]{2,16}ing\b)?(?!(?:ended|started|opened|closed|concluded"
    r"|introduced|described|appeared|followed|covered|covers|included|contained|explained|showed|related|treated)\b)"
    r"(?:(?<=ing)|(?:[a-z]{2,16}ed|bought|sold|brought|sent|gave|got|took|chose|held|kept|left|lent|lost|made|needed"
    r"|put|sought|spoke|taught|threw|tore|won|drew|sang|played|heard|felt|forgot|hid|stole|burnt|learnt|meant)\b)"
)
"""What somebody does with it: `Book I bought was red`."""
_RULES_AFTER = re.compile(
    r"[^A-Za-z ]|$| (?:of|and|or|the|reigned|ruled|died|who|in|at|on|by|as|is|issued|succeeded|ordered|became|to"
    r"|abdicated|was (?:an?|the|his|her|born|crowned|king|queen|pope|emperor|executed|beheaded|murdered|assassinated"
    r"|buried|deposed|succeeded|forced)|had (?:no|been|his|her|many|few)|lost (?:his|her|the)|(?:married|granted|signed"
    r"|dissolved|summoned|invaded|conquered|defeated|founded|built) (?:an?|the|his|her|[A-Z]))\b"
)
_INITIAL_AFTER = re.compile(r"\. ?[A-Z]")
_WORLD_WARS = re.compile(r"\bWW ?(I{1,3}|[12])(?!\w)")
_YEAR = re.compile(r"\b(M[MDCLXVI]{3,11})\b")
_SIGNS = re.compile(r"[Ⅰ-ↈ]{1,12}")


def roman_value(numeral: str) -> int | None:
    """The value of a well-formed numeral below 4000 in capitals; None for every other word."""
    if _WELL_FORMED.fullmatch(numeral) is None:
        return None
    values = [_VALUES[char] for char in numeral]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


@lru_cache(maxsize=64)
def _has_candidate(text: str) -> bool:
    return _CANDIDATE.search(text) is not None


def headings(text: str, context: Context) -> Iterator[Replacement]:
    """A heading that begins with a numeral, or is one; any sentence that is nothing but one of two letters or more."""
    match = _HEADING.match(text)
    if match is None:
        return
    numeral, alone = match[1], not any(char.isalnum() for char in text[match.end(1) :])
    value = roman_value(numeral.upper())
    if value is None or value > 399:
        return
    if context.heading:
        if (numeral in ("L", "C") and not alone) or (numeral.islower() and len(numeral) < 2):
            return
    elif not alone or len(numeral) < 2 or set(numeral) - set("IVX"):
        return
    yield _said(text, match.span(1), cardinal(str(value), locale_of(context.language)))


def parts(text: str, context: Context) -> Iterator[Replacement]:
    """`Chapter IV`, `Acts I and II`, `World War II`, `p. xii`."""
    if not _has_candidate(text):
        return
    locale = locale_of(context.language)
    for match in _WORLD_WARS.finditer(text):
        number = match[1] if match[1].isdigit() else str(len(match[1]))
        yield _said(text, match.span(), f"World War {cardinal(number, locale)}")
    for match in _AFTER_WORD.finditer(text):
        part, numerals = match[1] or match[2], match[3]
        if part not in _PART_FORMS or not _may_follow(part, numerals, text, match.end()):
            continue
        found = _ONE.findall(numerals)
        values = [roman_value(one.upper()) for one in found]
        if all(value is not None and value < 1000 for value in values):
            words = iter([cardinal(str(value), locale) for value in values])
            said = _ONE.sub(lambda _, words=words: next(words), numerals)
            yield _said(
                text, match.span(3), re.sub(r" ?[-–] ?", " to ", said) if "-" in numerals or "–" in numerals else said
            )


def _may_follow(part: str, numerals: str, text: str, end: int) -> bool:
    """Whether a numeral after this word is one: `part I like` and `Appendix C` are not."""
    if len(numerals) > 1:
        return True
    if part.lower() in ("no", "nos"):
        return _ENDS_HERE.match(text, end) is not None  # `No. I will not.`
    if numerals in "LCDM":
        return part.lower() in _HIGH_SINGLE
    if numerals.islower():
        return (
            part.lower() not in ("part", "type", "class", "line", "letter", "mark")
            and _ENDS_HERE.match(text, end) is not None
        )
    if part.islower() and numerals != "V":
        return _ENDS_HERE.match(text, end) is not None
    if _PRONOUN_AFTER.match(text, end) is not None:
        return False
    return numerals != "I" or part.lower() == "war" or _DID_AFTER.match(text, end) is None


def rulers(text: str, context: Context) -> Iterator[Replacement]:
    """`Henry VIII`, `Pope John Paul II`, `Elizabeth II's`."""
    if not _has_candidate(text):
        return
    locale = locale_of(context.language)
    for match in _RULER.finditer(text):
        value = roman_value(match[2])
        if value is not None and value <= 40 and _is_ruler(text, match):
            yield _said(text, match.span(2), f"the {ordinal(str(value), locale)}")


def _is_ruler(text: str, match: re.Match[str]) -> bool:
    name, numeral, end = match[1], match[2], match.end()
    titled = _TITLE_BEFORE.search(text[max(0, match.start() - 40) : match.start()]) is not None
    if match.group() in _NOT_RULERS or not (titled or name in _NAMES or (name.isupper() and name.title() in _NAMES)):
        return False
    if len(numeral) > 1:
        return True
    if _INITIAL_AFTER.match(text, end) or _PRONOUN_AFTER.match(text, end):
        return False
    # `To James I said no`, `Mary I trusted`: the pronoun, unless something of a ruler follows.
    return numeral != "I" or titled or _RULES_AFTER.match(text, end) is not None


def centuries(text: str, context: Context) -> Iterator[Replacement]:
    """`the XIV century`, `XVIII–XIX centuries`, `the XIXth`."""
    if not _has_candidate(text):
        return
    locale = locale_of(context.language)
    for match in _CENTURY.finditer(text):
        first, last = roman_value(match[1]), roman_value(match[3]) if match[3] else 0
        if first is None or last is None:
            continue
        words = ordinal(str(first), locale)
        if match[3]:
            joint = match[2].strip()
            words += f" {'to' if joint in ('-', '–') else joint} {ordinal(str(last), locale)}"
        yield _said(text, match.span(), words)
    for match in _YEAR.finditer(text):
        if (value := roman_value(match[1])) is not None and value < _FIRST_NO_YEAR:
            yield _said(text, match.span(), year(str(value), locale))
    for match in _WITH_SUFFIX.finditer(text):
        if (value := roman_value(match[1] or match[2])) is not None:
            yield _said(text, match.span(), ordinal(str(value), locale))


def sequels(text: str, context: Context) -> Iterator[Replacement]:
    """`Rocky II`, `Final Fantasy VII`: a name and a numeral of two letters or more."""
    if not _has_candidate(text):
        return
    locale = locale_of(context.language)
    for match in _SEQUEL.finditer(text):
        capitals = match[1] is None
        if match[1] in _NO_SEQUEL or (capitals and match[2] in ("IV", "VI", "XI", "XX", "XV")):
            continue
        value = roman_value(match[2])
        if value is not None and _NO_NUMERAL_AFTER.match(text, match.end()) is None:
            yield _said(text, match.span(2), cardinal(str(value), locale))


def rows(text: str, context: Context) -> Iterator[Replacement]:
    """`I, II, III.`: a sentence that is nothing but numerals, one of them II or III."""
    if "II" not in text or _ROW.fullmatch(text) is None:
        return
    locale = locale_of(context.language)
    found = [(match.span(), roman_value(match.group())) for match in _MEMBER.finditer(text)]
    if all(value is not None for _, value in found):
        yield from (_said(text, span, cardinal(str(value), locale)) for span, value in found)


def drips(text: str, _: Context) -> Iterator[Replacement]:
    """`the IV drip`: letters."""
    for match in _LETTERS_IV.finditer(text):
        if _NO_NUMERAL_AFTER.match(text, match.end()) is not None:
            yield replaced(text, match.span(), "I V", Why.ACRONYM)


def signs(text: str, context: Context) -> Iterator[Replacement]:
    """`Ⅳ`, which has a code point of its own."""
    if text.isascii():
        return
    locale = locale_of(context.language)
    for match in _SIGNS.finditer(text):
        value = roman_value(unicodedata.normalize("NFKC", match.group()).upper())
        before = text[max(0, match.start() - 24) : match.start()].rstrip().rpartition(" ")[2]
        yield _said(text, match.span(), _sign_words(match.group(), value, before, locale))


def _sign_words(run: str, value: int | None, before: str, locale: Locale) -> str:
    if value is None:
        return " ".join(cardinal(str(int(unicodedata.numeric(char, 0))), locale) for char in run)
    return f"the {ordinal(str(value), locale)}" if before in _NAMES else cardinal(str(value), locale)


def _said(text: str, span: tuple[int, int], words: str) -> Replacement:
    """A numeral in words, with its own full stop where the sentence goes on (`Charles V. and`)."""
    start, end = span
    return replaced(text, (start, end + bool(_OWN_STOP.match(text, end))), words, Why.ROMAN)


RULES: tuple[Rule, ...] = (signs, headings, rows, centuries, parts, rulers, sequels, drips)
