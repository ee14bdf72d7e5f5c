"""Text in the characters that an English phonemizer takes: folded to ASCII, with the marks that make pauses.

Pure text, no phonemes. Accents are folded, dashes and ellipses become the pauses they stand for, quotes and brackets
go, letters it cannot say are refused. No word is put for another here: that is for the planner, whose plan shows it.

    tidy("“Wait — the café…”")  # "Wait, the cafe."
"""

from __future__ import annotations

import re
import unicodedata

import sentencex

from models.errors import BadPrompt

_LETTERS = {
    "ß": "ss",
    "ẞ": "SS",
    "æ": "ae",
    "Æ": "Ae",
    "œ": "oe",
    "Œ": "Oe",
    "ø": "o",
    "Ø": "O",
    "ł": "l",
    "Ł": "L",
    "đ": "d",
    "Đ": "D",
    "ð": "th",
    "Ð": "Th",
    "þ": "th",
    "Þ": "Th",
    "ı": "i",
    "ʻ": "",
    "ʼ": "'",
}
"""Latin letters that no decomposition folds into ASCII."""
_KEPT = "–—―‒£€"
"""What is not ASCII and still means something further down: dashes, and money the phonemizers can read."""
_READ = "£€$%&@+#="
"""Signs that have a word of their own, or that say how the number beside them is read."""
_APOSTROPHES = "‘’‛′`´"
_END_MARKS = (".", "!", "?")
_DROPPED = '"“”„‟«»‹›()[]{}<>*_~|^'
_TABLE = str.maketrans({**_LETTERS, **dict.fromkeys(_APOSTROPHES, "'"), **dict.fromkeys(_DROPPED, ""), "…": "..."})

_ELLIPSIS_WITHIN = re.compile(r"\.(?:\s*\.)+(?=\s*[a-z])")
_DOTS = re.compile(r"\.(?:\s*\.)+")
_DASH = re.compile(r"\s*[—–―‒]+\s*|\s*--+\s*|\s+-+\s+")
_HYPHENS = re.compile("[‐‑⁃−]")
# Spaces, no words: the dictionary reader drops digits in `3.5GHz` and `mp3/mp4`, and makes one word of `node.js`.
_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s*[:']\s*(?=\d)")
_DIGIT_LETTER = re.compile(r"(?<=\d)(?!(?:st|nd|rd|th|s)\b)(?=[A-Za-z])")
_LETTER_DIGIT = re.compile(r"(?<=[A-Za-z])(?=\d)")
_DOT_IN_NAME = re.compile(r"(?<=[a-z0-9])\.(?=[a-z]{2})")
_SLASH = re.compile(r"(?<=\w)/(?=\w)")
_SPACE_BEFORE_MARK = re.compile(r"\s+(?=[,.;:!?](?!\w))")  # a mark that touches the next word stays with it: " .5"
_MARKS = re.compile(r"[,.;:!?](?:\s*[,;:!?]|\s*\.(?!\d))+")


def num_letters(text: str) -> int:
    """How many letters, digits and signs that are read as words a text has. `tidy` keeps each of them, in order."""
    return sum((char.isascii() and char.isalnum()) or char in _READ for char in _folded(text))


def tidy(text: str) -> str:
    """`text` as ASCII words and the marks `, . ; : ! ?` that make pauses.

    Raises:
        BadPrompt: no letter or digit is in it, or letters that are not Latin.
    """
    folded = _folded(text)
    foreign = sorted({char for char in folded if char.isalnum() and not char.isascii()})
    if foreign:
        msg = (
            f"the text has letters an English voice cannot say: {' '.join(foreign[:10])} in {_short(text)}; "
            "write them in Latin letters or choose a model of that language"
        )
        raise BadPrompt(msg)
    folded = "".join(char if char.isascii() or char in _KEPT else " " for char in folded)
    for glued in (_BETWEEN_DIGITS, _DIGIT_LETTER, _LETTER_DIGIT, _DOT_IN_NAME, _SLASH):
        folded = glued.sub(" ", folded)
    folded = _DOTS.sub(".", _ELLIPSIS_WITHIN.sub(", ", folded))
    folded = _DASH.sub(", ", folded)
    folded = _MARKS.sub(_strongest, _SPACE_BEFORE_MARK.sub("", folded))
    folded = " ".join(folded.split()).lstrip(",.;:!? ")
    if not any(char.isalnum() for char in folded):
        msg = f"nothing in {_short(text)} can be spoken: it has no letter and no digit; skip the segment"
        raise BadPrompt(msg)
    return folded


def sentences(text: str) -> list[str]:
    """`text` tidied and cut into its sentences, so that each is read by itself.

    Raises:
        BadPrompt: as `tidy`.
    """
    parts = (part.strip() for part in sentencex.segment("en", tidy(text)))
    return [part for part in parts if any(char.isalnum() for char in part)]


def closed(ipa: str) -> str:
    """The phonemes of a sentence with a mark that ends it: without one a voice breaks off."""
    return ipa if ipa[-1:] in _END_MARKS else ipa.rstrip(",;: ") + "."


def _folded(text: str) -> str:
    """Accents off, compatibility forms resolved, what cannot be seen taken out."""
    shown = "".join(" " if unicodedata.category(c) == "Cc" else c for c in text if unicodedata.category(c) != "Cf")
    decomposed = unicodedata.normalize("NFKD", shown.translate(_TABLE))
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _HYPHENS.sub("-", plain.translate(_TABLE))


def _strongest(match: re.Match[str]) -> str:
    """One mark for a run of them: the one that says most about the melody."""
    return next(mark for mark in "?!.;:," if mark in match.group())


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")  # one line of an error text
