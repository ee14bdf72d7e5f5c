"""What the class names and ids that tools and sites write say of an element. Pure; knows names and no text."""

from __future__ import annotations

import re

from lxml import etree

from jobs.account import Why

_ON_SUP = frozenset({"fix", "reference", "footnote-ref", "footnote-reference", "noteref", "note-ref"})
"""Short names that mean it on a superscript only."""
_BY_CLASS = {
    **dict.fromkeys(("pg-boilerplate", "pgheader", "pg-header", "pg-footer", "transnote", "transnotes"), Why.LICENCE),
    **dict.fromkeys(("transcriber-note", "transcriber-notes", "transcribers-note"), Why.LICENCE),
    **dict.fromkeys(("mw-editsection", "editsection", "mw-jump-link", "ws-noexport"), Why.OUTSIDE),
    **dict.fromkeys(("inline-template", "mw-cite-backlink", *_ON_SUP), Why.NOTE_MARKS),
    **dict.fromkeys(("thumbcaption", "gallerytext"), Why.ILLUSTRATIONS),
}
_INLINE = frozenset({"span", "em", "i", "b", "strong", "q", "cite", "code", "p"})
"""Words of a sentence may be called anything."""
_BY_ID = dict.fromkeys(("pg-header", "pg-footer", "pg-machine-header"), Why.LICENCE)
_SITE = re.compile(
    r"(?:social-?|post-|entry-|article-)?shar(?:e|ing)(?:-?(?:buttons?|bar|links?|this|tools|icons))?|sharedaddy|"
    r"social-(?:links|icons|media|buttons)|(?:gdpr-)?cookies?-?(?:banner|bar|consent|notice|popup|law-info-bar)|"
    r"breadcrumbs?|skip-(?:link|to-content)|navbox|catlinks|printfooter|noprint|site-(?:header|footer)|"
    r"(?:entry|post)-(?:meta|footer)|related-posts|newsletter-(?:signup|form)|advert|advertisement|ad-(?:slot|container)"
)


def class_reason(node: etree._Element, tag: str) -> Why | None:
    """Why an element is not spoken by its classes and its id; None when they say nothing of it."""
    if (node.get("id") or "").lower() in _BY_ID:
        return _BY_ID[(node.get("id") or "").lower()]
    for name in _classes(node):
        if (why := _BY_CLASS.get(name)) is not None and (tag == "sup" or name not in _ON_SUP):
            return why
    before = node.getprevious()
    if tag == "span" and before is not None and "margin-toggle" in _classes(before):
        return Why.NOTES  # a note of the margin that stands in the middle of its sentence
    return None


def is_site_class(node: etree._Element) -> bool:
    """Whether an element is a part of the site around the text: share buttons, cookie bars, trails of links."""
    return node.tag not in _INLINE and any(_SITE.fullmatch(name) for name in _classes(node))


def _classes(node: etree._Element) -> list[str]:
    return (node.get("class") or "").lower().split()
