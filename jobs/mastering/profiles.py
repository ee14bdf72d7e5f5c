"""What each mastering profile aims at. Pure.

Sources: loudness and true peak are measured as ITU-R BS.1770-4 and EBU R 128 say. −20 LUFS with true peaks up to
−3 dBTP lies inside what audiobook distributors ask for (−18 to −23). ACX: its audio submission requirements (levels,
head, tail, 192 kb/s, 120 minutes). −16 LUFS with −1 dBTP is what podcast directories ask for mono and stereo speech.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from jobs.kinds import Profile
from jobs.spec import AudioFormat


@dataclass(frozen=True, slots=True)
class Target:
    """What a profile aims at: either `loudness_lufs` (integrated) or `rms_db` (of all samples, dB of full scale).

    `true_peak_dbtp` is what the finished file must hold. A chapter begins with `head_s` of silence and ends, after its
    last segment, with `min_tail_s` to `max_tail_s` (None: as its last pause is).
    """

    loudness_lufs: float | None
    rms_db: float | None
    true_peak_dbtp: float
    head_s: float = 0.0
    min_tail_s: float = 0.0
    max_tail_s: float | None = None

    @property
    def level_db(self) -> float:
        """The level aimed at, in LUFS or dB."""
        level_db = self.rms_db if self.loudness_lufs is None else self.loudness_lufs
        if level_db is None:
            msg = f"{self} aims at no level; give loudness_lufs or rms_db"
            raise ValueError(msg)
        return level_db

    def level_of(self, loudness_lufs: float | None, rms_db: float) -> float | None:
        """What was measured, by the measure that is aimed at; None where there is no loudness."""
        return None if loudness_lufs is None else rms_db if self.loudness_lufs is None else loudness_lufs


TARGETS: MappingProxyType[Profile, Target] = MappingProxyType(
    {
        Profile.AUDIOBOOK: Target(-20.0, None, -3.0, head_s=0.75, min_tail_s=1.0),
        # RMS −23 to −18: the middle. Head 0.5 to 1 s, tail 1 to 5 s: a voice adds a little silence of its own.
        Profile.ACX: Target(None, -20.5, -3.0, head_s=0.65, min_tail_s=1.5, max_tail_s=4.0),
        Profile.PODCAST: Target(-16.0, None, -1.0),
    }
)
"""The row of each profile; RAW has none: nothing is measured and nothing is changed."""


def usual_formats(profile: Profile | None) -> tuple[AudioFormat, ...]:
    """What is written where no format was asked for: ACX takes mp3 alone."""
    return (AudioFormat.MP3,) if profile is Profile.ACX else (AudioFormat.M4B,)
