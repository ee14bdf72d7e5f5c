"""Finished files at the level a profile aims at: encode, measure the file, correct, and keep what was found.

A coder changes levels a little (LAME takes some 0.4 dB off) and lets peaks overshoot, so the file itself is measured,
and encoded again with another gain and ceiling until it holds what its profile promises.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from jobs.assembly.encode import EncodeSpec, encode
from jobs.assembly.timeline import ChapterTimeline, Timeline
from jobs.errors import ObjectMissing
from jobs.kinds import LoudnessOver, Profile
from jobs.mastering.figures import Coding, Levels, measure_file
from jobs.mastering.limiter import Setting
from jobs.mastering.profiles import TARGETS, Target
from jobs.mastering.settle import OFF_DB, Run, Settling, mastered, slope
from jobs.protocols import Store
from jobs.spec import AudioFormat, Frozen, JobSpec

_log = logging.getLogger(__name__)

TRIES = 4
"""How often one file is encoded at most."""
NEAR_DB = 0.2
"""A file whose level is this near to the aim (after a correction: twice this) is not encoded again for it."""
_MARGIN_DB = 0.05
"""What meters differ by, and what rounding to 16 bits may add."""
_MORE_ROOM_DB = 0.15
"""Left below a peak that was too high, doubled with every further try."""


@dataclass(frozen=True, slots=True)
class FirstGuess:
    """Measured on speech: what a coder takes off the level, and by how much it lets true peaks overshoot."""

    loss_db: float = 0.0
    overshoot_db: float = 0.0


FIRST_GUESSES: dict[AudioFormat, FirstGuess] = {
    AudioFormat.M4B: FirstGuess(overshoot_db=0.25),
    AudioFormat.MP3: FirstGuess(loss_db=0.4, overshoot_db=0.1),
    AudioFormat.OPUS: FirstGuess(loss_db=0.25, overshoot_db=0.6),
}
"""Where the first encoding begins; a wrong guess costs a second one. Lossless formats need none."""


class FileMaster(Frozen):
    """One finished file: what was done (None: see its chapters) and what the file measures. `note` is for people."""

    key: str
    audio_format: AudioFormat
    gain_db: float | None = None
    ceiling_dbtp: float | None = None
    levels: Levels
    coding: Coding
    note: str = ""


class Master(Frozen):
    """The files of one chapter or of the whole book. `of` is a hash of all that decides them, but for the source."""

    of: str
    files: tuple[FileMaster, ...]

    def setting(self, audio_format: AudioFormat) -> Setting:
        """What was done to the file of one format. Raises KeyError."""
        for file in self.files:
            if file.audio_format is audio_format and file.gain_db is not None and file.ceiling_dbtp is not None:
                return Setting(file.gain_db, file.ceiling_dbtp)
        raise KeyError(audio_format)


def target_of(spec: JobSpec) -> Target | None:
    """What the job's audio is to be brought to; None for profile raw."""
    return TARGETS.get(spec.mastering.profile)


def over_book(spec: JobSpec) -> bool:
    """Whether one gain is measured over the whole book, so that no chapter can be written before the last is spoken."""
    return spec.mastering.profile is not Profile.RAW and spec.mastering.over is LoudnessOver.BOOK


def encode_mastered(path: Path, run: Run, spec: EncodeSpec, settling: Settling, *, tone: bool) -> FileMaster:
    """Write a run of audio as one file; `settling` is of that run, or of a longer one it is a part of.

    The level of a part is not corrected, only its peaks. Raises as `encode`.
    """
    guess = FIRST_GUESSES.get(spec.audio_format, FirstGuess())
    target = settling.target
    settled = settling.at(target.true_peak_dbtp - guess.overshoot_db - _MARGIN_DB)
    levelled = settled.level_db is not None
    setting = settled.setting
    if levelled:
        setting = replace(setting, gain_db=round(setting.gain_db + guess.loss_db, 3))
    whole = levelled and settling.run is run

    def write(chosen: Setting) -> None:
        encode(path, mastered(run, chosen, tone=tone), spec)

    setting, levels, coding = until_it_holds(path, write, setting, target, correct_level=whole)
    notes = [] if levelled else [settled.note]
    notes += doubts(levels, target, level=whole)
    return FileMaster(
        key="",
        audio_format=spec.audio_format,
        gain_db=setting.gain_db,
        ceiling_dbtp=setting.ceiling_dbtp,
        levels=levels,
        coding=coding,
        note="; ".join(notes),
    )


