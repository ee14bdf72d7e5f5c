"""Options that several commands share, each written once, and the state they set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from cli.output import Output


@dataclass
class Shared:
    """What the shared options of the running command said (`ctx.obj`)."""

    as_json: bool = False
    broker: str | None = None

    @property
    def output(self) -> Output:
        """Where the command writes."""
        return Output(as_json=self.as_json)


def shared(context: typer.Context) -> Shared:
    """The shared options of the running command."""
    found = context.find_root().ensure_object(Shared)
    assert isinstance(found, Shared), "the root context holds a Shared"  # noqa: S101  # our own bug otherwise
    return found


def _set_json(context: typer.Context, value: bool) -> bool:  # noqa: FBT001  # Typer's callback signature
    shared(context).as_json = value
    return value


def _set_broker(context: typer.Context, value: str | None) -> str | None:
    shared(context).broker = value
    return value


JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print the result as one JSON document.", callback=_set_json, is_eager=True),
]
BrokerOption = Annotated[
    str | None,
    typer.Option(
        "--broker",
        metavar="URL",
        help="Redis or Valkey to use (redis://, rediss://, unix://); else TTS_BATCH_BROKER, else the embedded node.",
        callback=_set_broker,
    ),
]
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Job id, as `tts-batch jobs` lists it.")]
