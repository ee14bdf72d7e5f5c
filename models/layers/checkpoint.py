"""Reads a Llama checkpoint in safetensors into fused weights, on the device and in the dtype they will have there.

Every tensor is copied once, from the mapped file into its place: there is no second copy of the model. Before anything
is allocated, names and shapes of all files are compared with what the config promises.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import torch
from safetensors import SafetensorError, safe_open

from models.errors import BadWeights
from models.layers.llama import LlamaWeights
from models.layers.llama_config import LlamaConfig

SINGLE_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
EMBEDDING = "model.embed_tokens.weight"
HEAD = "lm_head.weight"
SHOWN_KEYS = 5
"""How many names of missing or unexpected tensors an error lists."""
_IGNORED_SUFFIX = "rotary_emb.inv_freq"
"""Buffers that older writers kept; the table is computed from the config."""
_DTYPES = frozenset({"F32", "BF16", "F16"})
_COMPARED_ROWS = 16_384
"""Rows of a tied head that are compared at a time."""


def load_llama(folder: Path, config: LlamaConfig, *, device: torch.device, dtype: torch.dtype) -> LlamaWeights:
    """The weights of a folder with `model.safetensors`, or shards and `model.safetensors.index.json`.

    Raises:
        BadWeights: a file is missing or damaged, or its tensors are not those of the config.
    """
    try:
        with _opened(folder) as files:
            _check(files, _llama_shapes(files, config), folder)
            weights = LlamaWeights.empty(config, device=device, dtype=dtype)
            _copy(files, _places(weights, config))
            if config.tied and HEAD in files.shapes:
                _check_tied(files.handle(HEAD), weights.embedding[: config.vocab], folder)
            return weights
    except SafetensorError as error:
        msg = f"the weights in {folder} cannot be read ({error}); fetch them again"
        raise BadWeights(msg) from error


def fill(folder: Path, places: Mapping[str, torch.Tensor], *, others: tuple[str, ...] = ()) -> None:
    """Copy each tensor of the folder's safetensors to its place; `others`: prefixes of tensors that stay in the file.

    Raises:
        BadWeights: a file is missing or damaged, or its tensors are not those that have places.
    """
    try:
        with _opened(folder) as files:
            _check(files, {key: tuple(place.shape) for key, place in places.items()}, folder, others)
            _copy(files, places)
    except SafetensorError as error:
        msg = f"the weights in {folder} cannot be read ({error}); fetch them again"
        raise BadWeights(msg) from error


class _Part(Protocol):
    """One tensor of a file, not read yet; slicing reads rows."""

    def get_shape(self) -> list[int]: ...

    def get_dtype(self) -> str: ...

    def __getitem__(self, rows: slice) -> torch.Tensor: ...


class _File(Protocol):
    """What we use of `safetensors.safe_open`, which has no types."""

    def keys(self) -> Iterable[str]: ...

    def get_slice(self, name: str) -> _Part: ...

    def get_tensor(self, name: str) -> torch.Tensor: ...


@dataclass(frozen=True)
class _Files:
    """Open safetensors files of one checkpoint."""

    handles: tuple[_File, ...]
    keys: Mapping[str, int]
    """Which file each tensor is in."""
    shapes: Mapping[str, tuple[int, ...]]
    dtypes: Mapping[str, str]

    def handle(self, key: str) -> _File:
        return self.handles[self.keys[key]]

    def entries(self) -> Iterator[tuple[_File, str]]:
        for key in self.keys:
            yield self.handle(key), key


@contextmanager
def _opened(folder: Path) -> Iterator[_Files]:
    keys: dict[str, int] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    dtypes: dict[str, str] = {}
    with ExitStack() as stack:
        handles: list[_File] = []
        for path in _paths(folder):
            handle = cast("_File", stack.enter_context(safe_open(path, framework="pt", device="cpu")))
            for key in handle.keys():  # noqa: SIM118  # not a mapping
                if key in keys:
                    msg = (
                        f"tensor {key} stands in two files of {folder}; fetch the checkpoint again into an empty folder"
                    )
                    raise BadWeights(msg)
                part = handle.get_slice(key)
                keys[key], shapes[key], dtypes[key] = len(handles), tuple(part.get_shape()), part.get_dtype()
            handles.append(handle)
        yield _Files(tuple(handles), keys, shapes, dtypes)


def _paths(folder: Path) -> list[Path]:
    single, index = folder / SINGLE_FILE, folder / INDEX_FILE
    if single.is_file():
        return [single]
    if not index.is_file():
        msg = f"{folder} has neither {SINGLE_FILE} nor {INDEX_FILE}; the weights must be in safetensors"
        raise BadWeights(msg)
    try:
        names = sorted({str(name) for name in json.loads(index.read_text("utf-8"))["weight_map"].values()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        msg = f"{index} cannot be read as a list of shards ({error}); fetch it again"
        raise BadWeights(msg) from error
    for name in names:
        if Path(name).name != name or not (folder / name).is_file():
            msg = f"{index} names the file {name!r}, which is not in {folder}; fetch all shards into it"
            raise BadWeights(msg)
    return [folder / name for name in names]


def _copy(files: _Files, places: Mapping[str, torch.Tensor]) -> None:
    for file, key in files.entries():
        if key in places:
            places[key].copy_(file.get_tensor(key))


def _places(weights: LlamaWeights, config: LlamaConfig) -> dict[str, torch.Tensor]:
    """Where each tensor of a checkpoint goes: views into the fused weights."""
    places = {EMBEDDING: weights.embedding[: config.vocab]} | layer_places(weights, config, "model.")
    if not config.tied:
        places[HEAD] = weights.head[: config.vocab]
    return places


def layer_places(weights: LlamaWeights, config: LlamaConfig, prefix: str) -> dict[str, torch.Tensor]:
    """Where the tensors of all layers and of the last norm go, under their names in a checkpoint."""
    places = {f"{prefix}norm.weight": weights.norm}
    queries, keys = config.query_heads * config.head_dim, config.kv_heads * config.head_dim
    for number, layer in enumerate(weights.layers):
        parts = {
            "input_layernorm": layer.input_norm,
            "self_attn.q_proj": layer.qkv[:queries],
            "self_attn.k_proj": layer.qkv[queries : queries + keys],
            "self_attn.v_proj": layer.qkv[queries + keys :],
            "self_attn.o_proj": layer.out,
            "post_attention_layernorm": layer.post_norm,
            "mlp.gate_proj": layer.gate_up[: config.ffn],
            "mlp.up_proj": layer.gate_up[config.ffn :],
            "mlp.down_proj": layer.down,
        }
        if layer.q_norm is not None and layer.k_norm is not None:
            parts |= {"self_attn.q_norm": layer.q_norm, "self_attn.k_norm": layer.k_norm}
        places |= {f"{prefix}layers.{number}.{name}.weight": place for name, place in parts.items()}
    return places


def _llama_shapes(files: _Files, config: LlamaConfig) -> dict[str, tuple[int, ...]]:
    """What the config promises, without memory for it."""
    expected = _places(LlamaWeights.empty(config, device=torch.device("meta"), dtype=torch.float32), config)
    shapes = {key: tuple(place.shape) for key, place in expected.items()}
    if config.tied and HEAD in files.shapes:
        shapes[HEAD] = shapes[EMBEDDING]
    return shapes


def _check(files: _Files, shapes: Mapping[str, tuple[int, ...]], folder: Path, others: tuple[str, ...] = ()) -> None:
    """Compare the files' tensors with what was promised."""
    present = {key for key in files.shapes if not key.endswith(_IGNORED_SUFFIX) and not key.startswith(others)}
    problems = [
        *_named("missing", [key for key in shapes if key not in present]),
        *_named("unexpected", sorted(present - shapes.keys())),
        *_named(
            "of another shape",
            [f"{key} {files.shapes[key]} instead of {shapes[key]}" for key in _wrong_shapes(files, shapes)],
        ),
        *_named(
            f"not in {', '.join(sorted(_DTYPES))}",
            [
                f"{key} {files.dtypes[key]}"
                for key in sorted(present & shapes.keys())
                if files.dtypes[key] not in _DTYPES
            ],
        ),
    ]
    if problems:
        msg = f"the weights in {folder} are not those of its config.json: {'; '.join(problems)}; fetch them again"
        raise BadWeights(msg)


def _wrong_shapes(files: _Files, shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    return [key for key, shape in shapes.items() if files.shapes.get(key, shape) != shape]


def _named(what: str, names: list[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - SHOWN_KEYS} more" if len(names) > SHOWN_KEYS else ""
    return [f"{what}: {', '.join(names[:SHOWN_KEYS])}{more}"]


def _check_tied(file: _File, embedding: torch.Tensor, folder: Path) -> None:
    """A head that is stored although it is tied must be the embedding: the config would be wrong otherwise."""
    head = file.get_slice(HEAD)
    for start in range(0, embedding.shape[0], _COMPARED_ROWS):
        kept = embedding[start : start + _COMPARED_ROWS]
        if not torch.equal(head[start : start + kept.shape[0]].to(kept), kept):
            msg = (
                f"{HEAD} in {folder} differs from {EMBEDDING}, but config.json says tie_word_embeddings; "
                "set it to false when the head was trained by itself, else fetch the weights again"
            )
            raise BadWeights(msg)
