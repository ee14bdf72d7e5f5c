"""The SNAC decoder against the reference package, in windows, in company, and in its fused form."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.codecs.snac.config import SnacConfig
from models.codecs.snac.decoder import SnacDecoder
from tests.models.codecs.tiny_snac import make_tiny_snac, reference, reference_decode

CPU = torch.device("cpu")
FRAME = 2048  # samples
CONTEXT = 3  # frames
JUNK = (-5, 4096, 2**31 - 1)
"""Codes of frames that are not valid: no row of a table."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("snac")
    make_tiny_snac(path)
    return path


@pytest.fixture(scope="module")
def quiet(folder):
    return SnacDecoder.from_folder(folder, device=CPU, noise=False)


@pytest.fixture(scope="module")
def noisy(folder):
    return SnacDecoder.from_folder(folder, device=CPU)


def codes_of(batch: int, frames: int, *, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 4096, (batch, frames, 7), generator=generator, dtype=torch.int32)


def decode(decoder: SnacDecoder, codes: torch.Tensor, *, seed: int = 11, valid=None, first: int = 0) -> torch.Tensor:
    """All rows alike."""
    batch, frames = codes.shape[:2]
    bounds = torch.tensor([valid or (0, frames)] * batch, dtype=torch.int32)
    return decoder.decode(codes, bounds, torch.full((batch,), seed), torch.full((batch,), first))


def window(codes: torch.Tensor, start: int, stop: int) -> tuple[torch.Tensor, tuple[int, int], int]:
    """Frames [start, stop) of one utterance with context on both sides, junk where the utterance is not."""
    first, last = start - CONTEXT, stop + CONTEXT
    out = torch.tensor(JUNK, dtype=torch.int32).repeat(1, last - first, 3)[:, :, :7].contiguous()
    low, high = max(first, 0), min(last, codes.shape[1])
    out[:, low - first : high - first] = codes[:, low:high]
    return out, (low - first, high - first), first


def middle(samples: torch.Tensor) -> torch.Tensor:
    return samples[:, CONTEXT * FRAME : -CONTEXT * FRAME]


def test_it_gives_what_the_reference_gives(quiet):
    codes = codes_of(2, 6)
    wanted = reference_decode(reference(), codes)
    got = decode(quiet, codes)
    assert got.shape == (2, 6 * FRAME)
    assert wanted.std() > 0.05
    torch.testing.assert_close(got, wanted, rtol=0, atol=1e-5)


def test_noise_is_heard_and_follows_seed_and_place(quiet, noisy):
    codes = codes_of(1, 3)
    plain, one = decode(quiet, codes), decode(noisy, codes, seed=1)
    assert (one - plain).std() > 0.01
    assert torch.equal(decode(noisy, codes, seed=1), one)
    assert (decode(noisy, codes, seed=2) - one).std() > 0.01
    assert (decode(noisy, codes, seed=1, first=1) - one).std() > 0.01
    assert torch.equal(decode(quiet, codes, seed=2, first=5), plain)


@given(cuts=st.sets(st.integers(1, 8), max_size=3))
@settings(max_examples=4, deadline=None)
def test_windows_give_what_the_whole_gives(noisy, cuts):
    codes = codes_of(1, 9)
    whole = decode(noisy, codes)
    edges = [0, *sorted(cuts), 9]
    for start, stop in pairwise(edges):
        part, valid, first = window(codes, start, stop)
        got = middle(decode(noisy, part, valid=valid, first=first))
        torch.testing.assert_close(got, whole[:, start * FRAME : stop * FRAME], rtol=0, atol=1e-5)


def test_less_context_than_it_says_is_not_enough(noisy):
    codes = codes_of(1, 9)
    whole = decode(noisy, codes)[:, 4 * FRAME : 5 * FRAME]
    assert noisy.context_frames == CONTEXT
    short = decode(noisy, codes[:, 2:7], first=2)[:, 2 * FRAME : 3 * FRAME]
    enough = decode(noisy, codes[:, 1:8], first=1)[:, 3 * FRAME : 4 * FRAME]
    assert (short - whole).abs().max() > 1e-4
    torch.testing.assert_close(enough, whole, rtol=0, atol=1e-6)


def test_one_frame_moves_samples_up_to_its_reach(quiet):
    """The reach that was measured on the published shape: 4,757 samples before and 4,756 after the frame."""
    codes = codes_of(1, 9)
    other = codes.clone()
    other[0, 4] = (other[0, 4] + 1777) % 4096
    (moved,) = torch.nonzero((decode(quiet, codes) - decode(quiet, other))[0], as_tuple=True)
    assert 2 * FRAME < 4 * FRAME - int(moved[0]) <= 4757
    assert 2 * FRAME < int(moved[-1]) + 1 - 5 * FRAME <= 4756


def test_rows_of_a_batch_are_as_alone(noisy):
    codes = codes_of(4, 5)
    valid = torch.tensor([[0, 5], [2, 5], [0, 1], [3, 3]], dtype=torch.int32)
    seeds, first = torch.tensor([1, -(2**63), 2**62, 0]), torch.tensor([0, -2, 40, 7])
    together = noisy.decode(codes, valid, seeds, first)
    for row in range(4):
        one = slice(row, row + 1)
        alone = noisy.decode(codes[one], valid[one], seeds[one], first[one])
        torch.testing.assert_close(together[one], alone, rtol=0, atol=1e-5)
    assert not together[3].any()
    assert not together[1, : 2 * FRAME].any()
    assert together[1, 2 * FRAME :].all()


