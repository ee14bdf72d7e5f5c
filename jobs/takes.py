"""Takes in the store: one attempt at a segment as FLAC (16 bit) and a JSON record of what is known of it.

The audio is written first and the record second: where a whole record is, the take is whole. The bytes of both depend
only on the samples and on what made them, never on time or place, so every run writes the same. A take is kept whether
the checks call it good or bad; of an unusable one only the record is. Knows nothing of models or queues.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import soundfile
from pydantic import ValidationError

from jobs import keys
from jobs.errors import ObjectDamaged, ObjectMissing
from jobs.kinds import Grade
from jobs.protocols import Store
from jobs.spec import Frozen
from jobs.verdict import Verdict

Pcm = npt.NDArray[np.int16]
"""[S] int16 mono samples; 32767 is full scale."""

GOOD_FINISH = "stop"
"""The finish reason of a model that said everything it was given."""
NOTHING_AGAINST = Verdict(grade=Grade.GOOD)
NOT_JUDGED = Verdict(grade=Grade.GOOD, version=0)
"""The verdict of a record from before there were any: whoever reuses the take judges it first."""
_FULL_SCALE = 32767


class TakeOrigin(Frozen):
    """What a take was made of; with the take's own key (which also covers `voice_revision`) it decides the samples."""

    model: str
    voice: str
    language: str
    spoken: str
    seed: int
    speed: float
    numerics: str


class TakeInfo(Frozen):
    """The record of a take. `peak` is of the float samples in [0, ...); `clipped_samples` were above full scale.

    `audio_bytes` and `audio_sha256` describe the FLAC object; an unusable take has none (0 and ""). `words` are the
    sample ranges [start, end) of the whitespace-separated words of `origin.spoken`, empty where the model tells none.
    """

    take: str
    origin: TakeOrigin
    samples: int
    sample_rate_hz: int
    finish: str
    peak: float
    clipped_samples: int
    audio_bytes: int
    audio_sha256: str
    verdict: Verdict = NOT_JUDGED
    words: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """How an attempt ended and what the checks say of it; `words` as in TakeInfo."""

    finish: str = GOOD_FINISH
    verdict: Verdict = NOTHING_AGAINST
    words: tuple[tuple[int, int], ...] = ()


SOUND = Judged()


def pcm16(samples: npt.NDArray[np.float32]) -> Pcm:
    """Finite samples, [S] float32 of full scale 1.0, as [S] int16; what takes keep and live chunks carry.

    Rounded to the nearest of 65,535 steps (halves to even) and clipped at full scale.
    """
    return np.clip(_scaled(samples), -_FULL_SCALE, _FULL_SCALE).astype(np.int16)


def write_take(
    store: Store,
    take: str,
    samples: npt.NDArray[np.float32],
    *,
    sample_rate_hz: int,
    origin: TakeOrigin,
    judged: Judged = SOUND,
) -> TakeInfo:
    """Keep a take as `pcm16` (of an unusable one nothing) with its record, which is returned.

    `samples`: [S] float32 mono, full scale 1.0; those of an unusable take may be empty or not finite.

    Raises:
        ValueError: the samples have another shape or type, or none that can be kept and the verdict is not unusable.
        StoreError: the store refused.
    """
    if samples.ndim != 1 or samples.dtype != np.float32:
        msg = f"samples have shape {samples.shape} and type {samples.dtype}; a take is [S] float32"
        raise ValueError(msg)
    usable = judged.verdict.grade is not Grade.UNUSABLE
    if usable and not (np.isfinite(samples).all() and samples.any()):
        msg = (
            f"take {take} cannot be kept: {samples.size} samples, all of them zero or some not finite; "
            f"its verdict must be {Grade.UNUSABLE}, not {judged.verdict.grade}"
        )
        raise ValueError(msg)
    audio = _flac(pcm16(samples), sample_rate_hz) if usable else b""
    finite = samples[np.isfinite(samples)]
    info = TakeInfo(
        take=take,
        origin=origin,
        samples=int(samples.size),
        sample_rate_hz=sample_rate_hz,
        finish=judged.finish,
        peak=round(_peak(finite), 6),
        clipped_samples=int(np.count_nonzero(np.abs(_scaled(finite)) > _FULL_SCALE)),
        audio_bytes=len(audio),
        audio_sha256=hashlib.sha256(audio).hexdigest() if usable else "",
        verdict=judged.verdict,
        words=judged.words,
    )
    if usable:
        store.put(keys.take_audio(take), audio)
    write_info(store, info)
    return info


