"""Gets a machine ready for a model once, so that later starts are quick: fetches, loads, builds kernels; with times.

Loads torch only inside `warm`, which measures it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from importlib import import_module

from engine.lane import Engine
from engine.request import FinishReason, Request
from engine.tokens.inputs import TokenInputs
from jobs.errors import BadOption
from jobs.settings import Settings
from models import registry
from models.base import Prompt, SpeechModel
from models.errors import ModelError
from workers.bench_work import Mix
from workers.engines import UTTERANCE_LANE, EngineSettings, load_model, make_engine, no_device, open_device

SAMPLE_TEXT = "Ready."
SHORT_ROWS = 16
SHORT_FRAMES = 1


@dataclass(frozen=True, slots=True)
class WarmReport:
    """Seconds by stage, in order. `first_audio_s`: from a request to its first samples (its first token is earlier)."""

    model: str
    device: str
    slots: int
    fetch_s: float
    import_s: float
    load_s: float
    kernels_s: float
    first_audio_s: float

    @property
    def start_s(self) -> float:
        """What a worker's start takes on this machine from now on: all but fetching."""
        return self.import_s + self.load_s + self.kernels_s + self.first_audio_s


def warm(settings: Settings, *, model: str, device: str, random_weights: bool) -> WarmReport:
    """Fetch the weights (`random_weights`: not), load them, build kernels, capture graphs and speak one short request.

    Raises:
        BadOption: the model cannot be had.
        NoDevice: the device is not there, or cannot have such an engine.
    """
    clock = _Clock()
    if not random_weights:
        _fetch(model)
    fetch_s = clock.lap_s()
    open_device(device)
    import_module("engine.tokens.engine")
    import_s = clock.lap_s()
    loaded = load_model(model, device=device, precision=settings.precision, random_weights=random_weights)
    load_s = clock.lap_s()
    run = EngineSettings.of(settings, device)
    with no_device():
        engine = make_engine(loaded, run)
    kernels_s = clock.lap_s()
    _speak(engine, _short_request(loaded, random_weights=random_weights))
    return WarmReport(model, device, run.slots, fetch_s, import_s, load_s, kernels_s, clock.lap_s())


class _Clock:
    def __init__(self) -> None:
        self._last_s = time.perf_counter()

    def lap_s(self) -> float:
        """Seconds since the last lap."""
        before_s, self._last_s = self._last_s, time.perf_counter()
        return self._last_s - before_s


def _fetch(model: str) -> None:
    try:
        registry.fetch(model)
    except ModelError as error:
        raise BadOption(str(error)) from error


def _short_request(model: SpeechModel, *, random_weights: bool) -> Request:
    """A request that makes little audio: of a token model one frame."""
    per_frame = 1 if model.card.lane == UTTERANCE_LANE else getattr(model.program, "tokens_per_frame", 1)
    if random_weights:
        tokens = SHORT_FRAMES * per_frame
        (piece,) = Mix(SHORT_ROWS, tokens, tokens).pieces(count=1, slots=0)
        return piece.request(model.program)  # type: ignore[arg-type]  # random weights are of token models only
    card = model.card
    prepared = model.prepare(Prompt(SAMPLE_TEXT, card.default_voice, card.languages[0]))
    inputs = prepared.inputs
    if isinstance(inputs, TokenInputs):
        tokens = SHORT_FRAMES * per_frame
        inputs = replace(inputs, budget_tokens=tokens, min_tokens=tokens, budget_finish=FinishReason.STOP)
    return Request("warm", inputs, seed=0, length_hint=prepared.length_hint, group=prepared.group)


def _speak(engine: Engine, request: Request) -> None:
    """Run one request to its end. Raises BadOption with its error if it cannot be spoken."""
    engine.add(request)
    while not engine.idle:
        for delta in engine.step():
            if delta.finish is FinishReason.ERROR:
                msg = f"the model cannot speak its first request: {delta.error}"
                raise BadOption(msg)
