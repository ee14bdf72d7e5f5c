"""A small token model for tests of the machine room: the engine tests' program with a card."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.request import FinishReason
from engine.tokens.inputs import TokenInputs
from models.base import Prepared, Prompt
from models.card import ModelCard, VoiceCard
from tests.engine.tokens.programs import SmallProgram

CARD = ModelCard(
    name="small",
    description="random ids",
    lane="token",
    languages=("en",),
    voices=(VoiceCard("v", "en", "1", "none"),),
    default_voice="v",
    sample_rate_hz=24_000,
    max_chars=300,
    pack_chars=0,
    chars_per_s=14.0,
    numerics="small1",
    devices=("cuda", "cpu"),
)


@dataclass
class SmallModel:
    """`prepare` keeps what it was asked, in `prompts`."""

    program: SmallProgram = field(default_factory=SmallProgram)
    card: ModelCard = CARD
    prompts: list[Prompt] = field(default_factory=list)

    def prepare(self, prompt: Prompt) -> Prepared:
        self.prompts.append(prompt)
        ids = tuple(41 + ord(letter) % 40 for letter in prompt.spoken)
        inputs = TokenInputs(ids=ids, budget_tokens=30, min_tokens=12, budget_finish=FinishReason.STOP)
        return Prepared(inputs, length_hint=len(ids))
