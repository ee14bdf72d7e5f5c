"""`tts-batch token add`, `list` and `remove`: who may use the HTTP API."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import BrokerOption, JsonOption, shared

if TYPE_CHECKING:
    from cli.output import JsonValue
    from jobs.access.gate import Scope, Token

_UNITS_S = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_LONGEST_S = 5200 * 604_800


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    token = typer.Typer(
        help="Tokens of the HTTP API: who may use it, for what, and how much.",
        epilog="Example:  tts-batch token add laptop --scope read,jobs,speak",
        no_args_is_help=True,
    )
    token.command(epilog="Example:  tts-batch token add laptop --scope read,speak --per-minute 60 --expires 30d")(add)
    token.command("list", epilog="Example:  tts-batch token list --json")(list_tokens)
    token.command(epilog="Example:  tts-batch token remove tok_5f0c21a97be4")(remove)
    app.add_typer(token, name="token")


def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Who or what has it; shown in lists and logs.")],
    scope: Annotated[
        str, typer.Option(metavar="LIST", help="What it may do, comma-separated: read, jobs, speak, voices.")
    ] = "read,jobs,speak",
    per_minute: Annotated[
        int | None, typer.Option(min=1, max=1_000_000, metavar="N", help="Requests per minute at most.")
    ] = None,
    chars_per_day: Annotated[
        int | None, typer.Option(min=1, max=10**12, metavar="N", help="Characters spoken per day (UTC) at most.")
    ] = None,
    concurrent: Annotated[
        int | None, typer.Option(min=1, max=100_000, metavar="N", help="Speech requests at one time.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="It ends after this: 90m, 12h, 30d or 8w; default: never.")
    ] = None,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Make a token and print its secret, once: only a digest of it is kept."""
    from cli.session import connect
    from jobs.access.gate import Quota
    from jobs.access.tokens import new_token

    options = shared(context)
    quota = Quota(requests_per_minute=per_minute, chars_per_day=chars_per_day, concurrent=concurrent)
    ends_at_s = None if expires is None else time.time() + _duration_s(expires)
    token, secret = new_token(name, _scopes(scope), quota, expires_at_s=ends_at_s)
    with connect(options.broker, needs_node=True) as session:
        session.broker.gate.add(token)
    options.output.say(f"token {token.token} ({token.name}); this is its secret, it is not shown again:")
    options.output.result(_document(token) | {"secret": secret}, secret)


def list_tokens(context: typer.Context, as_json: JsonOption = False, broker: BrokerOption = None) -> None:
    """List the tokens: what each may do, and until when. Secrets are not kept, so none is shown."""
    from cli.output import table
    from cli.session import connect

    options = shared(context)
    with connect(options.broker, needs_node=True) as session:
        tokens = session.broker.gate.tokens()
    rows = [(t.token, t.name, ",".join(t.scopes), _quota_text(t), _end_text(t)) for t in tokens]
    shown = table("token", "name", "scopes", "limits", "ends", rows=rows)
    options.output.result({"tokens": [_document(token) for token in tokens]}, shown)


def remove(
    context: typer.Context,
    token: Annotated[str, typer.Argument(metavar="ID", help="Its id, as `tts-batch token list` shows it.")],
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Take a token back: from now on no request with it is answered."""
    from cli.session import connect
    from jobs.errors import BadOption

    options = shared(context)
    with connect(options.broker, needs_node=True) as session:
        gate = session.broker.gate
        if not gate.remove(token):
            known = ", ".join(kept.token for kept in gate.tokens()) or "none"
            msg = f"no token has that id; there are: {known} (an id is meant, not a name or a secret)"
            raise BadOption(msg)
        last = not gate.any()
    options.output.result({"token": token, "removed": True}, f"token {token} removed")
    if last:
        options.output.say(
            "it was the last one: a server for this machine alone, or one with --open, now answers without"
        )


def _scopes(text: str) -> list[Scope]:
    from jobs.access.gate import Scope
    from jobs.errors import BadOption

    names = [name.strip() for name in text.split(",") if name.strip()]
    wrong = [name for name in names if name not in list(Scope)]
    if wrong or not names:
        msg = f"--scope {text!r}: {wrong[0]!r} is none" if wrong else f"--scope {text!r} names none"
        msg += f"; scopes are {', '.join(Scope)}"
        raise BadOption(msg)
    return [Scope(name) for name in names]


def _duration_s(text: str) -> float:
    from jobs.errors import BadOption

    found = re.fullmatch(r"([0-9]{1,9})([mhdw])", text.strip())
    seconds = int(found[1]) * _UNITS_S[found[2]] if found else 0
    if not 0 < seconds <= _LONGEST_S:
        msg = f"--expires {text!r} is not allowed; write a number and m, h, d or w, as 90m, 12h, 30d; at most 5200w"
        raise BadOption(msg)
    return float(seconds)


def _document(token: Token) -> dict[str, JsonValue]:
    """A token as --json shows it: all but the digest."""
    return {
        "token": token.token,
        "name": token.name,
        "scopes": [scope.value for scope in token.scopes],
        "per_minute": token.quota.requests_per_minute,
        "chars_per_day": token.quota.chars_per_day,
        "concurrent": token.quota.concurrent,
        "created_at_s": token.created_at_s,
        "expires_at_s": token.expires_at_s,
    }


def _quota_text(token: Token) -> str:
    quota = token.quota
    limits = (
        (quota.requests_per_minute, "requests/min"),
        (quota.chars_per_day, "chars/day"),
        (quota.concurrent, "at one time"),
    )
    return ", ".join(f"{limit} {what}" for limit, what in limits if limit is not None) or "none"


def _end_text(token: Token) -> str:
    if token.expires_at_s is None:
        return "never"
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(token.expires_at_s))
    return f"{day}{' (over)' if token.expired(time.time()) else ''}"
