"""Qwen3-TTS's prompt as rows of ids: role, instruction, language, speaker, reference and text.

Every row is a sum of embeddings; the order and pairing of the rows are those of the published generate function
(package qwen-tts 0.1.1), row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.errors import BadPrompt
from models.qwen3_tts.config import Qwen3TtsConfig

AUTO = "auto"
NOTHING = -1
Row = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A recording whose voice is cloned. `speaker` is the id of its speaker vector (`Qwen3TtsProgram.add_speaker`);
    with `codes` [T, K] and `text_ids`, what it says and how, the model goes on from it."""

    speaker: int
    codes: tuple[Row, ...] = ()
    text_ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be spoken: text, role and instruction as ids, and by whom.

    `speaker` and `language` are names of the config, `reference` a voice that is cloned. With `streaming` the text goes
    into the rows one id a frame while it is spoken; otherwise all of it stands in the prompt.
    """

    text_ids: tuple[int, ...]
    role_ids: tuple[int, ...]
    language: str = AUTO
    speaker: str = ""
    reference: Reference | None = None
    instruction_ids: tuple[int, ...] = ()
    streaming: bool = False


@dataclass(frozen=True, slots=True)
class PromptRows:
    """`rows` [R] of 1 + K columns: a text id, an id of the codec vocabulary or of a speaker vector, and the frame's
    other codes; -1 is nothing. `follow` are the text ids of the rows after it, the last one for ever. The first
    `shared_rows` are the same for all texts of a voice, language and instruction."""

    rows: tuple[Row, ...]
    follow: tuple[int, ...]
    shared_rows: int


def prompt_rows(config: Qwen3TtsConfig, order: Order) -> PromptRows:
    """The rows of an order.

    Raises:
        BadPrompt: no text, a language or speaker that the config does not have.
    """
    if not order.text_ids:
        msg = "there is nothing to speak: the text has no ids"
        raise BadPrompt(msg)
    writer = _Writer(config)
    begin = [writer.row(text) for text in (*order.instruction_ids, *order.role_ids)]
    prefix = [*_language(config, order), *_speaker(config, order), config.codec.pad]
    texts = [config.text.pad] * (len(prefix) - 1) + [config.text.bos]
    begin += [writer.row(text, code) for text, code in zip(texts, prefix, strict=True)]
    reference = order.reference
    if reference is None or not reference.codes:
        rest, follow = writer.plain(order.text_ids, streaming=order.streaming)
        shared = 0
    else:
        rest, follow = writer.in_context(reference, order.text_ids, streaming=order.streaming)
        shared = min(len(reference.text_ids), len(rest))
    return PromptRows((*begin, *rest), (*follow, config.text.pad), len(begin) + shared)


class _Writer:
    """Makes rows of one config."""

    def __init__(self, config: Qwen3TtsConfig) -> None:
        self._config = config

    def row(self, text: int = NOTHING, code: int = NOTHING, others: Sequence[int] = ()) -> Row:
        others = others or (NOTHING,) * (self._config.codes - 1)
        return (text, code, *others)

    def plain(self, text_ids: tuple[int, ...], *, streaming: bool) -> tuple[list[Row], tuple[int, ...]]:
        """Text that stands alone: its rows, and what follows."""
        text, codec = self._config.text, self._config.codec
        if streaming:
            return [self.row(text_ids[0], codec.bos)], (*text_ids[1:], text.eos)
        rows = [self.row(one, codec.pad) for one in (*text_ids, text.eos)]
        return [*rows, self.row(text.pad, codec.bos)], ()

    def in_context(
        self, reference: Reference, text_ids: tuple[int, ...], *, streaming: bool
    ) -> tuple[list[Row], tuple[int, ...]]:
        """Text that goes on from a reference: over its codes, or before them."""
        text, codec = self._config.text, self._config.codec
        texts = (*reference.text_ids, *text_ids, text.eos)
        frames = [self.row(code=codec.bos), *(self.row(NOTHING, codes[0], codes[1:]) for codes in reference.codes)]
        if not streaming:
            rows = [self.row(one, codec.pad) for one in texts]
            return [*rows, *((text.pad, *frame[1:]) for frame in frames)], ()
        over = (*texts, *(text.pad for _ in range(len(frames) - len(texts))))
        return [(one, *frame[1:]) for one, frame in zip(over, frames, strict=False)], texts[len(frames) :]


def _language(config: Qwen3TtsConfig, order: Order) -> tuple[int, ...]:
    """The codec ids that tell the language; a speaker of a dialect speaks it where Chinese or nothing is asked for."""
    codec, name = config.codec, order.language.lower()
    if name in {AUTO, "chinese"} and order.speaker.lower() in config.dialects:
        name = config.dialects[order.speaker.lower()]
    if name == AUTO:
        return (codec.nothink, codec.think_bos, codec.think_eos)
    if name not in config.languages:
        msg = f"language {order.language!r} is unknown; the model has {AUTO}, {', '.join(config.languages)}"
        raise BadPrompt(msg)
    return (codec.think, codec.think_bos, config.languages[name], codec.think_eos)


def _speaker(config: Qwen3TtsConfig, order: Order) -> tuple[int, ...]:
    if order.reference is not None:
        return (order.reference.speaker,)
    if not order.speaker:
        return ()
    if order.speaker.lower() not in config.speakers:
        msg = f"speaker {order.speaker!r} is unknown; the model has {', '.join(config.speakers) or 'none of its own'}"
        raise BadPrompt(msg)
    return (config.speakers[order.speaker.lower()],)
