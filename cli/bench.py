"""`tts-batch bench`: how fast a token model is on this machine, against what its memory allows."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from cli.options import JsonOption, shared
from cli.output import table
from cli.warm import DeviceOption, RandomOption

DEFAULT_SLOTS = {"cuda": "1,8,32,64,128,256,512", "cpu": "1,4"}
EXAMPLE = "Example:  tts-batch bench --model orpheus --random-weights --slots 256 --json"

SlotsOption = Annotated[
    str | None, typer.Option(metavar="LIST", help="Numbers of slots, as 1,64,256; without it a range of them.")
]
RowsOption = Annotated[int, typer.Option(min=1, help="Rows of each prompt.")]
TokensOption = Annotated[str, typer.Option(metavar="LOW-HIGH", help="Tokens that a request draws.")]
RequestsOption = Annotated[int, typer.Option(min=0, help="Requests of a run; 0: four for each slot.")]
AttentionOption = Annotated[str | None, typer.Option(help="auto, torch, triton or flashinfer.")]
QueueOption = Annotated[bool, typer.Option("--queue/--no-queue", help="Also through a queue with its takes stored.")]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EXAMPLE)(bench)


def bench(
    context: typer.Context,
    model: Annotated[str, typer.Option(help="Name or folder.")] = "orpheus",
    random_weights: RandomOption = False,
    slots: SlotsOption = None,
    rows: RowsOption = 60,
    tokens: TokensOption = "900-1400",
    requests: RequestsOption = 0,
    device: DeviceOption = None,
    attention: AttentionOption = None,
    eager: Annotated[bool, typer.Option("--eager", help="Without CUDA graphs.")] = False,
    deterministic: Annotated[
        bool, typer.Option("--deterministic", help="Same tokens in any company; 4 % slower with full slots.")
    ] = False,
    queue: QueueOption = True,
    as_json: JsonOption = False,
) -> None:
    """Measure a token model: what memory allows first, then step times and audio per second by number of slots."""
    from cli.session import settings_for
    from jobs.settings import checked, use_kernel_cache
    from workers.devices import likely_device

    options = shared(context)
    found = settings_for(None)
    settings = checked(
        replace(
            found,
            attention=attention or found.attention,
            eager=eager or found.eager,
            deterministic=deterministic or found.deterministic,
        )
    )
    use_kernel_cache(settings)
    from workers import bench_report
    from workers.bench import Bench, BenchWishes  # torch comes with it: after the kernel cache is set
    from workers.bench_work import Mix

    place = device or likely_device()
    wishes = BenchWishes(
        model=model,
        device=place,
        random_weights=random_weights,
        mix=Mix(rows, *token_range(tokens)),
        slots=numbers(slots or DEFAULT_SLOTS.get(place, "1"), ",", "--slots"),
        requests=requests,
        queue=queue,
    )
    opened = Bench.open(wishes, settings)
    if not as_json:
        options.output.result(None, table(*bench_report.CEILING_HEADERS, rows=bench_report.ceiling_rows(opened)))
    reports = []
    for number in wishes.slots:
        options.output.say(f"{number} slots: {wishes.count(number)} requests")
        reports.append(opened.measure(number))
        options.output.say(bench_report.line(reports[-1]))
    opened.keep(reports)
    shown = table(*bench_report.headers(reports), rows=bench_report.rows(reports))
    options.output.result(bench_report.document(opened, reports), shown)


def numbers(text: str, separator: str, option: str) -> tuple[int, ...]:
    """Whole numbers above 0 from the text of an option. Raises BadOption."""
    from jobs.errors import BadOption

    parts = text.split(separator)
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        msg = f"{option} {text!r} is not allowed; give whole numbers above 0 with {separator!r} between them"
        raise BadOption(msg)
    return tuple(map(int, parts))


def token_range(text: str) -> tuple[int, int]:
    """The two ends of `LOW-HIGH`; one number is both. Raises BadOption."""
    from jobs.errors import BadOption

    found = numbers(text, "-", "--tokens")
    if len(found) > 2 or found[0] > found[-1]:
        msg = f"--tokens {text!r} is not allowed; give LOW-HIGH as in 900-1400"
        raise BadOption(msg)
    return found[0], found[-1]
