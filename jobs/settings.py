"""Settings: the only reader of the environment. `TTS_BATCH_*`; a name that is not known is an error.

`TTS_BATCH_BROKER=redis://host:6379/0 tts-batch jobs` uses that Redis; without it the embedded node's is used.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from jobs.errors import BadOption
from jobs.s3_options import S3Options
from jobs.tariff import Tariff

PREFIX = "TTS_BATCH_"
FOREIGN_PREFIX = "CELERY_"
"""Celery lets these override what we tell it, the broker's URL too; they are meant for somebody else's app."""
VISIBLE_GPUS = "CUDA_VISIBLE_DEVICES"
"""CUDA's own variable: numbers or UUIDs of the GPUs that a process sees."""
KERNEL_CACHES = {"TRITON_CACHE_DIR": "triton", "FLASHINFER_WORKSPACE_BASE": "flashinfer"}
"""Variables by which kernel compilers learn their cache, and the folder of each below ours."""
SLOTS_CPU = 4
SLOTS_GPU = 256
_CHOICES = {
    "precision": ("auto", "fp32", "bf16"),
    "attention": ("auto", "torch", "triton", "flashinfer"),
    "log_level": ("debug", "info", "warning", "error"),
    "s3_addressing": ("auto", "path", "virtual"),
    "s3_encryption": ("default", "AES256", "aws:kms"),
}
"""What the settings of a fixed list of words may be."""
_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_LEAST = {
    "processes": 0,
    "slots": 0,
    "worker_ttl_s": 1,
    "max_waiting_segments": 0,
    "keep_jobs_s": 0,
    "grace_s": 0,
    "max_audio_stream_bytes": 1,
    "max_audio_total_bytes": 1,
    "stream_ttl_s": 1,
    "device_hour_price": 0,
}
"""The least value of each number; infinite and not-a-number are none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a deployment may set. Units are in the names; every default is written here and nowhere else."""

    broker: str | None = None
    """Redis or Valkey URL; None: the embedded node in `data_dir`."""
    store: str | None = None
    """Store URL for takes and results; None: `<data_dir>/store`."""
    s3_endpoint: str | None = None
    """Address of an S3 server that is not Amazon's, such as http://s3:8333."""
    s3_public_endpoint: str | None = None
    """Its address as readers outside reach it, for presigned URLs; None: `s3_endpoint`."""
    s3_region: str | None = None
    """Region of the bucket; None: what the AWS configuration of this machine says."""
    s3_addressing: str = "auto"
    """How a bucket is named in addresses: path, virtual (as a host) or auto: path where `s3_endpoint` is set."""
    s3_encryption: str = "default"
    """Encryption that the server shall use for every object: AES256, aws:kms, or default: as the bucket says."""
    s3_kms_key: str | None = None
    """Key of aws:kms; None: the account's own."""
    data_dir: Path = Path("~/.local/share/tts-batch")
    """Where the embedded node keeps its broker's files, its store and its lock."""
    model: str = "piper"
    """Model of `submit` when none is given."""
    processes: int = 0
    """Synthesis processes of a CPU worker; 0: one per core."""
    slots: int = 0
    """Batch slots of each synthesis process; 0: 4 on a CPU (more only make it hold work that an idle neighbour could
    do), 256 on a GPU."""
    eager: bool = False
    """Run token models without CUDA graphs: slower, for finding faults. A CPU always does."""
    deterministic: bool = False
    """Token models draw the same tokens in any company, bit for bit: every step runs in the bucket of all slots, which
    costs 4 % while these are full. Slots and attention are part of the numerics then, so takes have other keys."""
    attention: str = "auto"
    """Attention of token models: auto, torch, triton or flashinfer."""
    kernel_cache: Path | None = None
    """Where kernels that were compiled for this machine are kept; None: `<data_dir>/kernels`."""
    precision: str = "auto"
    """Arithmetic: auto (bf16 on GPUs and, in decoders, on processors that have it), fp32 or bf16."""
    max_waiting_segments: int = 1_000_000
    """Segments that may wait before new work is refused (each takes about 0.5 kB of the broker); 0: any number."""
    keep_jobs_s: float = 0.0
    """Jobs that ended so long ago are deleted by the workers for their steps; 0: never."""
    worker_ttl_s: float = 15.0
    """A worker without heartbeat for this long is buried and its segments are given back."""
    grace_s: float = 10.0
    """How long a worker that was asked to stop may finish the segments in its slots."""
    max_audio_stream_bytes: int = 64 * 1024 * 1024
    """Bound of one job's live audio stream."""
    max_audio_total_bytes: int = 512 * 1024 * 1024
    """Bound of the live audio streams of all jobs together."""
    stream_ttl_s: float = 86_400.0
    """How long the streams of a finished job are kept."""
    device_hour_price: float = 0.0
    """What an hour of a device costs (a GPU; on a CPU one synthesis process); 0: no prices are shown."""
    currency: str | None = None
    """What the price is in, as it shall be shown."""
    log_level: str = "warning"
    """Level of the programs' logs on stderr."""

    @property
    def store_url(self) -> str:
        """The store in force."""
        return self.store or f"file://{self.data_dir / 'store'}"

    @property
    def s3(self) -> S3Options:
        """How S3 servers are reached."""
        return S3Options(
            endpoint=self.s3_endpoint,
            public_endpoint=self.s3_public_endpoint or self.s3_endpoint,
            region=self.s3_region,
            addressing=self.s3_addressing,
            encryption=self.s3_encryption,
            kms_key=self.s3_kms_key,
        )

    @property
    def kernels_dir(self) -> Path:
        """The kernel cache in force."""
        return self.kernel_cache or self.data_dir / "kernels"

    @property
    def tariff(self) -> Tariff:
        """What a device costs."""
        return Tariff(self.device_hour_price, self.currency or "")

    @property
    def measurements_dir(self) -> Path:
        """Where `jobs.benchmarks` keeps how fast engines were here."""
        return self.data_dir / "bench"

    def slots_on(self, device: str) -> int:
        """Batch slots of a synthesis process on a device, cpu or cuda."""
        return self.slots or (SLOTS_CPU if device == "cpu" else SLOTS_GPU)


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from the environment (or from `environ`).

    Raises:
        BadOption: an unknown TTS_BATCH_* name, or a value of the wrong type.
    """
    env = os.environ if environ is None else environ
    known = {field.name: field.type for field in fields(Settings)}
    values: dict[str, object] = {}
    for name in sorted(env):
        if name.startswith(PREFIX):
            field = name.removeprefix(PREFIX).lower()
            if field not in known:
                allowed = ", ".join(sorted(PREFIX + key.upper() for key in known))
                msg = f"{name} is not a setting; settings are {allowed}"
                raise BadOption(msg)
            values[field] = _cast(name, env[name], str(known[field]))
    data_home = env.get("XDG_DATA_HOME", "")
    if "data_dir" not in values and Path(data_home).is_absolute():  # the XDG rule: a relative path is ignored
        values["data_dir"] = Path(data_home) / "tts-batch"
    settings = Settings(**values)  # type: ignore[arg-type]  # cast to the field types just above
    return checked(settings)


def drop_foreign_environment() -> None:
    """Take Celery's own variables out of this process: our settings alone say where its broker is."""
    for name in [name for name in os.environ if name.startswith(FOREIGN_PREFIX)]:
        del os.environ[name]


