"""`tts-batch jobs`, `status` and `watch`: looking at jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import BrokerOption, JobArgument, JsonOption, shared
from cli.output import Exit, JsonValue, table

if TYPE_CHECKING:
    from jobs.spec import JobRecord, SegmentResult

MAX_SHOWN_FAILURES = 20


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example:  tts-batch jobs --json")(jobs)
    app.command(epilog="Example:  tts-batch status book-3f9a1c2e")(status)
    app.command(epilog="Example:  tts-batch watch book-3f9a1c2e --events --json")(watch)


def jobs(context: typer.Context, as_json: JsonOption = False, broker: BrokerOption = None) -> None:
    """List all jobs, oldest first."""
    from cli.session import connect
    from jobs.progress import clock

    options = shared(context)
    with connect(options.broker) as session:
        records = session.broker.truth.jobs()
    rows = [
        (r.job, r.state.value, f"{r.done + r.failed}/{r.total}", str(r.failed), clock(r.audio_s), r.title)
        for r in records
    ]
    shown = table("job", "state", "segments", "failed", "audio", "title", rows=rows)
    options.output.result({"jobs": [job_document(record) for record in records]}, shown)


def status(context: typer.Context, job: JobArgument, as_json: JsonOption = False, broker: BrokerOption = None) -> None:
    """Show one job: state, counts, failed segments and their reasons, finished audio."""
    from cli.bad_takes import bad_takes, take_documents, take_lines
    from cli.costs import cost_document, cost_of, cost_text
    from cli.failures import failure_documents, failure_reasons
    from cli.session import connect
    from jobs.deliver import finished_objects, worth_showing
    from jobs.state import SegmentState

    options = shared(context)
    with connect(options.broker) as session:
        record = session.broker.truth.job(job)
        results = session.broker.truth.results(job)
        reasons = failure_reasons(session, record)
        objects = finished_objects(session.store_of(record), job)
        cost = cost_of(results, session.settings)
    failures = [result for result in results.values() if result.state is SegmentState.FAILED]
    document = job_document(record)
    document["failures"] = [{"segment": result.segment, "reason": result.reason} for result in failures]
    document["reasons"] = failure_documents(reasons)
    document["bad_takes"] = take_documents(bad_takes(results))
    document["objects"] = list(objects)
    document["cost"] = cost_document(cost)
    costs = cost_text(cost, session.settings)
    shown = [*take_lines(record, bad_takes(results)), *costs, *worth_showing(objects)]
    options.output.result(document, _status_text(record, failures, shown))


def watch(
    context: typer.Context,
    job: JobArgument,
    events: Annotated[bool, typer.Option("--events", help="Print every event as a JSON line.")] = False,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Follow a job until it is over. Leaving with Ctrl-C does not stop the job."""
    from cli.bad_takes import job_bad_takes, take_documents, take_lines
    from cli.failures import failure_documents, failure_line, failure_reasons
    from cli.session import connect
    from cli.watch import Follower
    from jobs.state import JobState

    options = shared(context)
    options.as_json = options.as_json or events
    with connect(options.broker) as session:
        record = Follower(session, session.broker.truth.job(job), options.output).run(as_events=events)
        reasons = failure_reasons(session, record)
        bad = job_bad_takes(session, record)
    document = {
        **job_document(record),
        "reasons": failure_documents(reasons),
        "bad_takes": take_documents(bad),
    }
    lost = f"; {failure_line(record, reasons)}" if record.failed else ""
    options.output.result(document, "\n".join([f"{record.job}: {record.state}{lost}", *take_lines(record, bad)]))
    if record.state is not JobState.DONE:
        raise typer.Exit(Exit.FAILED)


def job_document(record: JobRecord) -> dict[str, JsonValue]:
    """The JSON form of a job record."""
    document: dict[str, JsonValue] = record.model_dump(mode="json")
    document["waiting"] = record.waiting
    return document


def _status_text(record: JobRecord, failures: list[SegmentResult], more: list[str]) -> str:
    from jobs.progress import clock

    lines = [
        f"{record.job}: {record.state}{f' ({record.reason})' if record.reason else ''}",
        f"{record.title}{f' by {record.author}' if record.author else ''}",
        f"model {record.spec.model}, voice {record.spec.voice}, {record.spec.language}, seed {record.spec.seed}",
        f"{record.done} done ({record.reused} from the store), {record.failed} failed, {record.held} held",
        f"{record.waiting} waiting of {record.total} segments; {clock(record.audio_s)} audio",
        f"{record.chapters_assembled} of {record.chapters} chapters assembled",
    ]
    lines += [f"segment {failure.segment}: {failure.reason}" for failure in failures[:MAX_SHOWN_FAILURES]]
    if len(failures) > MAX_SHOWN_FAILURES:
        lines.append(f"… and {len(failures) - MAX_SHOWN_FAILURES} more; --json shows all")
    return "\n".join([*lines, *more])
