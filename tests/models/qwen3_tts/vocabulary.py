"""Makes tiny checkpoints whole: a byte-level vocabulary of 264 ids in which `assistant` is one, and the codec."""

from __future__ import annotations

import json
import shutil


def write_vocabulary(folder):
    """vocab.json and merges.txt."""
    from tokenizers import pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges, grown = [], "a"
    for letter in "ssistant":
        merges.append((grown, letter))
        grown += letter
    vocab = {sign: number for number, sign in enumerate([*letters, *(first + second for first, second in merges)])}
    (folder / "vocab.json").write_text(json.dumps(vocab), "utf-8")
    lines = ["#version: 0.2", *(f"{first} {second}" for first, second in merges)]
    (folder / "merges.txt").write_text("\n".join(lines), "utf-8")


def place(reference, reference_qwen12, kind, folder):
    """A whole checkpoint of a kind in `folder`: talker, codec and vocabulary; returns its path."""
    shutil.copytree(reference / kind, folder)
    (folder / "speech_tokenizer").mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(reference_qwen12 / name, folder / "speech_tokenizer" / name)
    write_vocabulary(folder)
    return str(folder)
