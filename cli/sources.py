"""What `plan` and `submit` are asked: from typed words to sources and to what is wanted of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cli.session import is_path, with_absolute_path
from jobs.drafts import Source
from jobs.job_options import JobOptions, recogniser_in, with_recogniser
from jobs.reading import load_source, read_bounded
from jobs.speaking.lexicon import Lexicon, lexicon_text
from jobs.spec import SourceKind

STDIN = "-"
TYPED = {"language": "lang", "exports": "export"}
"""Options that commands call otherwise than `JobOptions` does."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is to be read, and what is asked of it."""

    files: tuple[str, ...]
    asked: JobOptions

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Reading:
        """Out of all options of the running command (`context.params`), by their names. Raises BadSource."""
        return cls(tuple(options["files"]), asked_of(options))

    @property
    def source_kind(self) -> SourceKind | None:
        """The kind that `--type` names. Raises BadOption."""
        return self.asked.source_kind


def asked_of(options: Mapping[str, Any]) -> JobOptions:
    """What a command was asked, as far as it has such options. What is a path is made absolute: workers run elsewhere.

    Raises:
        BadSource: the lexicon cannot be read, or has lines that are wrong.
    """
    names = {field.name: TYPED.get(field.name, field.name) for field in fields(JobOptions)}
    words = {name: options[typed] for name, typed in names.items() if typed in options}
    if (voice := words.get("voice")) is not None and is_path(voice):
        words["voice"] = with_absolute_path(voice)
    if (lexicon := words.get("lexicon")) is not None:
        words["lexicon"] = read_lexicon(Path(lexicon).expanduser())
    if (model := recogniser_in(words.get("check", ""))) and _is_folder(model):
        words["check"] = with_recogniser(str(Path(model).expanduser().absolute()))
    return JobOptions(**words)


def _is_folder(recogniser: str) -> bool:
    return recogniser.startswith(("~", ".", "/")) or ("/" in recogniser and Path(recogniser).is_dir())


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
    return Lexicon.parse(lexicon_text(load_source(path), f"--lexicon {path}"), path.name)
