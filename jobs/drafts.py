"""From a source to a draft of a job: read, plan, check against a model's offer, estimate. Registers nothing.

draft = make_draft(Source(path.name, data), wishes)
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from jobs import keys
from jobs.checks.hearing import named_asr
from jobs.edit_sentences import sentences_of
from jobs.errors import BadOption, BadSource
from jobs.kinds import DatasetLayout, Profile, SubtitleFormat
from jobs.language_tags import base_language
from jobs.marks.read_along_places import with_places
from jobs.mastering.long_chapters import long_chapters
from jobs.narration import Limits
from jobs.offers import check_speed, doubts, find_voice, item_licences, item_voices, known_voice, language_for
from jobs.plan import Plan
from jobs.planning import DEFAULT_PLAN_OPTIONS, Origin, Planned, PlanOptions, build_plan
from jobs.reading import kind_of, read_source
from jobs.reading.document import Document
from jobs.spec import DEFAULT_CHECKS, AudioFormat, Checks, JobSpec, Mastering, ModelOffer, Priority, SourceKind

COMPRESSED_BYTES_PER_S = 12_000
"""An upper bound of our AAC, MP3 and Opus settings."""
ACX_MP3_BYTES_PER_S = 24_000
"""192 kb/s: what ACX asks for."""
PCM_BYTES = 2


@dataclass(frozen=True, slots=True)
class Source:
    """What is to be read: a name (its ending says the kind, unless `kind` does) and the bytes."""

    name: str
    data: bytes
    kind: SourceKind | None = None


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for. None means: the model's or the source's own."""

    offer: ModelOffer
    store_url: str
    voice: str | None = None
    language: str | None = None
    seed: int = 0
    speed: float = 1.0
    formats: tuple[AudioFormat, ...] = (AudioFormat.M4B,)
    priority: Priority = Priority.NORMAL
    live: bool = False
    options: PlanOptions = DEFAULT_PLAN_OPTIONS
    checks: Checks = DEFAULT_CHECKS
    mastering: Mastering | None = None
    """None: profile audiobook for what becomes a book, raw for the items of JSONL."""
    subtitles: tuple[SubtitleFormat, ...] = ()
    read_along: bool = False
    exports: tuple[DatasetLayout, ...] = ()
    skip_bad_lines: bool = False
    """Pass over lines of JSONL that cannot be read, instead of refusing the source."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A job that was planned but not accepted yet. `audio_s` is an estimate from the voice's speaking rate."""

    job: str
    spec: JobSpec
    planned: Planned
    source: bytes
    cover: bytes | None
    audio_s: float
    sample_rate_hz: int

    @property
    def plan(self) -> Plan:
        """The plan that is accepted with it."""
        return self.planned.plan

    @property
    def title(self) -> str:
        """The source's title, or its name without the ending."""
        return self.plan.source.title or Path(self.spec.source_name).stem

    @property
    def out_bytes(self) -> int:
        """A generous estimate of the finished audio: chapters and whole book in each format."""
        pcm_bytes = self.audio_s * self.sample_rate_hz * PCM_BYTES
        acx = self.spec.mastering.profile is Profile.ACX and AudioFormat.MP3 in self.spec.formats
        compressed_bytes = self.audio_s * (ACX_MP3_BYTES_PER_S if acx else COMPRESSED_BYTES_PER_S)
        lossless = {AudioFormat.WAV, AudioFormat.FLAC}
        if self.spec.source_kind is SourceKind.JSONL:
            lossless.add(AudioFormat.M4B)  # items of an m4b job are flac
        return round(sum(2 * (pcm_bytes if name in lossless else compressed_bytes) for name in self.spec.formats))

    @property
    def store_bytes(self) -> int:
        """A generous estimate of what the store will hold of it: takes and finished audio."""
        return self.out_bytes + round(self.audio_s * self.sample_rate_hz * PCM_BYTES)

    @property
    def passed_over(self) -> tuple[str, ...]:
        """What is told of each line of JSONL that could not be read and was left out."""
        return tuple(f"line {problem.line} is passed over: {problem.message}" for problem in self.planned.problems)

    @property
    def long_chapters(self) -> tuple[str, ...]:
        """What is told of each chapter that is likely to be too long for ACX, where the job is for ACX."""
        for_acx = self.spec.mastering.profile is Profile.ACX
        return long_chapters(self.plan, audio_s=self.audio_s) if for_acx else ()

    @property
    def chapter_s(self) -> tuple[float, ...]:
        """Expected seconds of audio of each chapter."""
        return self.plan.shares_of(self.audio_s)

    def with_plan(self, plan: Plan) -> Draft:
        """The same job after its plan was edited by hand: another plan is another job."""
        audio_s = self.audio_s * plan.prompt_chars / max(1, self.plan.prompt_chars)
        sentences = sentences_of(plan, self.plan, self.planned.sentences)
        planned = replace(self.planned, plan=plan, sentences=sentences)
        return replace(self, planned=planned, audio_s=audio_s, job=_job_id(self.spec, plan))