def child_environment(settings: Settings) -> dict[str, str]:
    """The environment for a process of ours that must see exactly these settings."""
    env = {name: value for name, value in os.environ.items() if not name.startswith((PREFIX, FOREIGN_PREFIX))}
    for field in fields(settings):
        value = getattr(settings, field.name)
        if value is not None:
            env[PREFIX + field.name.upper()] = str(value)
    return env | _kernel_environment(settings, env)


def use_kernel_cache(settings: Settings) -> None:
    """Let this process keep its kernels where synthesis processes do. Call it before Triton or FlashInfer is loaded."""
    os.environ.update(_kernel_environment(settings, os.environ))


def one_gpu(place: int) -> dict[str, str]:
    """What a process is told so that it sees only one GPU: the one at `place` among those that this process sees."""
    listed = [name.strip() for name in os.environ.get(VISIBLE_GPUS, "").split(",") if name.strip()]
    return {VISIBLE_GPUS: listed[place] if place < len(listed) else str(place)}


def _kernel_environment(settings: Settings, env: Mapping[str, str]) -> dict[str, str]:
    """Our setting goes before variables of the user's, those before our default."""
    folders = {name: str(settings.kernels_dir / folder) for name, folder in KERNEL_CACHES.items()}
    return folders if settings.kernel_cache else {name: env.get(name, folder) for name, folder in folders.items()}


def _cast(name: str, text: str, type_name: str) -> object:
    if not text:
        msg = f"{name} is empty; give it a value, or unset it to have the default"
        raise BadOption(msg)
    try:
        if type_name == "int":
            return int(text)
        if type_name == "float":
            return float(text)
    except ValueError:
        msg = f"{name}={text!r} is not {'a whole number' if type_name == 'int' else 'a number'}"
        raise BadOption(msg) from None
    if type_name == "bool":
        if text.lower() not in _SWITCH:
            msg = f"{name}={text!r} is not allowed; use true or false (or 1, 0, yes, no, on, off)"
            raise BadOption(msg)
        return _SWITCH[text.lower()]
    return Path(text) if type_name.startswith("Path") else text


def checked(settings: Settings) -> Settings:
    """The settings with whole paths. Raises BadOption: a value that is not allowed."""
    for name, allowed in _CHOICES.items():
        value = getattr(settings, name)
        if value not in allowed:
            msg = f"{PREFIX}{name.upper()}={value!r} is not allowed; use {', '.join(allowed[:-1])} or {allowed[-1]}"
            raise BadOption(msg)
    for name, least in _LEAST.items():
        value = getattr(settings, name)
        if not least <= value < math.inf:
            msg = f"{PREFIX}{name.upper()}={value} is not allowed; use {least} or more"
            raise BadOption(msg)
    kernels = settings.kernel_cache and settings.kernel_cache.expanduser().absolute()
    return replace(settings, data_dir=settings.data_dir.expanduser().absolute(), kernel_cache=kernels)
