"""Qwen3-TTS as a token program: each step draws a frame, its first code by the talker, 15 more by the depth network.

A row is the sum of up to 17 embeddings: a text id, an id of the codec vocabulary (or a speaker vector), and the codes
of a frame after its first one. Rows of the prompt and rows of what was spoken have the same form.
"""

from __future__ import annotations

import threading

import torch

from engine.attention.small import SmallKv
from engine.ops import linear
from engine.tokens.program import Attend, Draw, Grammar, Ids, KvShape, StreamCodec
from models.errors import BadPrompt, BadWeights
from models.layers.llama import LlamaDecoder
from models.qwen3_tts.config import Qwen3TtsConfig
from models.qwen3_tts.weights import Qwen3TtsWeights

MAX_POSITIONS = 4_096
"""Prompt and speech together: more than five minutes, after which the model drifts."""
FOLLOW_ROWS = 512
"""Text ids that may follow a prompt: the longest text of a segment."""
MAX_SPEAKERS = 1_024
"""Speaker vectors that one process can hold."""


class Qwen3Depth:
    """The depth network: K - 1 small steps over the talker's hidden row and the codes drawn so far."""

    def __init__(self, config: Qwen3TtsConfig, weights: Qwen3TtsWeights) -> None:
        self.codes = config.codes
        self.follow_rows = FOLLOW_ROWS
        self._weights = weights
        self._decoder = LlamaDecoder(config.depth, weights.depth, max_positions=config.codes)

    def rest(self, hidden: torch.Tensor, first: torch.Tensor, draw: Draw) -> torch.Tensor:
        """See `engine.tokens.program.Depth.rest`."""
        weights, decoder = self._weights, self._decoder
        kv = SmallKv(decoder.kv, rows=len(hidden), positions=self.codes, device=hidden.device)
        row = hidden.clone()
        if weights.depth_in is not None and weights.depth_bias is not None:
            row = linear(hidden, weights.depth_in) + weights.depth_bias
        decoder.backbone(row, first, kv.at(0))
        row = weights.depth_first.index_select(0, first.long())
        drawn = []
        for place in range(1, self.codes):
            scored = decoder.backbone(row, first, kv.at(place))
            drawn.append(draw(linear(scored, weights.depth_heads[place - 1]), place))
            row = weights.depth_codes[place - 1].index_select(0, drawn[-1].long())
        return torch.stack(drawn, dim=1)


class Qwen3TtsProgram:
    """Talker, depth network and codec on one device (see `engine.tokens.program.TokenProgram`)."""

    def __init__(self, config: Qwen3TtsConfig, weights: Qwen3TtsWeights, codec: StreamCodec) -> None:
        """Raises BadWeights: the codec has other frames than the talker."""
        if codec.codes_per_frame != config.codes:
            msg = f"the codec has {codec.codes_per_frame} codes a frame, the talker draws {config.codes}"
            raise BadWeights(msg)
        self.config = config
        self.codec = codec
        self.decoder = LlamaDecoder(config.talker, weights.talker, max_positions=MAX_POSITIONS)
        self.depth = Qwen3Depth(config, weights)
        self.device = self.decoder.device
        self.sample_rate_hz = SAMPLE_RATE_HZ
        self.tokens_per_frame = 1
        self.max_positions = self.decoder.max_positions
        self.weight_bytes = weights.step_bytes()
        self.grammar = Grammar(
            first_id=0, vocab=config.codec.eos + 1, windows=((0, config.num_codes),), stop_ids=(config.codec.eos,)
        )
        self._tables = _Tables(config, weights)

    @property
    def kv(self) -> KvShape:
        """What one position keeps in KV memory."""
        return self.decoder.kv

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        """[R, 1 + K] columns (-1: nothing) to [R, D]; see `models.qwen3_tts.rows.PromptRows`."""
        return self._tables.embed(ids)

    def backbone(self, hidden: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        """All layers and the last norm."""
        return self.decoder.backbone(hidden, positions, attend)

    def head(self, hidden: torch.Tensor) -> torch.Tensor:
        """[E, D] to logits [E, at least grammar.vocab] of the codec vocabulary."""
        return self.decoder.head(hidden, first=0, rows=self.grammar.vocab)

    def frames(self, ids: Ids) -> Ids:
        """[n, K] drawn frames are the codec's."""
        return ids

    def add_speaker(self, key: str, vector: torch.Tensor) -> int:
        """The id, in a row's codec column, of a speaker vector [D]; the same for the same `key`.

        May be called by another thread than the engine's. Raises BadPrompt: this process holds too many.
        """
        return self._tables.add_speaker(key, vector)


SAMPLE_RATE_HZ = 24_000


class _Tables:
    """All embeddings of a row: those of the codec's columns in one table, with a row of zeros for nothing."""

    def __init__(self, config: Qwen3TtsConfig, weights: Qwen3TtsWeights) -> None:
        later, codes, width = weights.codes.shape
        vocab, device = config.talker.vocab, weights.text.device
        self._first_speaker = vocab
        self._speakers: dict[str, int] = {}
        self._lock = threading.Lock()
        zeros = weights.text.new_zeros((1, width))
        speakers = weights.text.new_zeros((MAX_SPEAKERS, width))
        first = weights.talker.embedding[:vocab]
        self._codec = torch.cat((first, speakers, weights.codes.flatten(0, 1), zeros))
        self._text = torch.cat((weights.text, zeros))
        starts = [0, *(vocab + MAX_SPEAKERS + place * codes for place in range(later))]
        self._starts = torch.tensor(starts, dtype=torch.int64, device=device)

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        nothing = ids < 0
        text = ids[:, 0].masked_fill(nothing[:, 0], len(self._text) - 1)
        codec = (ids[:, 1:] + self._starts).masked_fill(nothing[:, 1:], len(self._codec) - 1)
        parts = self._codec.index_select(0, codec.flatten()).view(*codec.shape, -1)
        return parts.sum(dim=1) + self._text.index_select(0, text)

    def add_speaker(self, key: str, vector: torch.Tensor) -> int:
        with self._lock:
            if key in self._speakers:
                return self._speakers[key]
            if len(self._speakers) == MAX_SPEAKERS:
                msg = (
                    f"this process has cloned {MAX_SPEAKERS} speakers, which is all it can hold; start the worker again"
                )
                raise BadPrompt(msg)
            place = self._first_speaker + len(self._speakers)
            self._codec[place].copy_(vector)
            if self._codec.is_cuda:
                torch.cuda.synchronize(self._codec.device)  # steps read it on a stream of their own
            self._speakers[key] = place
            return place
