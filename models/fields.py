"""Reads a published config.json strictly: what is missing or of another kind is named. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from models.errors import BadWeights

Fields = Mapping[str, object]
T = TypeVar("T")


def parse_file(path: Path, parse: Callable[[Fields], T], *, kind: str, hint: str) -> T:
    """What `parse` makes of a file's object; it may raise KeyError, TypeError or ValueError with what is wrong.

    Raises:
        BadWeights: the file cannot be read (`hint` says what helps) or is not of its `kind`.
    """
    try:
        fields = json.loads(path.read_text("utf-8"))
    except OSError as error:
        msg = f"{path} cannot be read ({error.strerror}); {hint}"
        raise BadWeights(msg) from error
    except ValueError as error:
        msg = f"{path} is not JSON ({error}); fetch it again"
        raise BadWeights(msg) from error
    try:
        return parse(fields)
    except KeyError as error:
        msg = f"{path} does not say {error}; fetch it again"
        raise BadWeights(msg) from error
    except (ValueError, TypeError, AttributeError) as error:
        msg = f"{path} is not {kind} that can be run here: {error}"
        raise BadWeights(msg) from error


def section(fields: Fields, name: str) -> dict[str, object]:
    """An object inside the object. Raises KeyError, TypeError."""
    value = fields[name]
    if not isinstance(value, dict):
        msg = f"{name} is {value!r}, not an object"
        raise TypeError(msg)
    return value


def integer(fields: Fields, name: str) -> int:
    """A whole number. Raises KeyError, TypeError."""
    value = fields[name]
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"{name} is {value!r}, not a whole number"
        raise TypeError(msg)
    return value


def integers(fields: Fields, name: str) -> tuple[int, ...]:
    """A list of whole numbers. Raises KeyError, TypeError."""
    value = fields[name]
    if not isinstance(value, list) or not all(isinstance(one, int) for one in value):
        msg = f"{name} is {value!r}, not a list of whole numbers"
        raise TypeError(msg)
    return tuple(value)


def number(fields: Fields, name: str) -> float:
    """A number. Raises KeyError, TypeError."""
    value = fields[name]
    if not isinstance(value, int | float) or isinstance(value, bool):
        msg = f"{name} is {value!r}, not a number"
        raise TypeError(msg)
    return float(value)


def only(fields: Fields, allowed: Fields) -> None:
    """Raise ValueError where a field is there and not what is allowed."""
    for name, value in allowed.items():
        if fields.get(name, value) != value:
            msg = f"{name} is {fields[name]!r}; only {value!r} is possible"
            raise ValueError(msg)