def plan_source(source: Source, wishes: Wishes) -> Planned:
    """Read and plan a source to be looked at: what only a submitted job must have (voices, language) is warned of.

    Raises:
        BadSource: it cannot be read, or holds nothing to speak.
        BadOption: an unknown voice was asked for, or what the model or the kind of source does not have.
    """
    offer = wishes.offer
    voice = known_voice(offer, wishes.voice or offer.default_voice)
    document, origin = _read(source, wishes)
    language = language_for(wishes.language, document.language, voice, strict=False)
    planned = _plan(document, origin, wishes, language)
    warnings = tuple(doubts(offer, planned.plan, voice, language))
    info = planned.plan.source.model_copy(update={"warnings": (*planned.plan.source.warnings, *warnings)})
    return replace(planned, plan=planned.plan.model_copy(update={"source": info}))


def make_draft(source: Source, wishes: Wishes) -> Draft:
    """Read and plan a source.

    Raises:
        BadSource: it cannot be read, or holds nothing to speak.
        BadOption: a voice, language or speed that the model does not have, a recogniser that knows another language.
    """
    offer = wishes.offer
    check_speed(offer, wishes.speed)
    document, origin = _read(source, wishes)
    _check_lines(document, wishes)
    voice = find_voice(offer, wishes.voice or offer.default_voice)
    language = language_for(wishes.language, document.language, voice)
    planned = _plan(document, origin, wishes, language, data=source.data)
    plan = planned.plan
    spec = JobSpec(
        source_name=source.name,
        source_kind=origin.kind,
        model=offer.name,
        voice=voice.name,
        language=language,
        voice_revision=voice.revision,
        numerics=offer.numerics,
        store_url=wishes.store_url,
        item_voices=item_voices(offer, plan, voice),
        voice_licence=voice.licence,
        item_licences=item_licences(offer, plan),
        seed=wishes.seed,
        speed=wishes.speed,
        formats=wishes.formats,
        priority=wishes.priority,
        live=wishes.live,
        checks=_checks(wishes.checks, plan),
        mastering=wishes.mastering or _usual_mastering(origin.kind),
        subtitles=wishes.subtitles,
        read_along=wishes.read_along,
        exports=wishes.exports,
    )
    return Draft(
        job=_job_id(spec, plan),
        spec=spec,
        planned=planned,
        source=source.data,
        cover=document.cover,
        audio_s=plan.prompt_chars / offer.chars_per_s / wishes.speed,
        sample_rate_hz=offer.sample_rate_hz,
    )


def _checks(asked: Checks, plan: Plan) -> Checks:
    """The checks with their recogniser by name: which one is usual depends on the languages of the text."""
    languages = {base_language(segment.language) for segment in plan.segments}
    return asked.model_copy(update={"asr": named_asr(asked.asr, languages)})


def _check_lines(document: Document, wishes: Wishes) -> None:
    if document.problems and not wishes.skip_bad_lines:
        raise BadSource(*document.problems)


def _usual_mastering(kind: SourceKind) -> Mastering:
    return Mastering(profile=Profile.RAW if kind is SourceKind.JSONL else Profile.AUDIOBOOK)


def _job_id(spec: JobSpec, plan: Plan) -> str:
    """The same plan of the same source with the same options is the same job: submitting it again goes on with it."""
    digest = hashlib.blake2b(spec.model_dump_json().encode() + b"\0" + plan.dump(), digest_size=4).hexdigest()
    return f"{keys.slug(Path(spec.source_name).stem, 40) or 'job'}-{digest}"


def _read(source: Source, wishes: Wishes) -> tuple[Document, Origin]:
    kind = source.kind or kind_of(source.name)
    document = read_source(source.data, source.name, kind=kind, options=wishes.options.reading)
    return document, Origin(source.name, kind, hashlib.sha256(source.data).hexdigest())


def _plan(document: Document, origin: Origin, wishes: Wishes, language: str, *, data: bytes | None = None) -> Planned:
    offer = wishes.offer
    lexicon = wishes.options.speaking.lexicon
    if lexicon is not None and lexicon.has_phonemes and not offer.phonemes:
        msg = f"--lexicon has phonemes, which model {offer.name} does not speak; respell those words in letters"
        raise BadOption(msg)
    whole_items = wishes.options.whole_items
    limits = Limits(max_chars=offer.max_chars, pack_chars=offer.pack_chars, whole_items=whole_items)
    planned = build_plan(document, origin, language=language, limits=limits, options=wishes.options)
    asked = data if wishes.read_along else None
    return planned if asked is None else with_places(planned, asked, wishes.options.reading)
