"""The proof of a rebatched model: item i of a run with several items is the old model's result for item i.

Both run in ONNX Runtime without optimizations, on the same random inputs; weights that a file lacks are
made up, the same for both.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from narrowed_models import lacks_values
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.extract.rebatch import RebatchedFile, rebatch
from py_autodoc.graph.rebatch import Layout

ITEMS = 3
_NUMPY = {
    TensorProto.BFLOAT16: np.float32,
    TensorProto.FLOAT16: np.float16,
    TensorProto.FLOAT: np.float32,
    TensorProto.DOUBLE: np.float64,
}


@dataclass
class Proof:
    """``worst`` is the largest difference relative to the outputs' size, ``apart`` how much items differ."""

    done: RebatchedFile
    worst: float
    apart: float


def tensors(graph: onnx.GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            if attribute.HasField("g"):
                yield from tensors(attribute.g)


def complete(model: onnx.ModelProto, folder: Path | None = None) -> onnx.ModelProto:
    """Fill in what a stripped file lacks: small random numbers that depend on the tensor's name."""
    filled: set[str] = set()
    for tensor in tensors(model.graph):
        count = int(np.prod(tensor.dims)) if tensor.dims else 1
        if tensor.data_location == TensorProto.EXTERNAL:
            location = next((e.value for e in tensor.external_data if e.key == "location"), "")
            if folder is not None and (folder / location).exists():
                onnx.external_data_helper.load_external_data_for_tensor(tensor, str(folder))
                tensor.data_location = TensorProto.DEFAULT
                del tensor.external_data[:]
                continue
        elif not count or not lacks_values(tensor):
            continue
        _fill(tensor, count)
        filled.add(tensor.name)
    made = _weights_made(model.graph)
    if made:
        model.ir_version = max(model.ir_version, 4)  # where weights need not be inputs
    _lively(model.graph, filled | made)
    _logits(model.graph)
    return model


def _logits(graph: onnx.GraphProto) -> None:
    """What goes into a last Softmax or Sigmoid is an output, too: the result may be all ones and zeros."""
    last = {output.name: output for output in graph.output}
    for node in graph.node:
        if node.op_type in ("Softmax", "Sigmoid") and node.output[0] in last and node.input[0] not in last:
            info = onnx.ValueInfoProto()
            info.CopyFrom(last[node.output[0]])
            info.name = node.input[0]
            graph.output.append(info)


def _lively(graph: onnx.GraphProto, filled: set[str]) -> None:
    """Made-up statistics of a normalization keep the size of what goes through; variances are above 0."""
    known = {t.name: t for t in graph.initializer if t.name in filled}
    for node in graph.node:
        for name, level in zip(node.input[1:], (1.0, 0.0, 0.0, 1.0), strict=False):
            if node.op_type == "BatchNormalization" and name in known:
                random = np.random.default_rng(zlib.crc32(name.encode()))
                values = (level + 0.1 * random.uniform(-1, 1, known[name].dims)).astype(np.float32)
                known[name].CopyFrom(numpy_helper.from_array(values, name))


def _weights_made(graph: onnx.GraphProto) -> set[str]:
    """Weights that ConstantOfShape makes are all one number, which hides faults: random ones instead."""
    named: set[str] = set()
    known = {t.name: t for t in graph.initializer}
    left = []
    for node in graph.node:
        shape = known.get(node.input[0]) if node.op_type == "ConstantOfShape" else None
        dims = None if shape is None else numpy_helper.to_array(shape).tolist()
        value = next(
            (numpy_helper.to_array(a.t) for a in node.attribute if a.name == "value"), np.zeros(1, np.float32)
        )
        if dims is None or value.dtype.kind != "f" or np.prod(dims) < 2:
            left.append(node)
            continue
        tensor = TensorProto(
            name=node.output[0], dims=dims, data_type=helper.np_dtype_to_tensor_dtype(value.dtype)
        )
        _fill(tensor, int(np.prod(dims)))
        graph.initializer.append(tensor)
        named.add(tensor.name)
    if named:
        kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in left]
        del graph.node[:]
        graph.node.extend(kept)
    return named


DRAWN = (1 << 20) + 7
"""Random numbers of a large weight, which repeats them: a prime, so that no two of its rows are equal."""


def _fill(tensor: TensorProto, count: int) -> None:
    random = np.random.default_rng(zlib.crc32(tensor.name.encode()))
    dtype = helper.tensor_dtype_to_np_dtype(tensor.data_type)
    if np.dtype(dtype).kind == "f" or tensor.data_type in _NUMPY:
        fan = int(np.prod(tensor.dims[1:])) if len(tensor.dims) > 2 else tensor.dims[0] if tensor.dims else 1
        drawn = random.standard_normal(min(count, DRAWN), np.float32)
        drawn *= np.float32(1.4 / np.sqrt(max(fan, 1)) if len(tensor.dims) > 1 else 0.3)
        made = np.resize(drawn, tensor.dims)
        made = np.abs(made) + 0.5 if len(tensor.dims) < 2 and "var" in tensor.name else made
    elif np.dtype(dtype).kind == "b":
        made = np.ones(tensor.dims, bool)
    else:
        # Indices of several parts begin with the item, which can only be 0.
        made = random.integers(0, 2, tensor.dims) * (dtype != np.int64)
    name = tensor.name
    array = np.asarray(made).astype(dtype, copy=False).reshape(tensor.dims)
    tensor.CopyFrom(numpy_helper.from_array(array, name))


