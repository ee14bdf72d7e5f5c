"""Compiles the kernels of a token step for sm_90 on any machine: python -m tests.engine.kernels.ahead_of_time FOLDER

The launchers run on small CPU tensors; what they would launch is compiled instead. Writes one FOLDER/<kernel>.ptx each.
Must run where TRITON_INTERPRET is not set: interpreted kernels can not be compiled.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel
from triton.runtime.jit import JITFunction

from engine.attention.base import PagedKv, Rows
from engine.attention.triton_pages import TritonAttention
from engine.kernels import attention, linear, norm, sampling
from engine.tokens.candidates import Candidates
from engine.tokens.program import Grammar, KvShape, Rope
from engine.tokens.state import SlotState

OPTIONS = {"PDL": True, "launch_pdl": True}
KINDS = {torch.bfloat16: "*bf16", torch.float32: "*fp32", torch.int32: "*i32", torch.int16: "*i16", torch.int64: "*i64"}


def compiled(kernel: JITFunction, args: tuple[object, ...], kwargs: dict[str, object]) -> CompiledKernel:
    """One launch for sm_90, specialised as Triton does it: ones are constants, multiples of 16 are known as such."""
    values = dict(zip(kernel.arg_names, args, strict=False))
    values |= {name: kwargs.pop(name) for name in kernel.arg_names if name in kwargs}
    signature, constants, attributes = {}, {}, {}
    for index, parameter in enumerate(kernel.params):
        value = values[parameter.name]
        if parameter.is_constexpr or (isinstance(value, int) and value == 1):
            signature[parameter.name], constants[(index,)] = "constexpr", value
            continue
        if isinstance(value, torch.Tensor):
            signature[parameter.name] = KINDS[value.dtype]
        else:
            signature[parameter.name] = "i32" if isinstance(value, int) else "fp32"
        if isinstance(value, torch.Tensor) or (isinstance(value, int) and value % 16 == 0):
            attributes[(index,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constants, attributes)
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=kwargs)


def launch_all() -> None:
    """Every kernel of a decode step of one row, at Orpheus' widths."""
    bf16 = torch.bfloat16
    row, weight = torch.zeros(1, 3072, dtype=bf16), torch.zeros(3072, dtype=bf16)
    norm.rms_norm(row, weight, 1e-5)
    norm.add_rms_norm(row, row.clone(), weight, 1e-5)
    norm.silu_mul(torch.zeros(1, 2 * 8192, dtype=bf16))
    linear.linear(torch.zeros(1, 8192, dtype=bf16), torch.zeros(3072, 8192, dtype=bf16))
    kv = PagedKv.zeros(KvShape(1, 24, 8, 128, bf16), num_pages=2, page_size=64, device=torch.device("cpu"))
    rows = Rows(torch.zeros(1, dtype=torch.int32), torch.zeros(1, dtype=torch.int32))
    step = TritonAttention(kv, torch.zeros(2, 32, dtype=torch.int32)).for_step(rows, entries=1)
    step(0, torch.zeros(1, 40 * 128, dtype=bf16), Rope(torch.zeros(2048, 128)))
    grammar = Grammar(0, 28736, tuple((4096 * i, 4096 * (i + 1)) for i in range(7)), (28700,))
    cpu = torch.device("cpu")
    state = SlotState.zeros(slots=1, max_tokens=2048, vocab=grammar.vocab, max_pages=32, device=cpu)
    sampling.sample(torch.zeros(1, grammar.vocab, dtype=bf16), rows.slots, Candidates.of(grammar, cpu), state)


def main(folder: Path) -> None:
    """Compile what is launched instead of launching it."""

    def run(kernel: JITFunction, *args: object, grid: object, warmup: bool, **kwargs: object) -> None:
        code = compiled(kernel, args, kwargs)
        (folder / f"{kernel.__name__}.ptx").write_text(code.asm["ptx"], "utf-8")
        (folder / f"{kernel.__name__}.cubin").write_bytes(code.asm["cubin"])

    JITFunction.run = run
    for module in (attention, linear, norm, sampling):
        module.launch_options = lambda device: OPTIONS
    launch_all()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
