"""A small reader of ONNX files: the weights of the graph by name, and its nodes with their whole-number attributes.

Reads the protobuf wire format by hand (field numbers: onnx.proto3, ONNX IR), since a voice needs only its tensors,
strides, dilations and groups: no onnx package, no runtime. Knows no model; its own layout gives the weights names.

    graph = read_onnx(Path("voice.onnx")); graph.tensors["enc_p.proj.bias"]  # [384] float32
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.errors import BadWeights

Array = npt.NDArray[np.float32] | npt.NDArray[np.int64] | npt.NDArray[np.uint8] | npt.NDArray[np.int8]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_INPUT = 1, 5, 11
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_OP, _NODE_ATTRIBUTE = 1, 2, 3, 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_INT, _ATTRIBUTE_TENSOR, _ATTRIBUTE_INTS = 1, 3, 5, 8
_TENSOR_DIMS, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_RAW = 1, 2, 8, 9
_TENSOR_FLOATS, _TENSOR_INT32S, _TENSOR_INT64S = 4, 5, 7
"""Values that are not raw: floats as their bytes, whole numbers of up to 32 bits (of 8 too) and of 64 as varints."""
_FLOAT, _UINT8, _INT8, _INT32, _INT64 = 1, 2, 3, 6, 7
_KINDS: dict[int, str] = {_FLOAT: "<f4", _UINT8: "<u1", _INT8: "<i1", _INT32: "<i4", _INT64: "<i8"}


class _Damaged(Exception):
    """The bytes are not a protobuf message."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation. `ints` are its whole-number attributes, single ones as tuples of one."""

    op: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    ints: dict[str, tuple[int, ...]]
    value: Array | None = None
    """The tensor attribute of a Constant node."""


@dataclass(frozen=True, slots=True)
class OnnxGraph:
    """The graph of one file. Arrays are read-only views of the file's bytes."""

    tensors: dict[str, Array] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)


def read_onnx(path: Path) -> OnnxGraph:
    """Read initialisers and nodes of an ONNX file.

    Raises:
        BadWeights: the file cannot be read, or is cut short, damaged or no ONNX file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        msg = f"the voice file {path} cannot be read ({error.strerror}); give the path of a voice (.onnx)"
        raise BadWeights(msg) from error
    return parse_onnx(data, str(path))


def parse_onnx(content: bytes, path: str) -> OnnxGraph:
    """The same of a file's bytes; `path` names them in errors. Raises BadWeights."""
    data, graph = memoryview(content), OnnxGraph()
    try:
        for number, value in _fields(data):
            if number == _MODEL_GRAPH:
                _read_graph(_bytes(value), graph)
    except (_Damaged, ValueError) as error:
        msg = f"{path} ({len(data)} bytes) is damaged or no ONNX file ({error}); fetch or install the voice again"
        raise BadWeights(msg) from error
    if not graph.nodes or not graph.tensors:
        msg = f"{path} ({len(data)} bytes) holds no ONNX graph with weights; give a voice (.onnx)"
        raise BadWeights(msg)
    return graph


def _read_graph(data: memoryview, graph: OnnxGraph) -> None:
    for number, value in _fields(data):
        if number == _GRAPH_NODE:
            graph.nodes.append(_node(_bytes(value)))
        elif number == _GRAPH_INITIALIZER:
            name, array = _tensor(_bytes(value))
            if array is not None:
                graph.tensors[name] = array
        elif number == _GRAPH_INPUT:
            name = next((_text(item) for key, item in _fields(_bytes(value)) if key == 1), "")
            graph.inputs.append(name)


def _node(data: memoryview) -> Node:
    inputs: list[str] = []
    outputs: list[str] = []
    name = op = ""
    ints: dict[str, tuple[int, ...]] = {}
    constant: Array | None = None
    for number, value in _fields(data):
        if number == _NODE_INPUT:
            inputs.append(_text(value))
        elif number == _NODE_OUTPUT:
            outputs.append(_text(value))
        elif number == _NODE_NAME:
            name = _text(value)
        elif number == _NODE_OP:
            op = _text(value)
        elif number == _NODE_ATTRIBUTE:
            key, numbers, array = _attribute(_bytes(value))
            ints[key] = numbers
            constant = array if array is not None else constant
    return Node(op, name, tuple(inputs), tuple(outputs), ints, constant)


def _attribute(data: memoryview) -> tuple[str, tuple[int, ...], Array | None]:
    name = ""
    ints: list[int] = []
    array: Array | None = None
    for number, value in _fields(data):
        if number == _ATTRIBUTE_NAME:
            name = _text(value)
        elif number in {_ATTRIBUTE_INT, _ATTRIBUTE_INTS}:
            ints.extend(_packed(value))
        elif number == _ATTRIBUTE_TENSOR:
            array = _tensor(_bytes(value))[1]
    return name, tuple(ints), array


def _tensor(data: memoryview) -> tuple[str, Array | None]:
    """Name and array of a TensorProto; None for kinds no voice has weights in (the graph's shape arithmetic)."""
    name = ""
    kind = 0
    dims: list[int] = []
    numbers: list[int] = []
    raw: memoryview | None = None
    for number, value in _fields(data):
        if number == _TENSOR_DIMS:
            dims.extend(_packed(value))
        elif number == _TENSOR_TYPE:
            (kind,) = _packed(value)
        elif number == _TENSOR_NAME:
            name = _text(value)
        elif number in {_TENSOR_RAW, _TENSOR_FLOATS}:
            raw = _bytes(value)
        elif number in {_TENSOR_INT32S, _TENSOR_INT64S}:
            numbers.extend(_packed(value))
    if kind not in _KINDS or (raw is None and not numbers):
        return name, None
    dtype = np.dtype(_KINDS[kind])
    count = math.prod(dims)
    if raw is None:
        raw = memoryview(np.array(numbers, np.int64).astype(dtype).tobytes())
    if min(dims, default=0) < 0 or len(raw) != count * dtype.itemsize:
        what = f"tensor {name!r} of shape {dims} has {len(raw)} bytes instead of {count * dtype.itemsize}"
        raise _Damaged(what)
    return name, np.frombuffer(raw, dtype).reshape(dims)


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(field number, value) of a message: an int for numbers, a view of the bytes for everything else."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            number, at = _varint(data, at)
            yield key >> 3, number
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind == _FIXED32:
            size = 4
        elif kind == _FIXED64:
            size = 8
        else:
            what = f"wire type {kind} at byte {at}"
            raise _Damaged(what)
        if at + size > len(data):
            what = f"a field of {size} bytes goes past the end"
            raise _Damaged(what)
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:  # a varint has at most ten bytes
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # top bit clear: the last byte
            return _signed(value), at
        shift += 7
    what = "a number without end"
    raise _Damaged(what)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _packed(value: int | memoryview) -> list[int]:
    if isinstance(value, int):
        return [value]
    numbers: list[int] = []
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        numbers.append(number)
    return numbers


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        what = "a number where a message belongs"
        raise _Damaged(what)
    return value


def _text(value: int | memoryview) -> str:
    return bytes(_bytes(value)).decode()
