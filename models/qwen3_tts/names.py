"""Names that Qwen3-TTS uses: its checkpoints, speakers, languages. Imports no torch."""

from __future__ import annotations

REPOS = {
    "1.7b": "Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice",
    "0.6b": "Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice",
    "1.7b-design": "Qwen/Qwen3-TTS-12Hz-1.7B-VoiceDesign",
}
"""Repository of each variant that is a model of its own name, `qwen3-tts-<variant>`."""
LANGUAGES = {
    "en": "english",
    "zh": "chinese",
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "ja": "japanese",
    "ko": "korean",
    "pt": "portuguese",
    "ru": "russian",
}
"""By base language what the checkpoints call it."""
SPEAKER_LANGUAGES = {
    "ryan": "en",
    "aiden": "en",
    "serena": "zh",
    "vivian": "zh",
    "uncle_fu": "zh",
    "dylan": "zh",
    "eric": "zh",
    "ono_anna": "ja",
    "sohee": "ko",
}
"""The published speakers with their first language; the first is the default voice. All speak all languages."""
