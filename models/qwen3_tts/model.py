"""Qwen3-TTS: the card, the front end and the loaders. `card` imports no torch and reads no weights.

model = load(device="cuda", precision="auto", variant="1.7b")
prepared = model.prepare(Prompt(spoken="Good morning.", voice="ryan", language="en"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.tokens.inputs import Sampling, TokenInputs
from models import hub
from models.base import Prepared, Prompt
from models.card import ModelCard, VoiceCard
from models.devices import device_kind, open_device
from models.errors import BadPrompt, MissingExtra
from models.precision import asked_precision
from models.qwen3_tts import source as sources
from models.qwen3_tts.names import LANGUAGES, SPEAKER_LANGUAGES
from models.qwen3_tts.source import CUSTOM, DESIGN
from models.qwen3_tts.voices import DESIGNED, LICENCE, card_of, read_voice

if TYPE_CHECKING:
    from models.qwen3_tts.program import Qwen3TtsProgram
    from models.qwen3_tts.prompt import PromptWriter

NAME = "qwen3-tts"
DEVICES = ("cuda", "cpu")
MAX_CHARS = 250
"""Longer texts drift or lose their end."""
PACK_CHARS = 180
HARD_MAX_CHARS = 500
"""What prepare takes at most: the planner's limit leaves room for numbers that were written out."""
SAMPLING = Sampling(temperature=0.9, top_k=50, penalty=1.05)
"""Its authors' sampling; the penalty looks at first codes alone."""
MIN_FRAMES = 2
NUMERICS_VERSION = "qwen3tts1"
"""Goes up when the same text, voice and seed give other samples (network, prompt, sampling, codec)."""
SAMPLE_RATE_HZ = 24_000
_NOTE = "Weights and code are published under Apache-2.0."


class Qwen3TtsModel:
    """Card, front end and program in one process."""

    def __init__(
        self, program: Qwen3TtsProgram, *, model_card: ModelCard, writer: PromptWriter, source: sources.Source
    ) -> None:
        self.card = model_card
        self.program = program
        self._writer = writer
        self._source = source

    def prepare(self, prompt: Prompt) -> Prepared:
        """The prompt of one segment, its budget and its sampling.

        Raises:
            BadPrompt: nothing can be spoken, too long, another language, a speed other than 1.0.
            UnknownVoice: no such voice.
            BadWeights: the file of a voice's instruction cannot be read.
        """
        from models.qwen3_tts.prompt import budget_frames, spoken_text
        from models.qwen3_tts.rows import Order, prompt_rows

        _check(prompt)
        voice = read_voice(prompt.voice, self._source)
        text = spoken_text(prompt.spoken)
        order = Order(
            text_ids=self._writer.ids(text),
            role_ids=self._writer.role_ids,
            language=LANGUAGES[prompt.base_language],
            speaker=voice.speaker,
            instruction_ids=self._writer.instruction_ids(voice.instruction) if voice.instruction else (),
        )
        rows = prompt_rows(self.program.config, order)
        inputs = TokenInputs(
            ids=rows.rows,
            budget_tokens=budget_frames(text, room_frames=self.program.max_positions - len(rows.rows)),
            sampling=SAMPLING,
            shared_rows=rows.shared_rows,
            min_tokens=MIN_FRAMES,
            follow=rows.follow,
        )
        return Prepared(inputs, length_hint=len(rows.rows))


def card(*, precision: str, device: str = "cpu", variant: str = "", source: str | None = None) -> ModelCard:
    """The card of a variant's weights in the hub's cache, or of those in the folder `source`.

    Raises:
        ModelError: no such precision, or the folder's files are damaged.
    """
    hint = sources.missing_packages()
    kind, voices = (DESIGN if variant.endswith("design") else CUSTOM), _absent(variant)
    try:
        found = sources.find(variant, source)
        kind = found.kind
        names = DESIGNED if kind == DESIGN else _ordered(found.speakers)
        voices = tuple(card_of(name, found, hint=hint) for name in names)
    except MissingExtra as error:
        hint = hint or str(error)
    return ModelCard(
        name=source or f"{NAME}-{variant}",
        description=(
            "Qwen3-TTS 12 Hz, voices from a description (a text file); GPUs"
            if kind == DESIGN
            else "Qwen3-TTS 12 Hz, nine speakers in ten languages, with instructions; GPUs, with patience CPUs"
        ),
        lane="token",
        languages=tuple(LANGUAGES),
        voices=voices,
        default_voice=voices[0].name,
        sample_rate_hz=SAMPLE_RATE_HZ,
        max_chars=MAX_CHARS,
        pack_chars=PACK_CHARS,
        chars_per_s=14.0,
        numerics=f"{NUMERICS_VERSION}-{_precision(precision, device)}-{device_kind(device)}",
        min_speed=1.0,
        max_speed=1.0,
        devices=DEVICES,
        install_hint=hint,
    )


