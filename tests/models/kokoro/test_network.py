"""The network computes what the package kokoro computes from the same weights, alone and in batches."""

from __future__ import annotations

import pytest
import torch

from engine import noise_torch
from models.errors import BadWeights
from models.kokoro import layout, weights
from models.kokoro.config import KokoroConfig
from models.kokoro.decoder import DRAW_NOISE
from models.kokoro.network import Kokoro, Utterance
from models.kokoro.parts import AdaIn, Conv, Mask
from tests.helpers_reference import run_reference

CPU = torch.device("cpu")


def utterance(length, speed, seed, number):
    generator = torch.Generator().manual_seed(number)
    ids = torch.randint(1, 178, (length,), generator=generator)
    return Utterance(ids, 0.3 * torch.randn(256, generator=generator), speed, seed)


UTTERANCES = [utterance(7, 6.0, None, 1), utterance(16, 6.0, 7, 2), utterance(11, 4.0, 9, 3)]


@pytest.fixture(scope="module")
def network(random_state):
    torch.set_num_threads(1)
    return Kokoro(KokoroConfig(), random_state)


@pytest.fixture(scope="module")
def reference(network, random_state, tmp_path_factory):
    """What the package speaks, with our noise as its own."""
    folder = tmp_path_factory.mktemp("kokoro")
    torch.save(random_state, folder / "state.pt")
    cases = []
    for one in UTTERANCES:
        samples = len(network.speak([one])[0].samples)
        noise = None
        if one.seed is not None:
            noise = noise_torch.normal(torch.tensor([one.seed]), DRAW_NOISE, torch.arange(samples)[None])[0]
        cases.append({"ids": one.ids.tolist(), "style": one.style, "speed": one.speed, "noise": noise})
    torch.save(cases, folder / "cases.pt")
    run_reference("kokoro82.py", "kokoro", folder)
    return torch.load(folder / "spoken.pt")


