"""The command `tts-batch`: joins the commands and turns errors into exit codes. Starts in under 0.3 s.

Each command's module imports the rest of the program inside its functions, so that `--help` stays quick.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from cli import (
    acx,
    bench,
    control,
    doctor,
    export,
    fetch,
    jobs_view,
    listen,
    models_view,
    nodes,
    plan,
    serve,
    submit,
    tokens,
    top,
    warm,
)
from cli.options import Shared, shared
from cli.output import Exit
from jobs import errors

EXIT_CODES: dict[type[errors.JobsError], Exit] = {
    errors.BadInput: Exit.BAD_INPUT,
    errors.IllegalMove: Exit.BAD_INPUT,
    errors.MissingExtra: Exit.BAD_INPUT,
    errors.BrokerUnavailable: Exit.NO_BROKER,
    errors.NoDevice: Exit.NO_DEVICE,
}
"""What our errors end a command with; any other of them with FAILED."""
USAGE_ERROR: type[Exception] = typer.BadParameter.__bases__[0]
"""Base of Typer's own errors; where it comes from depends on Typer's release (Click, or a copy inside Typer)."""
EPILOG = (
    "Example:  tts-batch submit book.epub --format m4b,mp3    (`tts-batch COMMAND --help` has more)\n\n"
    "Exit codes: 0 done, 1 some segments or the job failed, 2 bad input, 3 no broker, 4 no device, 130 interrupted."
)


class ErrorGroup(TyperGroup):
    """Runs a command; our own errors become one clear line and a documented exit code."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # as the parent's
        """Note --json before anything can be wrong with the rest."""
        shared(ctx).as_json = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # noqa: ANN401  # as the parent's
        """Run the command named on the command line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(Exit.INTERRUPTED) from None
        except USAGE_ERROR as error:
            if not shared(ctx).as_json:
                raise
            shared(ctx).output.error(_usage_text(error), code="usage")
            raise typer.Exit(Exit.BAD_INPUT) from error
        except errors.JobsError as error:
            raise typer.Exit(report_error(error, shared(ctx))) from error


def report_error(error: errors.JobsError, options: Shared) -> Exit:
    """Print one of our errors and return its exit code."""
    found = error.problems if isinstance(error, errors.BadSource) else ()
    problems = [{"code": one.code, "message": one.message, "line": one.line} for one in found]
    options.output.error(str(error), code=errors.code_of(error), problems=problems)
    return next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), Exit.FAILED)


def _usage_text(error: Exception) -> str:
    return str(getattr(error, "format_message", error.__str__)())


app = typer.Typer(
    cls=ErrorGroup,
    help="Batch speech synthesis: books in, audiobooks out; a durable queue in between.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they would print texts and keys
    rich_markup_mode=None,
)


@app.callback()
def _root(context: typer.Context) -> None:
    context.ensure_object(Shared)


plan.add_to(app)
submit.add_to(app)
jobs_view.add_to(app)
listen.add_to(app)
fetch.add_to(app)
export.add_to(app)
control.add_to(app)
models_view.add_to(app)
nodes.add_to(app)
top.add_to(app)
serve.add_to(app)
tokens.add_to(app)
doctor.add_to(app)
warm.add_to(app)
bench.add_to(app)
acx.add_to(app)


def main() -> None:
    """Entry point of the console script."""
    app(prog_name="tts-batch")


if __name__ == "__main__":
    main()
