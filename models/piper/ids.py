"""From IPA to the ids of one voice: `^ _ p _ p _ … $` over the code points of the decomposed text (NFD), as Piper does.

A pause mark, stress or length the voice has no id for is left out; a sound it has no id for is an error.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from models.errors import BadPrompt

_PAD, _START, _END = "_", "^", "$"
_SUPRASEGMENTALS = frozenset("ˈˌːˑ͜͡")
"""Stress, length and tie bars: they colour a sound, they are none."""


def phoneme_ids(ipa: str, id_map: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The ids of one utterance.

    Raises:
        BadPrompt: the voice has no id for a sound, or nothing but pauses is left.
    """
    ids = [*id_map[_START], *id_map[_PAD]]
    num_sounds = 0
    for symbol in unicodedata.normalize("NFD", ipa):
        sound = unicodedata.category(symbol)[0] in "LMN" and symbol not in _SUPRASEGMENTALS
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
