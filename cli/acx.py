"""`tts-batch acx`: measure finished files and say whether ACX would take them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import JsonOption, shared
from cli.output import Exit

if TYPE_CHECKING:
    from collections.abc import Sequence

SUFFIXES = frozenset({".mp3", ".m4a", ".m4b", ".flac", ".wav", ".opus", ".ogg"})
"""What is looked at in a folder."""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example:  tts-batch acx MyBook/chapters")(acx)


def acx(
    context: typer.Context,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…|FOLDER", help="Finished audio, a file for each chapter.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Measure finished files against what ACX (Audible) asks for. Exit code 1 if a figure fails."""
    from cli.acx_table import Measured, show
    from jobs.mastering.figures import measure_file

    measured = [Measured(str(path), *measure_file(path)) for path in _paths(files)]
    raise typer.Exit(Exit.DONE if show(shared(context).output, measured, as_result=True) else Exit.FAILED)


def _paths(names: Sequence[str]) -> list[Path]:
    """The files, and those in folders in the order of their names. Raises BadInput where there is none."""
    from jobs.errors import BadInput

    found: list[Path] = []
    for name in names:
        path = Path(name).expanduser()
        inside = (
            sorted(entry for entry in path.glob("*") if entry.suffix.lower() in SUFFIXES) if path.is_dir() else [path]
        )
        if not inside:
            msg = f"{path} has no audio files ({', '.join(sorted(SUFFIXES))}); name the folder of the chapters"
            raise BadInput(msg)
        found += inside
    missing = [path for path in found if not path.is_file()]
    if missing:
        msg = f"there is no file {missing[0]}; name finished audio files, or a folder of them"
        raise BadInput(msg)
    return found
