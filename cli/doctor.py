"""`tts-batch doctor`: is everything here that a job needs? One line each: ok, or what to do."""

from __future__ import annotations

import typer

from cli.options import BrokerOption, JsonOption, shared
from cli.output import Exit, JsonValue


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example:  tts-batch doctor --json")(doctor)


def doctor(context: typer.Context, as_json: JsonOption = False, broker: BrokerOption = None) -> None:
    """Check broker, store, device, voices and encoders; each line is ok or says what to do."""
    from cli.findings import findings
    from cli.session import settings_for

    options = shared(context)
    found = list(findings(settings_for(options.broker)))
    documents: list[JsonValue] = [
        {"name": f.name, "ok": not f.advice, "detail": f.detail, "advice": f.advice, "needed": f.needed} for f in found
    ]
    options.output.result({"findings": documents}, "\n".join(finding.line() for finding in found))
    if any(finding.advice and finding.needed for finding in found):
        raise typer.Exit(Exit.FAILED)
