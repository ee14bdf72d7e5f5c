"""Errors of the jobs room. Each says what, the values, what is allowed and what to do next.

JobsError
├── BadInput            what the user gave cannot become a job (exit code 2)
│   ├── BadSource       a source file cannot be read or holds nothing to speak; carries `code` and maybe `line`
│   ├── BadOption       an option has a value that is not allowed
│   ├── UnknownJob      no job has that id
│   ├── UnknownFile     no uploaded file has that id
│   ├── UnknownBatch    no batch has that id, or no line of that name
│   ├── TooLarge        an upload is larger than what is taken
│   └── BadOutput       the place for the output cannot be written or is too small
├── BrokerUnavailable   no Redis or Valkey answers at the URL (exit code 3)
├── NoDevice            the device asked for is not on this machine (exit code 4)
├── QueueFull           so much waits that no new work is taken
├── IllegalMove         a state change the transition table forbids
├── Fenced              this worker was declared dead; it must stop
├── StoreError          a store refused or lost an object
│   ├── StoreAway       it does not answer now, and may later
│   ├── ObjectChanged   somebody else wrote an object while it was being written here
│   ├── ObjectMissing   no object has that key
│   └── ObjectDamaged   an object is not what its record says (size, checksum, length)
├── EncodeMismatch      finished audio read back does not have the length or content that went in
├── SpeechIncomplete    a speech request ended without being heard whole
└── MissingExtra        an optional package is not installed; carries the install line
"""

from __future__ import annotations

from dataclasses import dataclass


class JobsError(Exception):
    """Base of every error of this room."""


class BadInput(JobsError):
    """What the user gave cannot become a job."""


@dataclass(frozen=True, slots=True)
class SourceProblem:
    """One thing wrong with a source: `code` for programs, `message` for people, `line` counted from 1 if known."""

    code: str
    message: str
    line: int | None = None


class BadSource(BadInput):
    """A source file cannot be read, or holds nothing to speak."""

    def __init__(self, *problems: SourceProblem) -> None:
        self.problems = problems
        super().__init__("\n".join(_problem_line(problem) for problem in problems))

    def __reduce__(self) -> tuple[type[BadSource], tuple[SourceProblem, ...]]:
        """How it comes whole out of a process that reads sources (`jobs.planner`)."""
        return type(self), self.problems


def _problem_line(problem: SourceProblem) -> str:
    return problem.message if problem.line is None else f"line {problem.line}: {problem.message}"


class BadOption(BadInput):
    """An option has a value that is not allowed."""


class BadField(BadOption):
    """A field of a request has a value that is not allowed: `param` names it, `code` tells programs what is wrong."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.param = param
        self.code = code


class UnknownJob(BadInput):
    """No job has that id."""


class UnknownFile(BadInput):
    """No uploaded file has that id."""


class UnknownBatch(BadInput):
    """No batch has that id, or it has no line of that name."""


class TooLarge(BadInput):
    """An upload is larger than what is taken."""


class BadOutput(BadInput):
    """The place for the output cannot be written, or is too small."""


class BrokerUnavailable(JobsError):
    """No Redis or Valkey answers."""


class NoDevice(JobsError):
    """The device asked for is not on this machine."""


class QueueFull(JobsError):
    """So much waits, or the broker's memory is so full, that no new work is taken now."""


class IllegalMove(JobsError):
    """A state change that the transition table forbids."""


class Fenced(JobsError):
    """This worker was declared dead: its results are refused and it must stop."""


class StoreError(JobsError):
    """A store refused or lost an object."""


class StoreAway(StoreError):
    """A store does not answer, or says that it cannot now: the same may succeed later."""


class ObjectChanged(StoreError):
    """An object was written by somebody else while it was being written here."""


class ObjectMissing(StoreError):
    """No object has that key."""


class ObjectDamaged(StoreError):
    """An object is not what its record says: wrong size, checksum or length."""


class EncodeMismatch(JobsError):
    """Finished audio, read back after encoding, does not have the length or content that went in."""


class SpeechIncomplete(JobsError):
    """A speech request ended without being heard whole: a segment failed, or it was cancelled."""


class MissingExtra(JobsError):
    """An optional package is not installed; the text carries the install line."""


def code_of(error: JobsError) -> str:
    """What every door calls an error for programs: by its own code if it has one, else `unknown_job` and the like."""
    if isinstance(error, BadSource):
        return error.problems[0].code
    if isinstance(error, BadField) and error.code is not None:
        return error.code
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in type(error).__name__).lstrip("_")
