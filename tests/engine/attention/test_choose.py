"""Which attention back end a name stands for, and what is said where it cannot run."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
import torch

from engine.attention.choose import make_attention
from engine.errors import DeviceUnavailable
from tests.engine.attention.paged import Run, kv_shape, make_case

CASE = make_case([Run(0, 0, 1)], shape=kv_shape())


@pytest.mark.parametrize("name", ["auto", "torch"])
def test_the_cpu_has_torch(name):
    assert make_attention(name, CASE.kv, CASE.pages, deterministic=True).name == "torch"


@pytest.mark.parametrize("name", ["triton", "flashinfer"])
def test_the_others_need_a_gpu(name):
    with pytest.raises(DeviceUnavailable, match=f"'{name}' needs a CUDA device and the KV memory is on cpu"):
        make_attention(name, CASE.kv, CASE.pages, deterministic=False)


@pytest.mark.parametrize("name", ["triton", "flashinfer", "auto"])
def test_without_triton_the_way_to_it_is_told(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    for module in ("engine.kernels.attention", "engine.attention.triton_pages", "engine.attention.flashinfer_pages"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    kv = SimpleNamespace(data=SimpleNamespace(device=torch.device("cuda")))
    with pytest.raises(DeviceUnavailable, match=r"needs the package 'triton'.* pip install 'triton>=3\.6,<4'"):
        make_attention(name, kv, CASE.pages, deterministic=False)


def test_an_unknown_name_is_answered_with_those_that_are_known():
    with pytest.raises(ValueError, match="'flash' is not known; allowed are auto, torch, triton, flashinfer"):
        make_attention("flash", CASE.kv, CASE.pages, deterministic=False)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_has_triton():
    case = make_case([Run(0, 0, 1)], shape=kv_shape())
    kv = type(case.kv)(case.kv.data.cuda(), case.kv.shape, case.kv.page_size)
    assert make_attention("auto", kv, case.pages.cuda(), deterministic=False).name == "triton"
