"""Orpheus 3B: the card, the front end and the loaders. `card` imports no torch and reads no weights.

model = load(device="cuda", precision="auto")
prepared = model.prepare(Prompt(spoken="Good morning <chuckle>.", voice="tara", language="en"))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from engine.tokens.inputs import Sampling, TokenInputs
from models import hub
from models.base import Prepared, Prompt
from models.card import ModelCard, VoiceCard
from models.devices import open_device
from models.errors import BadPrompt, MissingExtra, UnknownVoice
from models.orpheus import source as sources
from models.orpheus import tokens
from models.orpheus.precision import numerics, resolve_precision

if TYPE_CHECKING:
    import torch

    from models.orpheus.program import OrpheusProgram
    from models.orpheus.prompt import PromptWriter

NAME = "orpheus"
VOICES = ("tara", "leah", "jess", "leo", "dan", "mia", "zac", "zoe")
"""The speakers of the English fine-tune, as its authors list them: the one they call best first."""
LANGUAGE = "en"
DEVICES = ("cuda", "cpu")
MAX_CHARS = 300
"""Longer texts lose sentences; 300 characters are about 20 s."""
PACK_CHARS = 200
"""Short sentences are joined so far: alone, they are the ones that are said twice."""
HARD_MAX_CHARS = 600
"""What prepare takes at most: the planner's limit leaves room for numbers that were written out."""
MAX_PROMPT_ROWS = 1_024
SAMPLING = Sampling(temperature=0.6, top_p=0.8, penalty=1.3)
"""Its authors' sampling; they call a penalty of 1.1 the least at which it is stable. It looks at all generated ids.

vLLM and transformers count the prompt's ids too. Here that comes to the same: no id of a prompt can be drawn.
"""

_LICENCE = "Apache-2.0; its base model Llama 3.2: Llama 3.2 Community License"
_NOTE = (
    "The fine-tune is published under Apache-2.0 and was trained from Llama 3.2, whose licence asks for 'Built with "
    "Llama' and has rules of use; the codec SNAC is MIT. A folder of other weights may have another licence."
)
_NO_TOKENIZER = "this model has random weights and no tokenizer; it is for benchmarks, which make their own inputs"


class OrpheusModel:
    """Card, front end and program in one process."""

    def __init__(self, program: OrpheusProgram, *, model_card: ModelCard, writer: PromptWriter | None) -> None:
        """Without a `writer` nothing can be prepared (random weights)."""
        self.card = model_card
        self.program = program
        self._writer = writer

    def prepare(self, prompt: Prompt) -> Prepared:
        """The prompt of one segment, its budget and its sampling.

        Raises:
            BadPrompt: nothing can be spoken, too long, an unknown tag, another language, a speed other than 1.0, no
                room for speech behind the prompt, or the model has random weights.
            UnknownVoice: no such voice.
        """
        from models.orpheus.prompt import budget_tokens, spoken_text

        if self._writer is None:
            raise BadPrompt(_NO_TOKENIZER)
        _check(prompt)
        text = spoken_text(prompt.spoken)
        ids = self._writer.ids(voice=prompt.voice, text=text)
        if len(ids) > MAX_PROMPT_ROWS:
            msg = f"the text becomes {len(ids)} tokens, at most {MAX_PROMPT_ROWS} are possible; split it"
            raise BadPrompt(msg)
        inputs = TokenInputs(
            ids=ids,
            budget_tokens=budget_tokens(text, room_tokens=self.program.max_positions - len(ids)),
            sampling=SAMPLING,
            # One frame at least: an empty take is no audio that could be judged.
            min_tokens=tokens.TOKENS_PER_FRAME,
        )
        return Prepared(inputs, length_hint=len(ids))


def card(*, precision: str, device: str = "cpu", source: str | None = None) -> ModelCard:
    """The card of the weights in the hub's cache, or of those in the folder `source`, whose path is its name then.

    Raises:
        ModelError: no such precision.
    """
    hint, revision = sources.missing_packages(), hub.ABSENT
    try:
        revision = sources.find(source).revision
    except MissingExtra as error:
        hint = hint or str(error)
    return _card(source or NAME, revision=revision, hint=hint, numerics_name=numerics(precision, device))


