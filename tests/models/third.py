"""A model that is in no table: the registry test adds it by a row."""

from dataclasses import replace

from models.card import ModelCard, VoiceCard
from models.fake.model import FakeModel
from models.fake.voice import make_card


def card(*, precision: str, device: str = "cpu") -> ModelCard:
    return replace(make_card(), name="third", numerics=f"third-{precision}")


def load(*, device: str, precision: str) -> FakeModel:
    model = FakeModel()
    model.card = card(precision=precision)
    return model


def voice_card(voice: str) -> VoiceCard:
    return VoiceCard(f"read from {voice}", language="en", revision="1", licence="none")
