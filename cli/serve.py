"""`tts-batch serve`: the HTTP API and the page."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import BrokerOption, JsonOption, shared

PACKAGES = ("fastapi", "uvicorn", "python_multipart", "prometheus_client")
"""What the extra [api] brings."""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example:  tts-batch serve --port 8000 --alias tts-1=piper --alias alloy=joe")(serve)


def serve(  # one parameter per option is how Typer declares a command line
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    alias: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NAME", help="Another name of a model or voice, e.g. tts-1=piper; may be repeated."),
    ] = None,
    cors_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Let pages of this origin read answers; may be repeated. Default: none."),
    ] = None,
    open_to_all: Annotated[
        bool, typer.Option("--open", help="Answer everybody without a token, though others can reach the address.")
    ] = False,
    max_streams: Annotated[int, typer.Option(min=1, help="Answers sent while they are made, at one time.")] = 256,
    max_upload: Annotated[int, typer.Option(min=1, metavar="MB", help="Largest upload.")] = 200,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Answer HTTP requests in OpenAI's shapes and serve the page, until Ctrl-C or SIGTERM.

    Starts the embedded node if none runs (not with --broker). Without tokens (`tts-batch token add`) only this machine
    is answered, unless --open.
    """
    _check_extra()
    from cli.api.server import ServeOptions, serve_until_stopped
    from cli.api.service import Limits
    from cli.session import connect

    options = shared(context)
    asked = ServeOptions.of(host, port, alias or (), cors_origin or (), open_to_all=open_to_all)
    with asked.listener() as listener, connect(options.broker, needs_node=True) as session:
        waiting = session.settings.max_waiting_segments or None
        limits = Limits(streams=max_streams, upload_bytes=max_upload * 1024 * 1024, waiting_segments=waiting)
        serve_until_stopped(session, options.output, listener, asked, limits)


def _check_extra() -> None:
    from importlib.util import find_spec

    from jobs.errors import MissingExtra

    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        msg = f"serve needs {', '.join(missing)}, not installed here; run: pip install 'tts-batch[api]'"
        raise MissingExtra(msg)
