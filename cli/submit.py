"""`tts-batch submit`: the command line; what it does is in `cli.submitting`."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import options
from cli.options import BrokerOption, JsonOption, shared

EXAMPLES = """\
Examples:

  tts-batch submit examples/book.txt

  tts-batch submit book.epub --format m4b,mp3 --out ~/Audiobooks/Book

  tts-batch submit prompts.jsonl --format flac --priority bulk --no-wait

  echo "Hello there." | tts-batch submit - --out hello
"""


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(submit)


def submit(  # one parameter per option is how Typer declares a command line
    context: typer.Context,
    files: options.FilesArgument,
    model: options.ModelOption = None,
    voice: options.VoiceOption = None,
    lang: options.LangOption = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Same seed and text: same audio.")] = 0,
    speed: Annotated[float, typer.Option(help="Speaking rate; 1 is the voice's own.")] = 1.0,
    formats: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="LIST",
            help="Comma-separated: m4b (default), mp3 (--profile acx: default), flac, opus, wav.",
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where finished audio goes; default: ./<name of the file>.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Stream audio chunks while they are made.")] = False,
    priority: Annotated[str, typer.Option(metavar="CLASS", help="live, normal or bulk.")] = "normal",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Follow the job to its end, or only queue it.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and the estimate; queue nothing.")] = False,
    edit: Annotated[bool, typer.Option("--edit", help="Edit what will be spoken in $EDITOR first.")] = False,
    kind: options.TypeOption = None,
    encoding: options.EncodingOption = None,
    skip: options.SkipOption = None,
    keep: options.KeepOption = None,
    lexicon: options.LexiconOption = None,
    markup: options.MarkupOption = False,
    cast: options.CastOption = None,
    addresses: options.AddressesOption = "host",
    skip_bad_lines: Annotated[
        bool, typer.Option("--skip-bad-lines", help="Pass over lines of a jsonl that cannot be read.")
    ] = False,
    takes: options.TakesOption = 3,
    check: options.CheckOption = "free",
    on_bad: options.OnBadOption = "mark",
    profile: options.ProfileOption = None,
    loudness: options.LoudnessOption = "chapter",
    room_tone: options.RoomToneOption = None,
    subtitles: options.SubtitlesOption = None,
    read_along: options.ReadAlongOption = False,
    export: options.ExportOption = None,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Turn FILE into speech: plan, synthesise, assemble, and write the audio into a folder.

    Submitting the same file with the same options again goes on where the job stopped.
    """
    from cli.sources import Reading
    from cli.submitting import Ask, run

    ask = Ask(reading=Reading.of(context.params), out=out, wait=wait, dry_run=dry_run, edit=edit)
    raise typer.Exit(run(ask, shared(context)))
