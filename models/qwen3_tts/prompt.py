"""From the text of a segment to ids: Qwen2's byte-level BPE, roles, budgets. Imports no torch.

Special tokens are put in by id, never read from text: `<|im_end|>` in a book stays the letters it is.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Self

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from models.errors import BadPrompt, BadWeights

FRAMES_PER_S = 12.5
SLOWEST_CHARS_PER_S = 8.0
"""For budgets: the slowest reading of alphabets."""
SLOWEST_SIGNS_PER_S = 2.5
"""For budgets: the same of Chinese characters, kana and syllables of Hangul."""
SPARE_S = 3.0
"""For budgets: pauses and a slow start."""
_FIRST_SIGN = "\u2e80"
"""Where the scripts of East Asia begin."""
_PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen2 cuts a text before its pieces are merged (transformers, tokenization_qwen2)."""


class PromptWriter:
    """Writes ids with a checkpoint's vocabulary. Safe to call from several threads."""

    def __init__(self, tokenizer: Tokenizer, *, im_start: int, im_end: int) -> None:
        """`im_start` and `im_end` are the ids around a turn."""
        self._tokenizer = tokenizer
        self._im_start, self._im_end = im_start, im_end
        self.role_ids = (im_start, *self.ids("assistant\n"))

    @classmethod
    def from_folder(cls, folder: Path, *, im_start: int, im_end: int) -> Self:
        """The vocabulary of vocab.json and merges.txt. Raises BadWeights: they are damaged."""
        try:
            vocab = json.loads((folder / "vocab.json").read_text("utf-8"))
            lines = (folder / "merges.txt").read_text("utf-8").splitlines()
            merges = [(first, second) for first, second in map(str.split, lines) if not first.startswith("#version")]
        except (OSError, ValueError) as error:
            msg = f"vocab.json or merges.txt of {folder} cannot be read ({error}); fetch them again"
            raise BadWeights(msg) from error
        tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
        tokenizer.normalizer = normalizers.NFC()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(_PIECES), behavior="isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        writer = cls(tokenizer, im_start=im_start, im_end=im_end)
        if len(writer.role_ids) != ROLE_IDS:
            msg = f"'assistant' and a line's end are {len(writer.role_ids) - 1} ids in {folder / 'vocab.json'}, not 2"
            raise BadWeights(msg)
        return writer

    def ids(self, text: str) -> tuple[int, ...]:
        """The ids of a text."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def instruction_ids(self, instruction: str) -> tuple[int, ...]:
        """The ids of an instruction, as a turn of the user."""
        return (self._im_start, *self.ids(f"user\n{instruction}"), self._im_end, *self.ids("\n"))


ROLE_IDS = 3
"""The turn's start, `assistant`, a line's end: what the checkpoints were trained with."""


def spoken_text(text: str) -> str:
    """The text as the model gets it: spaces tidied. Raises BadPrompt: there is no letter or digit in it."""
    tidy = " ".join(text.split())
    if not any(character.isalnum() for character in tidy):
        msg = f"there is nothing to speak in {text[:40]!r}: a segment needs a letter or a digit"
        raise BadPrompt(msg)
    return tidy


def budget_frames(text: str, *, room_frames: int) -> int:
    """How many frames a text may take at the slowest pace, at most `room_frames`. Raises BadPrompt: no room."""
    if room_frames < 1:
        msg = "the prompt leaves no room for speech in the positions that the weights have; split the text"
        raise BadPrompt(msg)
    signs = sum(character >= _FIRST_SIGN for character in text)
    duration_s = SPARE_S + signs / SLOWEST_SIGNS_PER_S + (len(text) - signs) / SLOWEST_CHARS_PER_S
    return min(math.ceil(duration_s * FRAMES_PER_S), room_frames)
