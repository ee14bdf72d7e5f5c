"""Qwen3-TTS's front end, voices and loader, from text to audio, on a tiny checkpoint in the published layout."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch

from engine.request import FinishReason, Request
from engine.tokens.engine import TokenEngine
from engine.tokens.options import EngineOptions
from models import registry
from models.base import Prompt
from models.errors import BadPrompt, BadWeights, MissingExtra, UnknownVoice
from models.qwen3_tts.config import Kind, Qwen3TtsConfig
from models.qwen3_tts.model import SAMPLING
from models.qwen3_tts.prompt import PromptWriter, budget_frames
from models.qwen3_tts.shape import published
from tests.models.qwen3_tts.vocabulary import place


@pytest.fixture(scope="module")
def folder(reference_qwen3_tts, reference_qwen12, tmp_path_factory):
    return place(reference_qwen3_tts, reference_qwen12, "custom_voice", tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def model(folder):
    torch.set_num_threads(1)
    return registry.load(folder)


def speak(model, prompts, **options):
    engine = TokenEngine(model.program, EngineOptions(num_slots=len(prompts), max_tokens=512, page_size=16, **options))
    for number, prompt in enumerate(prompts):
        prepared = model.prepare(prompt)
        engine.add(Request(f"r{number}", prepared.inputs, number, prepared.length_hint, live=number == 1))
    pieces, finishes = {}, {}
    while not engine.idle:
        for delta in engine.step():
            pieces.setdefault(delta.request_id, []).append(delta.samples)
            if delta.last:
                finishes[delta.request_id] = delta.finish
    return {name: np.concatenate(parts) for name, parts in pieces.items()}, finishes


def test_text_becomes_audio_the_same_alone_and_in_company(model):
    prompts = [
        Prompt("Good morning.", "ryan", "en"),
        Prompt("Guten Tag!", "Eric", "de"),
        Prompt("你好", "ryan", "zh-CN"),
    ]
    together, finishes = speak(model, prompts)
    assert set(finishes.values()) <= {FinishReason.STOP, FinishReason.BUDGET}
    hop = model.program.codec.samples_per_frame
    assert all(len(samples) % hop == 0 and len(samples) >= 2 * hop for samples in together.values())
    alone, _ = speak(model, prompts[:1])
    np.testing.assert_allclose(alone["r0"], together["r0"], rtol=0, atol=2e-5)
    assert np.abs(together["r0"]).max() > 0.01


def test_the_prompt_is_shared_up_to_the_text(model):
    first, second = (model.prepare(Prompt(text, "ryan", "en")).inputs for text in ("One two.", "Three four five."))
    assert first.shared_rows == second.shared_rows > 5
    assert first.ids[: first.shared_rows] == second.ids[: second.shared_rows]
    assert first.ids[first.shared_rows] != second.ids[second.shared_rows]
    assert (first.sampling, first.min_tokens) == (SAMPLING, 2)
    assert first.budget_tokens < second.budget_tokens


def test_an_instruction_comes_from_a_file_and_is_part_of_the_voice(model, folder, tmp_path):
    path = tmp_path / "calm.txt"
    path.write_text("Speak\n calmly.", "utf-8")
    plain = model.prepare(Prompt("Hello.", "ryan", "en")).inputs
    told = model.prepare(Prompt("Hello.", f"ryan@{path}", "en")).inputs
    assert len(told.ids) > len(plain.ids)
    assert told.ids[-len(plain.ids) :] == plain.ids
    card = registry.voice_card(folder, f"ryan@{path}")
    assert (card.language, card.licence) == ("en", "Apache-2.0")
    assert {"en", "de", "zh"} <= set(card.reads)
    path.write_text("Speak loudly.", "utf-8")
    assert registry.voice_card(folder, f"ryan@{path}").revision != card.revision
    path.write_text("", "utf-8")
    with pytest.raises(BadWeights, match="has 0 characters"):
        model.prepare(Prompt("Hello.", f"ryan@{path}", "en"))


def test_a_design_checkpoint_takes_descriptions(reference_qwen3_tts, reference_qwen12, tmp_path):
    design = place(reference_qwen3_tts, reference_qwen12, "voice_design", tmp_path / "design")
    loaded = registry.load(design)
    assert loaded.card.default_voice == "narrator"
    assert loaded.prepare(Prompt("Ahoy.", "narrator", "en")).inputs.shared_rows > 20
    path = tmp_path / "sailor.txt"
    path.write_text("An old sailor.", "utf-8")
    samples, _ = speak(loaded, [Prompt("Ahoy.", str(path), "en")])
    assert len(samples["r0"]) > 0
    with pytest.raises(UnknownVoice, match="this model makes voices up"):
        loaded.prepare(Prompt("Ahoy.", "ryan", "en"))


def test_a_checkpoint_that_clones_is_refused(reference_qwen3_tts, reference_qwen12, tmp_path):
    base = place(reference_qwen3_tts, reference_qwen12, "base", tmp_path / "base")
    for ask in (registry.load, registry.card):
        with pytest.raises(BadWeights, match="kind 'base': it clones voices"):
            ask(base)


def test_bad_input_is_told(model, folder, tmp_path):
    for prompt, error, said in (
        (Prompt("Hello.", "nobody", "en"), UnknownVoice, "it has eric, ryan"),
        (Prompt("Hello.", "ryan@/nowhere.txt", "en"), BadWeights, "cannot be read"),
        (Prompt("Hej.", "ryan", "sv"), BadPrompt, "not 'sv'"),
        (Prompt("Hello.", "ryan", "en", speed=1.2), BadPrompt, "only its own pace"),
        (Prompt("x" * 501, "ryan", "en"), BadPrompt, "split it below 250"),
        (Prompt(" … ", "ryan", "en"), BadPrompt, "nothing to speak"),
    ):
        with pytest.raises(error, match=said):
            model.prepare(prompt)
    shutil.copytree(folder, tmp_path / "broken")
    (tmp_path / "broken" / "merges.txt").unlink()
    with pytest.raises(MissingExtra, match=r"lacks files of a Qwen3-TTS checkpoint"):
        registry.load(str(tmp_path / "broken"))
    with pytest.raises(MissingExtra, match=r"hf download Qwen/Qwen3-TTS-12Hz-1\.7B-CustomVoice"):
        registry.load("qwen3-tts-1.7b")


def test_special_tokens_in_a_text_are_letters(model):
    writer = model._writer
    assert writer.role_ids[0] == 290
    assert not {290, 291} & set(writer.ids("<|im_start|>assistant<|im_end|>"))


def test_ids_are_those_of_qwen2(folder, tmp_path):
    transformers = pytest.importorskip("transformers")
    theirs = transformers.Qwen2Tokenizer(vocab=f"{folder}/vocab.json", merges=f"{folder}/merges.txt")
    from pathlib import Path

    ours = PromptWriter.from_folder(Path(folder), im_start=290, im_end=291)
    for text in ("assistant\n", "It's 3 o'clock, ASSISTANT; naïve café  twice.", "你好,世界! 12", "a\n\n b\t c"):
        assert list(ours.ids(text)) == theirs.encode(text, add_special_tokens=False)


def test_budgets_know_scripts():
    assert budget_frames("a" * 80, room_frames=9999) == 163  # 3 s and 10 s, at 12.5 frames a second
    assert budget_frames("你" * 10, room_frames=9999) == 88  # 3 s and 4 s
    assert budget_frames("a" * 80, room_frames=40) == 40
    with pytest.raises(BadPrompt, match="no room"):
        budget_frames("a", room_frames=0)


def test_the_published_shape_is_what_config_json_says(reference_qwen3_tts):
    config = published("1.7b")
    assert (config.talker.layers, config.talker.hidden, config.depth.layers, config.codes) == (28, 2048, 5, 16)
    assert published("0.6b", Kind.BASE).speaker_dim == 1024
    fields = json.loads((reference_qwen3_tts / "custom_voice" / "config.json").read_text())
    assert Qwen3TtsConfig.parse(fields).dialects == {"eric": "sichuan_dialect"}
    for change, said in (
        ({"tokenizer_type": "other"}, "other"),
        ({"tts_model_type": "chat"}, "chat"),
        ({"talker_config": fields["talker_config"] | {"hidden_act": "gelu"}}, "gelu"),
    ):
        with pytest.raises(ValueError, match=said):
            Qwen3TtsConfig.parse(fields | change)


def test_the_card_needs_no_torch():
    code = (
        "import sys; from models import registry; card = registry.card('qwen3-tts-0.6b');"
        "assert 'torch' not in sys.modules;"
        "print(card.default_voice, card.lane, len(card.voices), len(card.languages))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ryan", "token", "9", "10"]
