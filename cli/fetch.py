"""`tts-batch fetch`: copy what a job made into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import BrokerOption, JobArgument, JsonOption, shared


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example:  tts-batch fetch book-3f9a1c2e ~/Audiobooks/Book")(fetch)


def fetch(
    context: typer.Context,
    job: JobArgument,
    out: Annotated[Path | None, typer.Argument(metavar="DIR", help="Default: ./<name of the source>.")] = None,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Copy a job's finished audio and report into DIR; of a job that still runs, what is finished so far."""
    from cli.following import default_out
    from cli.session import connect
    from jobs.deliver import check_folder, deliver

    options = shared(context)
    with connect(options.broker) as session:
        record = session.broker.truth.job(job)
        target = (out or default_out(record.spec.source_name)).expanduser().absolute()
        check_folder(target)
        files = [str(path) for path in deliver(session.store_of(record), job, target)]
    options.output.result({"job": job, "state": record.state.value, "files": files}, "\n".join(files))
    if not files:
        options.output.say(f"job {job} is {record.state}: nothing is finished yet")
