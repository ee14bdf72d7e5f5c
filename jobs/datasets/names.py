"""Names that every dataset tool takes: ids of utterances and speakers. Pure.

Ids are lower-case ASCII letters, digits and dashes: a dot ends a sample's name in WebDataset, a space ends it in Kaldi,
a slash is a folder everywhere. Speakers have no dash but underscores: Kaldi puts them before the id with a dash
between, and its files are then in order by speaker as by utterance, since a dash sorts before all that a speaker may
hold.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

from jobs.errors import BadOption

MAX_JOB_CHARS = 56
MAX_ITEM_CHARS = 30
"""With the number between them an id and an ending stay below the 100 bytes that a plain tar header has for a name."""
MAX_SPEAKER_CHARS = 40
_DIGEST_BYTES = 4
_DATASET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


def utterance_id(job: str, segment: int, item: str | None) -> str:
    """The id of an utterance that begins with a segment (counted from 0): job, number from 000001, item.

    The number makes it unique in its job, the digest at the end of a job's id unique among jobs.
    """
    parts = [_job_part(job), f"{segment + 1:06d}"]
    if item is not None:
        parts.append(_safe(item, "-", MAX_ITEM_CHARS))
    return "-".join(part for part in parts if part)


def job_names(jobs: Iterable[str], ending: str) -> re.Pattern[str]:
    """What the files of the utterances of one or more jobs are called."""
    either = "|".join(re.escape(_job_part(job)) for job in jobs)
    return re.compile(rf"(?:{either})-\d{{6,}}(?:-[a-z0-9-]*)?\.{re.escape(ending)}")


def speaker_name(model: str, voice: str) -> str:
    """The speaker: a voice of a model. A name that had to be changed or cut carries a digest of what it was."""
    return f"{_speaker_part(model)}_{_speaker_part(voice)}"


def checked_name(name: str) -> str:
    """The name of a dataset, as it is. Raises BadOption when it cannot be part of a file's name."""
    if _DATASET_NAME.fullmatch(name) is None:
        msg = f"dataset name {name!r} is not possible; use 1 to 60 letters, digits, dashes and underscores (--name)"
        raise BadOption(msg)
    return name


def name_from(text: str) -> str:
    """A possible name for a dataset out of any text; `dataset` when nothing of it can stay."""
    return _safe(text, "-", 60) or "dataset"


def _job_part(job: str) -> str:
    return _safe(job, "-", MAX_JOB_CHARS, keep_end=True) or "job"


def _speaker_part(name: str) -> str:
    stem = name.replace("\\", "/").rstrip("/").rpartition("/")[2].removesuffix(".onnx")
    safe = _safe(stem, "_", MAX_SPEAKER_CHARS)
    if safe == name.lower().replace("-", "_"):
        return safe
    digest = hashlib.blake2b(name.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return f"{safe}_{digest}" if safe else digest


def _safe(text: str, between: str, max_chars: int, *, keep_end: bool = False) -> str:
    """Lower-case ASCII letters and digits, `between` for all else; accents are taken off, other scripts are lost."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    joined = re.sub(r"[^a-z0-9]+", between, plain).strip(between)
    return (joined[-max_chars:] if keep_end else joined[:max_chars]).strip(between)
