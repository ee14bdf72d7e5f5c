"""`tts-batch plan`: what would be spoken of a source, replaced and left out, and why. Queues nothing, needs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli import options
from cli.options import JsonOption, shared

if TYPE_CHECKING:
    from cli.output import Exit, JsonValue, Output
    from cli.sources import Reading
    from jobs.drafts import Wishes
    from jobs.errors import BadOption, BadSource

EXAMPLES = """\
Examples:

  tts-batch plan examples/book.txt

  tts-batch plan book.epub --keep notes,tables --all

  tts-batch plan prompts.jsonl --json

  echo "It cost $5.30." | tts-batch plan -
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(plan)


def plan(  # one parameter per option is how Typer declares a command line
    context: typer.Context,
    files: options.FilesArgument,
    model: options.ModelOption = None,
    voice: options.VoiceOption = None,
    lang: options.LangOption = None,
    kind: options.TypeOption = None,
    encoding: options.EncodingOption = None,
    skip: options.SkipOption = None,
    keep: options.KeepOption = None,
    lexicon: options.LexiconOption = None,
    markup: options.MarkupOption = False,
    cast: options.CastOption = None,
    addresses: options.AddressesOption = "host",
    everything: Annotated[
        bool, typer.Option("--all", help="Show every passage that is not spoken or replaced, not only examples.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what of FILE will be spoken, what is spoken otherwise, and what is left out, and why.

    Every character of the source is accounted for. No broker, node or voice is needed, and nothing is queued.
    """
    from cli.sources import Reading

    reading = Reading.of(context.params)
    raise typer.Exit(run(reading, shared(context).output, everything=everything))


def run(reading: Reading, output: Output, *, everything: bool) -> Exit:
    """Show the plan of each source; one that cannot be read does not keep the others from being shown.

    Raises:
        BadOption: an option is not possible (of several sources: for all of them).
        BadSource: the lexicon cannot be read.
    """
    from cli.output import Exit
    from cli.session import plan_offer, settings_for
    from jobs.drafts import Wishes
    from jobs.errors import BadOption, BadSource

    settings, asked = settings_for(None), reading.asked
    wishes = Wishes(
        offer=plan_offer(asked.model or settings.model, asked.voice, settings),
        store_url=settings.store_url,
        voice=asked.voice,
        language=asked.language,
        options=asked.plan_options(),
        skip_bad_lines=True,
    )
    documents: list[JsonValue] = []
    code = Exit.DONE
    for number, name in enumerate(reading.files):
        if number and not output.as_json:
            output.result(None, "")
        try:
            documents.append(_one(name, reading, wishes, output, everything=everything))
        except (BadSource, BadOption) as error:
            if isinstance(error, BadOption) and len(reading.files) == 1:
                raise
            code = Exit.BAD_INPUT
            documents.append(_bad(name, reading, error, output))
    if output.as_json:
        output.result(documents[0] if len(reading.files) == 1 else {"plans": documents})
    return code


def _one(name: str, reading: Reading, wishes: Wishes, output: Output, *, everything: bool) -> JsonValue:
    """Plan one source, show it to people, and return its document."""
    from cli.plan_show import show_plan
    from cli.sources import source_of
    from jobs.drafts import plan_source
    from jobs.plan_view import plan_document

    planned = plan_source(source_of(name, reading.source_kind), wishes)
    if not output.as_json:
        show_plan(output, planned, chars_per_s=wishes.offer.chars_per_s, everything=everything)
    return plan_document(planned) if output.as_json else None


def _bad(name: str, reading: Reading, error: BadSource | BadOption, output: Output) -> JsonValue:
    """Tell what is wrong with a source of which nothing can be spoken, and return its document."""
    from cli.sources import source_name
    from jobs.errors import BadSource, SourceProblem
    from jobs.plan_view import problem_document
    from jobs.reading import kind_of

    output.say(f"error: {error}")
    kind = reading.source_kind
    called = source_name(name, kind)
    try:
        kind = kind or kind_of(called)
    except BadSource:  # that may be the very error
        kind = None
    problems = error.problems if isinstance(error, BadSource) else (SourceProblem("bad_option", str(error)),)
    return problem_document(called, kind, problems)
