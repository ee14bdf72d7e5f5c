"""What finished files say of themselves. Pure."""

from __future__ import annotations


def narrator(voice: str) -> str:
    """Who is heard, as players show it."""
    return f"{voice} (synthetic voice)"


def provenance(model: str, voice: str) -> str:
    """The comment every file carries: that it is synthetic, and what made it."""
    return f"Synthetic speech: model {model}, voice {voice}. Made with tts-batch."
