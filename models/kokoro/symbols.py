"""From phonemes in misaki's notation to Kokoro's ids, with the place of each word. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from models.errors import BadPrompt
from models.phonemes.reading import SUPRASEGMENTALS, Reading, is_sound

INSTEAD = {"ᵊ": "ə", "ᵻ": "ɪ", "T": "ɾ"}
"""For networks whose vocabulary lacks a sign of the notation: the sound next to it."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """The ids of an utterance without the zeros around. `words`: range [start, end) of ids of each word of the text."""

    ids: tuple[int, ...]
    words: tuple[tuple[int, int], ...] = ()


def spelled(reading: Reading, vocabulary: Mapping[str, int]) -> Spelled:
    """The ids of what was read. Marks of pauses and stress that the network does not know are left out.

    Raises:
        BadPrompt: it does not know a sound, or there is none.
    """
    ids: list[int] = []
    counts, sounds = [], 0
    for sign in reading.ipa:
        known = sign if sign in vocabulary else INSTEAD.get(sign, sign)
        sound = is_sound(sign) and sign not in SUPRASEGMENTALS
        if known in vocabulary:
            ids.append(vocabulary[known])
            sounds += sound
        elif sound:
            msg = f"model kokoro has no sign for the sound {sign!r} (U+{ord(sign):04X}) in {reading.ipa!r}"
            raise BadPrompt(msg)
        counts.append(int(known in vocabulary))
    if not sounds:
        msg = f"the phonemes {reading.ipa!r} hold no sound; skip the segment"
        raise BadPrompt(msg)
    ends = list(accumulate(counts, initial=0))
    words = tuple((ends[start], ends[end]) for start, end in reading.words)
    return Spelled(tuple(ids), words)