@pytest.mark.parametrize("number", range(len(UTTERANCES)))
def test_prosody_is_that_of_the_reference(network, reference, number):
    wanted, plan = reference[number], network._plan(UTTERANCES[number])
    assert torch.equal(plan.frames, wanted["frames"])
    assert (wanted["pitch"] > 10).float().mean() > 0.5  # voiced, most of it
    torch.testing.assert_close(plan.pitch[0, 0, 0], wanted["pitch"], rtol=1e-4, atol=5e-3)
    torch.testing.assert_close(plan.energy[0, 0, 0], wanted["energy"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("number", range(len(UTTERANCES)))
def test_audio_is_that_of_the_reference_on_its_curves(network, reference, number, monkeypatch):
    """Rounding of the pitch becomes another phase after some seconds: so both get the same curves."""
    wanted = reference[number]
    pitch, energy = (wanted[name].view(1, 1, 1, -1) for name in ("pitch", "energy"))
    monkeypatch.setattr(network, "_curves", lambda _aligned, _style: (pitch, energy))
    samples = network.speak([UTTERANCES[number]])[0].samples
    off = (samples - wanted["samples"]).abs()
    assert wanted["samples"].abs().mean() > 0.02
    assert off.median() < 2e-5
    assert off.quantile(0.99) < 1e-3  # a phase near pi that turned round is heard for the length of a filter


def test_an_utterance_is_the_same_in_any_company_to_the_bit(network):
    alone = [network.speak([one])[0] for one in UTTERANCES[1:]]
    together = network.speak(UTTERANCES[1:])
    for one, other in zip(alone, together, strict=True):
        assert torch.equal(one.samples, other.samples)
        assert torch.equal(one.frames, other.frames)


def test_a_masked_batch_decodes_what_each_gets_alone(network, monkeypatch):
    """What a GPU does, on this processor. (Here and there a phase of the source near pi turns round by rounding.)"""
    planned = [network._plan(Utterance(one.ids, one.style, one.speed / 3, one.seed)) for one in UTTERANCES[1:]]
    together = network._decode(planned)
    for plan, samples in zip(planned, together, strict=True):
        (alone,) = network._decode([plan])
        assert samples.shape == alone.shape
        off = (samples - alone).abs()
        assert off.median() < 2e-5
        assert off.quantile(0.99) < 1e-3


def test_noise_follows_the_seed(network):
    one = UTTERANCES[1]
    again = network.speak([one])[0].samples
    assert torch.equal(again, network.speak([one])[0].samples)
    other = network.speak([Utterance(one.ids, one.style, one.speed, 8)])[0].samples
    assert not torch.equal(again, other)
    assert 1e-4 < (again - other).abs().mean() < 0.2


def test_speed_divides_durations(network):
    one = UTTERANCES[2]
    slow = network.speak([Utterance(one.ids, one.style, 2.0, one.seed)])[0]
    fast = network.speak([Utterance(one.ids, one.style, 4.0, one.seed)])[0]
    assert 1.7 < slow.frames.sum() / fast.frames.sum() < 2.3
    assert len(fast.samples) == 600 * fast.frames.sum()


def test_masks_leave_out_what_does_not_exist():
    generator = torch.Generator().manual_seed(0)
    state = {
        "n.fc.weight": torch.randn(8, 3, generator=generator),
        "n.fc.bias": torch.randn(8, generator=generator),
        "c.weight": torch.randn(4, 4, 3, generator=generator),
        "c.bias": torch.randn(4, generator=generator),
    }
    x, style = torch.randn(2, 4, 1, 9, generator=generator), torch.randn(2, 3, generator=generator)
    mask = Mask.of(torch.tensor([9, 5]), 9)
    normed = AdaIn(state, "n")(x, style, mask)
    conv = Conv(state, "c", padding=1)
    torch.testing.assert_close(normed[1:, :, :, :5], AdaIn(state, "n")(x[1:, :, :, :5], style[1:], None))
    torch.testing.assert_close(conv(x, mask)[1:, :, :, :5], conv(x[1:, :, :, :5]))
    assert Mask.of(torch.tensor([9, 9]), 9) is None


def test_published_checkpoints_are_folded(random_state, tmp_path):
    parts: dict[str, dict[str, torch.Tensor]] = {}
    for name, value in random_state.items():
        part, _, key = name.partition(".")
        kept = parts.setdefault(part, {})
        if value.dim() == 3 and key.endswith(".weight") and "noise_convs" not in key and "_proj" not in key:
            kept[f"module.{key}_v"] = 3.0 * value
            kept[f"module.{key}_g"] = torch.linalg.vector_norm(value, dim=(1, 2), keepdim=True)
        else:
            kept[f"module.{key}"] = value
    parts["bert"]["module.pooler.weight"] = torch.zeros(1)
    torch.save(parts, tmp_path / "kokoro.pth")
    loaded = weights.load_pth(tmp_path / "kokoro.pth", KokoroConfig(), device=CPU)
    assert loaded.keys() == random_state.keys()
    for name, value in random_state.items():
        torch.testing.assert_close(loaded[name], value, rtol=1e-6, atol=1e-7)


def test_wrong_checkpoints_are_named(random_state, tmp_path):
    path = tmp_path / "kokoro.pth"
    path.write_bytes(b"nothing")
    with pytest.raises(BadWeights, match="no Kokoro checkpoint"):
        weights.load_pth(path, KokoroConfig(), device=CPU)
    torch.save({part: {} for part in weights.PARTS}, path)
    with pytest.raises(BadWeights, match="457 tensors are not those of the config"):
        weights.load_pth(path, KokoroConfig(), device=CPU)


def test_the_layout_is_the_published_one():
    shapes = layout.names(KokoroConfig())
    assert sum(torch.Size(shape).numel() for shape in shapes.values()) == 81_140_664  # less pooler and norms of ones
    assert KokoroConfig().samples_per_frame == 600
