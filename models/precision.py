"""What the setting of precision may say, for all models; what `auto` means is each model's own. Imports no torch."""

from __future__ import annotations

from models.errors import ModelError

AUTO = "auto"
PRECISIONS = (AUTO, "fp32", "bf16")


def asked_precision(precision: str, *, model: str) -> str | None:
    """fp32 or bf16 as it was asked for, None for `auto`.

    Raises:
        ModelError: no such precision.
    """
    if precision not in PRECISIONS:
        msg = f"precision {precision!r} is not known to model {model}; use {', '.join(PRECISIONS)}"
        raise ModelError(msg)
    return None if precision == AUTO else precision
