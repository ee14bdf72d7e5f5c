"""Which language a text is in, as far as its script says. Pure."""

from __future__ import annotations

import re
from collections import Counter

_SCRIPTS = {
    "he": re.compile("[\u0590-\u05ff\ufb1d-\ufb4f]"),
    "ar": re.compile("[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]"),
    "zh": re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]"),
    "ja": re.compile("[\u3040-\u30ff]"),
}
_LETTER = re.compile(r"[^\W\d_]")


def language_of(text: str, default: str) -> str:
    """The language of a paragraph: `default`, unless most of its letters are of a script that it is not written in."""
    letters = len(_LETTER.findall(text))
    counts = Counter({language: len(script.findall(text)) for language, script in _SCRIPTS.items()})
    if counts["ja"]:
        counts["ja"] += counts.pop("zh")
    language, count = counts.most_common(1)[0]
    return language if count * 2 > letters else default
