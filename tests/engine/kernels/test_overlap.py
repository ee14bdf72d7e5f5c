"""Early starts of kernels: where they are asked for, that nothing touches memory above the wait, that results stay."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from engine.kernels import overlap
from engine.kernels.linear import linear
from engine.kernels.norm import add_rms_norm, silu_mul

ROOT = Path(__file__).parents[3]
CUDA = torch.device("cuda", 0)
OFF = {"PDL": False}
KERNELS = {
    *("_rms_norm_kernel", "_add_rms_norm_kernel", "_silu_mul_kernel", "_linear_kernel"),
    *("_rope_append_kernel", "_attend_kernel", "_combine_kernel", "_sample_kernel"),
}
MEMORY = re.compile(r"\b(ld\.global|st\.global|ld\.local|st\.local|cp\.async|atom|red)\b")
JUMP = re.compile(r"\b(bra|brx|ret|exit|trap|call)\b")
HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() >= (9, 0)


@pytest.fixture
def device_of(monkeypatch):
    """Makes device 0 one of that capability."""

    def make(capability, hip=None):
        overlap._able.cache_clear()
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda index: capability)
        monkeypatch.setattr(torch.version, "hip", hip)

    yield make
    overlap._able.cache_clear()


@pytest.mark.parametrize("capability", [(9, 0), (10, 0), (12, 1)])
def test_it_is_asked_for_from_hopper_on(device_of, monkeypatch, capability):
    device_of(capability)
    monkeypatch.setattr(overlap, "ENABLED", True)
    assert overlap.launch_options(CUDA) == {"PDL": True, "launch_pdl": True}


@pytest.mark.parametrize(("capability", "hip"), [((8, 9), None), ((7, 0), None), ((9, 4), "7.0")])
def test_it_is_not_asked_for_where_it_is_not_there(device_of, monkeypatch, capability, hip):
    device_of(capability, hip)
    assert overlap.launch_options(CUDA) == OFF
    assert overlap.launch_options(torch.device("cpu")) == OFF


def test_it_can_be_switched_off(device_of, monkeypatch):
    device_of((9, 0))
    monkeypatch.setattr(overlap, "ENABLED", False)
    assert overlap.launch_options(CUDA) == OFF


def compile_all(folder):
    """The kernels' PTX, from a process in which Triton does not interpret."""
    environment = {**os.environ, "TRITON_CACHE_DIR": str(folder / "cache"), "TRITON_INTERPRET": "0"}
    command = [sys.executable, "-m", "tests.engine.kernels.ahead_of_time", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {path.stem: path.read_text("utf-8") for path in folder.glob("*.ptx")}


def test_no_kernel_touches_memory_or_leaves_before_it_has_waited(tmp_path):
    found = compile_all(tmp_path)
    assert set(found) == KERNELS
    for name, text in found.items():
        body = re.sub(r"//.*", "", text[text.index("$L__func_begin0:") :])
        above, *rest = re.split(r"griddepcontrol\.wait\s*;", body)
        assert len(rest) == 1, name
        (below,) = rest
        assert MEMORY.search(below), name
        assert not MEMORY.search(above), name
        assert not JUMP.search(above), name
        assert len(re.findall(r"griddepcontrol\.launch_dependents\s*;", above)) == 1, name


def chain(x, weights):
    """Layers without attention: our kernels after one another and after the library's."""
    norm, wide, down = weights
    mixed, residual = x, torch.zeros_like(x)
    for _ in range(40):
        normed, residual = add_rms_norm(mixed, residual, norm, 1e-5)
        mixed = linear(silu_mul(torch.nn.functional.linear(normed, wide)), down)
    return mixed + residual


@pytest.mark.skipif(not HOPPER, reason="needs CUDA with compute capability 9.0 or newer")
def test_a_captured_chain_gives_what_it_gives_without(monkeypatch):
    torch.manual_seed(0)
    x = torch.randn(4, 1024, device=CUDA, dtype=torch.bfloat16)
    shapes = ((4096, 1024), (1024, 2048))
    matrices = [torch.randn(shape, device=CUDA, dtype=torch.bfloat16) * 0.02 for shape in shapes]
    weights = (torch.ones(1024, device=CUDA, dtype=torch.bfloat16), *matrices)
    monkeypatch.setattr(overlap, "ENABLED", False)
    want = chain(x, weights)
    monkeypatch.setattr(overlap, "ENABLED", True)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        assert torch.equal(chain(x, weights), want)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            result = chain(x, weights)
        for _ in range(20):
            result.zero_()
            graph.replay()
            assert torch.equal(result, want)
