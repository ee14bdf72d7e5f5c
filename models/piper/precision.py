"""Which arithmetic the decoder runs in, decided without torch, so that a card and a worker say the same.

bfloat16 pays only where the processor multiplies it (AVX-512 BF16 or AMX); elsewhere it is emulated and slow.
"""

from __future__ import annotations

from pathlib import Path

from models.precision import asked_precision

_CPU_INFO = Path("/proc/cpuinfo")
_BF16_FLAGS = frozenset({"avx512_bf16", "amx_bf16"})


def resolve_precision(precision: str) -> str:
    """fp32 or bf16; `auto` asks the processor (Linux tells; anything else gets fp32).

    Raises:
        ModelError: no such precision.
    """
    asked = asked_precision(precision, model="piper")
    if asked is not None:
        return asked
    return "bf16" if _BF16_FLAGS & _cpu_flags() else "fp32"


def _cpu_flags() -> set[str]:
    try:
        with _CPU_INFO.open(encoding="utf-8", errors="replace") as lines:
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return set()
    return set(flags.split())
