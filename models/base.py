"""The loaded model as the machine room sees it: card, front end and program together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.program import UtteranceProgram
from models.card import ModelCard

if TYPE_CHECKING:
    from engine.tokens.program import TokenProgram  # torch: not for those who read cards


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a front end is given: one segment as it is to be spoken. `speed` 1.0 is the voice's own pace."""

    spoken: str
    voice: str
    language: str
    speed: float = 1.0

    @property
    def base_language(self) -> str:
        """`en` of en-US or en_GB."""
        return self.language.replace("_", "-").split("-")[0].lower()


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prompt turned into program inputs, with what the engine needs to form batches (see `engine.Request`)."""

    inputs: object
    length_hint: int
    group: str = ""


class SpeechModel(Protocol):
    """A model with its weights on one device. `prepare` may be called from a look-ahead thread while `program` runs."""

    @property
    def card(self) -> ModelCard:
        """What the model is."""
        ...

    @property
    def program(self) -> UtteranceProgram | TokenProgram:
        """How it runs: the lane of its card says which of the two it is."""
        ...

    def prepare(self, prompt: Prompt) -> Prepared:
        """Turn one segment into program inputs.

        Raises:
            BadPrompt: nothing in the text can be spoken, or it is longer than the model can take.
            UnknownVoice: the model has no such voice.
        """
        ...
