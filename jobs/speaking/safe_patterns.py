"""Whether a user's regular expression is safe to run on any text: what may take too long is refused. Pure.

What makes a pattern slow is going back: each place where it may match in several ways multiplies the ways there are to
try. They are counted, and bounded: `a?` has 2, `a{1,20}` has 20, `foo|bar` has 2, a group that is repeated has its own
many times over. An open repeat (`.*`, `a+`) counts as 200; there may be one, and what it repeats may not vary itself.
What is taken needs a second or two at most for the worst of the short stretches that a pattern is searched in.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from re import _constants as sre  # type: ignore[attr-defined]  # isort: skip  # the tree is the only exact reading
from re import _parser  # type: ignore[attr-defined]  # isort: skip

MOST_WAYS = 10_000
_MOST_STEPS = 10_000
"""How many signs a pattern may ask for; `(?:){1000000}` asks for none and takes its time."""
_WAYS_OF_OPEN = 200
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


@dataclass(frozen=True, slots=True)
class Effort:
    """What a part of a pattern asks for: `ways` it may match in one place, `steps` at least, `num_open` repeats.

    `endless`: something in it that varies is repeated without a bound. Numbers stop growing above what is allowed.
    """

    ways: int = 1
    steps: int = 0
    num_open: int = 0
    endless: bool = False

    def then(self, other: Effort) -> Effort:
        """Both, one after the other."""
        return Effort(
            _bounded(self.ways * other.ways, MOST_WAYS),
            _bounded(self.steps + other.steps, _MOST_STEPS),
            self.num_open + other.num_open,
            self.endless or other.endless,
        )

    def times(self, least: int, most: int, *, is_open: bool) -> Effort:
        """Repeated: `most` is not looked at when it is open."""
        steps = _bounded(max(self.steps, 1) * max(least, 1), _MOST_STEPS)
        if is_open:
            endless = self.endless or self.ways > 1
            return Effort(_bounded(self.ways * _WAYS_OF_OPEN, MOST_WAYS), steps, self.num_open + 1, endless)
        ways = most - least + 1
        for _ in range(most if self.ways > 1 else 0):
            ways *= self.ways
            if ways > MOST_WAYS:
                break
        return Effort(_bounded(ways, MOST_WAYS), steps, self.num_open, self.endless or (most > 1 and self.num_open > 0))


def problem_of(source: str) -> str:
    """What is wrong with a pattern and what to do, to be read after its name; empty if nothing is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(source)
            effort = effort_of(source)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        return f"is no regular expression: {error}; correct it"
    if effort.endless:
        return "repeats what repeats or chooses itself, which can take for ever; write it without the outer repeat"
    if effort.num_open > 1:
        return f"has {effort.num_open} open repeats (*, +, {{9,}}); allowed is one: bound the others, as in {{1,20}}"
    if effort.ways > MOST_WAYS:
        return (
            f"may match in more than {MOST_WAYS} ways (each repeat and choice multiplies them), which can take for "
            "ever; bound its repeats more closely, or divide it into several entries"
        )
    if effort.steps > _MOST_STEPS:
        return f"asks for more than {_MOST_STEPS} signs; write smaller numbers in its repeats"
    if compiled.match("") is not None:
        return "matches nothing at all; let it match one character or more"
    return ""


def effort_of(source: str) -> Effort:
    """What a pattern asks for. Raises re.error, OverflowError or RecursionError where it is none."""
    return _effort(_parser.parse(source))


def _effort(tree: Iterable[Any]) -> Effort:
    total = Effort()
    for op, value in tree:
        total = total.then(_effort_of_part(op, value))
    return total


def _effort_of_part(op: object, value: Any) -> Effort:  # noqa: ANN401  # what it holds depends on `op`
    if op in _REPEATS:
        least, most, body = value
        return _effort(body).times(int(least), int(most), is_open=most is sre.MAXREPEAT)
    if op is sre.BRANCH:
        return _either([_effort(branch) for branch in value[1]])
    if op is sre.GROUPREF_EXISTS:
        return _either([_effort(branch or ()) for branch in value[1:]])
    inner = Effort(steps=1)
    for part in value if isinstance(value, (tuple, list)) else (value,):
        if hasattr(part, "data"):  # a tree in a group, a look-around
            inner = inner.then(_effort(part))
    return inner


def _either(efforts: list[Effort]) -> Effort:
    """One of several: an open repeat in each is one that runs."""
    return Effort(
        _bounded(sum(effort.ways for effort in efforts), MOST_WAYS),
        max(effort.steps for effort in efforts),
        max(effort.num_open for effort in efforts),
        any(effort.endless for effort in efforts),
    )


def _bounded(number: int, most: int) -> int:
    return min(number, most + 1)