def until_it_holds(
    path: Path, write: Callable[[Setting], None], setting: Setting, target: Target, *, correct_level: bool
) -> tuple[Setting, Levels, Coding]:
    """Write and measure a file, again with another setting where it is over the peak or off the level, a few times."""
    before: tuple[float, float] | None = None
    for number in range(TRIES):
        write(setting)
        levels, coding = measure_file(path)
        now = (setting.gain_db, level_db(levels, target))
        off_db = target.level_db - now[1] if correct_level else 0.0
        over_db = levels.true_peak_dbtp - target.true_peak_dbtp
        near_db = NEAR_DB if number == 0 else 2 * NEAR_DB
        if number == TRIES - 1 or (over_db <= 0 and abs(off_db) <= near_db):
            break
        # A coder's noise overshoots by another amount each time.
        lower_db = over_db + _MORE_ROOM_DB * 2**number if over_db > 0 else 0.0
        # After the first time the peak goes first: more gain would only make it higher again.
        more_db = off_db / slope(before, now) if over_db <= 0 or number == 0 else 0.0
        before = now
        setting = Setting(round(setting.gain_db + more_db, 3), round(setting.ceiling_dbtp - lower_db, 3))
    return setting, levels, coding


def doubts(levels: Levels, target: Target, *, level: bool = True) -> list[str]:
    """What a finished file does not hold of what its profile promises, in words for people."""
    found = []
    over_db = levels.true_peak_dbtp - target.true_peak_dbtp
    if over_db > 0:
        found.append(f"its true peak is {levels.true_peak_dbtp:.2f} dBTP, {over_db:.2f} dB above the limit")
    off_db = level_db(levels, target) - target.level_db
    if level and abs(off_db) > OFF_DB:
        found.append(f"its level is {off_db:+.1f} dB off the aim of {target.level_db:g}: its peaks allow no other")
    return found


def level_db(levels: Levels, target: Target) -> float:
    """The level of a file by the measure its profile aims at; the aim itself where the file has none."""
    found = target.level_of(levels.loudness_lufs, levels.rms_db)
    return target.level_db if found is None else found


# ── what is kept between the steps of a job ─────────────────────────────────────────────────────────────────────────


def digest_of(spec: JobSpec, chapter: ChapterTimeline, book: str = "") -> str:
    """A hash of all that decides the files of a chapter; `book` (`book_digest`) where one gain is for all chapters."""
    return _hash((spec.mastering.model_dump_json(), spec.formats, chapter, book))


def book_digest(timeline: Timeline) -> str:
    """A hash of all that is heard in a book."""
    return _hash(timeline)


def _hash(decides: object) -> str:
    return hashlib.blake2b(repr(decides).encode(), digest_size=16).hexdigest()


def save_master(store: Store, key: str, of: str, files: Sequence[FileMaster]) -> Master:
    """Keep what was done to the files of a chapter or book. Raises StoreError."""
    master = Master(of=of, files=tuple(files))
    store.put(key, master.model_dump_json().encode())
    return master


def load_master(store: Store, key: str) -> Master | None:
    """What was kept; None where there is nothing, or nothing that can be read."""
    try:
        return Master.model_validate_json(store.get(key))
    except ObjectMissing:
        return None
    except ValidationError as error:
        _log.warning("%s in %s cannot be read and is made again: %s", key, store.url, error)
        return None
