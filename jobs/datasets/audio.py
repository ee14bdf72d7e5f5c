"""The audio of an utterance as a dataset keeps it: the take's own FLAC bytes, or 16-bit WAV of the same samples.

What is several takes is joined as an item's own file is (`jobs.assembly.join`) and encoded once. Nothing here changes
how loud a take is: profiles of loudness are for finished audio. Another sample rate only where it was asked for.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import soundfile

from jobs import keys
from jobs.assembly.join import run_blocks
from jobs.assembly.timeline import Placed
from jobs.datasets.manifest import Utterance, UtteranceTake
from jobs.errors import ObjectDamaged
from jobs.protocols import Store
from jobs.resampling import resample
from jobs.takes import Pcm


class Codec(StrEnum):
    """How a layout keeps audio; the value is the ending of its files."""

    FLAC = "flac"
    WAV = "wav"


@dataclass(frozen=True, slots=True)
class Clip:
    """A whole audio file, mono, 16 bit."""

    data: bytes
    samples: int
    sample_rate_hz: int


def clip_of(store: Store, utterance: Utterance, codec: Codec, rate_hz: int | None = None) -> Clip:
    """The audio of an utterance from its takes in a store. `rate_hz`: resample to that (None: the voice's own rate).

    Raises:
        ObjectMissing: a take is not in the store.
        ObjectDamaged: a take is not what the manifest says.
    """
    own_hz = utterance.sample_rate_hz
    as_it_is = rate_hz is None or rate_hz == own_hz
    if codec is Codec.FLAC and as_it_is and len(utterance.takes) == 1:
        return Clip(_flac_of(store, utterance.takes[0]), utterance.samples, own_hz)
    pcm = _samples(store, utterance)
    if not as_it_is:
        pcm, own_hz = resampled(pcm, own_hz, rate_hz or own_hz), rate_hz or own_hz
    buffer = io.BytesIO()
    soundfile.write(buffer, pcm, own_hz, format=codec.value.upper(), subtype="PCM_16")
    return Clip(buffer.getvalue(), int(pcm.size), own_hz)


def clip_bytes(utterance: Utterance, codec: Codec, rate_hz: int | None = None) -> int:
    """About how many bytes `clip_of` gives: exact for a single take's FLAC, an upper bound else."""
    if codec is Codec.FLAC:
        return sum(take.audio_bytes for take in utterance.takes)
    return 44 + 2 * round(utterance.samples * (rate_hz or utterance.sample_rate_hz) / max(1, utterance.sample_rate_hz))


def resampled(pcm: Pcm, from_hz: int, to_hz: int) -> Pcm:
    """[S] int16 at another rate, [ceil(S * to_hz / from_hz)] int16."""
    wanted = -(-pcm.size * to_hz // from_hz)
    if wanted == 0:
        return pcm[:0]
    out = resample(pcm, from_hz, to_hz, "s16")[:wanted]
    padded: Pcm = np.pad(out, (0, wanted - out.size)).astype(np.int16)
    return padded


def _flac_of(store: Store, take: UtteranceTake) -> bytes:
    data = store.get(keys.take_audio(take.take))
    if hashlib.sha256(data).hexdigest() != take.audio_sha256:
        msg = (
            f"{keys.take_audio(take.take)} in {store.url} is not what the manifest says: its checksum differs; "
            "delete it and let the job speak it again"
        )
        raise ObjectDamaged(msg)
    return data


def _samples(store: Store, utterance: Utterance) -> Pcm:
    if len(utterance.takes) == 1:
        return _decoded(_flac_of(store, utterance.takes[0]), utterance)
    placed = [
        Placed(take.segment, take.start_sample, take.start_sample + take.samples, take.take) for take in utterance.takes
    ]
    joined: Pcm = np.concatenate([*run_blocks(store, placed, utterance.samples, utterance.sample_rate_hz)])
    return joined


def _decoded(data: bytes, utterance: Utterance) -> Pcm:
    try:
        pcm, rate_hz = soundfile.read(io.BytesIO(data), dtype="int16")
    except soundfile.LibsndfileError as error:
        msg = f"utterance {utterance.id}: its take is no FLAC ({error}); let the job speak it again"
        raise ObjectDamaged(msg) from error
    if pcm.shape != (utterance.samples,) or rate_hz != utterance.sample_rate_hz:
        found = f"{pcm.shape} samples at {rate_hz} Hz"
        said = f"({utterance.samples},) at {utterance.sample_rate_hz} Hz"
        msg = f"utterance {utterance.id}: its take has {found}, the manifest says {said}; let the job speak it again"
        raise ObjectDamaged(msg)
    samples: Pcm = pcm
    return samples
