"""The options of a job in words, as a door got them: made sense of here for all doors, with their defaults.

wishes = JobOptions(voice="joe", formats="m4b,mp3").wishes(offer, store_url)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from jobs.checks.hearing import USUAL_ASR
from jobs.drafts import Wishes
from jobs.errors import BadOption
from jobs.kinds import DatasetLayout, LoudnessOver, OnBad, Profile, SubtitleFormat
from jobs.mastering.profiles import usual_formats
from jobs.planning import PlanOptions
from jobs.reading.cast import parse_cast
from jobs.reading.options import ReadingOptions, skip_set
from jobs.speaking.base import Addresses
from jobs.speaking.lexicon import Lexicon
from jobs.speaking.speaker import SpeakingOptions
from jobs.spec import DEFAULT_CHECKS, AudioFormat, Checks, Mastering, ModelOffer, Priority, SourceKind

Choice = TypeVar("Choice", bound=StrEnum)
FREE = "free"
"""The checks that always run, and no others."""
_ASR = "asr"


@dataclass(frozen=True, slots=True)
class JobOptions:
    """The options of a job by their names. Lists are comma-separated; None means: the usual, or the source's own.

    Errors name an option as the command line writes it (`--format`). `lexicon` is the table itself: whether it may come
    from a file is the door's business, and so is whether `voice` and the recogniser of `check` may be paths.
    """

    model: str | None = None
    voice: str | None = None
    language: str | None = None
    kind: str | None = None
    encoding: str | None = None
    skip: str | None = None
    keep: str | None = None
    lexicon: Lexicon | None = None
    markup: bool = False
    cast: str | None = None
    addresses: str = Addresses.HOST
    seed: int = 0
    speed: float = 1.0
    formats: str | None = None
    priority: str = Priority.NORMAL
    live: bool = False
    takes: int = DEFAULT_CHECKS.takes
    check: str = FREE
    on_bad: str = DEFAULT_CHECKS.on_bad
    profile: str | None = None
    loudness: str = LoudnessOver.CHAPTER
    room_tone: bool | None = None
    subtitles: str | None = None
    read_along: bool = False
    exports: str | None = None
    skip_bad_lines: bool = False

    @property
    def source_kind(self) -> SourceKind | None:
        """The kind that was named. Raises BadOption."""
        return None if self.kind is None else one_of(SourceKind, "--type", self.kind)

    def plan_options(self) -> PlanOptions:
        """What the planner is told. Raises BadOption."""
        skipped = skip_set(names_in(self.skip), names_in(self.keep))
        addresses = one_of(Addresses, "--addresses", self.addresses)
        return PlanOptions(
            reading=ReadingOptions(encoding=self.encoding, skip=skipped),
            speaking=SpeakingOptions(lexicon=self.lexicon, addresses=addresses),
            markup=self.markup,
            cast={} if self.cast is None else parse_cast(self.cast),
        )

    def checks(self) -> Checks:
        """How takes are checked. Raises BadOption."""
        on_bad = one_of(OnBad, "--on-bad", self.on_bad)
        return Checks(takes=self.takes, on_bad=on_bad, asr=_recogniser(self.check))

    def mastering(self) -> Mastering | None:
        """What is done to finished audio; None: the usual for the kind of source. Raises BadOption."""
        over = one_of(LoudnessOver, "--loudness", self.loudness)
        if self.profile is None and over is LoudnessOver.CHAPTER and self.room_tone is None:
            return None
        profile = one_of(Profile, "--profile", Profile.AUDIOBOOK if self.profile is None else self.profile)
        room_tone = profile is Profile.ACX if self.room_tone is None else self.room_tone
        return Mastering(profile=profile, over=over, room_tone=room_tone)

    def wishes(self, offer: ModelOffer, store_url: str) -> Wishes:
        """All of it, for a model and a store. Raises BadOption."""
        mastering = self.mastering()
        return Wishes(
            offer=offer,
            store_url=store_url,
            voice=self.voice,
            language=self.language,
            seed=self.seed,
            speed=self.speed,
            formats=self._formats(mastering),
            priority=one_of(Priority, "--priority", self.priority),
            live=self.live,
            options=self.plan_options(),
            checks=self.checks(),
            mastering=mastering,
            subtitles=several_of(SubtitleFormat, "--subtitles", self.subtitles),
            read_along=self.read_along,
            exports=several_of(DatasetLayout, "--export", self.exports),
            skip_bad_lines=self.skip_bad_lines,
        )

    def _formats(self, mastering: Mastering | None) -> tuple[AudioFormat, ...]:
        if self.formats is None:
            return usual_formats(None if mastering is None else mastering.profile)
        return several_of(AudioFormat, "--format", self.formats)


def recogniser_in(check: str) -> str:
    """What stands after `asr:`; empty if no recogniser is named there."""
    name, _, model = check.partition(":")
    return model if name == _ASR else ""


def with_recogniser(model: str) -> str:
    """The `check` that names a recogniser."""
    return f"{_ASR}:{model}"


def one_of(kind: type[Choice], option: str, value: str) -> Choice:
    """The member of an enum with that value. Raises BadOption with all of them."""
    try:
        return kind(value)
    except ValueError:
        msg = f"{option} {value!r} is not possible; allowed are {', '.join(kind)}"
        raise BadOption(msg) from None


def several_of(kind: type[Choice], option: str, typed: str | None) -> tuple[Choice, ...]:
    """The members of an enum that a comma-separated list names, each once. Raises BadOption."""
    return tuple(dict.fromkeys(one_of(kind, option, name) for name in names_in(typed)))


def names_in(text: str | None) -> Sequence[str]:
    """The entries of a comma-separated list."""
    return () if text is None else [name.strip() for name in text.split(",")]


def _recogniser(check: str) -> str:
    name, _, model = check.partition(":")
    if name == FREE and not model:
        return ""
    if name != _ASR or (":" in check and not model):
        msg = f"--check {check!r} is not possible; use free, asr, or asr:MODEL (faster-whisper's, or a folder)"
        raise BadOption(msg)
    return model or USUAL_ASR
