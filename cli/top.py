"""`tts-batch top`: the queue, the workers and the jobs at work, kept up to date in the terminal."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import BrokerOption, JsonOption, shared
from cli.output import table

if TYPE_CHECKING:
    from rich.table import Table

    from jobs.top import JobRow, View, WorkerRow

WORKERS_SHOWN = 40
SHORTEST_S = 0.5


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example:  tts-batch top --every 2")(top)


def top(
    context: typer.Context,
    every: Annotated[float, typer.Option(metavar="S", min=SHORTEST_S, help="Seconds between two looks.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Look twice, so far apart, and end.")] = False,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Show what the cluster does: queue, slots, rates, refills, stages, retakes, jobs at work. Ctrl-C leaves.

    Without a terminal, and with --json, one view after the other is printed.
    """
    from rich.live import Live

    from cli.session import connect
    from jobs.top import look, view_of

    options = shared(context)
    with connect(options.broker) as session:
        ttl_s, opened = session.settings.worker_ttl_s, session.broker
        before = look(opened, time.monotonic())
        live = not (once or options.output.as_json) and options.output.console.is_terminal
        place = Live(console=options.output.console, screen=True, auto_refresh=False) if live else nullcontext()
        with place as shown:
            while True:
                time.sleep(every)
                now = look(opened, time.monotonic())
                view = view_of(before, now, worker_ttl_s=ttl_s)
                before = now
                if shown is None:
                    options.output.result(asdict(view), screen_of(view))
                else:
                    shown.update(screen_of(view), refresh=True)
                if once:
                    return


def screen_of(view: View) -> Table:
    """The whole screen, one part below the other."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 0))
    for line in _head(view):
        grid.add_row(line)
    grid.add_row("")
    grid.add_row(_workers(view.workers))
    for line in _stages(view.workers):
        grid.add_row(line)
    if view.jobs:
        grid.add_row("")
        grid.add_row(_jobs(view.jobs))
    if view.more_jobs:
        grid.add_row(f"and {view.more_jobs} more jobs")
    for warning in view.warnings:
        grid.add_row(f"! {warning}")
    return grid


def _head(view: View) -> list[str]:
    waiting = ", ".join(f"{number:,} {name}" for name, number in view.waiting.items())
    memory = "?" if view.memory_bytes is None else f"{view.memory_bytes / 1e6:,.0f} MB"
    limit = f" of {view.memory_limit_bytes / 1e6:,.0f}" if view.memory_limit_bytes else ""
    since = ", ".join(f"{name} {number}" for name, number in sorted(view.since.items())) or "nothing was counted"
    rates = f"{view.audio_s_per_s:,.1f} s of audio a second, {view.segments_per_s:,.2f} segments a second"
    return [
        f"waiting {waiting}; held {view.held:,}; steps {view.steps}; {_eta(view.eta_s)}",
        f"{rates}, slots busy {_percent(view.occupancy)}",
        f"jobs: {', '.join(f'{number} {state}' for state, number in view.states.items()) or 'none'}",
        f"broker {view.server}, {memory}{limit}",
        f"meanwhile: {since}",
    ]


def _workers(rows: tuple[WorkerRow, ...]) -> Table:
    """Ten narrow columns: they fit a terminal of 80; the stages of each worker stand below, where there are any."""
    shown = [
        (
            row.worker,
            f"{row.busy}/{row.slots}",
            _percent(row.occupancy),
            f"{row.audio_s_per_s:.1f}",
            f"{_ms(row.refill_p50_s)}/{_ms(row.refill_p95_s)}",
            "-" if row.step_ms is None else f"{row.step_ms:.1f}",
            "-" if row.store_s is None else f"{row.store_s:.2f}",
            _percent(row.retake_share),
            str(row.held),
            f"{row.beat_age_s:.1f}",
        )
        for row in rows[:WORKERS_SHOWN]
    ]
    more = [(f"and {len(rows) - WORKERS_SHOWN} more", *[""] * 9)] if len(rows) > WORKERS_SHOWN else []
    heads = ("worker", "slots", "busy", "audio/s", "refill", "step", "store", "again", "held", "beat")
    return table(*heads, rows=[*shown, *more])


def _stages(rows: tuple[WorkerRow, ...]) -> list[str]:
    """One line for each worker that steps."""
    told = [(row.worker, " ".join(f"{name} {share:.0%}" for name, share in row.stages.items())) for row in rows]
    return [f"{worker} steps: {stages}" for worker, stages in told[:WORKERS_SHOWN] if stages]


def _jobs(rows: tuple[JobRow, ...]) -> Table:
    shown = [
        (
            row.job,
            row.state,
            f"{row.done + row.failed:,}/{row.total:,}",
            str(row.failed),
            f"{row.segments_per_s:.2f}",
            _eta(row.eta_s),
        )
        for row in rows
    ]
    return table("job", "state", "segments", "failed", "per s", "left", rows=shown)


def _eta(seconds: float | None) -> str:
    from jobs.progress import clock

    return "no end in sight" if seconds is None else f"{clock(seconds)} to go"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000 * seconds:g}"
