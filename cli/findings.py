"""What `tts-batch doctor` looks at, one function a thing. Nothing is started and nothing is left behind."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jobs.assembly.encode import EncodeSpec, Tags, encode
from jobs.checks.hearing import ENGLISH_ASR, OTHER_ASR
from jobs.connect import open_broker
from jobs.embedded import Embedded
from jobs.errors import JobsError
from jobs.settings import Settings
from jobs.spec import AudioFormat
from jobs.stores import open_store

LOW_SPACE_BYTES = 1_000_000_000
PROBE_KEY = "doctor/probe"
TONE_RATE_HZ = 24_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `advice` is empty when it is well; `needed` problems make the command fail."""

    name: str
    detail: str
    advice: str = ""
    needed: bool = True

    def line(self) -> str:
        """The line for people."""
        if not self.advice:
            return f"ok       {self.name}: {self.detail}"
        return f"{'PROBLEM' if self.needed else 'note':8} {self.name}: {self.detail}; {self.advice}"


def findings(settings: Settings) -> Iterator[Finding]:
    """Everything a job needs, in the order it needs it."""
    yield from broker_findings(settings)
    yield store_finding(settings)
    yield device_finding()
    yield from voice_findings(settings)
    yield from encoder_findings()
    yield recogniser_finding()


def broker_findings(settings: Settings) -> Iterator[Finding]:
    """The broker by URL, or the embedded one."""
    if settings.broker is None:
        yield _embedded_finding(settings)
        return
    try:
        broker = open_broker(settings.broker, settings)
        facts = broker.facts()
    except JobsError as error:
        yield Finding("broker", str(error), "start it, or leave --broker out to use the embedded one")
        return
    yield Finding("broker", f"{facts.software} {facts.version} at {broker.safe_url}")
    if facts.appendonly is False:
        advice = "set `appendonly yes`: a crash of the broker loses queued jobs otherwise"
        yield Finding("broker durability", "appendonly is off", advice, needed=False)
    if facts.maxmemory_policy not in {None, "noeviction"}:
        advice = "set `maxmemory-policy noeviction`: the broker may throw queued work away otherwise"
        yield Finding("broker memory", f"maxmemory-policy is {facts.maxmemory_policy}", advice)
    broker.close()


def _embedded_finding(settings: Settings) -> Finding:
    place = Embedded(settings.data_dir)
    try:
        place.prepare()
        binary = place.server_command()[0]
    except JobsError as error:
        return Finding("broker", str(error), "or name a Redis or Valkey with --broker URL")
    state = "running" if place.running() else "not running (submit starts it)"
    return Finding("broker", f"embedded {Path(binary).name}, {state}, data in {place.data_dir}")


def store_finding(settings: Settings) -> Finding:
    """The store takes, gives back and deletes an object, and has room."""
    url = settings.store_url
    try:
        store = open_store(url, settings.s3)
        store.put(PROBE_KEY, b"probe")
        store.get(PROBE_KEY)
        store.delete(PROBE_KEY)
    except JobsError as error:
        return Finding("store", str(error), "set TTS_BATCH_STORE to a place you can write")
    scheme, _, path = url.partition("://")
    if scheme != "file":
        return Finding("store", url)
    free_bytes = shutil.disk_usage(path).free
    detail = f"{url}, {free_bytes / 1e9:.1f} GB free"
    if free_bytes < LOW_SPACE_BYTES:
        return Finding("store", detail, "an hour of speech needs about 0.2 GB; free some space", needed=False)
    return Finding("store", detail)


def device_finding() -> Finding:
    """What synthesis can run on."""
    from workers.devices import cuda_devices

    cores = os.cpu_count() or 1
    try:
        count = cuda_devices()
    except JobsError as error:
        return Finding("device", f"CPU, {cores} cores", str(error), needed=False)
    return Finding("device", f"{count} CUDA GPU(s), {cores} CPU cores" if count else f"CPU, {cores} cores, no CUDA GPU")


def voice_findings(settings: Settings) -> Iterator[Finding]:
    """Each model's voices that are installed, and how to get one where there is none."""
    from workers.catalog import offers

    try:
        known = offers(precision=settings.precision, models=(settings.model,))
    except JobsError as error:
        yield Finding(f"model {settings.model}", str(error), "set TTS_BATCH_MODEL to a model that can be run")
        known = offers(precision=settings.precision)
    for offer in known:
        installed = [voice.name for voice in offer.voices if voice.installed]
        if installed:
            yield Finding(f"model {offer.name}", f"voices {', '.join(installed)}")
        else:
            hints = "; ".join(dict.fromkeys(voice.install_hint for voice in offer.voices))
            yield Finding(f"model {offer.name}", "no voice installed", hints, needed=offer.name == settings.model)


def encoder_findings() -> Iterator[Finding]:
    """Every format encodes a short tone and reads it back; no ffmpeg program is needed for that."""
    tone = (8000 * np.sin(np.arange(TONE_RATE_HZ // 2) * 0.1)).astype(np.int16)
    working, broken = [], []
    with tempfile.TemporaryDirectory() as folder:
        for audio_format in AudioFormat:
            spec = EncodeSpec(audio_format, TONE_RATE_HZ, tone.size, Tags("doctor"))
            try:
                encode(Path(folder) / f"tone.{audio_format}", [tone], spec)
            except JobsError as error:
                broken.append(f"{audio_format} ({error})")
            else:
                working.append(audio_format.value)
    if broken:
        yield Finding(
            "encoders", f"not working: {', '.join(broken)}", "reinstall PyAV: pip install --force-reinstall av"
        )
    yield Finding("encoders", f"{', '.join(working)} (built in, no ffmpeg program needed)")


def recogniser_finding() -> Finding:
    """Whether `--check asr` can listen; no job needs it."""
    from workers.recogniser import find_recogniser

    missing: list[str] = []
    for asr in (ENGLISH_ASR, OTHER_ASR):
        try:
            find_recogniser(asr)
        except JobsError as error:
            missing.append(str(error))
        else:
            return Finding("recogniser", f"{asr} for --check asr")
    return Finding("recogniser", "none for --check asr", missing[0], needed=False)
