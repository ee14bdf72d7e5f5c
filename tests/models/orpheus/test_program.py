"""The program: its grammar, its head, and codes in the codec's order."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from models.errors import BadWeights
from models.layers.llama import LlamaDecoder
from models.layers.llama_config import LlamaConfig
from models.layers.rope import RopeConfig
from models.orpheus.program import OrpheusProgram
from models.orpheus.shape import ORPHEUS_3B

CONFIG = LlamaConfig(
    vocab=156940, hidden=8, layers=1, query_heads=2, kv_heads=1, head_dim=4, ffn=8, eps=1e-5,
    rope=RopeConfig(10000.0), max_positions=10_000,
)  # fmt: skip
CODEC = SimpleNamespace(samples_per_frame=2048, codes_per_frame=7, context_frames=3)


def make(grammar: str = "speech", config: LlamaConfig = CONFIG, codec: SimpleNamespace = CODEC) -> OrpheusProgram:
    decoder = LlamaDecoder.random(config, seed=0, device=torch.device("cpu"), dtype=torch.float32)
    return OrpheusProgram(decoder, codec, grammar=grammar)  # type: ignore[arg-type]


def test_the_grammar_has_a_window_for_each_position():
    grammar = make().grammar
    assert (grammar.first_id, grammar.vocab, grammar.stop_ids) == (128256, 28682, (128258,))
    assert grammar.windows[0] == (128266, 132362)
    assert grammar.windows[6] == (152842, 156938)
    assert [stop - start for start, stop in grammar.windows] == [4096] * 7


def test_the_full_grammar_is_the_whole_vocabulary():
    program = make("full")
    assert (program.grammar.first_id, program.grammar.vocab) == (0, 156940)
    assert program.grammar.windows == ((0, 156940),)
    assert program.head(torch.randn(2, 8)).shape == (2, 156992)


def test_the_head_scores_the_grammars_ids_only():
    speech, full = make(), make("full")
    hidden = torch.randn(3, 8)
    logits = speech.head(hidden)
    assert logits.shape == (3, 28736)
    torch.testing.assert_close(logits[:, :28682], full.head(hidden)[:, 128256 : 128256 + 28682])
    assert full.weight_bytes - speech.weight_bytes == (156992 - 28736) * 8 * 4


def test_codes_go_to_the_codecs_columns():
    first = [128266 + 4096 * position + 10 * position + 1 for position in range(7)]
    second = [128266 + 4096 * position + 4095 for position in range(7)]
    codes = make().frames(np.array(first + second, np.int32))
    # Authors' order: pos 0 is level 0; 1 and 4 level 1; 2, 3, 5 and 6 level 2.
    assert codes.tolist() == [[1, 11, 41, 21, 31, 51, 61], [4095] * 7]
    assert codes.dtype == np.int32
    assert make().frames(np.zeros(0, np.int32)).shape == (0, 7)


def test_ids_of_a_full_grammar_become_codes_that_exist():
    codes = make("full").frames(np.array([0, 156939, 128258, 5, 6, 7, 128266], np.int32))
    assert codes.min() == 0
    assert codes.max() == 4095


def test_other_weights_and_codecs_are_refused():
    with pytest.raises(BadWeights, match="a vocabulary of 128256 ids; Orpheus needs at least 156938"):
        make(config=replace(CONFIG, vocab=128256))
    with pytest.raises(BadWeights, match=r"1024 samples from 7 codes a frame; .* with 2048 from 7"):
        make(codec=SimpleNamespace(samples_per_frame=1024, codes_per_frame=7))


def test_positions_are_bounded():
    assert make().max_positions == 4096
    assert make(config=replace(CONFIG, max_positions=300)).max_positions == 300


def test_the_published_shape_has_its_published_size():
    config = ORPHEUS_3B
    layer = config.hidden * (config.qkv_rows + config.hidden + 3 * config.ffn + 2)
    total = config.vocab * config.hidden + config.layers * layer + config.hidden
    assert total == 3_300_867_072  # parameters of a Llama 3.2 3B with 156,940 ids
    assert config.query_heads * config.head_dim == config.hidden