@pytest.fixture
def few_programs(monkeypatch):
    """Large programs: the interpreter's time goes by their number."""
    from engine.kernels import conv

    monkeypatch.setattr(conv, "LANES", 512)
    monkeypatch.setattr(conv, "ROWS", 2048)


@pytest.mark.skipif(torch.cuda.is_available(), reason="with a GPU the kernels take no CPU tensors; the next test is it")
@pytest.mark.parametrize(("noise", "frames"), [(True, 2), (False, 1)])
def test_the_fused_form_gives_what_the_plain_one_gives(folder, few_programs, noise, frames):
    plain = SnacDecoder.from_folder(folder, device=CPU, noise=noise)
    fused = SnacDecoder.from_folder(folder, device=CPU, noise=noise, fused=True)
    codes = codes_of(2, frames)
    codes[1, 0] = JUNK[1]
    given = (
        codes,
        torch.tensor([[0, frames], [1, frames]], dtype=torch.int32),
        torch.tensor([3, -4]),
        torch.tensor([2**33, -1]),
    )
    torch.testing.assert_close(fused.decode(*given), plain.decode(*given), rtol=0, atol=1e-4)


@pytest.mark.skipif(torch.cuda.is_available(), reason="with a GPU the kernels take no CPU tensors; the next test is it")
def test_products_of_float32_are_as_exact_as_the_process_wants_them(folder, few_programs, monkeypatch):
    from engine.kernels import conv

    seen = []
    monkeypatch.setattr(conv, "last", lambda *given: seen.append(torch.get_float32_matmul_precision()))
    decode(SnacDecoder.from_folder(folder, device=CPU, noise=False, fused=True), codes_of(1, 1))
    assert seen == ["highest"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-4), (torch.float16, 5e-3), (torch.bfloat16, 6e-2)])
def test_the_fused_form_on_cuda_in_a_graph(dtype, tolerance):
    device = torch.device("cuda")
    config = SnacConfig()
    fused = SnacDecoder.random(config, seed=1, device=device, compute_dtype=dtype)
    plain = SnacDecoder(config, on_cpu(fused), fused=False)
    codes = codes_of(2, 4)
    given = (codes, torch.tensor([[0, 4], [1, 4]], dtype=torch.int32), torch.tensor([3, -4]), torch.tensor([9, -1]))
    on_device = [value.to(device) for value in given]
    fused.decode(*on_device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = fused.decode(*on_device)
    graph.replay()
    difference = out.cpu() - plain.decode(*given)
    assert difference.std() < tolerance


def on_cpu(decoder: SnacDecoder):
    """The random weights of a decoder on CUDA, moved: other devices draw other numbers."""
    from dataclasses import fields, is_dataclass

    def moved(value):
        if isinstance(value, tuple):
            return tuple(moved(one) for one in value)
        if is_dataclass(value):
            return type(value)(**{field.name: moved(getattr(value, field.name)) for field in fields(value)})
        return value.cpu() if isinstance(value, torch.Tensor) else value

    return moved(decoder._weights)


def test_a_random_decoder_is_heard_and_does_not_clip():
    config = SnacConfig(latent_dim=96, decoder_dim=128)
    samples = decode(SnacDecoder.random(config, seed=1, device=CPU), codes_of(1, 4))
    assert 0.01 < samples.std() < 0.5
    assert samples.isfinite().all()


def test_a_model_without_noise_layers_loads_and_takes_no_noise():
    config = SnacConfig(latent_dim=32, decoder_dim=32, noise=False)
    decoder = SnacDecoder.random(config, seed=1, device=CPU, noise=True)
    codes = codes_of(1, 2)
    assert torch.equal(decode(decoder, codes, seed=1), decode(decoder, codes, seed=2))


def test_plain_is_float32_only(folder):
    with pytest.raises(ValueError, match=r"torch\.float16 is not allowed"):
        SnacDecoder.from_folder(folder, device=CPU, compute_dtype=torch.float16)
    with pytest.raises(ValueError, match=r"torch\.float64 is not allowed"):
        SnacDecoder.from_folder(folder, device=CPU, compute_dtype=torch.float64, fused=True)


@pytest.mark.parametrize(
    ("index", "bad", "name"),
    [
        (0, torch.zeros(1, 2, 6, dtype=torch.int32), "codes"),
        (0, torch.zeros(1, 2, 7, dtype=torch.int64), "codes"),
        (0, torch.zeros(7, dtype=torch.int32), "codes"),
        (1, torch.zeros(1, 2, dtype=torch.int64), "valid"),
        (2, torch.zeros(2, dtype=torch.int64), "seeds"),
        (3, torch.zeros(1, dtype=torch.int32), "first_frame"),
    ],
)
def test_other_shapes_and_dtypes_are_refused_by_name(quiet, index, bad, name):
    given = [
        torch.zeros(1, 2, 7, dtype=torch.int32),
        torch.tensor([[0, 2]], dtype=torch.int32),
        torch.zeros(1, dtype=torch.int64),
        torch.zeros(1, dtype=torch.int64),
    ]
    given[index] = bad
    with pytest.raises(ValueError, match=name):
        quiet.decode(*given)
