"""What the three parts of RedisTruth share: the connection and how script errors become ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from redis.exceptions import ResponseError

from jobs.errors import IllegalMove
from jobs.state import JobState
from jobs.truth.calls import Calls, Value, word_of
from jobs.truth.rules import fenced, illegal_move, not_final, not_for_speech, unknown_job


class RedisPart:
    """Base of the parts: runs scripts through one `Calls`."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def _run(self, name: str, *args: Value) -> Any:  # noqa: ANN401  # the shape of a reply is the script's own
        with script_errors():
            return self._calls.script(name, *args)

    def _run_marked(self, name: str, before: Sequence[Value], after: Sequence[Value] = ()) -> Any:  # noqa: ANN401  # as above
        with script_errors():
            return self._calls.marked_script(name, before, after)


@contextmanager
def script_errors() -> Iterator[None]:
    """Turn the error words of the scripts into this room's errors."""
    try:
        yield
    except ResponseError as error:
        word, *rest = word_of(error)
        if word == "UNKNOWNJOB":
            raise unknown_job(" ".join(rest)) from None
        if word == "FENCED":
            raise fenced(" ".join(rest)) from None
        if word == "ILLEGALMOVE":
            raise _illegal(rest) from None
        if word == "SPEECH":
            raise not_for_speech(" ".join(rest)) from None
        if word == "NOTFINAL":
            raise not_final(" ".join(rest[1:]), JobState(rest[0])) from None
        raise


def _illegal(words: list[str]) -> IllegalMove:
    old, new, unfinished = words
    return illegal_move(JobState(old), JobState(new), int(unfinished))
