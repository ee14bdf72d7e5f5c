"""Kokoro's voices: names and languages, blends as weighted means, cards of a published checkpoint's folder."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from models import hub, registry
from models.errors import BadWeights, MissingExtra, UnknownVoice
from models.kokoro import readers, source, voices
from models.kokoro.voices import Blend, blended, card_of, language_of, read_table

NAMES = ("af_heart", "bf_emma", "ef_dora", "jf_alpha", "zf_001")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A checkpoint as the hub has it, with a network of nothing."""
    folder = tmp_path_factory.mktemp("Kokoro-82M")
    (folder / "config.json").write_text(json.dumps({"istftnet": {}, "plbert": {}, "vocab": {"a": 1}}))
    torch.save({}, folder / "kokoro-v1_0.pth")
    (folder / "voices").mkdir()
    for number, name in enumerate(NAMES):
        table = torch.randn(510, 1, 256, generator=torch.Generator().manual_seed(number))
        torch.save(table, folder / "voices" / f"{name}.pt")
    return folder


@pytest.fixture
def found(folder):
    return source.find(str(folder))


def table(folder, name):
    return torch.load(folder / "voices" / f"{name}.pt").numpy()[:, 0]


@pytest.mark.parametrize(
    ("text", "name", "weights"),
    [
        ("af_heart", "af_heart", (1.0,)),
        ("af_heart:7", "af_heart", (1.0,)),
        ("af_heart+af_heart:2", "af_heart", (1.0,)),
        ("bf_emma:0.4+af_heart:0.6", "af_heart:0.6+bf_emma:0.4", (0.6, 0.4)),
        (" af_heart:3 + bf_emma:2 ", "af_heart:0.6+bf_emma:0.4", (0.6, 0.4)),
        ("af_heart+bf_emma", "af_heart:0.5+bf_emma:0.5", (0.5, 0.5)),
        ("c+b+a", "a:0.3333+b:0.3333+c:0.3333", (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_a_blend_has_one_name_however_it_is_written(text, name, weights):
    blend = Blend.parse(text)
    assert blend.name == name
    assert [weight for _, weight in blend.parts] == pytest.approx(list(weights))
    assert Blend.parse(name).name == name


def test_a_blend_is_the_weighted_mean_of_its_tables(folder, found):
    heart, emma = table(folder, "af_heart"), table(folder, "bf_emma")
    given = blended(Blend.parse("bf_emma:1+af_heart:3"), found)
    assert given.shape == (510, 256)
    assert given.dtype == np.float32
    np.testing.assert_allclose(given, 0.75 * heart + 0.25 * emma, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(blended(Blend.parse("af_heart"), found), heart)
    with pytest.raises(UnknownVoice, match="no voice 'nobody' here; it has af_heart, bf_emma"):
        blended(Blend.parse("af_heart+nobody"), found)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("af_heart", "en-US"),
        ("bm_lewis", "en-GB"),
        ("jf_alpha", "ja"),
        ("zf_001", "zh"),
        ("ef_dora", "es"),
        ("ff_siwis", "fr"),
        ("hf_alpha", "hi"),
        ("if_sara", "it"),
        ("pm_alex", "pt-BR"),
        ("af_heart:0.4+bf_emma:0.6", "en-GB"),
        ("af_heart+bf_emma", "en-US"),
    ],
)
def test_the_first_letter_tells_the_language(text, language):
    assert language_of(Blend.parse(text)) == language


def test_cards_say_what_can_be_read_and_what_is_missing(folder, monkeypatch):
    monkeypatch.setattr(readers, "installed", lambda: ("en",))
    monkeypatch.setattr(readers, "can_read_british", lambda: False)
    hints = {"ja": "reading ja needs x: pip install x"}
    monkeypatch.setattr(readers, "install_hint", lambda language: hints.get(language, ""))
    card = registry.card(str(folder))
    assert card.default_voice == "af_heart"
    assert [voice.name for voice in card.voices] == list(NAMES)
    assert {voice.licence for voice in card.voices} == {"Apache-2.0"}
    assert {voice.reads for voice in card.voices} == {("en",)}
    notes = {voice.name: voice.note for voice in card.voices}
    assert "British English needs its dictionaries: pip install" in notes["bf_emma"]
    assert notes["ef_dora"] == "There is no reader of es here; with --lang en it reads English."
    assert notes["jf_alpha"] == "Reading ja needs x: pip install x; with --lang en it reads English."
    monkeypatch.setattr(readers, "can_read_british", lambda: True)
    hints.clear()
    notes = {voice.name: voice.note for voice in registry.card(str(folder)).voices}
    assert not any(notes[name] for name in NAMES if name != "ef_dora")


def test_the_revision_is_that_of_network_tables_and_weights(folder, found, tmp_path):
    def revision(text):
        return card_of(Blend.parse(text), found, name=text).revision

    assert revision("af_heart:2+bf_emma") == revision("bf_emma:1+af_heart:2")
    assert len({revision(text) for text in (*NAMES, "af_heart+bf_emma", "af_heart:2+bf_emma")}) == 7
    before = revision("af_heart")
    path = folder / "voices" / "af_heart.pt"
    content = path.read_bytes()
    torch.save(torch.zeros(510, 1, 256), path)
    assert revision("af_heart") != before
    path.write_bytes(content)
    assert revision("af_heart") == before


def test_damaged_tables_are_named(tmp_path):
    path = tmp_path / "af_x.pt"
    path.write_bytes(b"nothing")
    with pytest.raises(BadWeights, match=r"af_x\.pt holds no voice 'af_x'.*fetch it again"):
        read_table(path, "af_x")
    with pytest.raises(BadWeights, match="holds no voice"):
        read_table(tmp_path / "gone.npz", "gone")
    np.savez(tmp_path / "all.npz", af_x=np.zeros((510, 1, 256), np.float32))
    assert read_table(tmp_path / "all.npz", "af_x").shape == (510, 256)
    with pytest.raises(BadWeights, match="holds no voice 'af_y'"):
        read_table(tmp_path / "all.npz", "af_y")


def test_both_releases_come_from_the_hub_s_cache(folder, monkeypatch):
    asked = []

    def cached(repo, files):
        asked.append(repo)
        return folder

    monkeypatch.setattr(hub, "cached", cached)
    for name in ("kokoro", "kokoro-v1.1-zh", "hexgrad/Kokoro-82M-v1.1-zh"):
        assert registry.card(name).voice("zf_001") is not None
    assert asked == ["hexgrad/Kokoro-82M", "hexgrad/Kokoro-82M-v1.1-zh", "hexgrad/Kokoro-82M-v1.1-zh"]
    assert registry.voice_card("kokoro-v1.1-zh", "zf_001+af_heart").language == "en-US"


def test_the_second_release_is_not_in_the_wheels(monkeypatch):
    monkeypatch.setattr(hub, "cached", lambda _repo, _files: None)
    card = registry.card("kokoro-v1.1-zh")
    assert "hf download hexgrad/Kokoro-82M-v1.1-zh" in card.install_hint
    assert (card.name, card.default_voice, card.voices[0].installed) == ("kokoro-v1.1-zh", "zf_001", False)
    with pytest.raises(MissingExtra, match="not on this machine"):
        registry.voice_card("kokoro-v1.1-zh", "zf_002")
    fetched = []
    monkeypatch.setattr(hub, "download", lambda repo, _files, **_options: fetched.append(repo))
    registry.fetch("kokoro-v1.1-zh")
    monkeypatch.setattr(source, "_of_wheels", lambda: None)
    registry.fetch("kokoro")
    assert fetched == ["hexgrad/Kokoro-82M-v1.1-zh", "hexgrad/Kokoro-82M"]


def test_without_weights_the_card_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr(hub, "cached", lambda _repo, _files: None)
    monkeypatch.setattr(source, "_of_wheels", lambda: None)
    card = registry.card("kokoro")
    assert card.voices[0].name == "af_heart"
    assert card.voices[0].licence == voices.LICENCE
    for text in (card.install_hint, card.voices[0].install_hint):
        assert "tts-batch[" in text
