"""`tts-batch top` without a terminal: one document or one screen, also where much runs."""

from __future__ import annotations

import io

from rich.console import Console

from cli.top import WORKERS_SHOWN, screen_of
from jobs.top import JobRow, View, WorkerRow


def row(number: int) -> WorkerRow:
    stages = {"decode": 0.75, "codec": 0.25}
    return WorkerRow(
        f"host-{number:08x}",
        "cuda",
        256,
        200,
        0.981,
        401.5,
        36.2,
        0.001,
        0.002,
        10.04,
        stages,
        0.31,
        0.042,
        320,
        0.6,
        {},
    )


def view(workers: int, jobs: int) -> View:
    rows = tuple(row(number) for number in range(workers))
    listed = tuple(JobRow(f"book-{number}", "running", 10, 100, 1, 2.5, 36.0) for number in range(jobs))
    waiting = {"live": 0, "normal": 12_345, "bulk": 6}
    return View(
        waiting, 320, 2, 36.2, 401.5, 0.981, 341.0, {"running": 3}, rows, listed, 7, {"segments:done": 72},
        1_000_000, 2_000_000, "valkey 9.1.2", ("the broker's memory is full to 90%",),
    )  # fmt: skip


def shown(one: View, width: int = 80) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(screen_of(one))
    return console.export_text()


def test_a_screen_of_80_columns_has_every_figure() -> None:
    text = shown(view(2, 1))
    for figure in ("12,345 normal", "401.5 s of audio a second", "98%", "200/256", "1/2", "10.0", "0.31", "4%", "320"):
        assert figure in text, figure
    assert "host-00000001 steps: decode 75% codec 25%" in text
    assert "and 7 more jobs" in text
    assert "! the broker's memory is full to 90%" in text
    assert max(map(len, text.splitlines())) <= 80


def test_many_workers_are_cut_off_with_their_number() -> None:
    text = shown(view(WORKERS_SHOWN + 24, 0))
    assert "and 24 more" in text
    assert f"host-{WORKERS_SHOWN:08x}" not in text
