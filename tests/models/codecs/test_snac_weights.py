"""SNAC's files: both spellings of weight norm, both formats, and what is refused."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from models.codecs.snac.config import SnacConfig
from models.codecs.snac.layout import checked, names
from models.codecs.snac.weights import SnacWeights
from models.errors import BadWeights
from tests.models.codecs.tiny_snac import TINY_CONFIG, make_tiny_snac

CPU = torch.device("cpu")
CONFIG = SnacConfig.from_dict(dict(TINY_CONFIG))
BIN = "pytorch_model.bin"
ALPHA = "decoder.model.6.alpha"
SPELLINGS = {"parametrizations.weight.original0": "weight_g", "parametrizations.weight.original1": "weight_v"}


@pytest.fixture
def folder(tmp_path):
    make_tiny_snac(tmp_path)
    return tmp_path


@pytest.fixture
def state(folder):
    return torch.load(folder / BIN, weights_only=True)


def tensors(weights: SnacWeights) -> list[torch.Tensor]:
    blocks = [block for block in weights.blocks for block in (block.alpha, block.up, block.up_bias, block.noise)]
    units = [unit for block in weights.blocks for unit in block.units]
    inner = [part for unit in units for part in (unit.first_alpha, unit.conv, unit.second_alpha, unit.point)]
    biases = [part for unit in units for part in (unit.conv_bias, unit.point_bias)]
    ends = [weights.conv, weights.conv_bias, weights.point, weights.point_bias, weights.alpha, weights.last]
    return [*weights.tables, *ends, weights.last_bias, *blocks, *inner, *biases]


def same(one: SnacWeights, other: SnacWeights) -> bool:
    return all(torch.equal(a, b) for a, b in zip(tensors(one), tensors(other), strict=True))


def load(folder) -> SnacWeights:
    return SnacWeights.load(folder, CONFIG, device=CPU)


def test_older_names_and_old_and_new_formats_give_the_same_weights(folder, state):
    wanted = load(folder)
    older = {}
    for name, value in state.items():
        for new, old in SPELLINGS.items():
            name = name.replace(new, old)
        older[name] = value
    assert any(name.endswith("weight_g") for name in older)
    torch.save(older, folder / BIN, _use_new_zipfile_serialization=False)
    assert same(load(folder), wanted)
    (folder / BIN).unlink()
    save_file(state, folder / "model.safetensors")
    assert same(load(folder), wanted)


def test_weight_norm_is_folded_and_codes_become_rows(folder, state):
    weights = load(folder)
    layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.ConvTranspose1d(64, 32, 16))
    prefix = "decoder.model.2.block.1."
    layer.load_state_dict({name.removeprefix(prefix): state[name] for name in state if name.startswith(prefix)})
    torch.testing.assert_close(weights.blocks[0].up, layer.weight.detach())
    prefix = "quantizer.quantizers.1."
    layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv1d(8, 32, 1))
    named = {name.removeprefix(prefix + "out_proj."): state[name] for name in state if name.startswith(prefix + "out_")}
    layer.load_state_dict(named)
    code = state[prefix + "codebook.weight"][77]
    torch.testing.assert_close(weights.tables[1][77], layer(code[:, None]).detach()[:, 0])


def test_loaded_weights_do_not_change_with_the_file(folder):
    weights = load(folder)
    kept = weights.last_bias.clone()
    content = (folder / BIN).read_bytes()
    with (folder / BIN).open("r+b") as file:
        file.write(b"\xff" * len(content))
    assert torch.equal(weights.last_bias, kept)


def test_encoder_names_may_be_missing_or_there(state):
    decoder_only = {name: value for name, value in state.items() if name in names(CONFIG)}
    assert 0 < len(decoder_only) < len(state)
    assert checked(decoder_only, CONFIG).keys() == checked(state, CONFIG).keys()


def test_half_precision_files_are_widened(state):
    halves = {name: value.half() for name, value in state.items()}
    assert {value.dtype for value in checked(halves, CONFIG).values()} == {torch.float32}


def test_missing_and_unexpected_names_are_named(state):
    del state[ALPHA]
    state["decoder.model.9.alpha"] = torch.zeros(1)
    with pytest.raises(BadWeights, match=r"missing \['decoder\.model\.6\.alpha'\], unexpected \['decoder\.model\.9"):
        checked(state, CONFIG)


def test_many_names_are_counted(state):
    with pytest.raises(BadWeights, match=r"and \d\d+ more"):
        checked({}, CONFIG)


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (torch.ones(1, 5, 1), r"\(1, 5, 1\), its config says \(1, 4, 1\)"),
        (torch.full((1, 4, 1), torch.nan), "no finite"),
        (torch.ones(1, 4, 1, dtype=torch.int64), "no finite floats"),
    ],
)
def test_bad_tensors_are_named(state, value, match):
    state[ALPHA] = value
    with pytest.raises(BadWeights, match=rf"alpha (is|holds).*{match}"):
        checked(state, CONFIG)


@pytest.mark.parametrize("name", [BIN, "model.safetensors"])
@pytest.mark.parametrize("content", [b"", b"no weights", b"PK\x03\x04" + b"\x00" * 100, None])
def test_damaged_files_are_named(folder, name, content):
    whole = (folder / BIN).read_bytes()
    (folder / name).write_bytes(whole[: len(whole) // 2] if content is None else content)
    with pytest.raises(BadWeights, match=name):
        load(folder)


def test_a_file_of_something_else_is_refused(folder):
    torch.save([1, 2], folder / BIN)
    with pytest.raises(BadWeights, match="not a table of tensors"):
        load(folder)


def test_no_file(tmp_path):
    with pytest.raises(BadWeights, match=r"neither model\.safetensors nor pytorch_model\.bin"):
        load(tmp_path)


def test_random_weights_have_the_config_s_shapes_and_repeat(folder):
    random = SnacWeights.random(CONFIG, seed=4, device=CPU)
    shapes = [value.shape for value in tensors(load(folder))]
    assert [value.shape for value in tensors(random)] == shapes
    assert same(random, SnacWeights.random(CONFIG, seed=4, device=CPU))
    assert not same(random, SnacWeights.random(CONFIG, seed=5, device=CPU))
