"""From an ONNX graph to a Piper voice's weights by name, and to the sizes that follow from their shapes.

Three things have lost their names in the export (weight norm and constants are folded): the flow's WaveNet weights
(named here by the Conv node that uses them), the embedding (the Gather whose index is `input`) and the scale of the
duration predictor's affine flow. Numpy only; knows nothing of torch, files or voices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from models.errors import BadWeights
from models.onnx_file import Array, Node, OnnxGraph

Floats = npt.NDArray[np.float32]

_MULTI_SPEAKER_INPUT = "sid"
_AFFINE_SCALE = "dp.flows.0.scale"
_EMBEDDING = "enc_p.emb.weight"


@dataclass(frozen=True, slots=True)
class ConvSpec:
    """How one convolution moves along time."""

    stride: int
    dilation: int
    groups: int
    pad_left: int


@dataclass(frozen=True, slots=True)
class VoiceLayout:
    """One voice's float32 weights by their training names ("enc_p.proj.weight"), and its convolutions by prefix."""

    weights: dict[str, Floats]
    convs: dict[str, ConvSpec]

    def count(self, prefix: str) -> int:
        """How many numbered parts `prefix.0`, `prefix.1`, … there are."""
        return len(self.numbers(prefix))

    def numbers(self, prefix: str) -> list[int]:
        """The numbers N of the parts `prefix.N.*`, rising (flows are numbered with holes)."""
        start = prefix + "."
        found = {name.removeprefix(start).split(".")[0] for name in self.weights if name.startswith(start)}
        return sorted(int(number) for number in found)

    def weight(self, name: str) -> Floats:
        """One array.

        Raises:
            BadWeights: the file has none of that name.
        """
        if name not in self.weights:
            msg = f"the voice has no weights named {name!r}: not a Piper VITS export this reader knows"
            raise BadWeights(msg)
        return self.weights[name]

    def conv(self, prefix: str) -> ConvSpec:
        """The geometry of one convolution.

        Raises:
            BadWeights: the graph has no convolution of that name.
        """
        if prefix not in self.convs:
            msg = f"the voice has no convolution {prefix!r}: not a Piper VITS export this reader knows"
            raise BadWeights(msg)
        return self.convs[prefix]


def read_layout(graph: OnnxGraph) -> VoiceLayout:
    """Name the weights of a single-speaker Piper VITS graph.

    Raises:
        BadWeights: the graph is no Piper VITS, or one with several speakers.
    """
    if _MULTI_SPEAKER_INPUT in graph.inputs:
        msg = "the voice has several speakers (input 'sid'); only voices of one speaker can be spoken"
        raise BadWeights(msg)
    expected = {"input", "input_lengths", "scales"}
    if set(graph.inputs) != expected:
        msg = f"the graph takes {sorted(graph.inputs)} instead of {sorted(expected)}: not a Piper VITS voice"
        raise BadWeights(msg)
    values = {node.outputs[0]: node.value for node in graph.nodes if node.op == "Constant" and node.value is not None}
    floats = {name: _float(array) for name, array in (values | graph.tensors).items() if array.dtype == np.float32}
    weights = {name: array for name, array in floats.items() if name.startswith(("enc_p.", "dp.", "flow.", "dec."))}
    convs: dict[str, ConvSpec] = {}
    for node in graph.nodes:
        if node.op in {"Conv", "ConvTranspose"}:
            prefix = node.name.removeprefix("/").replace("/", ".").rsplit(".", 1)[0]
            convs[prefix] = _conv_spec(node)
            weights[f"{prefix}.weight"] = _input(floats, node, 1)
            if len(node.inputs) > 2:  # the third input is the bias
                weights[f"{prefix}.bias"] = _input(floats, node, 2)
        elif node.op == "Gather" and node.inputs[1:] == ("input",):
            weights[_EMBEDDING] = _input(floats, node, 0)
        elif node.name == "/dp/flows.0/Mul":
            weights[_AFFINE_SCALE] = _input(floats, node, 1)
    layout = VoiceLayout(weights, convs)
    layout.weight(_EMBEDDING)
    layout.weight(_AFFINE_SCALE)
    return layout


def _float(array: Array) -> Floats:
    return np.asarray(array, np.float32)


def _input(floats: dict[str, Floats], node: Node, index: int) -> Floats:
    name = node.inputs[index]
    if name not in floats:
        msg = (
            f"node {node.name!r} computes its weights {name!r} instead of storing them: not an export this reader knows"
        )
        raise BadWeights(msg)
    return floats[name]


def _conv_spec(node: Node) -> ConvSpec:
    numbers = [node.ints.get(key, (default,)) for key, default in _CONV_DEFAULTS.items()]
    if any(len(set(values)) != 1 for values in numbers):
        msg = f"convolution {node.name!r} has uneven geometry {node.ints}: not an export this reader knows"
        raise BadWeights(msg)
    stride, dilation, groups, pad_left = (values[0] for values in numbers)
    return ConvSpec(stride, dilation, groups, pad_left)


_CONV_DEFAULTS = {"strides": 1, "dilations": 1, "group": 1, "pads": 0}
"""ONNX attribute to the default the standard gives it."""
