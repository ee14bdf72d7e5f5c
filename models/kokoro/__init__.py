"""Kokoro-82M: small voices of many languages on the utterance lane (StyleTTS 2 without diffusion, iSTFTNet decoder)."""
