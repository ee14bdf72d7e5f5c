"""Blends: a voice asked for as a mean of others, `af_heart:0.6+bf_emma:0.4`, where the model can make one. Pure.

The same blend has the same name however it was written: it is part of take keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from jobs.errors import BadOption
from jobs.language_tags import base_language
from jobs.spec import VoiceOffer

DIGITS = 4
"""Of a weight in a blend's name."""
Part = tuple[VoiceOffer, float]
"""A voice with its share of the whole."""


def is_blend(name: str) -> bool:
    """Whether a voice is asked for as a blend, rightly written or not."""
    return "+" in name or ":" in name


def shares(name: str) -> list[tuple[str, float]]:
    """The voices of a blend in the order of their names, with shares that sum to 1; a weight left out is 1.

    Raises:
        BadOption: it is not written as one, or a share is too small to be named.
    """
    weights: dict[str, float] = {}
    for part in name.split("+"):
        voice, colon, number = part.strip().partition(":")
        try:
            weight = float(number) if colon else 1.0
        except ValueError:
            weight = -1.0
        if not voice or not 0 < weight < float("inf"):
            msg = f"voice {name!r} is not a blend like af_heart:0.6+bf_emma:0.4 with weights above 0"
            raise BadOption(msg)
        weights[voice] = weights.get(voice, 0.0) + weight
    total = sum(weights.values())
    found = [(voice, weights[voice] / total) for voice in sorted(weights)]
    least, share = min(found, key=lambda one: one[1])
    if not round(share, DIGITS):
        msg = (
            f"in voice {name!r} {least} has {share:.2g} of the whole; leave it out, or give it at least {10**-DIGITS:g}"
        )
        raise BadOption(msg)
    return found


def blend(parts: Sequence[Part]) -> VoiceOffer:
    """The voice that voices make together; a single one is itself. Its language is that of the largest share.

    Raises:
        BadOption: there is no language that all of them read.
    """
    voices = [voice for voice, _ in parts]
    if len(voices) == 1:
        return voices[0]
    name = "+".join(f"{voice.name}:{round(share, DIGITS):g}" for voice, share in parts)
    main = max(parts, key=lambda part: part[1])[0]
    common = set.intersection(*(set(_reads(voice)) for voice in voices))
    if not common:
        msg = f"voice {name!r}: there is no language that all of its voices read; blend others"
        raise BadOption(msg)
    revisions = "\n".join(f"{voice.name} {share:.6f} {voice.revision}" for voice, share in parts)
    return VoiceOffer(
        name=name,
        language=main.language,
        revision=hashlib.blake2b(revisions.encode(), digest_size=12).hexdigest(),
        licence=", ".join(dict.fromkeys(voice.licence for voice in voices)),
        note=" ".join(dict.fromkeys(voice.note for voice in voices if voice.note)),
        installed=all(voice.installed for voice in voices),
        install_hint=next((voice.install_hint for voice in voices if not voice.installed), ""),
        reads=tuple(language for language in _reads(main) if language in common) or tuple(sorted(common)),
    )


def _reads(voice: VoiceOffer) -> tuple[str, ...]:
    return voice.reads or (base_language(voice.language),)
