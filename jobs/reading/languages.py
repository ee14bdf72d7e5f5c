"""Which language a text is in, as far as its script says. Pure; no statistics, no guess within a script.

A script that several languages share is given to the one that is meant: the default, if it is one of them, else the
one that most texts in that script are in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jobs.language_tags import base_language


@dataclass(frozen=True, slots=True)
class _Script:
    """Letters, the language they stand for, and others that are written in them."""

    letters: re.Pattern[str]
    language: str
    shared: frozenset[str] = frozenset()


def _script(letters: str, language: str, shared: str = "") -> _Script:
    return _Script(re.compile(f"[{letters}]"), language, frozenset([language, *shared.split()]))


_KANA = re.compile("[\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\uff66-\uff9d]")
_HAN = _script(
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", "zh", "ja ko yue wuu cmn nan hak lzh"
)
_HANGUL = _script("\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff\uffa1-\uffdc", "ko")
_CYRILLIC = _script(
    "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff\ua640-\ua69f",
    "ru",
    "uk be bg sr mk kk ky tg mn uz tt ba cv os ce ab sah kv mhr mrj myv mdf udm av rue cnr bs sh az tk cu",
)
_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_NEVER_RUSSIAN = re.compile("[їєґЇЄҐ]")
_BELARUSIAN = re.compile("[ўЎ]")
_SCRIPTS = (
    _HAN,
    _HANGUL,
    _CYRILLIC,
    _script("\u0590-\u05ff\ufb1d-\ufb4f", "he", "yi iw ji lad"),
    _script(
        "\u0600-\u06ff\u0750-\u077f\u0870-\u08ff\ufb50-\ufdff\ufe70-\ufefc",
        "ar",
        "fa ur ps sd ug ckb ku ks pnb azb prs ms arz ary apd uz kk",
    ),
    _script("\u0370-\u03e1\u03f0-\u03ff\u1f00-\u1fff", "el", "grc"),
    _script("\u0530-\u058f\ufb13-\ufb17", "hy", "hyw"),
    _script("\u10a0-\u10ff\u1c90-\u1cbf\u2d00-\u2d2f", "ka", "xmf"),
    _script("\u0900-\u097f\ua8e0-\ua8ff", "hi", "mr ne sa bho mai gom kok doi ks sd new awa bgc"),
    _script("\u0980-\u09ff", "bn", "as mni"),
    _script("\u0a00-\u0a7f", "pa"),
    _script("\u0a80-\u0aff", "gu"),
    _script("\u0b00-\u0b7f", "or"),
    _script("\u0b80-\u0bff", "ta"),
    _script("\u0c00-\u0c7f", "te"),
    _script("\u0c80-\u0cff", "kn", "tcy"),
    _script("\u0d00-\u0d7f", "ml"),
    _script("\u0d80-\u0dff", "si"),
    _script("\u0e00-\u0e7f", "th"),
    _script("\u0e80-\u0eff", "lo"),
    _script("\u0f00-\u0fff", "bo", "dz"),
    _script("\u1000-\u109f\uaa60-\uaa7f", "my", "shn mnw"),
    _script("\u1200-\u139f\u2d80-\u2ddf", "am", "ti gez"),
    _script("\u1780-\u17ff", "km"),
)
_LETTER = re.compile(r"[^\W\d_]")


def language_of(text: str, default: str) -> str:
    """The language of a paragraph: `default`, unless most of its letters are of a script that it is not written in."""
    if text.isascii():
        return default
    letters = "".join(_LETTER.findall(text))
    kana = len(_KANA.findall(letters))
    for script in _SCRIPTS:
        count = len(script.letters.findall(letters)) + (kana if script is _HAN else 0)
        if count * 2 > len(letters):
            return _in_script(letters, script, default, kana=kana)
    return default


def _in_script(letters: str, script: _Script, default: str, *, kana: int) -> str:
    """The language of a text in a script."""
    base = base_language(default)
    if script is _HAN and kana:
        return default if base == "ja" else "ja"
    if base in script.shared and not (base == "ru" and _NEVER_RUSSIAN.search(letters)):
        return default
    if script is _CYRILLIC and _BELARUSIAN.search(letters):
        return "be"
    if script is _CYRILLIC and _UKRAINIAN.search(letters):
        return "uk"
    return script.language
