"""Models and engines of a synthesis process: which settings an engine is run with, and the engine of a model's lane.

The only file that knows how many lanes there are. Knows no queue.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from engine.engine import UtteranceEngine
from engine.errors import DeviceUnavailable, EngineError, is_lost_device
from engine.lane import Engine
from engine.program import UtteranceProgram
from jobs.errors import BadOption, MissingExtra, NoDevice
from jobs.figures import Figure, named
from jobs.settings import Settings
from models import registry
from models.base import SpeechModel
from models.card import ModelCard
from models.errors import ModelError
from workers.devices import check_device

if TYPE_CHECKING:  # a process that only speaks the utterance lane need not load torch
    from engine.tokens.engine import TokenEngine
    from engine.tokens.program import TokenProgram

log = logging.getLogger(__name__)

UTTERANCE_LANE = "utterance"
"""`ModelCard.lane` of models that make whole segments; all others draw tokens."""
RANDOM_MODEL = "orpheus"
"""The model whose shape can be had with random weights, for measurements on machines without the real ones."""
ENGINE_FAULTS = (EngineError, MemoryError, RuntimeError, ValueError, ImportError)
"""What loading a model or making an engine raises where that cannot be had (torch reports too little device memory as
RuntimeError)."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How the engines of a process are run; the settings of the same names, with the number of slots decided."""

    slots: int
    eager: bool = False
    deterministic: bool = False
    attention: str = "auto"

    @classmethod
    def of(cls, settings: Settings, device: str) -> EngineSettings:
        """What a deployment's settings say for a device, cpu or cuda."""
        return cls(settings.slots_on(device), settings.eager, settings.deterministic, settings.attention)

    def numerics(self, card: ModelCard) -> str:
        """The version of a model's arithmetic in such an engine: a part of take keys, and what workers lease by.

        A deterministic token engine rounds as its number of slots and its attention do, which its card cannot know.
        """
        if not self.deterministic or card.lane == UTTERANCE_LANE:
            return card.numerics
        attention = "" if self.attention == "auto" else f"-{self.attention}"
        return f"{card.numerics}-fixed{self.slots}{attention}"


def open_device(device: str) -> None:
    """Load torch and wake the device, so that neither counts to what comes after.

    Raises:
        NoDevice: torch sees no such device, or `device` is neither cpu nor cuda.
        MissingExtra: torch is not installed.
    """
    try:
        import torch
    except ModuleNotFoundError as error:
        msg = "torch is not installed: pip install 'tts-batch[torch]'"
        raise MissingExtra(msg) from error

    check_device(device, count=torch.cuda.device_count)
    if device == "cuda":
        torch.zeros(1, device=device)


def device_name(device: str) -> str:
    """What results and measurements call this process's device, once it is awake: `cpu`, or the GPU's name."""
    if device != "cuda":
        return device
    import torch

    return torch.cuda.get_device_name()


def load_model(name: str, *, device: str, precision: str, random_weights: bool) -> SpeechModel:
    """A model by registry name or folder, or (`random_weights`) the full shape of one without its weights.

    Raises:
        BadOption: there is no such model, its weights or packages are missing, or it has no random weights.
        NoDevice: it does not run on that device, or has no room there.
    """
    with no_device(), loading(name, device):
        try:
            if not random_weights:
                return registry.load(name, device=device, precision=precision)
            return _random_model(name, device=device, precision=precision)
        except ModelError as error:
            raise BadOption(str(error)) from error


@contextlib.contextmanager
def no_device() -> Iterator[None]:
    """DeviceUnavailable in the block becomes the jobs room's NoDevice, for commands."""
    try:
        yield
    except DeviceUnavailable as error:
        raise NoDevice(str(error)) from error


def _random_model(name: str, *, device: str, precision: str) -> SpeechModel:
    if name != RANDOM_MODEL:
        msg = f"--random-weights has the shape of {RANDOM_MODEL!r} only, not of {name!r}; leave one of the two out"
        raise BadOption(msg)
    from models.orpheus.model import load_random

    return load_random(device=device, precision=precision)


def make_engine(model: SpeechModel, settings: EngineSettings) -> Engine:
    """The engine of a model's lane, ready to work: on a GPU its kernels are built and its graphs captured (half
    a minute, when nothing is in the kernel cache yet).

    Raises:
        DeviceUnavailable: it cannot be made here: too little memory, or an attention that is not installed.
        RuntimeError: the device is lost (`is_lost_device`).
    """
    if model.card.lane == UTTERANCE_LANE:
        return UtteranceEngine(cast("UtteranceProgram", model.program), num_slots=settings.slots)
    with making(model.card.name, settings):
        engine = make_token_engine(cast("TokenProgram", model.program), settings)
        if engine.program.device.type != "cpu":
            report = engine.warm()
            log.info("model %s: %d graphs captured in %.1f s", model.card.name, report.graphs, report.capture_s)
    return engine


@contextlib.contextmanager
def making(name: str, settings: EngineSettings) -> Iterator[None]:
    """What goes wrong in the block, in which an engine is made, becomes DeviceUnavailable; a lost device passes."""
    try:
        yield
    except ENGINE_FAULTS as fault:
        if is_lost_device(fault):
            raise
        msg = (
            f"no engine of {settings.slots} slots can be made for model {name}: {type(fault).__name__}: {fault}; "
            "set TTS_BATCH_SLOTS or TTS_BATCH_ATTENTION, or free memory of the device"
        )
        raise DeviceUnavailable(msg) from fault


@contextlib.contextmanager
def loading(name: str, device: str) -> Iterator[None]:
    """The same for a block in which a model is loaded; what the model itself says of its weights or device passes."""
    try:
        yield
    except ENGINE_FAULTS as fault:
        if isinstance(fault, DeviceUnavailable) or is_lost_device(fault):
            raise
        msg = (
            f"model {name} cannot be loaded on {device}: {type(fault).__name__}: {fault}; if it is memory, free "
            "some, run fewer processes (TTS_BATCH_PROCESSES) or let another machine speak it"
        )
        raise DeviceUnavailable(msg) from fault


def make_token_engine(program: TokenProgram, settings: EngineSettings, *, timed: bool = False) -> TokenEngine:
    """A token engine that has captured nothing yet; `timed` measures each stage on the device."""
    from engine.tokens.engine import TokenEngine
    from engine.tokens.options import EngineOptions

    options = EngineOptions(
        num_slots=settings.slots,
        eager=settings.eager,
        deterministic=settings.deterministic,
        attention=settings.attention,
        timed=timed,
    )
    return TokenEngine(program, options)


def stage_figures(engines: Mapping[str, Engine]) -> dict[str, float]:
    """The time that the engines of a process spent in each stage of their steps."""
    figures: dict[str, float] = {}
    for model, engine in list(engines.items()):  # a copy: the step loop may make another one
        figures |= {named(Figure.STEP_S, f"{model}.{stage}"): round(s, 6) for stage, s in engine.stage_s.items()}
    return figures


def busy_slots(engine: Engine) -> int:
    """How many slots are taken; a request whose last audio is still being decoded may have left its slot."""
    return engine.num_slots - engine.free_slots
