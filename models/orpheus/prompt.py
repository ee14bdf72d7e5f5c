"""From the text of a segment to prompt ids: tags, final punctuation, the frame of special ids. Imports no torch.

The prompt of text-to-speech checkpoints: start-of-human, begin-of-text, "voice: text", end-of-text, end-of-human,
start-of-AI, start-of-speech.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from types import TracebackType
from typing import Self

from tokenizers import Tokenizer

from models.errors import BadPrompt, BadWeights
from models.orpheus import tokens

TAGS = ("laugh", "chuckle", "sigh", "cough", "sniffle", "groan", "yawn", "gasp")
"""Sounds that the fine-tune was trained to make, written `<laugh>` in the text."""
SLOWEST_CHARS_PER_S = 10.0
"""For budgets, whose KV is reserved whole: its voices speak 12 characters a second or more. With the spare time 300
characters get 33 s; usual limits are 25 to 36 s for 300 to 400."""
SPARE_S = 3.0
"""For budgets: pauses, breaths and a slow start, whatever the length."""
TAG_S = 2.0
"""For budgets: what a sound may take beyond the characters of its tag."""

_LOOKS_LIKE_TAG = re.compile(r"<\s*/?\s*([A-Za-z][A-Za-z_-]*)\s*/?\s*>")
_TAG = re.compile(rf"<({'|'.join(TAGS)})>")
_CLOSERS = "\"'”’»)]}"
_ENDINGS = tuple(".!?…,;:-–—")
_PROMISED = {"<|begin_of_text|>": tokens.BEGIN_OF_TEXT, "<|eot_id|>": tokens.END_OF_TEXT}


class PromptWriter:
    """Writes prompts with a checkpoint's tokenizer. Safe to call from several threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """`tokenizer` must know no special tokens (see `from_file`): what a text says is never more than text."""
        self._tokenizer = tokenizer

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """The tokenizer in a `tokenizer.json`, without its special tokens: those of the prompt are put in by id.

        So `<|eot_id|>` or `<custom_token_5>` in somebody's text are read as the letters they are, whatever flags the
        file gives them, and the beginning of the text stands exactly once.

        Raises:
            BadWeights: the file cannot be read, or is not of an Orpheus checkpoint.
        """
        try:
            data = json.loads(path.read_text("utf-8"))
            added = {entry["content"]: entry["id"] for entry in data["added_tokens"]}
            data |= {"added_tokens": [], "post_processor": None, "truncation": None, "padding": None}
            with _LibraryErrors():
                tokenizer = Tokenizer.from_str(json.dumps(data))
        except OSError as error:
            msg = f"{path} cannot be read ({error.strerror}); fetch it beside the weights"
            raise BadWeights(msg) from error
        except (ValueError, KeyError, TypeError) as error:
            msg = f"{path} is not a tokenizer of the `tokenizers` library ({error}); fetch it again"
            raise BadWeights(msg) from error
        found = {content: added.get(content) for content in _PROMISED}
        highest = max(tokenizer.get_vocab(with_added_tokens=False).values(), default=0)
        if found != _PROMISED or highest >= tokens.BEGIN_OF_TEXT:
            msg = (
                f"{path} has {found} and text ids up to {highest}; Orpheus has {_PROMISED} and text ids below "
                f"{tokens.BEGIN_OF_TEXT}: fetch the tokenizer that belongs to the weights"
            )
            raise BadWeights(msg)
        return cls(tokenizer)

    def ids(self, *, voice: str, text: str) -> tuple[int, ...]:
        """The prompt of a text that `spoken_text` gave."""
        body = self._tokenizer.encode(f"{voice}: {text}", add_special_tokens=False).ids
        before = (tokens.START_OF_HUMAN, tokens.BEGIN_OF_TEXT)
        after = (tokens.END_OF_TEXT, tokens.END_OF_HUMAN, tokens.START_OF_AI, tokens.START_OF_SPEECH)
        return (*before, *body, *after)


def spoken_text(text: str) -> str:
    """The text as the model gets it: spaces tidied, and a full stop where nothing ends it.

    Without final punctuation the model often says a short text two or three times.

    Raises:
        BadPrompt: there is no letter or digit in it, or a tag that the model has no sound for.
    """
    tidy = " ".join(text.split())
    for match in _LOOKS_LIKE_TAG.finditer(tidy):
        if _TAG.fullmatch(match[0]) is None:
            known = ", ".join(f"<{tag}>" for tag in TAGS)
            msg = f"the text has {match[0]!r}, which is no sound of model orpheus; it has {known}"
            raise BadPrompt(msg)
    if not any(character.isalnum() for character in tidy):
        msg = f"there is nothing to speak in {text[:40]!r}: a segment needs a letter or a digit"
        raise BadPrompt(msg)
    words = _TAG.sub("", tidy).rstrip().rstrip(_CLOSERS)
    return tidy if words.endswith(_ENDINGS) or tidy.endswith(">") else f"{tidy}."


def budget_tokens(text: str, *, room_tokens: int) -> int:
    """How many ids a text may take: whole frames for its length at the slowest pace, and at most `room_tokens`.

    Raises:
        BadPrompt: there is no room for one frame.
    """
    if room_tokens < tokens.TOKENS_PER_FRAME:
        msg = (
            f"the text's prompt leaves room for {max(room_tokens, 0)} ids in the positions that the weights have, and "
            f"a frame of speech takes {tokens.TOKENS_PER_FRAME}; split the text"
        )
        raise BadPrompt(msg)
    duration_s = SPARE_S + len(text) / SLOWEST_CHARS_PER_S + TAG_S * len(_TAG.findall(text))
    frames = min(math.ceil(duration_s * tokens.FRAMES_PER_S), room_tokens // tokens.TOKENS_PER_FRAME)
    return frames * tokens.TOKENS_PER_FRAME


class _LibraryErrors:
    """Makes a ValueError of what the tokenizers library raises: Exception itself, so no handler can name it."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if kind is Exception:
            raise ValueError(str(error)) from error
