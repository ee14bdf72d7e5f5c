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

# ── what `submit` asks about checks, mastering and what is delivered beside the audio ─────────────────────────────
TakesOption = Annotated[
    int, typer.Option("--takes", min=1, max=20, help="Attempts at a segment at most, each with a new seed.")
]
CheckOption = Annotated[
    str,
    typer.Option("--check", metavar="HOW", help="free, or asr[:MODEL]: a speech recogniser listens too (extra [asr])."),
]
OnBadOption = Annotated[
    str,
    typer.Option("--on-bad", metavar="HOW", help="A segment without a good take: keep the best, mark it too, or fail."),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile", metavar="NAME", help="Loudness and room: audiobook (default for books), acx, podcast or raw."
    ),
]
LoudnessOption = Annotated[str, typer.Option("--loudness", metavar="OVER", help="One gain for each: chapter or book.")]
RoomToneOption = Annotated[
    bool | None,
    typer.Option("--room-tone/--no-room-tone", help="Very quiet noise instead of digital zero (default: acx alone)."),
]
SubtitlesOption = Annotated[
    str | None, typer.Option("--subtitles", metavar="LIST", help="Comma-separated: srt, vtt, lrc.")
]
ReadAlongOption = Annotated[
    bool, typer.Option("--read-along", help="Also the epub with its audio: each sentence is marked while it is heard.")
]
ExportOption = Annotated[
    str | None,
    typer.Option(
        "--export",
        metavar="LIST",
        help="Datasets, comma-separated: ljspeech, audiofolder, webdataset, nemo, lhotse, kaldi.",
    ),
]

# ── what `plan` and `submit` ask about reading and speaking ─────────────────────────────────────────────────────────
FilesArgument = Annotated[
    list[str], typer.Argument(metavar="FILE…|-", help="txt, md, html, epub, jsonl, srt or vtt; - is standard input.")
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="Model, as `tts-batch models` lists it, or the folder of its weights (./DIR)."),
]
VoiceOption = Annotated[
    str | None, typer.Option("--voice", help="Voice name, or the path of a Piper .onnx or of a description (.txt).")
]
LangOption = Annotated[str | None, typer.Option("--lang", help="Language to speak, e.g. en-US.")]
TypeOption = Annotated[
    str | None, typer.Option("--type", metavar="KIND", help="Read the source as this kind; default: by its ending.")
]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Decode the source so, e.g. cp1252; default: found out."),
]
SkipOption = Annotated[
    str | None,
    typer.Option("--skip", metavar="LIST", help="Leave these out too, comma-separated: e.g. headings,directions."),
]
KeepOption = Annotated[
    str | None,
    typer.Option("--keep", metavar="LIST", help="Speak these, left out by default: e.g. notes,tables,images."),
]
LexiconOption = Annotated[
    str | None, typer.Option("--lexicon", metavar="FILE", help="Words and what is spoken for them (docs/plan.md).")
]
MarkupOption = Annotated[bool, typer.Option("--markup", help="Obey [pause: 2s] and [voice: NAME] in the text.")]
CastOption = Annotated[
    str | None,
    typer.Option("--cast", metavar="LIST", help="Voices of a script's speakers: ANNA=alice,BEN=bob."),
]
AddressesOption = Annotated[
    str, typer.Option("--addresses", metavar="HOW", help="How URLs are spoken: host, spell or drop.")
]
