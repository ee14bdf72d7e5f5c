"""Language tags: `en-US`, and the `en` of it. Pure."""

from __future__ import annotations


def base_language(language: str) -> str:
    """`en` of `en-US` or `en_GB`."""
    return language.replace("_", "-").split("-")[0].lower()


def language_tag(tag: str) -> str:
    """A language tag in the usual case: `en-US` of en_us (RFC 5646 section 2.1.1), so that one language is one take."""
    first, *others = tag.replace("_", "-").split("-")
    cased = [part.upper() if len(part) == 2 else part.title() if len(part) == 4 else part.lower() for part in others]
    return "-".join([first.lower(), *cased])
