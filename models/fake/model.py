"""The registry's way to the fake: `card` and `load`."""

from __future__ import annotations

from engine.errors import DeviceUnavailable
from models.base import Prepared, Prompt
from models.card import ModelCard
from models.fake.program import FakeProgram
from models.fake.score import make_score
from models.fake.voice import make_card


class FakeModel:
    """Card, front end and program of the fake. There are no weights: making one costs nothing."""

    def __init__(self) -> None:
        self.card = make_card()
        self.program = FakeProgram()

    def prepare(self, prompt: Prompt) -> Prepared:
        """The score of a segment; any language, see `models.fake.score.make_score`.

        Raises:
            BadPrompt: no word to say, too long, a speed out of range, or a mark that names no fault.
            UnknownVoice: no voice of that name.
        """
        score = make_score(prompt)
        return Prepared(inputs=score, length_hint=sum(note.letters for note in score.notes))


def card(*, precision: str, device: str = "cpu") -> ModelCard:  # noqa: ARG001  # every card takes them; tones have one form
    """The card of the fake."""
    return make_card()


def load(*, device: str, precision: str) -> FakeModel:  # noqa: ARG001  # as above
    """The fake itself.

    Raises:
        DeviceUnavailable: the device is not the CPU.
    """
    if device != "cpu":
        msg = f"model fake runs on device 'cpu' only, not on {device!r}; leave the device out or choose another model"
        raise DeviceUnavailable(msg)
    return FakeModel()
