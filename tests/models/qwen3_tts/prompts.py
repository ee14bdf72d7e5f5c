"""The prompts of tests/reference/qwen3_tts.py as our front end writes them, from the same ids."""

from __future__ import annotations

import torch

from models.qwen3_tts.rows import Order, Reference, prompt_rows
from tests.reference import qwen3_tts as reference

CASES = {
    "custom_voice": ("speaker", "streaming", "dialect"),
    "voice_design": ("design",),
    "base": ("vector", "vector-whole", "context", "context-whole", "long", "long-whole"),
}
ROLE = (290, 5, 6)


def as_ids(tensor):
    return tuple(tensor.flatten().tolist())


def clone_of(program, arguments):
    voice = arguments["voice_clone_prompt"]
    (vector,) = voice["ref_spk_embedding"]
    speaker = program.add_speaker("reference", vector)
    if voice["ref_code"] is None:
        return Reference(speaker)
    codes = tuple(tuple(frame) for frame in voice["ref_code"][0].tolist())
    return Reference(speaker, codes, as_ids(arguments["ref_ids"][0][:, 3:-2]))


def prompt_of(program, kind, case):
    arguments = dict(reference.cases(kind))[case]
    (text,) = arguments["input_ids"]
    order = Order(
        text_ids=as_ids(text[:, 3:-5]),
        role_ids=ROLE,
        language=arguments["languages"][0],
        speaker=arguments.get("speakers", [""])[0],
        reference=clone_of(program, arguments) if "voice_clone_prompt" in arguments else None,
        instruction_ids=as_ids(arguments.get("instruct_ids", [torch.zeros(0)])[0].long()),
        streaming=not arguments["non_streaming_mode"],
    )
    return prompt_rows(program.config, order)
