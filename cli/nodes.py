"""`tts-batch up`, `worker gpu|cpu` and `workers`: the machines that do the work."""

from __future__ import annotations

import contextlib
from enum import StrEnum
from typing import Annotated

import typer

from cli.options import BrokerOption, JsonOption, shared
from cli.output import Exit, JsonValue, table


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example:  tts-batch up")(up)
    app.command(epilog="Example:  tts-batch workers --json")(workers)
    worker = typer.Typer(
        help="Run a worker on this machine, for a Redis or Valkey by URL.",
        epilog="Example:  tts-batch worker gpu --device cpu --broker redis://queue:6379/0",
        no_args_is_help=True,
    )
    worker.command(epilog="Example:  tts-batch worker gpu --broker redis://queue:6379/0")(gpu)
    worker.command(epilog="Example:  tts-batch worker cpu --broker redis://queue:6379/0")(cpu)
    worker.command(epilog="Example:  tts-batch worker check --json")(check)
    app.add_typer(worker, name="worker")


def up(context: typer.Context, as_json: JsonOption = False) -> None:
    """Keep the embedded node running for other terminals, until Ctrl-C or SIGTERM."""
    import time

    from cli.session import running_node, settings_for
    from jobs.embedded import Embedded
    from jobs.errors import BrokerUnavailable
    from workers.process import StopFlag

    options = shared(context)
    settings = settings_for(None)
    place = Embedded(settings.data_dir)
    stop = StopFlag()
    with running_node(settings) as ours:
        document: dict[str, JsonValue] = {"broker": place.url, "data_dir": str(place.data_dir), "started": ours}
        if not ours:
            options.output.result(document, f"a node runs already in {place.data_dir}; its broker is {place.url}")
            return
        options.output.result(document, f"node up in {place.data_dir}; broker {place.url}; Ctrl-C stops it")
        while not stop.stopping:
            if not place.running():
                msg = f"the node ended by itself; its logs are in {place.log_dir}"
                raise BrokerUnavailable(msg)
            time.sleep(0.2)
        options.output.say("stopping: segments in work are given back")


def gpu(
    context: typer.Context,
    device: Annotated[str, typer.Option(help="cuda, or cpu to synthesise without a GPU.")] = "cuda",
    model: Annotated[list[str] | None, typer.Option(help="Only this model (may be given again).")] = None,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Synthesise: lease segments and speak them, one process per GPU (or per core with --device cpu)."""
    from cli.session import settings_for
    from workers.process import configure_logging
    from workers.supervisor import run

    settings = settings_for(shared(context).broker)
    configure_logging("supervisor", settings.log_level)
    run(settings, device=device, models=tuple(model or ()))


def cpu(context: typer.Context, as_json: JsonOption = False, broker: BrokerOption = None) -> None:
    """Do the steps of jobs (plan, assemble, finish) as a Celery worker, and look after lost work."""
    from cli.session import settings_for
    from workers.process import configure_logging
    from workers.steward import run

    settings = settings_for(shared(context).broker)
    configure_logging("cpu-worker", settings.log_level)
    run(settings)


class Kind(StrEnum):
    """Which workers are looked for."""

    CPU = "cpu"
    GPU = "gpu"


def check(
    context: typer.Context,
    kind: Annotated[
        Kind | None, typer.Argument(help="cpu: the one for steps; gpu: those that speak. Without it any will do.")
    ] = None,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Whether a worker of this machine works: exit code 0 if it gives a sign of life, else 1. For health checks.

    A synthesis worker beats as long as its step loop turns and the broker is reached; one that loads its first model
    beats too. A worker for the steps of jobs answers a question of Celery. Where both run, ask for each.
    """
    from cli.session import settings_for
    from jobs.connect import open_broker
    from workers.checkup import signs_of_life

    options = shared(context)
    settings = settings_for(options.broker)
    with contextlib.closing(open_broker(settings.broker or "", settings)) as opened:
        signs = signs_of_life(opened.truth, settings, kind)
    document: dict[str, JsonValue] = {"works": bool(signs), "signs": list(signs)}
    options.output.result(document, "\n".join(signs) or "no worker of this machine gives a sign of life")
    if not signs:
        raise typer.Exit(Exit.FAILED)


def workers(context: typer.Context, as_json: JsonOption = False, broker: BrokerOption = None) -> None:
    """List the synthesis workers that are alive."""
    from cli.session import connect

    options = shared(context)
    with connect(options.broker) as session:
        statuses = session.broker.truth.workers()
    rows, documents = [], []
    for status in statuses:
        info = status.info
        slots = f"{status.slots_busy}/{info.slots}"
        rows.append((info.worker, info.device, slots, str(status.held), str(status.segments_done),
                     f"{status.audio_s:.0f} s", f"{status.beat_age_s:.1f} s", ", ".join(info.models)))  # fmt: skip
        document: dict[str, JsonValue] = status.model_dump(mode="json", exclude={"info": {"offers"}})
        documents.append(document)
    shown = table("worker", "device", "slots", "held", "done", "audio", "last beat", "models", rows=rows)
    options.output.result({"workers": documents}, shown)
