"""The product of few rows: what torch computes, for 1 to 16 rows, also where outputs do not fill the last program."""

from __future__ import annotations

import pytest
import torch

from engine.kernels.linear import linear, takes

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize(("rows", "outputs", "width"), [(1, 40, 512), (3, 16, 1024), (16, 33, 1536)])
def test_it_is_the_product(rows, outputs, width):
    torch.manual_seed(rows)
    x = torch.randn(rows, width, device=DEVICE).half()
    weight = torch.randn(outputs, width, device=DEVICE).half()
    assert takes(x, weight)
    want = x.double() @ weight.double().T
    assert torch.allclose(linear(x, weight).double(), want, rtol=2e-3, atol=2e-2)


def test_a_row_is_the_same_in_any_company():
    torch.manual_seed(0)
    x, weight = torch.randn(16, 512, device=DEVICE).half(), torch.randn(48, 512, device=DEVICE).half()
    whole = linear(x, weight)
    for rows in (1, 5, 15):
        assert torch.equal(linear(x[:rows], weight), whole[:rows])
        assert torch.equal(linear(x[-rows:], weight), whole[-rows:])


@pytest.mark.parametrize(
    ("rows", "width", "dtype"), [(17, 512, torch.float16), (1, 500, torch.float16), (1, 512, torch.float32)]
)
def test_what_it_does_not_take(rows, width, dtype):
    assert not takes(torch.zeros(rows, width, dtype=dtype), torch.zeros(8, width, dtype=dtype))