def write_info(store: Store, info: TakeInfo) -> None:
    """Write the record of a take, in the place of an older one. Raises StoreError."""
    store.put(keys.take_info(info.take), info.model_dump_json().encode())


def read_take(store: Store, take: str) -> TakeInfo:
    """The record of a take.

    Raises:
        ObjectMissing: there is none.
        ObjectDamaged: what is there is not the record of this take.
    """
    try:
        info = TakeInfo.model_validate_json(store.get(keys.take_info(take)))
    except ValidationError as error:
        msg = f"{keys.take_info(take)} in {store.url} is not the record of a take: {error}; speak the segment again"
        raise ObjectDamaged(msg) from error
    if info.take != take:
        msg = f"{keys.take_info(take)} in {store.url} is the record of take {info.take}; speak the segment again"
        raise ObjectDamaged(msg)
    return info


def has_take(store: Store, take: str) -> TakeInfo | None:
    """The record of a take if record and audio are both there and undamaged (size and checksum), else None.

    An unusable take has no audio: its record is all there is.
    """
    try:
        info = read_take(store, take)
        if info.audio_bytes > 0:
            _audio(store, info)
    except (ObjectMissing, ObjectDamaged):
        return None
    return info


def open_samples(store: Store, take: str) -> Pcm:
    """The samples of a take, [S] int16. Raises what `load_take` raises."""
    return load_take(store, take)[1]


def load_take(store: Store, take: str) -> tuple[TakeInfo, Pcm]:
    """Record and samples ([S] int16) of a take, checked against each other.

    Raises:
        ObjectMissing: record or audio is not there.
        ObjectDamaged: the audio is not what the record says.
    """
    info = read_take(store, take)
    try:
        pcm, rate_hz = soundfile.read(io.BytesIO(_audio(store, info)), dtype="int16")
    except soundfile.LibsndfileError as error:
        raise _damaged(store, take, str(error)) from error
    if pcm.shape != (info.samples,) or rate_hz != info.sample_rate_hz:
        found = f"{pcm.shape} samples at {rate_hz} Hz, recorded are ({info.samples},) at {info.sample_rate_hz} Hz"
        raise _damaged(store, take, found)
    return info, pcm


def check_length(store: Store, info: TakeInfo, samples: int, sample_rate_hz: int) -> None:
    """Compare a take with what the result of its segment says. Raises ObjectDamaged."""
    if (info.samples, info.sample_rate_hz) != (samples, sample_rate_hz):
        msg = (
            f"take {info.take} in {store.url} has {info.samples} samples at {info.sample_rate_hz} Hz, its result says "
            f"{samples} at {sample_rate_hz} Hz; delete the take and speak the segment again"
        )
        raise ObjectDamaged(msg)


def _audio(store: Store, info: TakeInfo) -> bytes:
    audio = store.get(keys.take_audio(info.take))
    if len(audio) != info.audio_bytes:
        raise _damaged(store, info.take, f"{len(audio)} bytes, recorded are {info.audio_bytes}")
    if hashlib.sha256(audio).hexdigest() != info.audio_sha256:
        raise _damaged(store, info.take, "its checksum is not the recorded one")
    return audio


def _damaged(store: Store, take: str, found: str) -> ObjectDamaged:
    return ObjectDamaged(
        f"{keys.take_audio(take)} in {store.url} is damaged: {found}; delete it and speak the segment again"
    )


def _flac(pcm: Pcm, sample_rate_hz: int) -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, sample_rate_hz, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def _scaled(samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    scaled: npt.NDArray[np.float32] = np.rint(samples * np.float32(_FULL_SCALE))
    return scaled


def _peak(samples: npt.NDArray[np.float32]) -> float:
    return float(np.max(np.abs(samples), initial=0.0))
