"""Phonemes inside a text: `Ask ⟦ʃɪvˈɔːn⟧, please.` Words are read by a route, what is in the brackets stays as it is.

Each span travels through the clean-up of the text as a made-up word and is put back once the words around it were
read. Knows no route and no voice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from models.errors import BadPrompt
from models.phonemes.reading import Part, Reading, Spelling
from models.phonemes.tidy import closed, num_letters, sentences

Reader = Callable[[str], Sequence[Part]]
"""Gives the IPA of a tidied sentence or part of one, in parts that are as small as the reader can tell apart."""

_SPAN = re.compile("⟦([^⟦⟧]*)⟧")
_SYLLABLE_BREAKS = str.maketrans("", "", ".")
"""In IPA a full stop divides syllables; to a voice it would be a pause."""
_RESERVED = "_^$"
"""What frames and pads the ids of a Piper voice: no sound."""
_LETTERS = "abcdefghij"
_LEADING = re.compile(r"[\s,.;:!?-]*")
_TRAILING = re.compile(r"[\s,;:!?-]*$")
_GENITIVE = re.compile(r"'s(?![a-z])")
_SIBILANTS = frozenset("szʃʒ")
_VOICELESS = frozenset("ptkfθ")


def read(text: str, reader: Reader) -> Reading:
    """IPA of one segment, with the marks that make pauses.

    Raises:
        BadPrompt: nothing in the text can be spoken, or a span is empty or holds a sign that is no sound.
    """
    spans: list[str] = []
    head = "Zqv"
    while head in text:
        head += "v"

    def held(match: re.Match[str]) -> str:
        spans.append(_checked(match.group(1)))
        return head + "".join(_LETTERS[int(digit)] for digit in str(len(spans) - 1)) + "q"

    with_words = _SPAN.sub(held, text)
    holder = re.compile(f"{head}([{_LETTERS}]+)q")
    whole = Spelling()
    for sentence in sentences(with_words):
        spelling = _sentence(sentence, holder, spans, reader)
        spelling.become(closed(spelling.ipa))
        whole.append(spelling)
    words = with_words.split()
    if len(words) != len(text.split()):  # a span of several words is one here
        return Reading(whole.ipa)
    return whole.reading(
        [num_letters(word) for word in words], spoken=[any(char.isalnum() for char in word) for word in words]
    )


def _checked(phonemes: str) -> str:
    wrong = sorted({sign for sign in phonemes if sign in _RESERVED or sign.isdigit()})
    if wrong or not any(sign.isalpha() for sign in phonemes):
        reason = f"{' '.join(wrong)} cannot be spoken" if wrong else "there is no sound"
        msg = f"in the phonemes {phonemes!r} {reason}; write IPA in the lexicon, such as /həlˈoʊ/"
        raise BadPrompt(msg)
    return " ".join(phonemes.translate(_SYLLABLE_BREAKS).split())


def _sentence(sentence: str, holder: re.Pattern[str], spans: list[str], reader: Reader) -> Spelling:
    spelling = Spelling()
    parts = holder.split(sentence)  # words, number, words, number, ..., words
    if len(parts) == 1:
        spelling.add(reader(sentence))
        return spelling
    held = (match.group() for match in holder.finditer(sentence))
    for index, part in enumerate(parts):
        if index % 2:
            ipa = spans[int("".join(str(_LETTERS.index(letter)) for letter in part))]
            spelling.add([Part(ipa, len(next(held)))])
        elif part:
            spelling.add(_words(part, spelling.ipa, reader))
    spelling.without_double_blanks()
    return spelling


def _words(words: str, before: str, reader: Reader) -> list[Part]:
    """The IPA of what stands beside a span, with the marks and spaces that touch the span."""
    genitive = _GENITIVE.match(words) if before else None
    if genitive is not None:
        rest = words[genitive.end() :]
        return [Part(_genitive(before[-1]), 1), *(_words(rest, before, reader) if rest else [])]
    leading = _LEADING.match(words)
    lead = leading.group() if leading else ""
    core = words[len(lead) :]
    if not any(char.isalnum() for char in core):
        return [Part(lead.replace("-", " ")), Part("", num_letters(core))]
    trailing = _TRAILING.search(core)
    tail = trailing.group() if trailing else ""
    said = reader(core[: len(core) - len(tail)])
    return [Part(lead.replace("-", " ")), *said, Part(tail.replace("-", " "))]


def _genitive(sound: str) -> str:
    if sound in _SIBILANTS:
        return "ɪz"
    return "s" if sound in _VOICELESS else "z"
