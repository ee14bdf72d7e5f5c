"""`tts-batch warm`: gets this machine ready for a model once, so that later starts are quick."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import JsonOption, shared
from cli.output import table

DeviceOption = Annotated[
    str | None,
    typer.Option("--device", metavar="DEVICE", help="cuda or cpu; without it the GPU where there is one."),
]
RandomOption = Annotated[
    bool, typer.Option("--random-weights", help="The model's shape without its weights: nothing is fetched.")
]


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example:  tts-batch warm --model orpheus")(warm)


def warm(
    context: typer.Context,
    model: Annotated[str | None, typer.Option(help="Name or folder; else TTS_BATCH_MODEL.")] = None,
    device: DeviceOption = None,
    slots: Annotated[int, typer.Option(min=0, help="As the workers will have; 0: as TTS_BATCH_SLOTS.")] = 0,
    random_weights: RandomOption = False,
    as_json: JsonOption = False,
) -> None:
    """Fetch the weights, build the kernels, capture the graphs; says what each part of a start takes."""
    from dataclasses import asdict, replace

    from cli.session import settings_for
    from jobs.settings import use_kernel_cache
    from workers.devices import likely_device
    from workers.warm import warm as get_warm

    options = shared(context)
    settings = settings_for(None)
    settings = replace(settings, slots=slots or settings.slots)
    use_kernel_cache(settings)
    report = get_warm(
        settings, model=model or settings.model, device=device or likely_device(), random_weights=random_weights
    )
    stages = ("fetch", "import", "load", "kernels", "first_audio", "start")
    rows = [(stage.replace("_", " "), f"{getattr(report, f'{stage}_s'):.2f} s") for stage in stages]
    document = {**asdict(report), "start_s": report.start_s, "kernel_cache": str(settings.kernels_dir)}
    options.output.result(document, table("stage", "time", rows=rows))
