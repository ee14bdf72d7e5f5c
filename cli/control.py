"""`tts-batch cancel`, `pause`, `resume`, `retry` and `purge`: changing what becomes of jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import BrokerOption, JobArgument, JsonOption, shared

if TYPE_CHECKING:
    from cli.session import Session
    from jobs.spec import JobRecord, SegmentTask


@dataclass(frozen=True, slots=True)
class Again:
    """What `retry` was asked for: what failed or is marked, and segments by number."""

    failed: bool
    segments: tuple[int, ...]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example:  tts-batch cancel book-3f9a1c2e")(cancel)
    app.command(epilog="Example:  tts-batch pause book-3f9a1c2e")(pause)
    app.command(epilog="Example:  tts-batch resume book-3f9a1c2e --out ~/Audiobooks/Book")(resume)
    app.command(epilog="Example:  tts-batch retry --failed book-3f9a1c2e --segment 17 --segment 42")(retry)
    app.command(epilog="Example:  tts-batch purge book-3f9a1c2e --takes")(purge)


def cancel(context: typer.Context, job: JobArgument, as_json: JsonOption = False, broker: BrokerOption = None) -> None:
    """Take a job back. Segments in work are dropped at the next step; takes that were made are kept for reuse."""
    from cli.session import connect
    from jobs import control

    options = shared(context)
    with connect(options.broker) as session:
        dropped = control.cancel(session.broker.truth, job)
    options.output.result(
        {"job": job, "state": "cancelled", "dropped_segments": dropped}, f"{job}: cancelled, {dropped} segments dropped"
    )


def pause(context: typer.Context, job: JobArgument, as_json: JsonOption = False, broker: BrokerOption = None) -> None:
    """Hold a job: workers get no more of its segments until it is resumed."""
    from cli.session import connect
    from jobs import control

    options = shared(context)
    with connect(options.broker) as session:
        control.pause(session.broker.truth, job)
    options.output.result({"job": job, "state": "paused"}, f"{job}: paused; `tts-batch resume {job}` lets it go on")


def resume(
    context: typer.Context,
    job: JobArgument,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Default: ./<name of the source>.")] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Follow the job to its end, or only let it go.")
    ] = True,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Let a paused or interrupted job go on, follow it and write its audio. Nothing that is done is spoken again."""
    _continue(context, job, out=out, wait=wait)


def retry(  # one parameter per option is how Typer declares a command line
    context: typer.Context,
    job: JobArgument,
    failed: Annotated[bool, typer.Option("--failed", help="Speak the failed and marked segments again.")] = False,
    segments: Annotated[
        list[int] | None,
        typer.Option("--segment", metavar="N", min=0, help="Speak this segment again; may be repeated."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Default: ./<name of the source>.")] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Follow the job to its end, or only let it go.")
    ] = True,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Speak segments of a job again with new seeds, or let a failed job go on after its cause was mended.

    Each gets as many new attempts as the job was submitted with (--takes), beyond those that were made.
    """
    from jobs.errors import BadOption

    if not (failed or segments):
        msg = (
            "say what to retry: `tts-batch retry --failed JOB` speaks its failed and marked segments again, "
            "`--segment N` one by its number"
        )
        raise BadOption(msg)
    _continue(context, job, out=out, wait=wait, again=Again(failed=failed, segments=tuple(segments or ())))


def purge(
    context: typer.Context,
    jobs: Annotated[list[str] | None, typer.Argument(metavar="[JOB…]", help="Finished jobs to delete.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All finished jobs; with --older-than those alone.")
    ] = False,
    older_than: Annotated[
        str | None, typer.Option(metavar="AGE", help="Finished jobs that ended so long ago: 30d, 12h, 90m.")
    ] = None,
    takes: Annotated[bool, typer.Option("--takes", help="Also takes that no remaining job uses.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say which jobs.")] = False,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Delete finished jobs: their records, streams and objects in the store. Delivered copies are not touched."""
    from cli.session import connect
    from jobs.errors import BadOption
    from jobs.purge import deletable, ended_before, finish_purges, purge_jobs, purge_takes

    options = shared(context)
    if not (jobs or everything or older_than or takes):
        msg = "say what to delete: job ids, --all finished jobs, --older-than 30d, or --takes"
        raise BadOption(msg)
    # A clock here that is behind the workers' must not hide what has just ended from --all.
    age_s = _age_s(older_than) if older_than else -math.inf if everything else None
    with connect(options.broker) as session:
        truth = session.broker.truth
        finished = [record.job for record in ended_before(truth, age_s)] if age_s is not None else []
        chosen = [*dict.fromkeys([*(jobs or []), *finished])]
        stores = {session.store_of(record).url for record in truth.jobs()} | {session.settings.store_url}
        dropped = 0
        if dry_run:
            deletable(truth, jobs or [])
        else:
            purge_jobs(truth, session.store, chosen)
            for url in sorted(stores):
                finish_purges(truth, session.store(url))
                dropped += purge_takes(truth, session.store, session.store(url)) if takes else 0
    text = f"{_counted(len(chosen), 'job')} and {_counted(dropped, 'take')} deleted"
    shown = "\n".join([*chosen, f"{_counted(len(chosen), 'job')} would be deleted"]) if dry_run else text
    options.output.result({"jobs": chosen, "takes": dropped, "dry_run": dry_run}, shown)


def _age_s(text: str) -> float:
    """Seconds of `30d`, `12h`, `90m` or `45s`. Raises BadOption."""
    from jobs.errors import BadOption

    units_s = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    number, unit = text[:-1], text[-1:]
    if unit not in units_s or not number.isdecimal():
        msg = f"--older-than {text!r} is not an age; write a whole number and s, m, h or d, such as 30d"
        raise BadOption(msg)
    return float(int(number) * units_s[unit])


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"


def _continue(context: typer.Context, job: str, *, out: Path | None, wait: bool, again: Again | None = None) -> None:
    from cli.following import default_out, follow_all
    from cli.session import connect_for_job
    from jobs import control
    from jobs.deliver import check_folder

    options = shared(context)
    with connect_for_job(options.broker, job, needs_node=wait) as session:
        truth = session.broker.truth
        record = truth.job(job)
        target = (out or default_out(record.spec.source_name)).expanduser().absolute()
        if wait:  # all that may be wrong is found before anything is moved
            check_folder(target)
        tasks = _tasks(session, record, again) if again else []
        if wait and (record.waiting or tasks):
            command = f"tts-batch retry --failed {job}" if again else f"tts-batch resume {job}"
            session.check_served(record.spec.model, command=command)
        count = truth.retry_failed(job, tasks, others=again.failed) if again else 0
        record = truth.job(job) if again else control.resume(truth, job)
        if not wait:
            options.output.result({"job": job, "state": record.state.value, "retried": count}, f"{job}: {record.state}")
            return
        raise typer.Exit(follow_all(session, options.output, [(record, target)]))


def _tasks(session: Session, record: JobRecord, again: Again) -> list[SegmentTask]:
    from jobs.retry import tasks_to_retry

    results = session.broker.truth.results(record.job)
    return tasks_to_retry(session.store_of(record), record, results, failed=again.failed, segments=again.segments)
