"""What a model says about itself, without loading torch or weights: ModelCard, VoiceCard.

Cards are read by people (`tts-batch models`, `tts-batch voices`), by the planner (safe lengths) and by the take key
(revision and numerics: what changes the samples changes the key).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VoiceCard:
    """One voice of a model. `revision` is a hash of its weights; `licence` is the truth, `note` what to know.

    `reads`: the base languages it can be asked to read here (`en`), if that is not just its own.
    """

    name: str
    language: str
    revision: str
    licence: str
    note: str = ""
    installed: bool = True
    install_hint: str = ""
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a model can do and what it needs from the planner.

    `max_chars` is the longest segment that is safe; `pack_chars` how far short sentences are joined into one segment
    (0: every sentence is a segment of its own); `chars_per_s` a first guess of the speaking rate for ETA and price;
    `devices` where it runs; `install_hint` how to install what the model itself needs (empty: it can run here);
    `phonemes` whether `⟦IPA⟧` in a text is spoken as phonemes; `clones` whether it speaks like a reference clip;
    `blends` whether it speaks with a mean of its voices, `af_heart:0.6+bf_emma:0.4`.
    """

    name: str
    description: str
    lane: str
    languages: tuple[str, ...]
    voices: tuple[VoiceCard, ...]
    default_voice: str
    sample_rate_hz: int
    max_chars: int
    pack_chars: int
    chars_per_s: float
    numerics: str
    min_speed: float = 0.5
    max_speed: float = 2.0
    devices: tuple[str, ...] = ("cpu",)
    install_hint: str = ""
    phonemes: bool = False
    clones: bool = False
    blends: bool = False

    def voice(self, name: str) -> VoiceCard | None:
        """The voice of exactly that name, or None."""
        return next((voice for voice in self.voices if voice.name == name), None)
