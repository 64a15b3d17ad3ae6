"""Convert to float16 with ONNX Runtime's tool; weights of large models one at a time, to limit memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto
from onnx.external_data_helper import ExternalDataInfo, load_external_data_for_tensor
from onnx.helper import make_tensor_value_info

from py_autodoc.outputs.marks import DATA
from py_autodoc.quantize.recipe import Recipe
from py_autodoc.quantize.storage import is_large, store
from py_autodoc.samples import Sample
from py_autodoc.tags.map_types import declare_types, without_map_types

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
    external = _detach_weights(model, source.parent) if large else {}
    tool = import_module(_TOOL)
    with _by_dims(tool):
        converted = tool.convert_float_to_float16(
            model, keep_io_types=True, node_block_list=list(exclude), disable_shape_infer=False
        )
    _join_float(converted, {node.name for node in model.graph.node})
    import onnx_ir as ir  # imports SymPy, which takes longer than everything else here

    # The tool appends its casts at the end, but nodes must follow the nodes they depend on.
    with without_map_types(converted) as types:
        sorted_model = ir.from_proto(converted)
    sorted_model.graph.sort()
    proto = ir.to_proto(sorted_model)
    declare_types(proto, types)
    if large:
        _write_weights(proto, external, source, target)
        onnx.save(proto, target)
    else:
        store(proto, target)


def _join_float(model: onnx.ModelProto, names: Collection[str]) -> None:
    """Pass float32 from one node that stays in float32 to the next, without a detour through float16.

    ``names`` are those of the nodes before: the tool casts the results of each node that it leaves out.
    """
    graph = model.graph
    casts = {node.output[0]: node for node in graph.node if node.op_type == "Cast" and node.name not in names}
    narrow = {name: node for name, node in casts.items() if node.attribute[0].i == TensorProto.FLOAT16}
    wide: dict[str, str] = {}
    for name, node in casts.items():
        if node.attribute[0].i == TensorProto.FLOAT and node.input[0] in narrow:
            wide[name] = narrow[node.input[0]].input[0]
    outputs = {value.name for value in graph.output}
    if not wide:
        return
    _rename_inputs(graph, {name: name_before for name, name_before in wide.items() if name not in outputs})
    used = _inputs(graph) | outputs
    for node in [*map(casts.__getitem__, wide), *narrow.values()]:
        if node.output[0] not in used:
            graph.node.remove(node)
            used = _inputs(graph) | outputs


def _rename_inputs(graph: onnx.GraphProto, names: Mapping[str, str]) -> None:
    for node in graph.node:
        for position, name in enumerate(node.input):
            node.input[position] = names.get(name, name)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename_inputs(attribute.g, names)


def _inputs(graph: onnx.GraphProto) -> set[str]:
    """Return the tensors that nodes read, also in subgraphs."""
    found = {name for node in graph.node for name in node.input}
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found |= _inputs(attribute.g) | {value.name for value in attribute.g.output}
    return found


@contextmanager
def _by_dims(tool: Any) -> Iterator[None]:
    """Let the tool take the shape of a tensor from its dims instead of its values, which may be missing."""
    name = "make_value_info_from_tensor"
    before = getattr(tool, name, None)
    if before is None:
        yield
        return
    setattr(
        tool, name, lambda tensor: make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
    )
    try:
        yield
    finally:
        setattr(tool, name, before)


def _detach_weights(model: onnx.ModelProto, folder: Path) -> dict[str, tuple[int, int]]:
    """Replace weights in the second file by tensors without values, whose type the tool can change.

    Returns: name → offset and number of values.
    """
    locations = {}
    for tensor in _stored_tensors(model.graph):
        if tensor.data_location != TensorProto.EXTERNAL:
            continue
        if tensor.data_type != TensorProto.FLOAT:
            load_external_data_for_tensor(tensor, str(folder))
            tensor.ClearField("external_data")
            tensor.data_location = TensorProto.DEFAULT
            continue
        info = ExternalDataInfo(tensor)
        locations[tensor.name] = (int(info.offset or 0), int(np.prod(tensor.dims)))
        tensor.ClearField("external_data")
        tensor.data_location = TensorProto.DEFAULT
    return locations


def _stored_tensors(graph: onnx.GraphProto) -> Iterator[TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _stored_tensors(attribute.g)


def _write_weights(
    model: onnx.ModelProto, external: dict[str, tuple[int, int]], source: Path, target: Path
) -> None:
    """Write the values of these weights, in the type that the tool chose, next to the target."""
    convert: Any = import_module(_TOOL).convert_np_to_float16
    weights = source.with_name(f"{source.name}{DATA}")
    name = f"{target.name}{DATA}"
    with open(weights, "rb") as read, open(target.with_name(name), "xb") as out:
        for tensor in _stored_tensors(model.graph):
            if tensor.name not in external:
                continue
            offset, count = external[tensor.name]
            out.write(b"\0" * (-out.tell() % _PAGE))
            begin = out.tell()
            read.seek(offset)
            for start in range(0, count, _BLOCK):
                values = np.fromfile(read, np.float32, min(_BLOCK, count - start))
                out.write((convert(values) if tensor.data_type == TensorProto.FLOAT16 else values).tobytes())
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", name), ("offset", begin), ("length", out.tell() - begin)):
                tensor.external_data.add(key=key, value=str(value))
