"""Which gain brings a run of audio to the level a profile aims at, once its peaks are limited too.

settled = Settling(run, TARGETS[profile]).at(ceiling_dbtp)
blocks = mastered(run, settled.setting)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from jobs.mastering.limiter import Setting, limited
from jobs.mastering.loudness import Loudness, measure
from jobs.mastering.profiles import Target
from jobs.mastering.room_tone import room_tone
from jobs.takes import Pcm

MAX_GAIN_DB = 30.0
"""More would only make noise louder: a take that needs it has hardly any speech in it."""
NEAR_DB = 0.1
"""A level this near needs no further round."""
OFF_DB = 0.5
"""A level farther away than this is told to the user."""
_ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Run:
    """Audio that can be read again and again: `blocks` makes a new stream of [n] int16, `samples` in all."""

    blocks: Callable[[], Iterable[Pcm]]
    samples: int
    sample_rate_hz: int


@dataclass(frozen=True, slots=True)
class Settled:
    """A setting, the level it leads to (None: there is none to measure), and what a person should know about it."""

    setting: Setting
    level_db: float | None
    note: str = ""


@dataclass(slots=True)
class Settling:
    """Finds the setting of one run for any ceiling. What was measured once is kept."""

    run: Run
    target: Target
    _raw: Loudness | None = None
    _known: dict[float, Settled] = field(default_factory=dict)

    def at(self, ceiling_dbtp: float) -> Settled:
        """The setting for one ceiling on true peaks. The level it leads to is measured, and corrected a few times."""
        if ceiling_dbtp not in self._known:
            self._known[ceiling_dbtp] = self._settle(ceiling_dbtp)
        return self._known[ceiling_dbtp]

    def _settle(self, ceiling_dbtp: float) -> Settled:
        if self._raw is None:
            self._raw = measure(self.run.blocks(), self.run.sample_rate_hz)
        raw_db = self._level_db(self._raw)
        if raw_db is None:
            note = "it has no loudness (no 400 ms of it are above -70 LUFS): its gain stays at 0 dB"
            return Settled(Setting(0.0, ceiling_dbtp), None, note)
        setting = Setting(_bounded(self.target.level_db - raw_db), ceiling_dbtp)
        level_db = raw_db + setting.gain_db
        if self._raw.true_peak_dbtp + setting.gain_db > ceiling_dbtp:
            setting, level_db = self._correct(setting, level_db)
        off_db = level_db - self.target.level_db
        note = f"its level is {off_db:+.1f} dB off the aim: its peaks allow no other" if abs(off_db) > OFF_DB else ""
        return Settled(setting, round(level_db, 3), note)

    def _correct(self, setting: Setting, level_db: float) -> tuple[Setting, float]:
        """Limited peaks take some loudness away: give it back, measure again."""
        before: tuple[float, float] | None = None  # gain and level of the round before
        for left in reversed(range(_ROUNDS)):
            found = measure(mastered(self.run, setting), self.run.sample_rate_hz)
            level_db = self._level_db(found) or level_db
            off_db = self.target.level_db - level_db
            louder = replace(
                setting, gain_db=_bounded(setting.gain_db + off_db / slope(before, (setting.gain_db, level_db)))
            )
            if abs(off_db) <= NEAR_DB or louder == setting or not left:
                break
            before, setting = (setting.gain_db, level_db), louder
        return setting, level_db

    def _level_db(self, found: Loudness) -> float | None:
        return self.target.level_of(found.integrated_lufs, found.rms_db)


def mastered(run: Run, setting: Setting, *, tone: bool = False) -> Iterator[Pcm]:
    """The run with gain, limit and (`tone`) room tone, in blocks of [n] int16; `run.samples` samples."""
    position = 0
    for block in limited(run.blocks(), setting, run.sample_rate_hz):
        bed = room_tone(position, block.size, run.samples) if tone else 0.0
        yield np.clip(np.rint(block + bed), -32768, 32767).astype(np.int16)
        position += block.size


def _bounded(gain_db: float) -> float:
    return round(min(MAX_GAIN_DB, max(-MAX_GAIN_DB, gain_db)), 3)


def slope(before: tuple[float, float] | None, now: tuple[float, float]) -> float:
    """How much of one dB of gain is heard, by two rounds (gain and level of each): the more is limited, the less.

    A quarter at least, and 1 where there was no other round.
    """
    if before is None or before[0] == now[0]:
        return 1.0
    return min(1.0, max(0.25, (now[1] - before[1]) / (now[0] - before[0])))
