"""A byte-level vocabulary of 264 ids in which `assistant` is one: what tiny checkpoints read text with."""

from __future__ import annotations

import json


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
