"""`tts-batch export`: finished jobs as a dataset in a folder; run again, it goes on or appends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import BrokerOption, JsonOption, shared

if TYPE_CHECKING:
    from cli.output import JsonValue, Output
    from jobs.datasets.export import Added
    from jobs.datasets.info import DatasetInfo

EXAMPLES = """\
Examples:

  tts-batch export prompts-3f9a1c2e --layout audiofolder --out ~/data/prompts

  tts-batch export one-3f9a1c2e two-0b5c77de --layout webdataset --out ~/data/speech --shard-mb 500

  tts-batch export book-3f9a1c2e --layout ljspeech --out ~/data/lj --rate 22050 --min-s 1 --max-s 10
"""
MEGABYTE_BYTES = 1_000_000


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLES)(export)


def export(  # one parameter per option is how Typer declares a command line
    context: typer.Context,
    jobs: Annotated[list[str], typer.Argument(metavar="JOB…", help="Finished jobs, as `tts-batch jobs` lists them.")],
    layout: Annotated[
        str,
        typer.Option("--layout", metavar="NAME", help="ljspeech, audiofolder, webdataset, nemo, lhotse or kaldi."),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder of the dataset: new, or one to go on with or append to."),
    ],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of a new dataset; default: its folder's.")
    ] = None,
    rate: Annotated[
        int | None,
        typer.Option("--rate", metavar="HZ", help="Resample to this (ljspeech, kaldi); default: as spoken."),
    ] = None,
    path_prefix: Annotated[
        str | None,
        typer.Option("--path-prefix", metavar="TEXT", help="Before paths in index files (nemo, lhotse, kaldi)."),
    ] = None,
    shard_mb: Annotated[
        int | None, typer.Option("--shard-mb", metavar="N", min=1, help="Most megabytes of a webdataset shard (1000).")
    ] = None,
    shard_count: Annotated[
        int | None,
        typer.Option("--shard-count", metavar="N", min=1, help="Most samples in such a shard (10000)."),
    ] = None,
    min_s: Annotated[float | None, typer.Option("--min-s", metavar="S", help="Leave out what is shorter.")] = None,
    max_s: Annotated[float | None, typer.Option("--max-s", metavar="S", help="Leave out what is longer.")] = None,
    include_bad: Annotated[
        bool, typer.Option("--include-bad", help="Also utterances that the checks speak against.")
    ] = False,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """Write finished jobs as a dataset for training into DIR; what is there already is kept and passed over.

    An export that was interrupted goes on where it stopped when the same command is run again.
    """
    from cli.live_line import LiveLine
    from cli.session import connect
    from jobs.datasets.to_folder import Asked, export_jobs, source_of
    from jobs.job_options import one_of
    from jobs.kinds import DatasetLayout

    options = shared(context)
    asked = Asked(
        layout=one_of(DatasetLayout, "--layout", layout),
        folder=out.expanduser().absolute(),
        name=name,
        rate_hz=rate,
        path_prefix=path_prefix,
        shard_bytes=None if shard_mb is None else shard_mb * MEGABYTE_BYTES,
        shard_entries=shard_count,
        include_bad=include_bad,
        min_s=min_s,
        max_s=max_s,
    )
    with connect(options.broker) as session:
        sources = [source_of(session.broker.truth, session.store, job) for job in dict.fromkeys(jobs)]
        with LiveLine(options.output) as line:
            info, added = export_jobs(sources, asked, _Progress(line.show).tell)
    _summarise(options.output, info, added, asked.folder)


@dataclass(slots=True)
class _Progress:
    """How far each job is, in one line."""

    show: Callable[[str], None]
    job: str = ""
    first: int = 0
    started_s: float = 0.0

    def tell(self, job: str, done: int, total: int) -> None:
        """Show how far one job is."""
        now_s = time.monotonic()
        if job != self.job:
            self.job, self.first, self.started_s = job, done, now_s
        self.show(progress_line(job, done, total, made=done - self.first, elapsed_s=now_s - self.started_s))


def progress_line(job: str, done: int, total: int, *, made: int, elapsed_s: float) -> str:
    """One line: utterances, speed, time to go; `made` of them in `elapsed_s`."""
    from jobs.progress import clock

    parts = [job, f"{done}/{total} utterances"]
    if made and elapsed_s > 0:
        parts.append(f"{made / elapsed_s:.0f} a second")
        if done < total:
            parts.append(f"ETA {clock((total - done) * elapsed_s / made)}")
    return "  ".join(parts)


def _summarise(output: Output, info: DatasetInfo, added: Sequence[Added], folder: Path) -> None:
    """What is in the dataset now, what came into it, and what stayed out and why."""
    jobs: list[JsonValue] = []
    for one in added:
        counts = one.left_out_counts
        jobs.append({"job": one.job, "written": one.written, "known": one.known, "left_out": counts})
        known = f", {one.known} were there already" if one.known else ""
        output.say(f"{one.job}: {one.written} utterances written{known}")
        if counts:
            told = ", ".join(f"{count} {why.replace('_', ' ')}" for why, count in counts.items())
            output.say(f"{one.job}: left out: {told} (each with its reason in {folder / one.left_out_file})")
    if len(info.sample_rates_hz) > 1:
        rates = ", ".join(f"{rate} Hz" for rate in info.sample_rates_hz)
        output.say(f"this dataset has several sample rates ({rates}); most trainers want one")
    for licence in info.licences:
        output.say(f"licence of its voices: {licence}")
    document: dict[str, JsonValue] = {
        "folder": str(folder),
        "name": info.name,
        "layout": info.layout.value,
        "utterances": info.utterances,
        "hours": info.hours,
        "duration_s": info.duration_s,
        "audio_bytes": info.audio_bytes,
        "speakers": len(info.speakers),
        "jobs": jobs,
    }
    size = f"{info.utterances} utterances, {info.hours:.2f} hours, {len(info.speakers)} speakers"
    output.result(document, f"{folder}: dataset {info.name} ({info.layout.value}): {size}")
