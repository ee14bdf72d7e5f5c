"""The registry: exact names, lazy rows, cards without torch, a new model is one row."""

from __future__ import annotations

import subprocess
import sys

import pytest

from engine.errors import DeviceUnavailable
from models import registry
from models.errors import UnknownModel, UnknownVoice
from models.orpheus.source import LM_REPO
from models.registry import Row

QWEN3_TTS = ("qwen3-tts-1.7b", "qwen3-tts-0.6b", "qwen3-tts-1.7b-design")
LIST = f"models are piper, orpheus, kokoro, kokoro-v1.1-zh, {', '.join(QWEN3_TTS)}, fake"


def test_the_table_names_the_models():
    assert registry.names() == ("piper", "orpheus", "kokoro", "kokoro-v1.1-zh", *QWEN3_TTS, "fake")


@pytest.mark.parametrize("name", ["fke", "Fake", "pipe", "", "fake "])
@pytest.mark.parametrize("look_up", [registry.card, registry.load])
def test_names_are_exact_and_the_error_lists_them(name, look_up):
    with pytest.raises(UnknownModel, match=f"no model is called {name!r}; {LIST}"):
        look_up(name)


def test_the_error_names_a_near_one():
    with pytest.raises(UnknownModel, match="did you mean 'fake'"):
        registry.card("faker")
    with pytest.raises(UnknownModel, match=f"{LIST}$"):
        registry.card("zzzz")


@pytest.mark.parametrize("name", registry.names())
def test_a_card_is_whole(name):
    card = registry.card(name)
    assert card.name == name
    assert card.voice(card.default_voice) is not None
    assert card.voice("no such voice") is None
    assert len({voice.name for voice in card.voices}) == len(card.voices)
    assert all(voice.revision and voice.licence for voice in card.voices)
    assert card.numerics
    assert card.sample_rate_hz > 0
    assert card.max_chars > 0
    assert card.chars_per_s > 0
    assert card.min_speed <= 1.0 <= card.max_speed
    assert all(voice.installed or voice.install_hint for voice in card.voices)


def test_cards_come_without_torch_and_without_one_another():
    code = (
        "import sys; from models import registry\n"
        "assert not any(name.startswith('models.fake') for name in sys.modules)\n"
        "registry.card('fake'); assert 'models.piper' not in sys.modules\n"
        "[registry.card(name) for name in registry.names()]\n"
        "assert 'torch' not in sys.modules, 'a card imported torch'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_fake_runs_without_torch():
    code = (
        "import sys; from models import registry; import engine.engine\n"
        "registry.load('fake'); assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_model_is_added_by_its_row_alone(monkeypatch):
    place = "tests.models.third"
    monkeypatch.setitem(registry.ROWS, "third", Row(card=f"{place}:card", load=f"{place}:load"))
    assert registry.names() == ("piper", "orpheus", "kokoro", "kokoro-v1.1-zh", *QWEN3_TTS, "fake", "third")
    assert registry.card("third", precision="fp32").numerics == "third-fp32"
    assert registry.load("third", precision="bf16").card.numerics == "third-bf16"


def test_a_voice_is_known_or_comes_from_the_models_own_reader(monkeypatch):
    assert registry.voice_card("fake", "tone-low") == registry.card("fake").voice("tone-low")
    with pytest.raises(UnknownVoice, match=r"model fake has no voice 'x\.onnx'; it has tone, tone-low, tone-high"):
        registry.voice_card("fake", "x.onnx")
    place = "tests.models.third"
    row = Row(card=f"{place}:card", load=f"{place}:load", voice_card=f"{place}:voice_card")
    monkeypatch.setitem(registry.ROWS, "third", row)
    assert registry.voice_card("third", "x.onnx").name == "read from x.onnx"
    assert registry.voice_card("third", "tone").name == "tone"


def test_the_fake_takes_no_other_device():
    with pytest.raises(DeviceUnavailable, match="'cpu' only, not on 'cuda'"):
        registry.load("fake", device="cuda")


def test_a_model_of_the_hub_is_known_by_its_repository_too():
    assert registry.full_name(LM_REPO) == "orpheus"
    assert not registry.is_folder(LM_REPO)
    assert registry.card(LM_REPO) == registry.card("orpheus")
    with pytest.raises(UnknownModel, match=r"is not a folder .*`hf download REPOSITORY --local-dir DIR`"):
        registry.card("somebody/some-model")
