"""Texts of errors are the same for every door; here they get the words of this one: fields, and routes."""

from __future__ import annotations

import re

_FIELDS = {"lang": "language", "type": "kind", "format": "formats", "export": "exports"}
"""Options that the command line calls otherwise. The others are fields of the same name."""
_ROUTES = {
    "jobs": "GET /v1/jobs",
    "voices": "GET /v1/audio/voices",
    "models": "GET /v1/models",
    "plan": "POST /v1/plans",
    "watch": "GET /v1/jobs/{id}/events",
    "cancel": "DELETE /v1/jobs/{id}",
}
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
_COMMAND = re.compile(r"`tts-batch ([a-z]+)[^`]*`")


def for_http(text: str) -> str:
    """`--lang de` becomes `language de`, `tts-batch jobs` the route; commands without a route stay."""
    named = _OPTION.sub(lambda found: field_of(found[1]), text)
    return _COMMAND.sub(lambda found: f"`{_ROUTES[found[1]]}`" if found[1] in _ROUTES else found[0], named)


def field_of(option: str) -> str:
    """The field that stands for an option, such as `skip_bad_lines` for `skip-bad-lines`."""
    return _FIELDS.get(option, option.replace("-", "_"))


def first_field(text: str) -> str | None:
    """The field that a text begins with, told as an option: what it finds fault with."""
    found = _OPTION.match(text)
    return None if found is None else field_of(found[1])
