"""What a user chooses about reading: how bytes are decoded, and which parts of a source are not spoken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.account import DEFAULT_SKIP, Why
from jobs.errors import BadOption


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """`encoding` overrides what would be found out; `skip` is what is left out, with its account."""

    encoding: str | None = None
    skip: frozenset[Why] = DEFAULT_SKIP


DEFAULT_OPTIONS = ReadingOptions()


def skip_set(skip: Iterable[str], keep: Iterable[str]) -> frozenset[Why]:
    """The default choice with `skip` added and `keep` taken out.

    Raises:
        BadOption: a name that cannot be chosen, or one in both lists.
    """
    added, taken = {_choice("--skip", name) for name in skip}, {_choice("--keep", name) for name in keep}
    if both := added & taken:
        msg = f"--skip and --keep both name {', '.join(sorted(both))}; name each in one of them"
        raise BadOption(msg)
    return (DEFAULT_SKIP | added) - taken


def _choice(option: str, name: str) -> Why:
    allowed = Why.choosable()
    found = next((why for why in allowed if why == name.strip().lower()), None)
    if found is None:
        msg = f"{option} {name!r} is not possible; allowed are {', '.join(sorted(allowed))}"
        raise BadOption(msg)
    return found