def load(*, device: str, precision: str, source: str | None = None) -> OrpheusModel:
    """The model on a device, from the hub's cache (which `models.orpheus.source.fetch` fills) or a folder.

    Raises:
        DeviceUnavailable: no such device, or torch sees none.
        MissingExtra: a package or the weights are not there; says how to get them.
        BadWeights: a file is damaged, or not of an Orpheus checkpoint.
        ModelError: no such precision.
    """
    precision = resolve_precision(precision, device)
    hint = sources.missing_packages()
    if hint:
        raise MissingExtra(hint)
    place = _device(device)
    found = sources.find(source)
    from models.codecs.snac.decoder import SnacDecoder
    from models.layers.checkpoint import load_llama
    from models.layers.llama import LlamaDecoder
    from models.layers.llama_config import LlamaConfig
    from models.orpheus.program import MAX_POSITIONS, OrpheusProgram
    from models.orpheus.prompt import PromptWriter

    writer = PromptWriter.from_file(found.lm / "tokenizer.json")
    config = LlamaConfig.from_json(found.lm / "config.json")
    weights = load_llama(found.lm, config, device=place, dtype=_dtype(precision))
    decoder = LlamaDecoder(config, weights, max_positions=MAX_POSITIONS)
    codec = SnacDecoder.from_folder(found.codec, device=place, compute_dtype=_codec_dtype(precision, place))
    program = OrpheusProgram(decoder, codec)
    model_card = _card(source or NAME, revision=found.revision, hint="", numerics_name=numerics(precision, device))
    return OrpheusModel(program, model_card=model_card, writer=writer)


def load_random(
    *,
    device: str,
    precision: str = "auto",
    seed: int = 0,
    grammar: Literal["speech", "full"] = "speech",
) -> OrpheusModel:
    """The full shape with random weights, made on the device: for benchmarks. It has no tokenizer and never stops.

    Raises:
        DeviceUnavailable, MissingExtra, ModelError: as in `load`.
    """
    precision = resolve_precision(precision, device)
    place = _device(device)
    from models.codecs.snac.config import SnacConfig
    from models.codecs.snac.decoder import SnacDecoder
    from models.layers.llama import LlamaDecoder
    from models.orpheus.program import MAX_POSITIONS, OrpheusProgram
    from models.orpheus.shape import ORPHEUS_3B

    decoder = LlamaDecoder.random(
        ORPHEUS_3B, seed=seed, device=place, dtype=_dtype(precision), max_positions=MAX_POSITIONS
    )
    codec = SnacDecoder.random(SnacConfig(), seed=seed, device=place, compute_dtype=_codec_dtype(precision, place))
    program = OrpheusProgram(decoder, codec, grammar=grammar)
    numerics_name = f"{numerics(precision, device)}-random{seed}"
    model_card = _card(f"{NAME}-random", revision=f"random{seed}", hint="", numerics_name=numerics_name)
    return OrpheusModel(program, model_card=model_card, writer=None)


def _card(name: str, *, revision: str, hint: str, numerics_name: str) -> ModelCard:
    voices = tuple(
        VoiceCard(
            name=voice,
            language=LANGUAGE,
            revision=revision,
            licence=_LICENCE,
            note=_NOTE,
            installed=not hint,
            install_hint=hint,
        )
        for voice in VOICES
    )
    return ModelCard(
        name=name,
        description="Orpheus 3B (Llama and SNAC): expressive English; GPUs, with much patience CPUs; also by folder",
        lane="token",
        languages=(LANGUAGE,),
        voices=voices,
        default_voice=VOICES[0],
        sample_rate_hz=tokens.SAMPLE_RATE_HZ,
        max_chars=MAX_CHARS,
        pack_chars=PACK_CHARS,
        chars_per_s=14.0,
        numerics=numerics_name,
        min_speed=1.0,
        max_speed=1.0,
        devices=DEVICES,
        install_hint=hint,
    )


def _check(prompt: Prompt) -> None:
    if prompt.voice not in VOICES:
        msg = f"model orpheus has no voice {prompt.voice!r}; it has {', '.join(VOICES)}"
        raise UnknownVoice(msg)
    if prompt.base_language != LANGUAGE:
        msg = f"model orpheus speaks {LANGUAGE}, not {prompt.language!r}; choose another model"
        raise BadPrompt(msg)
    if prompt.speed != 1.0:
        msg = f"speed {prompt.speed} is not possible: model orpheus has only its own pace, 1.0"
        raise BadPrompt(msg)
    if len(prompt.spoken) > HARD_MAX_CHARS:
        msg = f"a segment of {len(prompt.spoken)} characters is too long; split it below {MAX_CHARS}"
        raise BadPrompt(msg)


def _device(device: str) -> torch.device:
    return open_device(device, model=NAME, devices=DEVICES, install_hint=sources.INSTALL_HINT, needs_triton=True)


def _codec_dtype(precision: str, device: torch.device) -> torch.dtype:
    """float16 beside bf16 weights: 53 dB from exact where bfloat16 has 35, at four times float32's speed (measured).

    What goes beyond its range becomes NaN at the next activation, so a take that does is refused, never delivered.
    """
    import torch

    return torch.float16 if precision == "bf16" and device.type == "cuda" else torch.float32


def _dtype(precision: str) -> torch.dtype:
    import torch  # as above

    return torch.bfloat16 if precision == "bf16" else torch.float32
