"""Whether a user's regular expression is safe to run on any text: what may take exponential time is refused. Pure.

Refused are repeats within repeats (`(a+)+`), choices within repeats (`(a|a)*`) and more than two open repeats (`.*`,
`a+`) in one pattern: the rest takes at most quadratic time in the short stretches that a pattern is searched in.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from re import _constants as sre  # type: ignore[attr-defined]  # isort: skip  # the tree is the only exact reading
from re import _parser  # type: ignore[attr-defined]  # isort: skip

_MOST_OPEN_REPEATS = 2
_LONG_REPEAT = 64
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


def problem_of(source: str) -> str:
    """What is wrong with a pattern and what to do, to be read after its name; empty if nothing is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(source)
            tree = _parser.parse(source)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        return f"is no regular expression: {error}; correct it"
    if compiled.match("") is not None:
        return "matches nothing at all; let it match one character or more"
    nodes = list(_walk(tree, inside=False))
    if any(repeated and op in (*_REPEATS, sre.BRANCH) for op, repeated in nodes):
        return "repeats what repeats or chooses itself, which can take for ever; write it without the outer repeat"
    num_open = sum(op in _REPEATS for op, _ in nodes)
    if num_open > _MOST_OPEN_REPEATS:
        return (
            f"has {num_open} open repeats (*, +, {{9,}}); allowed are {_MOST_OPEN_REPEATS}: bound them, as in {{1,20}}"
        )
    return ""


def _walk(tree: Iterable[Any], *, inside: bool) -> Iterator[tuple[Any, bool]]:
    """Open repeats and choices of a tree, each with whether it stands within a repeat."""
    for op, value in tree:
        if op in _REPEATS:
            least, most, body = value
            many = most is sre.MAXREPEAT or most > _LONG_REPEAT
            if many or (inside and most > max(1, least)):
                yield op, inside
            yield from _walk(body, inside=inside or most > 1)
        elif op is sre.BRANCH:
            yield op, inside
            for branch in value[1]:
                yield from _walk(branch, inside=inside)
        elif isinstance(value, (tuple, list)) or hasattr(value, "data"):
            for part in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(part, "data"):
                    yield from _walk(part, inside=inside)