def inputs_of(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    stored = {t.name for t in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in stored]


def random_input(
    info: onnx.ValueInfoProto, random: np.random.Generator, free: Mapping[str, int], high: int = 20
) -> np.ndarray:
    """A value for an input of one item."""
    kind = info.type.tensor_type
    sizes = [(d.dim_value if d.HasField("dim_value") else -1, d.dim_param) for d in kind.shape.dim]
    shape = [size if size >= 0 else free.get(name, 1) for size, name in sizes]
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if "mask" in info.name.lower():
        mask = np.ones(shape, dtype)
        if mask.ndim > 1 and mask.shape[-1] > 2:
            mask[..., mask.shape[-1] - int(random.integers(0, mask.shape[-1] // 2)) :] = 0
        return mask
    if "type" in info.name.lower() or "segment" in info.name.lower():
        return random.integers(0, 2, shape).astype(dtype)
    return random.integers(1, high, shape).astype(dtype)


def session(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def item(value: np.ndarray, at: Layout, number: int, batch: int) -> np.ndarray:
    """What an output says of one run of the old model, whose batch was ``batch``."""
    axis, outer, inner, many = at.axis, at.outer, at.inner * batch, ITEMS
    shape = value.shape
    parted = value.reshape(*shape[:axis], outer, many, inner, *shape[axis + 1 :])
    return np.take(parted, number, axis=axis + 1).reshape(*shape[:axis], outer * inner, *shape[axis + 1 :])


def prove(
    model: onnx.ModelProto | Path,
    folder: Path,
    batch: int | str = "batch",
    *,
    free: Mapping[str, int] | None = None,
    given: Mapping[str, np.ndarray] | None = None,
    high: int = 20,
    **options: object,
) -> Proof:
    """Rebatch, run both, compare: ``ITEMS`` runs of the old model against one of the new.

    ``free`` are sizes for other free dimensions, ``given`` inputs of one item.

    Raises: RebatchBlocked; AssertionError where a result differs.
    """
    if isinstance(model, Path):
        loaded = complete(onnx.load(str(model), load_external_data=False), model.parent)
    else:
        loaded = complete(model)
    source, target = folder / "model.onnx", folder / "rebatched.onnx"
    onnx.save(loaded, source)
    used = {d.dim_param for i in loaded.graph.input for d in i.type.tensor_type.shape.dim}
    batch = "items" if batch in used else batch
    done = rebatch(source, target, batch, **options)  # type: ignore[arg-type]
    infos = inputs_of(loaded)
    del loaded
    random = np.random.default_rng(1)
    sizes = dict(free or {})
    items = [
        {i.name: (given or {}).get(i.name, random_input(i, random, sizes, high)) for i in infos}
        for _ in range(ITEMS)
    ]
    joined = {}
    for info in infos:
        values = [one[info.name] for one in items]
        axis = done.inputs.get(info.name)
        if axis is None:
            for one in items:
                one[info.name] = values[0]
            joined[info.name] = values[0]
        else:
            joined[info.name] = np.concatenate(values, axis=axis)
    old = session(source)
    alone = [old.run(None, one) for one in items]
    names = [o.name for o in old.get_outputs()]
    del old
    together = session(target).run(None, joined)
    worst = apart = 0.0
    for k, name in enumerate(names):
        at = done.outputs[name]
        assert not any(_lost(np.asarray(one[k])) for one in alone), (
            f"{name} is no number, which proves nothing"
        )
        for number in range(ITEMS):
            want = np.asarray(alone[number][k])
            if at is None:
                got = together[k]
            elif at.ragged:
                rows = together[k]
                got = rows[rows[:, 0] == number] - np.array([number, 0, 0])
            else:
                got = item(together[k], at, number, done.fixed)
            assert got.shape == want.shape, (name, got.shape, want.shape)
            worst = max(worst, difference(got, want))
        first, second = np.asarray(alone[0][k]), np.asarray(alone[1][k])
        if first.shape == second.shape and at is not None:
            apart = max(apart, difference(first, second))
        elif first.shape != second.shape:
            apart = 1.0
    return Proof(done, worst, apart)


def _lost(value: np.ndarray) -> bool:
    return value.dtype.kind == "f" and bool(np.isnan(value).any())


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, relative to the size of the values."""
    if not a.size:
        return 0.0
    if a.dtype.kind not in "f":
        return float(np.any(a != b))
    x, y = a.astype(np.float64), b.astype(np.float64)
    if not np.array_equal(np.isfinite(x), np.isfinite(y)):
        return float("inf")
    both = np.isfinite(x)
    if not both.any():
        return 0.0
    return float(np.abs(x[both] - y[both]).max() / max(np.abs(y[both]).max(), 1e-9))
