"""Tags as the parser of pages is given them: plain names, and the attributes that say something of a text. Pure."""

from __future__ import annotations

import html
import re

_ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?""")
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE)
_BLOCK = re.compile(r"display\s*:\s*(?:block|flex|grid|table|list-item)\b", re.IGNORECASE)
_NO_NAME = re.compile("[^a-z0-9-]")

_END = "x-end"
BOUNDARY = f"<{_END}></{_END}>"
"""Parts what is before and after it, whatever element it stands in."""
BLOCKS = frozenset(
    (
        "html body address article aside blockquote caption center dd details dialog dir div dl dt fieldset figcaption "
        "figure footer form h1 h2 h3 h4 h5 h6 header hgroup legend li main menu nav ol option optgroup p pre search "
        "section summary table tbody td tfoot th thead title tr ul textarea button video audio object "
        f"x-noframes x-iframe {_END}"
    ).split()
)
"""Elements that begin and end a paragraph."""
_RENAMED = {"xmp": "pre", "plaintext": "pre", "image": "img", "noembed": "x-noembed", "noframes": "x-noframes"}
_RENAMED |= {"iframe": "x-iframe"}  # the parser would take what is inside as raw text
_PREFIXES = frozenset({"h", "html", "xhtml", "svg", "m", "mml", "math", "mathml", "epub", "ops"})
_KEPT = frozenset({"id", "name", "class", "href", "role", "content", "colspan", "rowspan", "open"})
_TEXTS = frozenset({"alt", "alttext"})


def attributes_of(page: str, start: int, end: int) -> tuple[dict[str, str], dict[str, tuple[int, int]]]:
    """What the attributes of a tag say, by name, written plainly; and where in the page those are that hold text.

    `hidden` is `aria` where only readers of screens are not to see it; `block` that it is shown as one.
    """
    said: dict[str, str] = {}
    texts: dict[str, tuple[int, int]] = {}
    for match in _ATTRIBUTE.finditer(page, start, end):
        key = match[1].lower()
        number = match.lastindex or 1
        value = match[number] if number > 1 else ""
        if key == "hidden" or (key == "style" and _UNSEEN.search(value)):
            said["hidden"] = ""
        elif key == "aria-hidden" and value.lower() == "true":
            said.setdefault("hidden", "aria")
        elif key == "style" and _BLOCK.search(value) and "float" not in value:
            said["block"] = ""
        elif key in {"lang", "xml:lang"}:
            said.setdefault("lang", _quoted(value))
        elif key.endswith(":type"):
            said.setdefault("epub-type", _quoted(value))
        elif key in _KEPT:
            said.setdefault(key, _quoted(value))
        elif key in _TEXTS and value.strip():
            texts.setdefault(key, match.span(number))
    return said, texts


def plain_name(name: str) -> str:
    """A name without the prefix of a language of pages; `o:p` is no paragraph."""
    prefix, colon, local = name.partition(":")
    return local if colon and local and prefix in _PREFIXES else name


def tag_name(name: str) -> str:
    """A name that the parser takes as that of any element."""
    plain = _NO_NAME.sub("-", name)
    return _RENAMED.get(plain, plain if plain[0].isalpha() else f"x{plain}")


def _quoted(value: str) -> str:
    return html.escape("".join(char if char.isprintable() else " " for char in html.unescape(value)))
