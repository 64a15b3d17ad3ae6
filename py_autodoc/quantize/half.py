"""Convert to float16 with ONNX Runtime's tool; weights of large models one at a time, to limit memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto
from onnx.external_data_helper import ExternalDataInfo, load_external_data_for_tensor
from onnx.helper import make_tensor_value_info

from py_autodoc.outputs.marks import DATA
from py_autodoc.quantize.recipe import Recipe
from py_autodoc.quantize.storage import is_large, store
from py_autodoc.samples import Sample

_TOOL = "onnxruntime.transformers.float16"
_PAGE = 4096
"""Alignment of weights, so that runtimes can map them."""
_BLOCK = 1 << 22
"""Number of values converted at a time."""


def half(
    source: Path, target: Path, recipe: Recipe, samples: Sequence[Sample], exclude: Sequence[str]
) -> None:
    """Convert the whole model to float16, except for its inputs and outputs."""
    large = is_large(source)
    model = onnx.load(source, load_external_data=not large)
    external = _taken_out(model, source.parent) if large else {}
    tool = import_module(_TOOL)
    with _by_dims(tool):
        converted = tool.convert_float_to_float16(
            model, keep_io_types=True, node_block_list=list(exclude), disable_shape_infer=False
        )
    # The tool appends its casts at the end, but nodes must follow the nodes they depend on.
    sorted_model = ir.from_proto(converted)
    sorted_model.graph.sort()
    done = ir.to_proto(sorted_model)
    if large:
        _put_back(done, external, source, target)
        onnx.save(done, target)
    else:
        store(done, target)


@contextmanager
def _by_dims(tool: Any) -> Iterator[None]:
    """Let the tool take the shape of a tensor from its dims instead of its values, which may be missing."""
    name = "make_value_info_from_tensor"
    before = getattr(tool, name, None)
    if before is None:
        yield
        return
    setattr(tool, name, lambda one: make_tensor_value_info(one.name, one.data_type, list(one.dims)))
    try:
        yield
    finally:
        setattr(tool, name, before)


def _taken_out(model: onnx.ModelProto, folder: Path) -> dict[str, tuple[int, int]]:
    """Replace weights in the second file by tensors without values, whose type the tool can change.

    Returns: name → offset and number of values.
    """
    locations = {}
    for one in _stored(model.graph):
        if one.data_location != TensorProto.EXTERNAL:
            continue
        if one.data_type != TensorProto.FLOAT:
            load_external_data_for_tensor(one, str(folder))
            one.ClearField("external_data")
            one.data_location = TensorProto.DEFAULT
            continue
        info = ExternalDataInfo(one)
        locations[one.name] = (int(info.offset or 0), int(np.prod(one.dims)))
        one.ClearField("external_data")
        one.data_location = TensorProto.DEFAULT
    return locations


def _stored(graph: onnx.GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _stored(attribute.g)


def _put_back(
    model: onnx.ModelProto, external: dict[str, tuple[int, int]], source: Path, target: Path
) -> None:
    """Write the values of these weights, in the type that the tool chose, next to the target."""
    convert: Any = import_module(_TOOL).convert_np_to_float16
    weights = source.with_name(f"{source.name}{DATA}")
    name = f"{target.name}{DATA}"
    with open(weights, "rb") as read, open(target.with_name(name), "xb") as out:
        for one in _stored(model.graph):
            if one.name not in external:
                continue
            offset, count = external[one.name]
            out.write(b"\0" * (-out.tell() % _PAGE))
            begin = out.tell()
            read.seek(offset)
            for at in range(0, count, _BLOCK):
                values = np.fromfile(read, np.float32, min(_BLOCK, count - at))
                out.write((convert(values) if one.data_type == TensorProto.FLOAT16 else values).tobytes())
            one.data_location = TensorProto.EXTERNAL
            for key, value in (("location", name), ("offset", begin), ("length", out.tell() - begin)):
                one.external_data.add(key=key, value=str(value))
