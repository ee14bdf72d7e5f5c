"""The table of what ACX asks for and what files measure: of `tts-batch acx`, and at the end of a job for ACX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from pydantic import ValidationError

from cli.output import JsonValue, Output
from cli.session import Session
from jobs import keys
from jobs.assembly.report import Report
from jobs.errors import ObjectMissing
from jobs.kinds import Profile
from jobs.mastering.acx import NOT_CHECKED, Check, acx_checks, book_checks
from jobs.mastering.figures import Coding, Levels
from jobs.spec import AudioFormat, JobRecord

MAX_NAME_CHARS = 28
"""As much of a file's name as the table shows."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One finished file and what it measures."""

    name: str
    levels: Levels
    coding: Coding


def show(output: Output, files: Sequence[Measured], *, as_result: bool) -> bool:
    """Print every figure (as the result, or as talk); returns whether all are within their limits."""
    checked = [acx_checks(file.levels, file.coding) for file in files]
    book = book_checks([file.coding for file in files])
    every = [check for checks in (*checked, book) for check in checks if check.passed is not None]
    failed = sum(check.passed is False for check in every)
    shown = _table(files, checked)
    if as_result:
        output.result(acx_document(files), shown)
    elif not output.as_json:
        output.say(shown)
    for check in book:
        if check.passed is False:
            output.say(f"{check.name}: {check.value}; {check.limit}")
    count = f"{len(files)} files" if len(files) > 1 else "1 file"
    output.say(f"ACX: {failed} of {len(every)} figures fail" if failed else f"ACX: all figures of {count} pass")
    for line in NOT_CHECKED:
        output.say(line)
    return not failed


def acx_document(files: Sequence[Measured]) -> dict[str, JsonValue]:
    """The machine form of the table."""
    checked = [acx_checks(file.levels, file.coding) for file in files]
    book = book_checks([file.coding for file in files])
    return {
        "passed": all(map(_passed, (*checked, book))),
        "files": [
            {
                "file": file.name,
                "passed": _passed(checks),
                "levels": file.levels.model_dump(mode="json"),
                "coding": file.coding.model_dump(mode="json"),
                "checks": [_document(check) for check in checks],
            }
            for file, checks in zip(files, checked, strict=True)
        ],
        "book": [_document(check) for check in book],
        "notes": list(NOT_CHECKED),
    }


def show_job(session: Session, output: Output, record: JobRecord) -> dict[str, JsonValue] | None:
    """The table of a finished job for ACX, from its report: its chapters' mp3 files. None for every other job."""
    if record.spec.mastering.profile is not Profile.ACX:
        return None
    files = _chapter_files(session, record)
    if not files:
        output.say("ACX: not checked: the job made no mp3 file of a chapter (--format mp3)")
        return None
    show(output, files, as_result=False)
    return acx_document(files)


def _chapter_files(session: Session, record: JobRecord) -> list[Measured]:
    try:
        report = Report.model_validate_json(session.store_of(record).get(keys.job_object(record.job, "report.json")))
    except (ObjectMissing, ValidationError):
        return []
    chapters = report.mastering.chapters if report.mastering is not None else ()
    found = [file for chapter in chapters for file in chapter.files if file.audio_format is AudioFormat.MP3]
    return [Measured(file.key, file.levels, file.coding) for file in found]


def _table(files: Sequence[Measured], checked: Sequence[Sequence[Check]]) -> str:
    """A line for each file, a column for each figure; the second line has the limits. Not cut to the terminal's width:
    a figure that is cut off says something else.
    """
    first = checked[0]
    rows = [["file", *(check.name for check in first), ""], ["", *(check.limit for check in first), "limits"]]
    for file, checks in zip(files, checked, strict=True):
        values = (check.value + ("" if check.passed is not False else " FAIL") for check in checks)
        rows.append([_short(PurePath(file.name).name), *values, "pass" if _passed(checks) else "FAIL"])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)


def _passed(checks: Sequence[Check]) -> bool:
    return all(check.passed is not False for check in checks)


def _short(name: str) -> str:
    return name if len(name) <= MAX_NAME_CHARS else f"{name[: MAX_NAME_CHARS - 1]}…"


def _document(check: Check) -> dict[str, JsonValue]:
    return {"name": check.name, "value": check.value, "limit": check.limit, "passed": check.passed}
