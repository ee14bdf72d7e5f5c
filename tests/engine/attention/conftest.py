"""Triton 3.6's interpreter reads a loop bound by `int(array)`, which newer numpy refuses for arrays of one element."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True)
def interpreted_loops_take_computed_bounds(monkeypatch):
    if torch.cuda.is_available():
        return
    interpreter = pytest.importorskip("triton.runtime.interpreter")
    patch = interpreter._patch_lang_tensor

    def patch_also_bounds(tensor, scope):
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda bound: bound.handle.data.item())

    monkeypatch.setattr(interpreter, "_patch_lang_tensor", patch_also_bounds)
