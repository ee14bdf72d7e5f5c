"""Where a text may be parted, if it must be: never inside what a listener hears as one. Pure; knows no limits."""

from __future__ import annotations

import re
import unicodedata

CLOSERS = "”’»›\"')\\]}」』）】》〉"
LOOK_CHARS = 16
"""How far around a place is looked."""
LONGEST_PHONEMES_CHARS = 102
"""As long as phonemes of a lexicon may be, with their brackets: they are whole even where they alone are too long."""
_OPENERS = "“‘«‹„‚([{「『（【《〈¿¡"
_MARKS = ".,;:!?…。，、；：！？｡．・،؛؟।॥·%°"
# A piece never starts with these: closing signs, marks, small kana, signs that lengthen or repeat.
_NO_START = frozenset(
    "”’»›)]}」』）】》〉" + _MARKS + "ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶーゝゞヽヾ々〻ะาำๅๆฯະາຳໆ"
)
_NO_END = frozenset(_OPENERS + "เแโใไເແໂໃໄ$€£¥§№#@")
_QUANTITY = re.compile(
    r"(?:\d{3}(?!\d)|%|‰|°|(?:[kcmµndMG]?[mgWVAlL]|[kMGT]?B|k?Hz|MHz|GHz|km/h|mph|k?cal|ha|in|ft|lbs?|oz|yd|mi|min|hrs?|secs?|s|h"
    r"|a\.m|p\.m|am|pm|AM|PM|o[’']clock|Uhr|Euros?|euros?|dollars?|pounds?|cents?|percent|per cent|hundred|thousand|"
    r"million(?:en|s|es)?|billions?|trillions?|Mio|Mrd|Million(?:en)?|Milliarden?|лет|руб|км|кг|г|м|см)(?!\w))"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“‘«„\"'])(?:[^\W\d_]|Mr|Mrs|Ms|Dr|Prof|St|Rev|Hon|Gen|Col|Capt|Lt|Sgt|Maj|Gov|Sen|Rep|Mt|Ft|Nos?|Nr|pp?|vols?"
    r"|Vols?|[Ff]igs?|[Cc]hs?|ca|cf|vs|etc|al|Hr|Frau|Sra?|Mme|Mlle|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
    r"|(?:[^\W\d_]\.){1,4}[^\W\d_])\.\s?$"
)
_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
# Where a word most likely ends: hiragana before another script, Chinese particles.
_WORD_END = re.compile("[\u3040-\u309f][\u30a1-\u30fa\u4e00-\u9fff]|的(?!确|士)|了(?!解|不)")
_JOINERS = "\u200c\u200d"
_VIRAMAS = frozenset("\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2")
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_TAGS = range(0xE0020, 0xE0080)
_FLAGS = range(0x1F1E6, 0x1F200)
_JAMO = range(0x1160, 0x1200)


def spaceless(char: str) -> bool:
    """Whether words of its script stand without spaces between them."""
    return _SPACELESS.match(char) is not None


def may_part(text: str, start: int, place: int, max_chars: int) -> bool:
    """Whether a piece from `start` may end at `place`, after a mark or a space, and the next begin there."""
    if text[place] in _NO_START or _open_span(text, start, place, max_chars) is not None:
        return False
    tail = text[max(start, place - LOOK_CHARS) : place]
    shown = tail.rstrip()
    if shown[-1:] in _NO_END:
        return False
    if shown[-1:].isdigit() and _QUANTITY.match(text, place):
        return False
    return _ABBREVIATION.search(tail) is None


def between_letters(text: str, start: int, end: int, limit: int) -> int:
    """`end` or a place before it in a text without spaces: after a word if one is seen, at worst between two signs.

    It lies after `start` and not behind `limit`, but where phonemes begin that end behind it: then it is their end.
    """
    span = _open_span(text, start, end, limit - start)
    if span is not None:
        return span[0] if span[0] > start else span[1]
    lowest = max(start, end - max(LOOK_CHARS, (end - start) // 3))
    closed = max(text.rfind("⟧", start, end) + 1, text.rfind("]]", start, end) + 2 if "]]" in text[start:end] else 0)
    kept = range(end, max(lowest, min(closed, end) - 1), -1)
    if _has_words(text, lowest, end + LOOK_CHARS):
        for wanted in (_after_word, _apart):
            for place in kept:
                if wanted(text, place) and _has_words(text, place, place + LOOK_CHARS):
                    return place
    return next((place for place in kept if _whole(text, place)), end)


def _after_word(text: str, place: int) -> bool:
    return _WORD_END.match(text, place - 1) is not None and _apart(text, place)


def _apart(text: str, place: int) -> bool:
    """Whether no sign of punctuation is torn off, and no word of a spaced script is cut."""
    if not _whole(text, place) or text[place] in _NO_START or text[place - 1] in _NO_END:
        return False
    return not (_in_word(text[place - 1]) and _in_word(text[place]))


def _in_word(char: str) -> bool:
    return char.isalnum() and not spaceless(char)


def _whole(text: str, place: int) -> bool:
    """Whether a letter keeps its accents, and a joined sign its parts."""
    before, after = text[place - 1], text[place]
    code = ord(after)
    if unicodedata.category(after)[0] == "M" or after in _JOINERS or before in _JOINERS or before in _VIRAMAS:
        return False
    if code in _SKIN_TONES or code in _TAGS or code in _JAMO:
        return False
    if code in _FLAGS and ord(before) in _FLAGS:
        flags = 1
        while flags < LOOK_CHARS and place - 1 - flags >= 0 and ord(text[place - 1 - flags]) in _FLAGS:
            flags += 1
        return flags % 2 == 0
    return True


def _open_span(text: str, start: int, place: int, max_chars: int) -> tuple[int, int] | None:
    """The phonemes `⟦…⟧`, or what is for the model `[[…]]`, that `place` lies inside of; a long `[[…]]` is text."""
    for opening, closing, longest in (("⟦", "⟧", max(max_chars, LONGEST_PHONEMES_CHARS)), ("[[", "]]", max_chars)):
        wide = len(opening)
        first = text.rfind(opening, start, place + wide - 1)
        if first >= 0 and text.find(closing, first, place) < 0:
            last = text.find(closing, max(first + wide, place - wide + 1), first + longest)
            if last >= 0:
                return first, last + wide
    return None


def _has_words(text: str, start: int, end: int) -> bool:
    return any(char.isalnum() for char in text[start:end])
