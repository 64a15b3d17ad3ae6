"""Applies the edits of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.loading.first_pass import nested
from py_autodoc.graph.resize.search import SizePlan

STEM = "resize"
_MAX_LISTED = 8


@dataclass(frozen=True, slots=True)
class RewrittenSizes:
    """A model with other dimensions. Weights are unchanged references."""

    proto: onnx.ModelProto
    edits: tuple[str, ...]
    """Descriptions of the edits, one line each."""


def rewrite(
    proto: onnx.ModelProto,
    plan: SizePlan,
    inputs: Mapping[str, Sequence[int]],
    opset: int,
    bindings: Mapping[str, int],
) -> RewrittenSizes:
    """Apply a plan to a copy.

    ``inputs``: input → dimensions to declare, where the file has numbers; ``bindings``: symbolic
    dimension → fixed value.
    """
    return _SizeWriter(proto, plan, inputs, opset, bindings).run()


class _SizeWriter:
    def __init__(
        self,
        proto: onnx.ModelProto,
        plan: SizePlan,
        inputs: Mapping[str, Sequence[int]],
        opset: int,
        bindings: Mapping[str, int],
    ) -> None:
        self.bindings = bindings
        self.proto, self.plan, self.inputs, self.opset = onnx.ModelProto(), plan, inputs, opset
        self.proto.CopyFrom(proto)
        graph = self.proto.graph
        self.used_names = {t.name for t in graph.initializer} | {decode_text(i.name) for i in graph.input}
        self.used_names |= {decode_text(name) for node in graph.node for name in (*node.output, node.name)}
        self.nodes = list(graph.node)
        self.added: dict[int, list[onnx.NodeProto]] = {}
        self.consts: dict[Any, str] = {}
        self.head: list[onnx.NodeProto] = []
        self.edits: list[str] = []

    def run(self) -> RewrittenSizes:
        """Apply the edits and update the declared shapes."""
        cuts: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for edit in self.plan.edits:
            node = self.nodes[edit.node]
            if edit.kind == "const":
                i, values, shape, dtype = edit.data
                node.input[i] = self._const(values, shape, dtype)
                self._note(node, f"input {i} is set to {_values_text(values)}")
            elif edit.kind == "ints":
                self._ints(node, *edit.data)
            else:
                i, axis, size = edit.data
                cuts.setdefault((edit.node, i), []).append((axis, size))
        for (number, i), crops in cuts.items():
            self._cut(number, i, crops)
        self._insert_nodes()
        self._declare()
        return RewrittenSizes(self.proto, tuple(self.edits))

    def _note(self, node: onnx.NodeProto, message: str) -> None:
        name = decode_text(node.name) or next(filter(None, map(decode_text, node.output)), "")
        self.edits.append(f"{decode_text(node.op_type)} {name}: {message}"[:300])

    def _fresh(self, stem: str) -> str:
        number = len(self.used_names)
        while f"{STEM}/{stem}_{number}" in self.used_names:
            number += 1
        self.used_names.add(f"{STEM}/{stem}_{number}")
        return f"{STEM}/{stem}_{number}"

    def _const(self, values: Sequence[int], shape: Sequence[int], dtype: int) -> str:
        key = (tuple(values), tuple(shape), dtype)
        if key not in self.consts:
            name = self._fresh("sizes")
            kind = np.int32 if dtype == onnx.TensorProto.INT32 else np.int64
            array = np.array(values, kind).reshape(shape)
            tensor = numpy_helper.from_array(array, name)
            if self.proto.ir_version >= 4:
                self.proto.graph.initializer.append(tensor)
            else:  # every initializer is an input there
                self.head.append(helper.make_node("Constant", [], [name], name=name, value=tensor))
            self.consts[key] = name
        return self.consts[key]

    def _ints(self, node: onnx.NodeProto, name: str, values: Sequence[int]) -> None:
        for attribute in node.attribute:
            if attribute.name == name:
                attribute.ints[:] = values
        self._note(node, f"{name} is set to {_values_text(tuple(values))}")

    def _cut(self, number: int, i: int, crops: Sequence[tuple[int, int]]) -> None:
        """Insert a ``Slice`` before the node, in the same module."""
        node = self.nodes[number]
        axes, ends = [axis for axis, _ in crops], [size for _, size in crops]
        name = self._fresh("table")
        if self.opset >= 10:
            int64 = onnx.TensorProto.INT64
            wired = [self._const(v, (len(v),), int64) for v in ([0] * len(axes), ends, axes)]
            slice_node = helper.make_node("Slice", [node.input[i], *wired], [name], name=name)
        else:
            slice_node = helper.make_node(
                "Slice", [node.input[i]], [name], name=name, axes=axes, starts=[0] * len(axes), ends=ends
            )
        slice_node.metadata_props.extend(node.metadata_props)
        slice_node.doc_string = node.doc_string
        self.added.setdefault(number, []).append(slice_node)
        description = ", ".join(f"{size} entries on axis {axis}" for axis, size in crops)
        self._note(node, f"uses the first {description} of {decode_text(node.input[i])}")
        node.input[i] = name

    def _insert_nodes(self) -> None:
        if not self.added and not self.head:
            return
        nodes = list(self.head)
        for number, node in enumerate(self.nodes):
            nodes += [*self.added.get(number, ()), node]
        copies = []
        for node in nodes:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            copies.append(copy)
        del self.proto.graph.node[:]
        self.proto.graph.node.extend(copies)

    def _declare(self) -> None:
        """Update the shapes that the file declares."""
        pending = [self.proto.graph]
        while pending:
            graph = pending.pop()
            for info in (*graph.input, *graph.output, *graph.value_info):
                self._declared(info)
            for node in graph.node:
                for attribute in node.attribute:
                    pending.extend(nested(attribute))

    def _declared(self, info: onnx.ValueInfoProto) -> None:
        name = decode_text(info.name)
        dims = info.type.tensor_type.shape.dim
        for dim in dims:
            if dim.HasField("dim_param") and dim.dim_param in self.bindings:
                dim.dim_value = self.bindings[dim.dim_param]
        if name in self.inputs and len(dims) == len(self.inputs[name]):
            for dim, size in zip(dims, self.inputs[name], strict=True):
                if dim.HasField("dim_value"):
                    dim.dim_value = size
            return
        old, new = self.plan.shapes.get(name, ((), ()))
        if old is None or len(dims) != len(new):
            return
        for dim, was, target in zip(dims, old, new, strict=True):
            if was != target and dim.HasField("dim_value") and isinstance(target, int):
                dim.dim_value = target


def _values_text(values: Sequence[int]) -> str:
    more = ", …" if len(values) > _MAX_LISTED else ""
    return f"[{', '.join(map(str, values[:_MAX_LISTED]))}{more}]"
