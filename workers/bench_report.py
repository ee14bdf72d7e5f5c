"""A benchmark as rows of a table for people and as one document for programs (units are in its names)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from workers.bench import Bench, SlotReport

CEILING_HEADERS = ("slots", "weights", "mean KV", "copy", "roofline step", "audio-s/s at most")
MEASURES = (
    *("decode step ms", "x roofline", "whole step ms", "prefill pass ms", "codec launch ms", "occupied %"),
    *("refill steps", "audio-s/s", "through queue", "queue share %", "peak memory GB", "ready s"),
)
"""What the rows of the table of results are."""


def ceiling_rows(bench: Bench) -> list[tuple[str, ...]]:
    """What memory allows, for each number of slots."""
    rows: list[tuple[str, ...]] = []
    for slots in bench.wishes.slots:
        limit = bench.ceiling(slots)
        weights, kv = f"{limit.weight_bytes / 1e9:.2f} GB", f"{limit.kv_bytes / 1e9:.2f} GB"
        copy = f"{limit.copy_bytes_per_s / 1e12:.3f} TB/s"
        rows.append((str(slots), weights, kv, copy, f"{limit.step_ms:.2f} ms", f"{limit.audio_s_per_s:.0f}"))
    return rows


def headers(reports: Sequence[SlotReport]) -> tuple[str, ...]:
    """Of the table of results: a column for each number of slots."""
    return ("slots", *(str(report.slots) for report in reports))


def rows(reports: Sequence[SlotReport]) -> list[tuple[str, ...]]:
    """One row for each of `MEASURES`."""
    columns = [_column(report) for report in reports]
    return [(name, *(column[place] for column in columns)) for place, name in enumerate(MEASURES)]


def line(report: SlotReport) -> str:
    """The chief figures of one number of slots, for the moment when they are known."""
    through = "" if report.queue is None else f", through the queue {report.queue.window.audio_s_per_s:.1f}"
    step = f"{report.basis} {report.basis_ms:.2f} ms ({report.roofline_ratio:.2f} x roofline)"
    return f"{report.slots} slots: {report.engine.audio_s_per_s:.1f} audio-s/s{through}, {step}"


def _column(report: SlotReport) -> tuple[str, ...]:
    engine, share = report.engine, report.queue_share
    return (
        _stage(engine.decode_step_ms),
        f"{report.roofline_ratio:.2f}" + ("" if engine.decode_step_ms else f" ({report.basis})"),
        f"{engine.step_wall_ms:.2f}",
        _stage(engine.prefill_pass_ms),
        _stage(engine.codec_launch_ms),
        f"{100 * engine.occupancy:.1f}",
        f"{engine.refill_wait_steps:.1f}",
        f"{engine.audio_s_per_s:.1f}",
        "-" if report.queue is None else f"{report.queue.window.audio_s_per_s:.1f}",
        "-" if share is None else f"{100 * share:.1f}",
        f"{report.peak_memory_bytes / 1e9:.1f}",
        f"{report.ready_s:.1f}",
    )


def _stage(median_ms: float) -> str:
    """Device time of a stage; a CPU times none."""
    return f"{median_ms:.2f}" if median_ms else "-"


def document(bench: Bench, reports: Sequence[SlotReport]) -> dict[str, Any]:
    """Everything that was measured."""
    return {
        "model": bench.model.card.name,
        "numerics": bench.model.card.numerics,
        "device": bench.device_name,
        "mix": asdict(bench.wishes.mix),
        "mean_kv_rows": bench.wishes.mix.mean_kv_rows,
        "attention": bench.settings.attention,
        "eager": bench.settings.eager,
        "deterministic": bench.settings.deterministic,
        "device_s": bench.device_s,
        "load_s": bench.load_s,
        "copy_bytes_per_s": bench.copy_bytes_per_s,
        "slots": [_slot_document(report) for report in reports],
    }


def _slot_document(report: SlotReport) -> dict[str, Any]:
    derived = {
        "roofline_ratio": report.roofline_ratio,
        "roofline_basis": report.basis,
        "step_wall_ms": report.engine.step_wall_ms,
        "queue_share": report.queue_share,
    }
    return {**asdict(report), **derived}
