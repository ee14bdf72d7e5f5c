"""Qwen3-TTS's voices: speakers of a checkpoint, and instructions in files. Imports no torch.

`ryan` is a speaker; `ryan@/voices/calm.txt` the same with the instruction in that file (how to speak). A checkpoint
that designs voices has `narrator`, and takes `/voices/old_sailor.txt`, a file that describes one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from models.card import VoiceCard
from models.errors import BadWeights, UnknownVoice
from models.qwen3_tts.names import LANGUAGES, SPEAKER_LANGUAGES
from models.qwen3_tts.source import DESIGN, Source

LICENCE = "Apache-2.0"
MAX_INSTRUCTION_CHARS = 1_000
DESIGNED = {"narrator": "A grown-up narrator with a warm, clear voice, who reads calmly and at an even pace."}
"""Voices of checkpoints that design voices, by name what describes them."""
DESIGNED = {"narrator": "A grown-up narrator with a warm, clear voice, who reads calmly and at an even pace."}
"""Voices of checkpoints that design voices, by name what describes them."""


@dataclass(frozen=True, slots=True)
class Voice:
    """A speaker's name or "", and an instruction or ""."""

    speaker: str
    instruction: str


def read_voice(name: str, source: Source) -> Voice:
    """What a voice's name stands for.

    Raises:
        UnknownVoice: no such speaker, or not written as a voice of this kind of checkpoint.
        BadWeights: the file of the instruction cannot be read, is empty or too long.
    """
    speaker, _, path = name.rpartition("@") if "@" in name else (name, "", "")
    if source.kind == DESIGN:
        if name in DESIGNED:
            return Voice("", DESIGNED[name])
        if not name.endswith(".txt") or "@" in name:
            msg = (
                f"voice {name!r}: this model makes voices up; use {', '.join(DESIGNED)}, or name a file that describes "
                "one: /voices/old_sailor.txt"
            )
            raise UnknownVoice(msg)
        return Voice("", _instruction(name))
    if speaker.lower() not in source.speakers:
        msg = (
            f"voice {name!r} is not a speaker of this model; it has {', '.join(source.speakers)} (or speaker@FILE.txt)"
        )
        raise UnknownVoice(msg)
    return Voice(speaker.lower(), _instruction(path) if path else "")


def card_of(name: str, source: Source, *, hint: str = "") -> VoiceCard:
    """The card of a voice. Raises what `read_voice` raises."""
    voice = read_voice(name, source)
    mark = hashlib.blake2b(voice.instruction.encode(), digest_size=6).hexdigest() if voice.instruction else ""
    return VoiceCard(
        name=name,
        language=SPEAKER_LANGUAGES.get(voice.speaker, "en"),
        revision=f"{source.revision}-{mark}" if mark else source.revision,
        licence=LICENCE,
        note="Made up from a description." if not voice.speaker else "",
        installed=not hint,
        install_hint=hint,
        reads=tuple(LANGUAGES),
    )


def _instruction(path: str) -> str:
    try:
        text = " ".join(Path(path).expanduser().read_text("utf-8").split())
    except (OSError, ValueError) as error:
        msg = f"the instruction {path} cannot be read ({error}); it is a text file that says how to speak"
        raise BadWeights(msg) from error
    if not 1 <= len(text) <= MAX_INSTRUCTION_CHARS:
        msg = f"the instruction {path} has {len(text)} characters; 1 to {MAX_INSTRUCTION_CHARS} are possible"
        raise BadWeights(msg)
    return text
