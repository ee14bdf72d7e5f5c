"""Which devices this machine has, asked in a process of its own: the asker never initialises CUDA itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from jobs.errors import NoDevice

CUDA_QUESTION = "import torch; print(torch.cuda.device_count())"
ANSWER_TIMEOUT_S = 120.0
NVIDIA_PLACES = (Path("/dev/nvidia0"), Path("/proc/driver/nvidia/version"), Path("/dev/dxg"))
"""What an NVIDIA driver makes: a device node, its version, or (Windows' Linux) the paravirtual GPU."""


def cuda_devices() -> int:
    """How many CUDA devices torch sees; 0 also when torch is not installed.

    Raises:
        NoDevice: the driver hangs.
    """
    try:
        answer = subprocess.run(  # noqa: S603  # our own interpreter
            [sys.executable, "-P", "-c", CUDA_QUESTION],
            capture_output=True,
            text=True,
            timeout=ANSWER_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        msg = (
            f"torch did not say within {ANSWER_TIMEOUT_S:.0f} s how many CUDA devices there are: the driver hangs; see "
            "whether `nvidia-smi` answers, restart the driver or the machine, or use --device cpu"
        )
        raise NoDevice(msg) from error
    return int(answer.stdout) if answer.returncode == 0 else 0


def has_nvidia_driver() -> bool:
    """Whether an NVIDIA driver is there: quick, without torch. torch may still see no device (`cuda_devices`)."""
    return any(place.exists() for place in NVIDIA_PLACES)


def sees_gpu() -> bool:
    """Whether torch sees a GPU. The driver is asked first: torch takes seconds to answer. Raises NoDevice as above."""
    return has_nvidia_driver() and cuda_devices() > 0


def likely_device() -> str:
    """Where to run what runs on both: cuda where an NVIDIA driver is, else cpu."""
    return "cuda" if has_nvidia_driver() else "cpu"


def check_device(device: str, *, count: Callable[[], int] = cuda_devices) -> None:
    """Raise NoDevice unless `device` is cpu, or cuda with a GPU that torch sees; `count` says how many it sees."""
    if device == "cpu":
        return
    if device != "cuda":
        msg = f"device {device!r} is not known; use cuda or cpu"
        raise NoDevice(msg)
    if count() == 0:
        msg = "torch sees no CUDA device; check the driver and the torch build, or use --device cpu"
        raise NoDevice(msg)
