"""Whether letters make a word that an English reader can say, and how letters and digits are named one by one. Pure."""

from __future__ import annotations

import re
import unicodedata


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_VOWELS = re.compile(r"([aeiouy]+)")
_TWICE = re.compile(r"(.)\1+")
_MOST_VOWELS_CHARS = 3
_MOST_CLUSTER_CHARS = 5
_ONSETS = word_set(
    "b bl br c ch chl chr cl cr d dr dw f fj fl fr g gh gl gn gr gw h j k kh kl kn kr l m mn n p ph phr pl pn pr"
    " ps q r rh s sc sch scl scr sh shr sk sl sm sn sp sph spl spr sq st str sv sw t th thr thw tr ts tw v w wh wr"
    " x z"
) | {""}
_CODAS = word_set(
    "b bs bt bts c ch cht chts ck cks cs ct cts d ds dst dth f fs ft fth fts g gh ghs ght ghts gm gn gns gs h hl"
    " hm hn hr hs k ks l lb lbs lc lch ld lds lf lfth lk lks lm lms ln lp lps lpt ls lsh lt lth lths lts ltz lv m"
    " mb mbs mn mns mp mph mps mpt ms n nc nch nct nd nds ng ngs ngst ngth ngths nk nks ns nst nt nth nths nts nx"
    " p ph phs ps pt pth pts r rb rbs rc rch rd rds rf rfs rg rgh rgs rk rks rl rld rlds rls rm rms rmth rn rns rp"
    " rps rpt rs rsh rst rsts rt rth rths rts rv rx s sc sh sk sks sm sms sp sps st sts t tch th thm thms ths ts"
    " tz v vs w wd wds wk wks wl wls wn wns ws wth x xt xth xts z"
) | {""}
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def pronounceable(word: str) -> bool:
    """Whether an English reader would say it as a word: it has vowels, and consonants that can stand together."""
    plain = "".join(char for char in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(char))
    parts = _VOWELS.split(_TWICE.sub(r"\1", plain))
    if len(parts) == 1 or parts[0] not in _ONSETS or parts[-1] not in _CODAS:
        return False
    if any(len(vowels) > _MOST_VOWELS_CHARS for vowels in parts[1::2]):
        return False
    return all(_between(cluster) for cluster in parts[2:-1:2])


def spelled(letters: str) -> str:
    """`B B C` of bbc."""
    return " ".join(letters.upper())


def digits_named(text: str) -> str:
    """`four two` of 42: ASCII digits one by one; other characters are passed over."""
    if len(text) == 1:
        return DIGITS[int(text)] if text in "0123456789" else ""
    return " ".join(DIGITS[int(char)] for char in text if char in "0123456789")


def _between(cluster: str) -> bool:
    """Whether consonants can end one syllable and begin the next."""
    if len(cluster) > _MOST_CLUSTER_CHARS:
        return False
    return any(cluster[:cut] in _CODAS and cluster[cut:] in _ONSETS for cut in range(len(cluster) + 1))