def voice_card(voice: str, *, variant: str = "", source: str | None = None) -> VoiceCard:
    """The card of a voice with an instruction, or of a described one. Raises UnknownVoice, ModelError."""
    return card_of(voice, sources.find(variant, source), hint=sources.missing_packages())


def fetch(*, variant: str) -> None:
    """Download a variant's weights. Raises MissingExtra."""
    sources.fetch(variant)


def load(*, device: str, precision: str, variant: str = "", source: str | None = None) -> Qwen3TtsModel:
    """The model on a device, from the hub's cache or a folder.

    Raises:
        DeviceUnavailable: no such device, or torch sees none.
        MissingExtra: a package or the weights are not there; says how to get them.
        BadWeights: a file is damaged, or not of a Qwen3-TTS checkpoint.
        ModelError: no such precision.
    """
    chosen = _precision(precision, device)
    hint = sources.missing_packages()
    if hint:
        raise MissingExtra(hint)
    place = open_device(device, model=NAME, devices=DEVICES, install_hint=sources.INSTALL_HINT, needs_triton=True)
    found = sources.find(variant, source)
    import torch

    from models.codecs.qwen12.decoder import Qwen12Decoder
    from models.qwen3_tts.config import Qwen3TtsConfig
    from models.qwen3_tts.program import Qwen3TtsProgram
    from models.qwen3_tts.prompt import PromptWriter
    from models.qwen3_tts.weights import Qwen3TtsWeights

    config = Qwen3TtsConfig.from_json(found.folder / "config.json")
    writer = PromptWriter.from_folder(found.folder, im_start=config.text.im_start, im_end=config.text.im_end)
    dtype = torch.bfloat16 if chosen == "bf16" else torch.float32
    weights = Qwen3TtsWeights.load(found.folder, config, device=place, dtype=dtype)
    half = chosen == "bf16" and place.type == "cuda"
    codec = Qwen12Decoder.from_folder(
        found.folder / sources.CODEC_FOLDER, device=place, compute_dtype=torch.float16 if half else torch.float32
    )
    model_card = card(precision=precision, device=device, variant=variant, source=source)
    return Qwen3TtsModel(Qwen3TtsProgram(config, weights, codec), model_card=model_card, writer=writer, source=found)


def _absent(variant: str) -> tuple[VoiceCard, ...]:
    """The published speakers, as voices that are not installed."""
    names = dict.fromkeys(DESIGNED, "en") if variant.endswith("design") else SPEAKER_LANGUAGES
    hint = sources.INSTALL_HINT
    return tuple(
        VoiceCard(
            name,
            language,
            hub.ABSENT,
            LICENCE,
            _NOTE,
            installed=False,
            install_hint=hint,
            reads=tuple(LANGUAGES),
        )
        for name, language in names.items()
    )


def _ordered(speakers: tuple[str, ...]) -> list[str]:
    """Speakers as their authors list them, others behind."""
    known = list(SPEAKER_LANGUAGES)
    return sorted(speakers, key=lambda name: (known.index(name) if name in known else len(known), name))


def _check(prompt: Prompt) -> None:
    if prompt.base_language not in LANGUAGES:
        msg = f"model qwen3-tts speaks {', '.join(LANGUAGES)}, not {prompt.language!r}; choose another model"
        raise BadPrompt(msg)
    if prompt.speed != 1.0:
        msg = f"speed {prompt.speed} is not possible: model qwen3-tts has only its own pace, 1.0"
        raise BadPrompt(msg)
    if len(prompt.spoken) > HARD_MAX_CHARS:
        msg = f"a segment of {len(prompt.spoken)} characters is too long; split it below {MAX_CHARS}"
        raise BadPrompt(msg)


def _precision(precision: str, device: str) -> str:
    """fp32 or bf16; `auto` is bf16 on CUDA, as the weights were published, and fp32 on a CPU. Raises ModelError."""
    return asked_precision(precision, model=NAME) or ("bf16" if device_kind(device) == "cuda" else "fp32")
