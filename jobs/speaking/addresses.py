"""URLs, e-mail addresses, paths and file names, for every language. Pure.

In English they are put into words. In other languages, where the words for the signs are not known here, the host of a
URL stays as it is written and the rest loses what no voice can say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from jobs.account import Why
from jobs.language_tags import base_language
from jobs.speaking.base import Addresses, Context, Replacement
from jobs.speaking.letters import digits_named, pronounceable, spelled

_LONGEST_CHARS = 2000
_TLDS = (
    "com|org|net|edu|gov|mil|int|info|biz|dev|app|xyz|io|ai|tv|co|uk|eu|de|fr|nl|ch|pl|jp|cn|ru|br|au|nz|ie|ca|es|se|cz"
    "|dk|fi|onion|museum"
)
_UNSAFE_TLDS = frozenset({"de", "es", "se", "fr", "co", "ca", "ie", "ai", "au", "app"})
"""Words of other languages: without a scheme or path they make no domain there."""
_EXTENSIONS = (
    "txt|md|rst|pdf|docx?|xlsx?|pptx?|csv|tsv|jsonl?|xml|ya?ml|html?|epub|mobi|azw3|mp[34]|m4[abv]|wav|flac|ogg|opus|avi|mkv"
    "|mov|jpe?g|png|gif|svg|bmp|tiff?|webp|psd|zip|tar|gz|bz2|xz|rar|7z|iso|exe|dll|msi|apk|dmg|py|ipynb|js|tsx|css|php|cpp"
    "|hpp|java|sh|bat|ps1|ini|cfg|conf|toml|log|bak|tmp|srt|vtt|odt|ods|rtf|tex|bib|sql|db|sqlite|lua|onnx"
)
_HOST = r"(?:[A-Za-z0-9À-ɏ](?:[A-Za-z0-9À-ɏ-]{0,62})\.){1,6}"
_REST = rf"[^\s<>\"“”«»`|]{{0,{_LONGEST_CHARS}}}"
_FOUND = re.compile(
    rf"(?P<url>(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{{1,15}}://{_REST}|(?<![\w@.])[Ww][Ww][Ww]\.[\w]{_REST})"
    r"|(?P<mail>(?<![\w.+-])(?:mailto:)?[A-Za-z0-9_][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24}(?![\w-]))"
    r"|(?P<windows>(?<!\w)[A-Za-z]:[\\](?:[^\s\\:\"<>|*?“”]{1,60}(?: [A-Z(][^\s\\:\"<>|*?“”]{0,40}){0,3}[\\]){0,20}"
    r"[^\s\"<>|*?“”]{0,500}|(?<![\w\\])\\\\\w[^\s\"<>|*?“”]{1,500})"
    r"|(?P<unix>(?<![\w/.~)-])(?:~|\.{1,2})?/[\w.+@-]{1,100}(?:/[\w.+@-]{1,100}){1,30}/?|(?<![\w/.~)-])(?:~|\.{1,2})/[\w.+-]{1,100})"
    rf"|(?P<file>(?<![\w./\\@-])(?:[\w.-]{{1,64}}/){{0,12}}[\w-]{{1,64}}(?:\.[\w-]{{1,32}}){{0,4}}\.(?:{_EXTENSIONS})(?![\w-]|\.\w))"
    rf"|(?P<domain>(?<![\w@./-]){_HOST}(?:{_TLDS}|{_TLDS.upper()})(?![\w@-])(?P<path>(?::\d{{2,5}})?(?:[/?#]{_REST})?))"
)
_HINT = re.compile(r"://|@|\\|/|[A-Za-z0-9]\.[A-Za-z0-9]")
_TRAILING = ".,;:!?…'\"’”*_"
_PAIRS = {")": "(", "]": "[", "}": "{"}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_AUTHORITY = re.compile(r"[^/?#]*")
_PORT = re.compile(r":\d*$")
_PARTS = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_SIGNS = {
    ".": "dot", "@": "at", "/": "slash", "\\": "backslash", ":": "colon", "-": "dash", "_": "underscore", "+": "plus",
    "?": "question mark", "=": "equals", "&": "and", "#": "hash", "%": "percent", "~": "tilde", ",": "comma",
    ";": "semicolon", "!": "exclamation mark", "(": "open bracket", ")": "close bracket", "*": "star", "$": "dollar",
    "'": "apostrophe", "[": "open bracket", "]": "close bracket", "^": "caret",
}  # fmt: skip
_UNSAYABLE = re.compile(r"[\\/_|`^*{}<>#?=&:]+")
_LONGEST_ENDING_CHARS = 3


def addresses(text: str, context: Context) -> Iterator[Replacement]:
    """The addresses of a sentence, spoken as `context.addresses` says."""
    if _HINT.search(text) is None:
        return
    position = 0
    while (match := _FOUND.search(text, position)) is not None:
        kind = str(match.lastgroup if match.lastgroup != "path" else "domain")
        end = match.start() + len(_trimmed(match.group()))
        position = max(end, match.start() + 1)
        written = text[match.start() : end]
        if kind == "domain" and not _is_domain(match, context):
            position = match.end()
        elif any(char.isalnum() for char in written):
            yield Replacement(match.start(), end, _spoken(kind, written, context), Why.ADDRESS)


def _trimmed(written: str) -> str:
    """Without the marks of the sentence around it."""
    while written:
        last = written[-1]
        open_mark = _PAIRS.get(last)
        if last in _TRAILING or (open_mark is not None and written.count(open_mark) < written.count(last)):
            written = written[:-1]
        else:
            return written
    return written


def _is_domain(match: re.Match[str], context: Context) -> bool:
    """Not a missing space: `fin.de` in Spanish, `end.Then`."""
    host, path = match.group().removesuffix(match.group("path")), match.group("path")
    tld = host.rpartition(".")[2]
    if path or base_language(context.language) == "en":
        return not (tld.isupper() and not host.isupper())
    return tld.lower() not in _UNSAFE_TLDS


def _spoken(kind: str, written: str, context: Context) -> str:
    if context.addresses is Addresses.DROP:
        return ""
    english = base_language(context.language) == "en"
    speak: Callable[[str], str] = _words if english else _plain
    if kind in ("url", "domain") and context.addresses is Addresses.HOST:
        return speak(_host(written))
    if kind == "url" and not english:
        written = _SCHEME.sub("", written)
    return speak(written.removeprefix("mailto:"))


def _host(written: str) -> str:
    """`example.com` of a URL; a local file has a path only."""
    scheme = _SCHEME.match(written)
    rest = written[scheme.end() :] if scheme else written
    authority = _AUTHORITY.match(rest)
    host = authority.group() if authority else rest
    host = _PORT.sub("", host.rpartition("@")[2])
    if host[:4].lower() == "www.":
        host = host[4:]
    return host.strip(".") or rest.strip("/")


def _words(written: str) -> str:
    """Every part in words: what can be said as a word is, the rest by letters, digits one by one."""
    parts = _PARTS.findall(written)
    said = [_part(part, ending=index > 0 and parts[index - 1] == ".") for index, part in enumerate(parts)]
    return " ".join(word for word in said if word)


def _part(part: str, *, ending: bool) -> str:
    if part.isdigit():
        return digits_named(part) if part.isascii() else part
    if not part[0].isalpha():
        return _SIGNS.get(part, "")
    word = part.lower()
    if word in ("com", "org", "net", "co", "edu", "gov", "info", "biz", "app", "dev"):
        return word
    if len(word) == 1 or (
        len(word) <= _LONGEST_ENDING_CHARS and (not pronounceable(word) or (ending and len(word) == 2))
    ):
        return spelled(word)
    if not pronounceable(word) and len(word) <= _LONGEST_ENDING_CHARS + 2:
        return spelled(word)
    return word.capitalize() if part.isupper() else part


def _plain(written: str) -> str:
    return " ".join(_UNSAYABLE.sub(" ", written).split())
