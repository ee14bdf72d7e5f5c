"""What a user submits and what the queue carries: JobSpec, SegmentTask, SegmentResult, JobRecord, WorkerInfo.

Strict frozen models with one JSON form each (`model_dump_json` / `model_validate_json`); whatever crosses a wall of
this room is one of them. A default is written here once; the doors read it from here.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field

from jobs.kinds import DatasetLayout, Grade, LoudnessOver, OnBad, Profile, SubtitleFormat
from jobs.state import JobState, SegmentState


class Frozen(BaseModel):
    """Base of all wire forms: unknown fields and wrong types are errors, instances do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, ser_json_bytes="base64")


class Priority(StrEnum):
    """Class of a job: strict order between classes, fair sharing inside one."""

    LIVE = "live"
    NORMAL = "normal"
    BULK = "bulk"


class AudioFormat(StrEnum):
    """What finished audio can be written as."""

    M4B = "m4b"
    MP3 = "mp3"
    FLAC = "flac"
    OPUS = "opus"
    WAV = "wav"


class SourceKind(StrEnum):
    """What a source is read as."""

    TXT = "txt"
    MARKDOWN = "md"
    HTML = "html"
    EPUB = "epub"
    JSONL = "jsonl"
    SRT = "srt"
    VTT = "vtt"


class Checks(Frozen):
    """How takes are checked: `takes` attempts at most for a segment; `asr` names the speech recogniser ("": none)."""

    takes: int = Field(default=3, ge=1, le=20)
    on_bad: OnBad = OnBad.MARK
    asr: str = ""


DEFAULT_CHECKS = Checks()


class Mastering(Frozen):
    """What is done to finished audio. `room_tone`: pauses are very quiet noise instead of digital zero."""

    profile: Profile = Profile.RAW
    over: LoudnessOver = LoudnessOver.CHAPTER
    room_tone: bool = False


class JobSpec(Frozen):
    """Everything that decides how a job sounds and where it goes.

    `voice_revision` and `numerics` come from the model's card: with the text they decide the samples, so they are
    part of every take key; `item_voices` has the revisions of voices that single JSONL items ask for instead,
    `item_licences` their licences.
    `store_url` is where takes and finished audio are kept.
    """

    source_name: str
    source_kind: SourceKind
    model: str
    voice: str
    language: str
    voice_revision: str
    numerics: str
    store_url: str
    item_voices: dict[str, str] = Field(default_factory=dict)
    voice_licence: str = ""
    item_licences: dict[str, str] = Field(default_factory=dict)
    seed: int = Field(default=0, ge=0, lt=2**63)
    speed: float = Field(default=1.0, gt=0.0)
    formats: tuple[AudioFormat, ...] = (AudioFormat.M4B,)
    priority: Priority = Priority.NORMAL
    live: bool = False
    checks: Checks = DEFAULT_CHECKS
    mastering: Mastering = Mastering()
    subtitles: tuple[SubtitleFormat, ...] = ()
    read_along: bool = False
    """Also write the epub with its audio in it, each sentence marked while it is heard (EPUB 3 media overlays)."""
    exports: tuple[DatasetLayout, ...] = ()

    @property
    def licences(self) -> dict[str, str]:
        """The licence, in words for people, of each voice that may be heard; the job's own voice first."""
        return {self.voice: self.voice_licence, **dict(sorted(self.item_licences.items()))}

    @property
    def engine(self) -> str:
        """Who may speak it: a model with the arithmetic that the take keys promise."""
        return engine_name(self.model, self.numerics)


@lru_cache(maxsize=1024)
def engine_name(model: str, numerics: str) -> str:
    """`piper@vits2-bf16`: workers lease by this name, so that a take is what its key says on any machine."""
    return f"{model}@{numerics}"


class SegmentTask(Frozen):
    """One waiting segment: all a worker needs to speak it, again and again if it must (`jobs.attempts`).

    `seed` is the take's own seed, `take` its key; both belong to `attempt`, counted from 0. A worker makes the attempts
    from that one on until one is good or attempt `takes` - 1 is made. `base_seed`, `voice_revision` and `numerics` are
    in the next attempt's seed and key; `device_s` and `energy_j` are of earlier attempts; `speech`: see `Truth.speak`.
    """

    job: str
    segment: int
    chapter: int
    model: str
    spoken: str
    voice: str
    language: str
    speed: float
    seed: int
    take: str
    store_url: str
    live: bool = False
    speech: bool = False
    attempt: int = 0
    takes: int = 1
    on_bad: OnBad = OnBad.FAIL
    base_seed: int = 0
    voice_revision: str = ""
    numerics: str = ""
    device_s: float = 0.0
    energy_j: float | None = None

    @property
    def ref(self) -> str:
        """`<job>|<segment>`: how held sets and logs name a segment."""
        return f"{self.job}|{self.segment}"


