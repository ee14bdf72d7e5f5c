"""What `submit` was told about checks, mastering and what is delivered beside the audio, made sense of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cli.sources import one_of, several_of
from jobs.checks.hearing import USUAL_ASR
from jobs.errors import BadOption
from jobs.kinds import DatasetLayout, LoudnessOver, OnBad, Profile, SubtitleFormat
from jobs.spec import Checks, Mastering


@dataclass(frozen=True, slots=True)
class Finishing:
    """The options of `cli.options` after those of reading. `mastering` None: the usual one for the kind of source."""

    checks: Checks
    mastering: Mastering | None
    subtitles: tuple[SubtitleFormat, ...]
    read_along: bool
    exports: tuple[DatasetLayout, ...]

    @classmethod
    def of(cls, typed: Mapping[str, object]) -> Finishing:
        """From a command's parameters by name. Raises BadOption."""
        return cls(
            checks=Checks(
                takes=int(str(typed["takes"])),
                on_bad=one_of(OnBad, "--on-bad", str(typed["on_bad"])),
                asr=_recogniser(str(typed["check"])),
            ),
            mastering=_mastering(typed),
            subtitles=several_of(SubtitleFormat, "--subtitles", _text(typed["subtitles"])),
            read_along=bool(typed["read_along"]),
            exports=several_of(DatasetLayout, "--export", _text(typed["export"])),
        )


def _recogniser(check: str) -> str:
    name, _, model = check.partition(":")
    if name == "free" and not model:
        return ""
    if name != "asr" or (":" in check and not model):
        msg = f"--check {check!r} is not possible; use free, asr, or asr:MODEL (faster-whisper's, or a folder)"
        raise BadOption(msg)
    if model.startswith(("~", ".", "/")) or ("/" in model and Path(model).is_dir()):
        return str(Path(model).expanduser().absolute())  # CPU workers run in other folders
    return model or USUAL_ASR


def _mastering(typed: Mapping[str, object]) -> Mastering | None:
    over = one_of(LoudnessOver, "--loudness", str(typed["loudness"]))
    profile, room_tone = typed["profile"], typed["room_tone"]
    if profile is None:
        if over is LoudnessOver.CHAPTER and room_tone is None:
            return None
        profile = Profile.AUDIOBOOK
    named = one_of(Profile, "--profile", str(profile))
    return Mastering(profile=named, over=over, room_tone=named is Profile.ACX if room_tone is None else bool(room_tone))


def _text(typed: object) -> str | None:
    return None if typed is None else str(typed)
