"""English: signs that are said as words, and signs of notation that have no word. Pure.

What nothing is said for in any language (`common.LAST`) is not repeated here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from jobs.account import Why
from jobs.speaking.base import Context, Replacement, Rule
from jobs.speaking.english.abbreviation_table import STARTERS

_WORDS = {
    "++": "plus plus", "&": "and", "＆": "and", "@": "at", "+": "plus", "=": "equals", "×": "times", "÷": "divided by",
    "±": "plus or minus",
    "≠": "is not equal to", "≈": "about", "≤": "is at most", "≥": "is at least", "→": "to", "⇒": "to", "↔": "and",
    "%": "percent", "‰": "per thousand", "°": "degrees", "§": "section", "∞": "infinity", "√": "square root of",
    "∑": "sum of", "∈": "in", "∆": "delta", "∂": "partial", "∫": "integral of", "∝": "proportional to",
    "∴": "therefore",
    "∵": "because", "½": "one half", "¼": "one quarter", "¾": "three quarters", "€": "euros", "£": "pounds",
    "¥": "yen", "₹": "rupees", "¢": "cents", "$": "dollars", "µ": "micro", "℃": "degrees Celsius",
    "℉": "degrees Fahrenheit", "♭": "flat", "♯": "sharp", "♮": "natural", "↑": "up", "↓": "down", "←": "from",
    "⋅": "times", "∙": "times", "−": "minus", "∓": "minus or plus", "∏": "product of", "∀": "for all", "∃": "there is",
    "∉": "not in", "∩": "intersection", "∪": "union", "⊂": "subset of", "⊆": "subset of", "∅": "empty set",
    "≡": "is identical to", "≅": "is about equal to", "≪": "is much less than", "≫": "is much greater than",
    "⟶": "to", "⇔": "if and only if", "∼": "about", "№": "number",
}  # fmt: skip
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi"
    " psi omega"
)
_GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψω",
        _GREEK_NAMES.split(),
        strict=True,
    )
)
_PAIRED = ("he", "she", "him", "her", "his", "hers", "himself", "herself", "they", "them", "their", "yes", "no")
_FOUND = re.compile(
    r"(?P<shehe>(?<!\w)\(s\)he(?!\w)|(?<!\w)s/he(?!\w))"
    r"|(?P<music>(?<!\w)[A-G]#(?!\w)|(?<!\w)[CF]#(?!\w))"
    r"|(?P<tag>(?<![\w&#])#(?=[A-Za-z_]))"
    r"|(?P<apart>(?<=\s)/(?=\s))"
    r"|(?P<lean>(?<![^\s(\"“])/(?=[^\W\d_][\w'’ -]{0,40}/(?![\w/]))|(?<=\w)/(?=[.,;:!?](?:\s|$)))"
    r"|(?P<compare>[+-]=|<=|>=|==+|!=|=>|->|<->|<-|[<>](?=\s?[-−$£€]?\d)|(?<=\w\s)[<>](?=\s\w))"
    r"|(?P<power>(?<=[\w)])\^(?=[-−]?\w))"
    r"|(?P<about>(?<![\w~])~(?=[$£€]?\d))"
    r"|(?P<product>(?<=\d)\s?\*\s?(?=\d))"
    r"|(?P<grade>(?<=[\s(\"“][A-D])-(?=[\s,.;:)\"”]|$)(?! (?:and|or|to)\b))"
    r"|(?P<paragraph>¶¶?\s?(?=\d))"
    r"|(?P<sections>§§)"
    r"|(?P<slash>(?<=[\w)])/(?=[\w(])|(?<=\w)/(?!\S))"
    r"|(?P<greek>(?<![^\W\d_])[α-ωΑ-Ω](?![^\W\d_]|[α-ωΑ-Ω])|(?<![^\W\d_])[ΔδΣ](?=[A-Za-z]{1,2}(?![^\W\d_])))"
    r"|(?P<hash>(?<!\w)#(?=\s?\d))"
    r"|(?P<glued>(?<=[a-z]{2})\.(?=[a-z]{2}))"
    r"|(?P<word>\+\+|[&＆@+=×÷±≠≈≤≥→⇒↔%‰°§∞√∑∈∆∂∫∝∴∵½¼¾€£¥₹¢$µ℃℉♭♯♮↑↓←⋅∙−∓∏∀∃∉∩∪⊂⊆∅≡≅≪≫⟶⇔∼])"
    r"|(?P<dot>(?<![^\s(\"'“‘])(?<!\. )\.(?=[a-z]{2}|[A-Z]{2}))"
)
_COMPARED = {
    "+=": "plus equals", "-=": "minus equals",
    "<=": "is at most", ">=": "is at least", "==": "equals", "!=": "is not equal to", "=>": "to", "->": "to",
    "<->": "and", "<-": "from", "<": "less than", ">": "greater than",
}  # fmt: skip
_NUMBERS_BESIDE = re.compile(r"[0-9] / [0-9]")
_ANY = re.compile(r"[^\w\s.,;:!?'\"’‘“”()—–-]|[α-ωΑ-Ω½¼¾µ]|[A-D]-(?!\w)|[a-z]{2}\.[a-z]{2}|(?:^|[\s(\"])\.[A-Za-z]{2}")
_RULER_CHARS = 3


def _rule(text: str, _context: Context) -> Iterator[Replacement]:
    if _ANY.search(text) is None:
        return
    for match in _FOUND.finditer(text):
        word = _SAID[str(match.lastgroup)](text, match)
        if word is not None:
            now = _apart(text, match.start(), match.end(), word) if any(map(str.isalnum, word)) else word
            yield Replacement(match.start(), match.end(), now, Why.SYMBOL)


def _apart(text: str, start: int, end: int, word: str) -> str:
    """A word with a space on each side where it would touch another."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    left = " " if before and not (before.isspace() or before in "([{\"“‘'-–—/") else ""
    right = " " if after and not (after.isspace() or after in ".,;:!?)]}\"”’'/-–—") else ""
    return left + word + right


def _she_or_he(_text: str, _match: re.Match[str]) -> str:
    return "she or he"


def _music(_text: str, match: re.Match[str]) -> str:
    return f"{match.group()[0]} sharp"


def _tag(_text: str, _match: re.Match[str]) -> str:
    return "hashtag"


def _aside(text: str, match: re.Match[str]) -> str:
    """A slash between spaces: said only between numbers."""
    return "slash" if _NUMBERS_BESIDE.search(text[max(0, match.start() - 2) : match.end() + 2]) else ""


def _lean(_text: str, _match: re.Match[str]) -> str:
    """Slashes around a word, as plain text leans it (`/really/`)."""
    return ""


def _compared(_text: str, match: re.Match[str]) -> str:
    sign = match.group()
    if sign.startswith("=="):
        return _COMPARED["=="] if len(sign) < _RULER_CHARS + 1 else ""
    return _COMPARED[sign]


def _power(_text: str, _match: re.Match[str]) -> str:
    return "to the power of"


def _about(_text: str, _match: re.Match[str]) -> str:
    return "about"


def _grade(_text: str, _match: re.Match[str]) -> str:
    return "minus"


def _product(_text: str, _match: re.Match[str]) -> str:
    return "times"


def _paragraph(_text: str, _match: re.Match[str]) -> str:
    return "paragraph"


def _sections(_text: str, _match: re.Match[str]) -> str:
    return "sections"


def _slash(text: str, match: re.Match[str]) -> str:
    before = re.search(r"[^\W_]{1,20}$", text[max(0, match.start() - 20) : match.start()])
    after = re.match(r"[^\W_]{1,20}", text[match.end() : match.end() + 20])
    if before is None or after is None:
        return " "
    left, right = before.group().lower(), after.group().lower()
    if left in _PAIRED and right in _PAIRED:
        return "or"
    return "slash" if left.isdigit() and right.isdigit() else " "


def _greek(_text: str, match: re.Match[str]) -> str:
    return _GREEK[match.group().lower().replace("ς", "σ")]


def _dot(_text: str, _match: re.Match[str]) -> str:
    return "dot"


def _glued(text: str, match: re.Match[str]) -> str:
    """A full stop without its space (`He stopped.then he ran`); in a name (`os.path`) the word."""
    following = re.match(r"[a-z]{1,20}", text[match.end() : match.end() + 20])
    return ". " if following is not None and following.group().capitalize() in STARTERS else "dot"


def _hash(_text: str, _match: re.Match[str]) -> str:
    return "number"


def _word(text: str, match: re.Match[str]) -> str | None:
    sign = match.group()
    if sign == "=" and _ruled(text, match.start()):
        return ""
    if sign == "$" and text[match.end() : match.end() + 1].isalpha():
        return "dollar"
    return _WORDS[sign]


def _ruled(text: str, at: int) -> bool:
    """Whether a sign stands in a line of the same sign."""
    around = text[max(0, at - _RULER_CHARS) : at + _RULER_CHARS + 1]
    return text[at] * _RULER_CHARS in around


_SAID: dict[str, Callable[[str, re.Match[str]], str | None]] = {
    "shehe": _she_or_he,
    "music": _music,
    "tag": _tag,
    "apart": _aside,
    "lean": _lean,
    "compare": _compared,
    "power": _power,
    "about": _about,
    "grade": _grade,
    "product": _product,
    "paragraph": _paragraph,
    "sections": _sections,
    "slash": _slash,
    "greek": _greek,
    "glued": _glued,
    "hash": _hash,
    "dot": _dot,
    "word": _word,
}
RULES: tuple[Rule, ...] = (_rule,)
