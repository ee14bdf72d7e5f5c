"""How fast engines were on this installation's devices: `<data_dir>/bench/<engine>.json`.

Written by `bench` and by every job that ends, read before the next one is submitted.

Measurements(settings.measurements_dir).of("piper@vits2-fp32").speed()
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field, ValidationError

from jobs import keys
from jobs.cost import RunReport, audio_by_voice, run_report
from jobs.plan import Plan
from jobs.spec import Frozen, JobRecord, SegmentResult

log = logging.getLogger(__name__)

ItemT = TypeVar("ItemT")

MEASURED_VERSION = 1
KEPT_JOBS = 10
"""Finished jobs that an engine's speed is taken from, the newest of each device; older ones are forgotten."""
LEAST_AUDIO_S = 20.0
"""A job that made less audio says little about speed: the first passes of a process are slow."""


class Speed(Frozen):
    """`audio_s` seconds of audio in `device_s` seconds of a device.

    From a benchmark with so many `slots`, or (`job`) from the segments that a finished job had spoken there.
    """

    device: str
    audio_s: float = Field(gt=0)
    device_s: float = Field(gt=0)
    measured_at_s: float
    slots: int = 0
    job: str = ""

    @property
    def ratio(self) -> float:
        """Seconds of audio in a device-second."""
        return self.audio_s / self.device_s


class Rate(Frozen):
    """How fast a voice spoke in a finished job, as at speed 1."""

    voice: str
    job: str
    chars: int = Field(gt=0)
    audio_s: float = Field(gt=0)


class Basis(Frozen):
    """What an expectation rests on: seconds of audio in a device-second, and where that was measured."""

    source: Literal["bench", "jobs"]
    device: str
    audio_s_per_device_s: float
    measured_at_s: float
    slots: int = 0
    jobs: int = 0

    @property
    def text(self) -> str:
        """For people."""
        day = time.strftime("%Y-%m-%d", time.gmtime(self.measured_at_s))
        if self.source == "bench":
            return f"bench of {day} with {self.slots} slots on {self.device}, without retakes"
        return f"{self.jobs} finished job{'s' if self.jobs > 1 else ''} on {self.device}, the last of {day}"


class Measured(Frozen):
    """Everything that is known of one engine (a model with the version of its arithmetic). Newest entries last."""

    v: int = MEASURED_VERSION
    engine: str
    benches: tuple[Speed, ...] = ()
    jobs: tuple[Speed, ...] = ()
    rates: tuple[Rate, ...] = ()

    def speed(self, *, slots: int = 0) -> Basis | None:
        """What to expect: the newest benchmark (of its numbers of slots the nearest), else the newest finished jobs.

        The device is that of the newest benchmark, or of the newest job.
        """
        if self.benches:
            of_device = [bench for bench in self.benches if bench.device == self.benches[-1].device]
            best = min(reversed(of_device), key=lambda bench: abs(bench.slots - slots) if slots else -bench.slots)
            return Basis(
                source="bench",
                device=best.device,
                audio_s_per_device_s=best.ratio,
                measured_at_s=best.measured_at_s,
                slots=best.slots,
            )
        if not self.jobs:
            return None
        last = self.jobs[-1]
        same = [speed for speed in self.jobs if speed.device == last.device]
        return Basis(
            source="jobs",
            device=last.device,
            audio_s_per_device_s=sum(speed.audio_s for speed in same) / sum(speed.device_s for speed in same),
            measured_at_s=last.measured_at_s,
            jobs=len(same),
        )

    def chars_per_s(self, voice: str) -> float | None:
        """How many characters a voice speaks in a second at speed 1, over the jobs that are known; None: not known."""
        of_voice = [rate for rate in self.rates if rate.voice == voice]
        if not of_voice:
            return None
        return sum(rate.chars for rate in of_voice) / sum(rate.audio_s for rate in of_voice)


class Measurements:
    """The folder of measurements. Reading never fails: what is damaged counts as not measured."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, engine: str) -> Measured:
        """What is known of an engine (`jobs.spec.engine_name`)."""
        try:
            measured = Measured.model_validate_json(self.path(engine).read_bytes())
        except FileNotFoundError:
            return Measured(engine=engine)
        except (OSError, ValidationError) as error:
            log.warning("measurements in %s cannot be read and count as none: %s", self.path(engine), error)
            return Measured(engine=engine)
        return measured if measured.engine == engine else Measured(engine=engine)

    def note_bench(self, engine: str, speeds: Sequence[Speed]) -> None:
        """Keep a benchmark of a device instead of older ones of it. Raises OSError."""
        devices = {speed.device for speed in speeds}
        self._change(
            engine,
            lambda old: old.model_copy(
                update={"benches": (*(bench for bench in old.benches if bench.device not in devices), *speeds)}
            ),
        )

    def note_job(self, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]) -> None:
        """Keep what a finished job says of its engine and voices; noting it again changes nothing. Raises OSError."""
        run = run_report(results.values())
        spec = record.spec
        spoken = {one.segment: (one.voice or spec.voice, len(one.spoken)) for one in plan.segments}
        rates = tuple(
            Rate(voice=voice, job=record.job, chars=chars, audio_s=round(audio_s, 6))
            for voice, (chars, audio_s) in audio_by_voice(results, spoken, speed=spec.speed).items()
            if audio_s >= LEAST_AUDIO_S and chars
        )
        speeds = _speeds(record, run)
        if speeds or rates:
            self._change(spec.engine, lambda old: _with_job(old, record.job, speeds, rates))

    def path(self, engine: str) -> Path:
        """The file of an engine; two engines never share one."""
        digest = hashlib.blake2b(engine.encode(), digest_size=4).hexdigest()
        return self._folder / f"{keys.slug(engine) or 'engine'}-{digest}.json"

    def _change(self, engine: str, change: Callable[[Measured], Measured]) -> None:
        """Read, change and replace a file, alone among all processes."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self.path(engine)
        with path.with_suffix(".lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            text = change(self.of(engine)).model_dump_json(indent=1) + "\n"
            descriptor, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
            try:
                with os.fdopen(descriptor, "w") as file:
                    file.write(text)
                Path(name).replace(path)
            except BaseException:
                with suppress(FileNotFoundError):
                    Path(name).unlink()
                raise


def _speeds(record: JobRecord, run: RunReport) -> tuple[Speed, ...]:
    return tuple(
        Speed(
            device=device.device,
            audio_s=device.audio_s,
            device_s=device.device_s,
            measured_at_s=round(record.updated_at_s, 3),
            job=record.job,
        )
        for device in run.devices
        if device.audio_s >= LEAST_AUDIO_S
    )


def _with_job(old: Measured, job: str, speeds: Sequence[Speed], rates: Sequence[Rate]) -> Measured:
    """The measurements with a job's in the place of what was known of that job."""
    jobs = [*(speed for speed in old.jobs if speed.job != job), *speeds]
    of_voices = [*(rate for rate in old.rates if rate.job != job), *rates]
    return old.model_copy(
        update={
            "jobs": tuple(_newest(jobs, lambda speed: speed.device)),
            "rates": tuple(_newest(of_voices, lambda rate: rate.voice)),
        }
    )


def _newest(entries: Sequence[ItemT], kind: Callable[[ItemT], str]) -> list[ItemT]:
    """The last `KEPT_JOBS` entries of each kind, in their order."""
    kept: list[ItemT] = []
    seen: dict[str, int] = {}
    for entry in reversed(entries):
        seen[kind(entry)] = seen.get(kind(entry), 0) + 1
        if seen[kind(entry)] <= KEPT_JOBS:
            kept.append(entry)
    return kept[::-1]
