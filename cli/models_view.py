"""`tts-batch models` and `voices`: what can be spoken, and the truth about licences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import BrokerOption, JsonOption, Shared, shared
from cli.output import table

if TYPE_CHECKING:
    from jobs.spec import ModelOffer


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(epilog="Example:  tts-batch models")(models)
    app.command(epilog="Example:  tts-batch voices --model piper --json")(voices)


def models(context: typer.Context, as_json: JsonOption = False, broker: BrokerOption = None) -> None:
    """List the models: this machine's, or with --broker those its workers speak."""
    options = shared(context)
    offers = _offers(options)
    rows = [
        (o.name, ", ".join(o.languages), str(len(o.voices)), f"{o.sample_rate_hz} Hz", o.description) for o in offers
    ]
    shown = table("model", "languages", "voices", "rate", "description", rows=rows)
    options.output.result({"models": [offer.model_dump(mode="json") for offer in offers]}, shown)


def voices(
    context: typer.Context,
    model: Annotated[str | None, typer.Option(help="Only this model's.")] = None,
    as_json: JsonOption = False,
    broker: BrokerOption = None,
) -> None:
    """List the voices with their licences and what to know about them."""
    from jobs.errors import BadOption

    options = shared(context)
    offers = _offers(options)
    chosen = [offer for offer in offers if model in {None, offer.name}]
    if not chosen:
        msg = f"there is no model {model!r}; models are {', '.join(offer.name for offer in offers)}"
        raise BadOption(msg)
    lines, documents = [], []
    for offer in chosen:
        for voice in offer.voices:
            default = " (default)" if voice.name == offer.default_voice else ""
            reads = f"  (reads {', '.join(voice.reads)})" if voice.reads else ""
            lines.append(f"{offer.name} {voice.name}{default}  {voice.language}{reads}")
            lines.append(f"    licence: {voice.licence}")
            lines += [f"    {text}" for text in (voice.note, voice.install_hint) if text]
            documents.append({"model": offer.name, **voice.model_dump(mode="json")})
    options.output.result({"voices": documents}, "\n".join(lines))


def _offers(options: Shared) -> list[ModelOffer]:
    from cli.session import connect, settings_for
    from jobs.offers import published_offers
    from workers.catalog import offers
    from workers.engines import EngineSettings

    settings = settings_for(options.broker)
    if settings.broker is None:
        run = EngineSettings.of(settings, "cpu")
        return offers(precision=settings.precision, models=(settings.model,), run=run)
    with connect(options.broker) as session:
        return published_offers(session.broker.truth.workers())
