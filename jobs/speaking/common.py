"""Rules for every language: addresses and pictures first; last punctuation, signs nobody says, plain forms. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from jobs.account import Why
from jobs.language_tags import base_language
from jobs.speaking.addresses import addresses
from jobs.speaking.base import Context, Replacement, Rule, without_overlap

_SPECIAL = re.compile(
    r"[^\w\s.,;:!?'\"’‘“”()—–-]|[^\x00-\u024f\u0370-\u052f\u0590-\u1cff\u1e00-\u1fff\u3040-\ud7ff]|[_ſĲĳŉǄ-ǌǱ-ǳ]"
)
_EMOJI_BMP = (
    "⌚⌛⌨⏏⏩-⏳⏸-⏺Ⓜ☀-☄☎☑☔☕☘☝☠☢☣☦☪☮☯☸-☺♀♂♈-♓♟♠♣♥♦♨♻♾♿⚒-⚗⚙⚛⚜⚠⚡⚧⚪⚫⚰⚱⚽⚾⛄⛅⛈⛎⛏⛑⛓⛔⛩⛪⛰-⛵⛷-⛺⛽✂✅✈-✍✏✒✔✖✝✡✨✳✴❄❇❌❎❓-❕❗❣❤"
    "➕-➗➰➿⤴⤵⬅-⬇⬛⬜⭐⭕〰〽㊗㊙"
)
_EMOJI = re.compile(
    rf"[#*]\ufe0f?\u20e3|(?<=[0-9])\ufe0f?\u20e3|[\U0001f000-\U0001f0ff\U0001f170-\U0001f1ff\U0001f201-\U0001faff{_EMOJI_BMP}]"
    rf"[\ufe0f\u200d\u20e3\U0001f000-\U0001faff\U000e0020-\U000e007f{_EMOJI_BMP}]{{0,200}}"
    r"|[\u2190-\u2bff]\ufe0f"
)
_BRACKETS = re.compile("[⟦⟧]")
_HEART_IS_LESS = re.compile(
    r"(?:^|\s)(?:[^\WI]|is|are|was|were|be|of|at|values?|age[ds]?|score|level|if|when|than|\d[\d.]*)\s$", re.IGNORECASE
)
_UNIT_NEXT = re.compile(
    r"[\d.,]|\s?(?:%|°|mm|cm|m|km|kg|g|mg|ml|days?|weeks?|months?|years?|hours?|minutes?|seconds?|times|points?|people)(?!\w)"
)
_EMOTICON = re.compile(
    r"(?<!\S)(?:[:;=8xX][-o^'’]{1,2}[)(\[\]DPpOo3|/\\*]|[:;=][)(DPp|*]|:[O/]|[xX]D|</?3+|\^[_.]?\^|-_+-|[oO][_.][oO]|T_T|>_<|\\o/|¯\\_\(ツ\)_/¯)"
    r"(?=[\s.,!?]|$)"
)
_NOT_SAID = re.compile(
    r"://|[\u00a6\u00a8\u00a9\u00ac\u00ae\u00af\u00b4\u00b8\u00b6\u00b7*_|`^\\{}<>~#\ufe0f\u200c\u200d\u02c2-\u02c5\u02d2-\u02df\u2016\u2017\u2020-\u2023\u2038"
    r"\u203b-\u203e\u2041-\u2043\u204a-\u2055\u2058-\u205e\u20d0-\u20f0\u2100\u2101\u2104-\u2106\u2114\u2117\u211e-\u2123\u2190-\u2211"
    r"\u2213-\u23ff\u2400-\u245f\u2500-\u27bf\u27c0-\u27e5\u27e8-\u2bff\u3004\u3012\u3013\u3020\ue000-\uf8ff\ufff9-\uffff\U0001d000-\U0001d37f"
    r"\U0001f000-\U0001faff\U000e0000-\U0010ffff]+"
)
_JOINS_WORDS = re.compile(r"[\u0600-\u0dff\u1000-\u109f\u1780-\u17ff]")
_FORMS = re.compile(
    r"[ſĲĳŉǄ-ǌǱ-ǳ\u2090-\u209c\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124-\u2139\u2145-\u2149\ufb00-\ufb06"
    r"\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7cd]+"
    # Digits one by one: the rules of numbers may have claimed some.
    r"|[\u2080-\u2089\u2160-\u217f\u2460-\u24ff\uff10-\uff19\U0001d7ce-\U0001d7ff\U0001f100-\U0001f16f]"
    r"|[A-Za-z][\u0300-\u036f]{1,4}"
)
_RUN = re.compile(
    r"[!?‼⁉⁈⁇‽]{2,}|[‼⁉⁈⁇‽]|(?<!\.)\.\.(?!\.)|\.{4,}|…{2,}|…\.+|,{2,}|;{2,}|:{2,}|-{3,}|[—–―]{3,}|[！？]{2,}|。{2,}|，{2,}|、{2,}"
)
_EMPTY = re.compile(r"[(\[（][^\w()\[\]（）€£$%&§°+=@]{0,20}[)\]）]")
_STRAY = re.compile(r"(?: [!?.,;:…‼⁉⁈⁇]{1,50}| [(\[][!?.,;:…‼⁉]{1,20}[)\]]){1,30}(?=\s|$)")
_HINT = re.compile(r"[!?.,;:…‼⁉⁈⁇—–―。、，！？-]{2}|[‼⁉⁈⁇‽(\[（]| [!?.,;:…]|^[!?.,;:•·▪◦‣*–—-]| [\"”](?:[\s.,;:!?)]|$)")
_SPACED_QUOTES = re.compile(r"(?<![^\s(])(?<!\d )[\"“]( )(?=[^\s\"“”])[^\"“”]{0,300}[^\s\"“”]( )[\"”](?=[\s.,;:!?)]|$)")
"""`" go "`: the spaces inside quotes."""
_HAS_STRAY = re.compile(r" [!?.,;:…(\[‼⁉⁈⁇]")
_LEAD = re.compile(r"(?:[!?,;:]{1,50}|\.{1,2}|[-–—•·▪◦‣*])\s+(?=\S)")
_ENDED = ".!?…。！？"
_STRONGEST = "?!.:;,"


def _guarded(text: str, _context: Context) -> Iterator[Replacement]:
    """Double brackets that only a lexicon may set, and small pictures that later rules would read as numbers."""
    if _SPECIAL.search(text) is None and ":" not in text and ";" not in text and "D" not in text:
        return
    found = [Replacement(*match.span(), _gap(text, *match.span()), Why.SYMBOL) for match in _BRACKETS.finditer(text)]
    found += [_picture(text, *match.span()) for match in _EMOJI.finditer(text)]
    for match in _EMOTICON.finditer(text):
        if not (match.group() == "<3" and _is_less(text, match)):
            found.append(Replacement(*match.span(), "", Why.SYMBOL))
    found.sort(key=lambda one: one.start)
    yield from found


def _picture(text: str, start: int, end: int) -> Replacement:
    """Dropped, with brackets that hold nothing else."""
    if text[start - 1 : start] + text[end : end + 1] in ("()", "[]"):
        start, end = start - 1, end + 1
    return Replacement(start, end, _gap(text, start, end), Why.EMOJI)


def _is_less(text: str, match: re.Match[str]) -> bool:
    """Whether `<3` compares: `n <3`, `values <3 mm`."""
    before = text[max(0, match.start() - 12) : match.start()]
    return bool(_HEART_IS_LESS.search(before)) or bool(_UNIT_NEXT.match(text, match.end()))


def _punctuation(text: str, context: Context) -> Iterator[Replacement]:
    """One mark for a run of them; none where there is nothing to end."""
    if _HINT.search(text) is None:
        return
    lead = _LEAD.match(text)
    if lead is not None:
        yield Replacement(0, lead.end(), "", Why.PUNCTUATION)
    found: list[Replacement] = []
    if _HAS_STRAY.search(text) is not None:
        found += [one for match in _STRAY.finditer(text) if (one := _stray(text, match, context)) is not None]
    for match in _SPACED_QUOTES.finditer(text):
        found += (Replacement(*match.span(group), "", Why.PUNCTUATION) for group in (1, 2))
    found += [Replacement(*match.span(), _empty(match.group()), Why.PUNCTUATION) for match in _EMPTY.finditer(text)]
    found += [
        Replacement(*match.span(), now, Why.PUNCTUATION)
        for match in _RUN.finditer(text)
        if (now := _one_mark(match.group())) != match.group()
    ]
    yield from without_overlap(found)


def _one_mark(run: str) -> str:
    plain = unicodedata.normalize("NFKC", run).replace("‽", "?!") if run[0] in "!?‼⁉⁈⁇‽" else run
    if len(plain) == 1:
        return plain
    if plain[0] in "!?":
        return {frozenset("!"): "!", frozenset("?"): "?"}.get(frozenset(plain), plain[:2] if len(plain) == 2 else "?!")
    if plain[0] in ".…":
        return "." if plain == ".." else "…" if "…" in plain else "..."
    if plain[0] in "-—–―":
        return "—"
    return "？" if "？" in plain else plain[0]


def _empty(brackets: str) -> str:
    """An omission is a pause; other brackets without a word are nothing."""
    return "..." if "..." in brackets or "…" in brackets else ""


def _stray(text: str, match: re.Match[str], context: Context) -> Replacement | None:
    """Marks that stand alone: they go to the word before them, or nowhere after the end of a sentence."""
    marks = unicodedata.normalize("NFKC", match.group().replace(" ", "").replace("…", "..."))
    before = text[match.start() - 1 : match.start()]
    bare = "".join(char for char in marks if char not in "()[]")
    english = base_language(context.language) == "en"
    if not english and len(marks) == 1 and marks not in ".," and before not in _ENDED:
        return None
    if not before or before in _ENDED or before in "([":
        now = "" if before else " "
    elif re.fullmatch(r"[(\[].*[)\]]", marks):
        now = "..." if "..." in marks else ""
    elif set(bare) == {"."} and len(bare) >= len("..."):
        now = "..."
    else:
        now = _one_mark(bare) if set(bare) <= set("!?") else next(mark for mark in _STRONGEST if mark in bare)
    return Replacement(match.start(), match.end(), now, Why.PUNCTUATION)


def _unsaid(text: str, _context: Context) -> Iterator[Replacement]:
    """Forms of plain characters in their plain form, and signs that no voice says dropped."""
    if _SPECIAL.search(text) is None and _NOT_SAID.search(text) is None:
        return
    found: list[Replacement] = []
    for match in _FORMS.finditer(text):
        plain = unicodedata.normalize("NFKC", match.group())
        if plain != match.group() and (plain.isalnum() or match.group() == "ŉ"):
            found.append(Replacement(*match.span(), plain, Why.COMPATIBILITY))
    for match in _NOT_SAID.finditer(text):
        if match.group() in "\u200c\u200d" and _JOINS_WORDS.match(text[max(0, match.start() - 1) : match.start()]):
            continue
        found += _one_by_one(match, _gap(text, *match.span()))
    found.sort(key=lambda one: one.start)
    yield from found


def _one_by_one(match: re.Match[str], gap: str) -> Iterator[Replacement]:
    """A run sign by sign: a rule before may have claimed some of them. The first one leaves the gap."""
    if match.group() == "://":
        yield Replacement(*match.span(), gap, Why.SYMBOL)
        return
    for at in range(match.start(), match.end()):
        yield Replacement(at, at + 1, gap if at == match.start() else "", Why.SYMBOL)


def _gap(text: str, start: int, end: int) -> str:
    """A space where two words would run together."""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return " " if before.isalnum() and after.isalnum() else ""


FIRST: tuple[Rule, ...] = (addresses, _guarded)
"""Before the rules of a language: addresses, pictures."""
LAST: tuple[Rule, ...] = (_punctuation, _unsaid)
"""After them: punctuation, symbols that nothing is said for, forms of plain characters."""
