"""From IPA to the ids of one voice: `^ _ p _ p _ … $` over the code points of the decomposed text (NFD), as Piper does.

A pause mark, stress or length the voice has no id for is left out; a sound it has no id for is an error.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from models.errors import BadPrompt
from models.phonemes.reading import SUPRASEGMENTALS, Reading, is_sound

_PAD, _START, _END = "_", "^", "$"


@dataclass(frozen=True, slots=True)
class Spelled:
    """The ids of an utterance. `words`: range [start, end) of ids for each word of the text, empty if not certain."""

    ids: tuple[int, ...]
    words: tuple[tuple[int, int], ...] = ()


def phoneme_ids(ipa: str, id_map: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The ids of one utterance.

    Raises:
        BadPrompt: the voice has no id for a sound, or nothing but pauses is left.
    """
    ids = [*id_map[_START], *id_map[_PAD]]
    num_sounds = 0
    for symbol in unicodedata.normalize("NFD", ipa):
        sound = is_sound(symbol) and symbol not in SUPRASEGMENTALS
        if symbol in id_map:
            ids += [*id_map[symbol], *id_map[_PAD]]
            num_sounds += sound
        elif sound:
            msg = f"the voice has no id for the sound {symbol!r} (U+{ord(symbol):04X}) in {ipa!r}; use another voice"
            raise BadPrompt(msg)
    if num_sounds == 0:
        msg = f"the phonemes {ipa!r} hold no sound; skip the segment"
        raise BadPrompt(msg)
    return (*ids, *id_map[_END])


def spelled(reading: Reading, id_map: Mapping[str, tuple[int, ...]]) -> Spelled:
    """The ids of what was read, with the places of its words. Raises as `phoneme_ids`.

    A word begins with its first sound (or the stress before it) and ends with the pad after its last one.
    """
    ids = phoneme_ids(reading.ipa, id_map)
    first = len(id_map[_START]) + len(id_map[_PAD])
    ends = list(accumulate((_num_ids(sign, id_map) for sign in reading.ipa), initial=first))
    words = tuple((ends[start], ends[end]) for start, end in reading.words)
    whole = ends[-1] + len(id_map[_END]) == len(ids)
    lost = any(
        start == end and letters[0] < letters[1] for (start, end), letters in zip(words, reading.words, strict=True)
    )
    return Spelled(ids, words if whole and not lost else ())


def _num_ids(sign: str, id_map: Mapping[str, tuple[int, ...]]) -> int:
    """How many ids a character of IPA becomes, with their pads."""
    symbols = unicodedata.normalize("NFD", sign)
    return sum(len(id_map[symbol]) + len(id_map[_PAD]) for symbol in symbols if symbol in id_map)
