"""The published shapes of Qwen3-TTS 12 Hz, for random weights (ids as in the published config.json files)."""

from __future__ import annotations

from models.layers.llama_config import LlamaConfig
from models.layers.rope import RopeConfig
from models.qwen3_tts.config import CodecIds, Kind, Qwen3TtsConfig, TextIds

LANGUAGES = {
    "chinese": 2055,
    "english": 2050,
    "german": 2053,
    "italian": 2070,
    "portuguese": 2071,
    "spanish": 2054,
    "japanese": 2058,
    "korean": 2064,
    "french": 2061,
    "russian": 2069,
    "beijing_dialect": 2074,
    "sichuan_dialect": 2062,
}
SPEAKERS = {
    "serena": 3066,
    "vivian": 3065,
    "uncle_fu": 3010,
    "ryan": 3061,
    "aiden": 2861,
    "ono_anna": 2873,
    "sohee": 2864,
    "eric": 2875,
    "dylan": 2878,
}
DIALECTS = {"eric": "sichuan_dialect", "dylan": "beijing_dialect"}
SIZES = {"1.7b": (2_048, 6_144), "0.6b": (1_024, 3_072)}
"""Hidden and ffn width of the talker."""


def published(size: str, kind: Kind = Kind.CUSTOM_VOICE) -> Qwen3TtsConfig:
    """The config of a size (1.7b or 0.6b) and kind."""
    hidden, ffn = SIZES[size]
    return Qwen3TtsConfig(
        kind=kind,
        size=size,
        talker=_decoder(vocab=3_072, hidden=hidden, ffn=ffn, layers=28),
        depth=_decoder(vocab=2_048, hidden=1_024, ffn=3_072, layers=5),
        codes=16,
        text_vocab=151_936,
        text_hidden=2_048,
        text=TextIds(bos=151_672, eos=151_673, pad=151_671, im_start=151_644, im_end=151_645),
        codec=CodecIds(eos=2_150, think=2_154, nothink=2_155, think_bos=2_156, think_eos=2_157, pad=2_148, bos=2_149),
        languages=LANGUAGES,
        speakers=SPEAKERS if kind is Kind.CUSTOM_VOICE else {},
        dialects=DIALECTS if kind is Kind.CUSTOM_VOICE else {},
        speaker_dim=hidden if kind is Kind.BASE else 0,
    )


def _decoder(*, vocab: int, hidden: int, ffn: int, layers: int) -> LlamaConfig:
    return LlamaConfig(
        vocab=vocab,
        hidden=hidden,
        layers=layers,
        query_heads=16,
        kv_heads=8,
        head_dim=128,
        ffn=ffn,
        eps=1e-6,
        rope=RopeConfig(1_000_000.0),
        max_positions=32_768,
        tied=False,
        qk_norm=True,
    )