class SegmentResult(Frozen):
    """How one segment ended. `reason` says why it failed, or what is wrong with a take that is not good.

    `reused`: its take was already in the store. `take` is that of `attempt`, the best of so many `takes` that were
    tried. `settled`: the checks of its chapter are through with it. `device_s` and `energy_j` are its share of the
    device's time and (where the device tells) energy, all attempts together; `device` is its name ("" for reused ones).
    """

    job: str
    segment: int
    chapter: int
    state: SegmentState
    take: str
    samples: int = 0
    sample_rate_hz: int = 0
    compute_s: float = 0.0
    reused: bool = False
    reason: str = ""
    attempt: int = 0
    takes: int = 1
    grade: Grade = Grade.GOOD
    settled: bool = False
    device_s: float = 0.0
    energy_j: float | None = None
    device: str = ""


class JobRecord(Frozen):
    """A job as the truth holds it: the spec, its state and its counters.

    `marked` counts done segments whose take is not good, `retakes` the attempts beyond the first of finished segments.
    """

    job: str
    spec: JobSpec
    state: JobState
    title: str
    author: str
    created_at_s: float
    updated_at_s: float
    total: int = 0
    done: int = 0
    failed: int = 0
    held: int = 0
    reused: int = 0
    marked: int = 0
    retakes: int = 0
    chapters: int = 0
    chapters_assembled: int = 0
    total_chars: int = 0
    audio_s: float = 0.0
    reason: str = ""

    @property
    def waiting(self) -> int:
        """Segments that nobody holds and that are not finished."""
        return max(0, self.total - self.done - self.failed - self.held)


class VoiceOffer(Frozen):
    """One voice somebody can speak with. `revision` is a hash of its weights; `licence` and `note` are for people.

    `reads`: the base languages it can be asked to read (`en`), if that is not just its own.
    """

    name: str
    language: str
    revision: str
    licence: str
    note: str = ""
    installed: bool = True
    install_hint: str = ""
    reads: tuple[str, ...] = ()


class ModelOffer(Frozen):
    """A model as the planner and people see it: what it can do and the limits it sets.

    `max_chars` is the longest safe segment, `pack_chars` how far short sentences are joined (0: not at all),
    `chars_per_s` a first guess of the speaking rate, `numerics` the version of the arithmetic (part of take keys).
    """

    name: str
    description: str
    lane: str
    languages: tuple[str, ...]
    voices: tuple[VoiceOffer, ...]
    default_voice: str
    sample_rate_hz: int
    max_chars: int
    pack_chars: int
    chars_per_s: float
    numerics: str
    min_speed: float
    max_speed: float
    devices: tuple[str, ...] = ("cpu",)
    install_hint: str = ""
    """How to install what the model itself needs; empty when it can run here."""
    phonemes: bool = False
    """Whether `⟦IPA⟧` in a text is spoken as phonemes."""
    clones: bool = False
    """Whether it speaks like a reference clip (`jobs/references.py`)."""
    blends: bool = False
    """Whether it speaks with a mean of its voices (`jobs/blends.py`)."""

    @property
    def engine(self) -> str:
        """The name that workers lease by."""
        return engine_name(self.name, self.numerics)

    def voice(self, name: str) -> VoiceOffer | None:
        """The voice of exactly that name, or None."""
        return next((voice for voice in self.voices if voice.name == name), None)


class WorkerInfo(Frozen):
    """A worker as it presents itself. `models` are the engine names it leases for, `offers` what people may know."""

    worker: str
    host: str
    pid: int
    device: str
    slots: int
    models: tuple[str, ...]
    started_at_s: float
    offers: tuple[ModelOffer, ...] = ()


class WorkerStatus(Frozen):
    """A worker as the truth sees it."""

    info: WorkerInfo
    beat_age_s: float
    held: int
    slots_busy: int = 0
    segments_done: int = 0
    audio_s: float = 0.0
    figures: dict[str, float] = {}
    """Further totals since it started, by their names in `jobs/figures.py`."""
