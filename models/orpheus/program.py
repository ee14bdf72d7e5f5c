"""Orpheus as a token program: a Llama decoder whose head scores only what may be spoken, and SNAC codes of its ids."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

from engine.tokens.program import Attend, Codec, Grammar, Ids, KvShape
from models.errors import BadWeights
from models.layers.llama import LlamaDecoder
from models.orpheus import tokens

MAX_POSITIONS = 4_096
"""Prompt and speech together: almost 50 s. The checkpoint's own 131,072 would only make tables long."""

_WINDOW_STARTS = np.arange(tokens.TOKENS_PER_FRAME, dtype=np.int32) * tokens.CODEBOOK + tokens.FIRST_CODE


class OrpheusProgram:
    """Decoder and codec on one device (see `engine.tokens.program.TokenProgram`)."""

    def __init__(self, decoder: LlamaDecoder, codec: Codec, *, grammar: Literal["speech", "full"] = "speech") -> None:
        """With grammar "full" the head scores the whole vocabulary and anything may be drawn: for comparisons with
        other implementations, token by token.

        Raises:
            BadWeights: the vocabulary has no room for the codes, or the codec makes other frames.
        """
        if decoder.config.vocab < tokens.END_OF_CODES:
            msg = (
                f"the weights have a vocabulary of {decoder.config.vocab} ids; Orpheus needs at least "
                f"{tokens.END_OF_CODES}: name the folder of an Orpheus checkpoint"
            )
            raise BadWeights(msg)
        shape = (codec.samples_per_frame, codec.codes_per_frame)
        if shape != (tokens.SAMPLES_PER_FRAME, tokens.TOKENS_PER_FRAME):
            msg = (
                f"the codec makes {shape[0]} samples from {shape[1]} codes a frame; Orpheus needs the SNAC model of "
                f"24 kHz, with {tokens.SAMPLES_PER_FRAME} from {tokens.TOKENS_PER_FRAME}"
            )
            raise BadWeights(msg)
        self.decoder = decoder
        self.codec = codec
        self.device = decoder.device
        self.sample_rate_hz = tokens.SAMPLE_RATE_HZ
        self.tokens_per_frame = tokens.TOKENS_PER_FRAME
        self.max_positions = min(decoder.max_positions, MAX_POSITIONS)
        self.grammar = _speech_grammar() if grammar == "speech" else _full_grammar(decoder.config.vocab)
        self.depth = None
        self.weight_bytes = decoder.step_bytes(rows=self.grammar.vocab)

    @property
    def kv(self) -> KvShape:
        """What one position keeps in KV memory."""
        return self.decoder.kv

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """[R] ids to [R, hidden]."""
        return self.decoder.embed(ids)

    def backbone(self, hidden: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        """All layers and the last norm."""
        return self.decoder.backbone(hidden, positions, attend)

    def head(self, hidden: torch.Tensor) -> torch.Tensor:
        """[E, hidden] to logits [E, at least grammar.vocab] in the weights' dtype."""
        return self.decoder.head(hidden, first=self.grammar.first_id, rows=self.grammar.vocab)

    def frames(self, ids: Ids) -> Ids:
        """[n * 7] drawn ids to [n, 7] codes in the codec's columns.

        With the speech grammar every id is in the window of its position; what a full grammar drew elsewhere becomes
        the nearest code, so that the codec can be run on it.
        """
        codes = ids.reshape(-1, tokens.TOKENS_PER_FRAME) - _WINDOW_STARTS
        kept: Ids = codes[:, tokens.POSITION_OF_COLUMN].clip(0, tokens.CODEBOOK - 1).astype(np.int32)
        return kept


def _speech_grammar() -> Grammar:
    starts = [int(start) for start in _WINDOW_STARTS]
    return Grammar(
        first_id=tokens.FIRST_CUSTOM,
        vocab=tokens.END_OF_CODES - tokens.FIRST_CUSTOM,
        windows=tuple((start, start + tokens.CODEBOOK) for start in starts),
        stop_ids=(tokens.END_OF_SPEECH,),
    )


def _full_grammar(vocab: int) -> Grammar:
    return Grammar(first_id=0, vocab=vocab, windows=((0, vocab),), stop_ids=(tokens.END_OF_SPEECH,))
