"""What `plan` and `submit` are asked about reading and speaking: from typed words to sources and options."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from cli.session import is_path
from jobs.drafts import Source
from jobs.errors import BadOption, BadSource, SourceProblem
from jobs.planning import PlanOptions
from jobs.reading import load_source, read_bounded
from jobs.reading.cast import parse_cast
from jobs.reading.options import ReadingOptions, skip_set
from jobs.speaking.base import Addresses
from jobs.speaking.lexicon import Lexicon
from jobs.speaking.speaker import SpeakingOptions
from jobs.spec import SourceKind

STDIN = "-"
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Reading:
    """The options of `plan` and `submit` that decide how a source is read and spoken, as they were typed."""

    files: tuple[str, ...]
    model: str | None = None
    voice: str | None = None
    lang: str | None = None
    kind: str | None = None
    encoding: str | None = None
    skip: str | None = None
    keep: str | None = None
    lexicon: str | None = None
    markup: bool = False
    cast: str | None = None
    addresses: str = Addresses.HOST

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Reading:
        """Out of all options of the running command (`context.params`), by their names."""
        chosen = {field.name: options[field.name] for field in fields(cls)}
        return cls(**{**chosen, "files": tuple(options["files"])})

    @property
    def source_kind(self) -> SourceKind | None:
        """The kind that `--type` names. Raises BadOption."""
        return one_of(SourceKind, "--type", self.kind) if self.kind is not None else None

    @property
    def voice_name(self) -> str | None:
        """The voice; a path is made absolute, since workers run in other folders."""
        if self.voice is not None and is_path(self.voice):
            return str(Path(self.voice).expanduser().absolute())
        return self.voice

    def plan_options(self) -> PlanOptions:
        """What the planner is told.

        Raises:
            BadOption: a value that is not possible.
            BadSource: the lexicon cannot be read, or has lines that are wrong.
        """
        lexicon = None if self.lexicon is None else read_lexicon(Path(self.lexicon).expanduser())
        return PlanOptions(
            reading=ReadingOptions(encoding=self.encoding, skip=skip_set(_names(self.skip), _names(self.keep))),
            speaking=SpeakingOptions(lexicon=lexicon, addresses=one_of(Addresses, "--addresses", self.addresses)),
            markup=self.markup,
            cast={} if self.cast is None else parse_cast(self.cast),
        )


def source_of(name: str, kind: SourceKind | None) -> Source:
    """A source by the name that was typed. Raises BadSource."""
    if name == STDIN:
        data = read_bounded(sys.stdin.buffer, "standard input")
        return Source(source_name(name, kind), data, kind)
    return Source(source_name(name, kind), load_source(Path(name).expanduser()), kind)


def source_name(name: str, kind: SourceKind | None) -> str:
    """What a source is called: the name of its file, or `stdin` with the ending of its kind."""
    return Path(name).name if name != STDIN else f"stdin.{kind or SourceKind.TXT}"


def read_lexicon(path: Path) -> Lexicon:
    """The lexicon in a file. Raises BadSource."""
    try:
        text = load_source(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"--lexicon {path} is not UTF-8 (byte {error.start}); save it as UTF-8"
        raise BadSource(SourceProblem("bad_lexicon", msg)) from error
    return Lexicon.parse(text, path.name)


def one_of(kind: type[Choice], option: str, value: str) -> Choice:
    """The member of an enum with that value. Raises BadOption with all of them."""
    try:
        return kind(value)
    except ValueError:
        msg = f"{option} {value!r} is not possible; allowed are {', '.join(kind)}"
        raise BadOption(msg) from None


def several_of(kind: type[Choice], option: str, typed: str | None) -> tuple[Choice, ...]:
    """The members of an enum that a comma-separated list names, each once. Raises BadOption."""
    return tuple(dict.fromkeys(one_of(kind, option, name) for name in _names(typed)))


def _names(text: str | None) -> Sequence[str]:
    return () if text is None else [name.strip() for name in text.split(",")]
