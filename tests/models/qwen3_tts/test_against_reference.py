"""The token lane on tiny random checkpoints of the three kinds draws what the package qwen-tts draws from them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.request import FinishReason, Request
from engine.tokens.engine import TokenEngine
from engine.tokens.inputs import Sampling, TokenInputs
from engine.tokens.options import EngineOptions
from models.qwen3_tts.config import Qwen3TtsConfig
from models.qwen3_tts.program import Qwen3TtsProgram
from models.qwen3_tts.weights import Qwen3TtsWeights
from tests.engine.tokens.programs import RememberingCodec
from tests.models.qwen3_tts.prompts import CASES, prompt_of

CPU = torch.device("cpu")
GREEDY = Sampling(temperature=0.0, penalty=1.05)
FRAMES = 50


@pytest.fixture(scope="module")
def programs(reference_qwen3_tts):
    torch.set_num_threads(1)
    made = {}
    for kind in CASES:
        config = Qwen3TtsConfig.from_json(reference_qwen3_tts / kind / "config.json")
        weights = Qwen3TtsWeights.load(reference_qwen3_tts / kind, config, device=CPU, dtype=torch.float32)
        made[kind] = Qwen3TtsProgram(config, weights, RememberingCodec(config.codes))
    return made


def expected(reference_qwen3_tts, kind, case):
    return np.load(reference_qwen3_tts / f"{kind}-{case}.npz")


def all_cases():
    return [(kind, case) for kind, cases in CASES.items() for case in cases]


@pytest.mark.parametrize(("kind", "case"), all_cases())
def test_rows_of_the_prompt_are_those_of_the_reference(programs, reference_qwen3_tts, kind, case):
    program, wanted = programs[kind], expected(reference_qwen3_tts, kind, case)
    prompt = prompt_of(program, kind, case)
    rows = program.embed(torch.tensor(prompt.rows))
    torch.testing.assert_close(rows, torch.from_numpy(wanted["rows"]), rtol=1e-5, atol=1e-5)
    columns = torch.full((len(prompt.follow), len(prompt.rows[0])), -1)
    columns[:, 0] = torch.tensor(prompt.follow)
    follow = torch.from_numpy(wanted["follow"])
    pad = program.embed(torch.tensor([[program.config.text.pad] + [-1] * program.config.codes]))
    ours = torch.cat((program.embed(columns), pad))
    length = min(len(ours), len(follow))
    torch.testing.assert_close(ours[:length], follow[:length], rtol=1e-5, atol=1e-5)
    for rest in (*ours[length:], *follow[length:]):
        torch.testing.assert_close(rest, pad[0], rtol=1e-5, atol=1e-5)


class Whole:
    """Causal attention over all rows of one utterance, for a pass without an engine."""

    def __init__(self, program, rows):
        from engine.attention.base import PagedKv, Rows
        from engine.attention.torch_pages import TorchAttention

        size = 16
        pages = -(-rows // size)
        kv = PagedKv.zeros(program.kv, num_pages=pages + 1, page_size=size, device=CPU)
        table = torch.arange(1, pages + 1, dtype=torch.int32)[None]
        self.positions = torch.arange(rows, dtype=torch.int32)
        slots = torch.zeros(rows, dtype=torch.int32)
        self.attend = TorchAttention(kv, table).for_step(Rows(slots, self.positions), entries=1)


@pytest.mark.parametrize(("kind", "case"), all_cases())
def test_hidden_states_and_logits_are_those_of_the_reference(programs, reference_qwen3_tts, kind, case):
    program, wanted = programs[kind], expected(reference_qwen3_tts, kind, case)
    prompt = prompt_of(program, kind, case)
    spoken = len(wanted["frames"])
    rows = torch.tensor(prompt.rows)
    columns = torch.full((spoken - 1, rows.shape[1]), -1)
    columns[:, 1:] = torch.from_numpy(wanted["frames"][:-1])
    follow = [*prompt.follow, *[program.config.text.pad] * spoken][: spoken - 1]
    columns[:, 0] = torch.tensor(follow)
    rows = torch.cat((rows, columns))
    whole = Whole(program, len(rows))
    hidden = program.backbone(program.embed(rows), whole.positions, whole.attend)[len(prompt.rows) - 1 :]
    torch.testing.assert_close(hidden, torch.from_numpy(wanted["hidden"]), rtol=1e-4, atol=1e-4)
    logits = program.head(hidden)[:, : program.grammar.vocab]
    torch.testing.assert_close(
        logits, torch.from_numpy(wanted["logits"])[:, : program.grammar.vocab], rtol=1e-4, atol=1e-4
    )
    seen = []

    def draw(scores, place):
        seen.append(scores)
        return torch.from_numpy(wanted["frames"][:1, place].astype(np.int32))

    first = torch.from_numpy(wanted["frames"][:1, 0].astype(np.int32))
    assert program.depth.rest(hidden[:1], first, draw).tolist() == wanted["frames"][:1, 1:].tolist()
    torch.testing.assert_close(seen[0][0], torch.from_numpy(wanted["second_code_logits"]), rtol=1e-4, atol=1e-4)


def spoken_together(program, prompts, sampling, *, company=0):
    """Frames and finish of each prompt, all of them at once, beside `company` others that end at other times."""
    engine = TokenEngine(program, EngineOptions(num_slots=len(prompts) + company, max_tokens=256, page_size=16))
    drawn, finishes, end = {}, {}, engine._delivery.end

    def note(request_id, ids, finish):
        drawn[request_id] = ids.tolist()
        end(request_id, ids, finish)

    engine._delivery.end = note
    noisy = Sampling(temperature=0.9, top_k=50, penalty=1.05)
    for number in range(company):
        prompt = prompts[number % len(prompts)]
        inputs = TokenInputs(prompt.rows[number % 2 :], 5 + 3 * number, noisy, follow=prompt.follow)
        engine.add(Request(f"c{number}", inputs, 100 + number, 1))
    for number, prompt in enumerate(prompts):
        pad = program.config.text.pad
        inputs = TokenInputs(prompt.rows, FRAMES, sampling, min_tokens=2, follow=(*prompt.follow, pad))
        engine.add(Request(f"p{number}", inputs, number, len(prompt.rows)))
    while not engine.idle:
        finishes |= {delta.request_id: delta.finish for delta in engine.step() if delta.last}
    names = [f"p{number}" for number in range(len(prompts))]
    return [drawn[name] for name in names], [finishes[name] for name in names]


@pytest.mark.parametrize("kind", list(CASES))
def test_greedy_frames_are_those_of_the_reference(programs, reference_qwen3_tts, kind):
    program, cases = programs[kind], CASES[kind]
    prompts = [prompt_of(program, kind, case) for case in cases]
    frames, finishes = spoken_together(program, prompts, GREEDY)
    lengths = []
    for case, ours, finish in zip(cases, frames, finishes, strict=True):
        wanted = expected(reference_qwen3_tts, kind, case)["frames"][:FRAMES].tolist()
        assert ours == wanted, case
        assert finish is (FinishReason.BUDGET if len(wanted) == FRAMES else FinishReason.STOP)
        lengths.append(len(ours))
    assert max(lengths) == FRAMES


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(temperature=0.9, top_k=20, top_p=0.9, penalty=1.05)])
def test_a_request_draws_the_same_alone_and_among_seventeen(programs, sampling):
    program = programs["custom_voice"]
    prompt = prompt_of(program, "custom_voice", "streaming")
    alone, _ = spoken_together(program, [prompt], sampling)
    among, _ = spoken_together(program, [prompt], sampling, company=16)
    assert alone == among
    assert len({tuple(frame) for frame in alone[0]}) > 5
