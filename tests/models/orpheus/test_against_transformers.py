"""The whole token lane on a tiny checkpoint draws, token for token, what transformers' generate draws from it."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaForCausalLM

from engine.request import FinishReason, Request
from engine.tokens.engine import TokenEngine
from engine.tokens.inputs import Sampling, TokenInputs
from engine.tokens.options import EngineOptions
from models.codecs.snac.decoder import SnacDecoder
from models.layers.checkpoint import load_llama
from models.layers.llama import LlamaDecoder
from models.layers.llama_config import LlamaConfig
from models.orpheus.program import OrpheusProgram

TOKENS = 203
"""29 frames; at least 200."""
DRAWN_WITH_IT = 2
PENALTY = 1.3
"""Without it the tiny model runs in a circle. (transformers counts prompt ids too; none of them is near a maximum.)"""


@pytest.fixture(scope="module")
def program(tiny_orpheus):
    torch.set_num_threads(1)
    config, cpu = LlamaConfig.from_json(tiny_orpheus / "config.json"), torch.device("cpu")
    decoder = LlamaDecoder(
        config, load_llama(tiny_orpheus, config, device=cpu, dtype=torch.float32), max_positions=1024
    )
    return OrpheusProgram(decoder, SnacDecoder.from_folder(tiny_orpheus / "snac", device=cpu), grammar="full")


def greedy_ids(program, prompts):
    """What the engine draws for each prompt, all of them at once and beside sampled requests."""
    engine = TokenEngine(program, EngineOptions(num_slots=len(prompts) + DRAWN_WITH_IT, max_tokens=512))
    drawn, end = {}, engine._delivery.end

    def note(request_id, ids, finish):
        drawn[request_id] = ids.tolist()
        end(request_id, ids, finish)

    engine._delivery.end = note
    sampled = Sampling(temperature=1.0, penalty=1.3)
    for number in range(DRAWN_WITH_IT):
        engine.add(Request(f"s{number}", TokenInputs((5, 6, 7 + number), 20 + 40 * number, sampled), number, 3))
    for number, prompt in enumerate(prompts):
        inputs = TokenInputs(tuple(prompt), TOKENS, Sampling(temperature=0.0, penalty=PENALTY), min_tokens=TOKENS)
        engine.add(Request(f"g{number}", inputs, 0, len(prompt)))
    finishes = {}
    while not engine.idle:
        finishes |= {delta.request_id: delta.finish for delta in engine.step() if delta.last}
    assert finishes["g0"] is FinishReason.BUDGET
    return [drawn[f"g{number}"] for number in range(len(prompts))]


def test_two_hundred_greedy_tokens_are_those_of_transformers(program, tiny_orpheus):
    reference = LlamaForCausalLM.from_pretrained(tiny_orpheus, dtype=torch.float32, attn_implementation="eager").eval()
    prompts = [[128259, 128000, 11, 402, 77, 128009, 128260, 128261, 128257], [128259, 128000, *range(300, 345)]]
    ours = greedy_ids(program, prompts)
    for prompt, ids in zip(prompts, ours, strict=True):
        with torch.no_grad():
            theirs = reference.generate(
                torch.tensor([prompt]),
                attention_mask=torch.ones(1, len(prompt), dtype=torch.int64),
                do_sample=False,
                repetition_penalty=PENALTY,
                max_new_tokens=TOKENS,
                min_new_tokens=TOKENS,
                eos_token_id=128258,
                pad_token_id=128263,
            )
        assert ids == theirs[0, len(prompt) :].tolist()
        assert len(set(ids)) > 20, "a loop of few tokens would prove little"
