"""Applies the edits of a plan for a number of items, or for any number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.loading.first_pass import nested
from py_autodoc.graph.rebatch.layout import END_OF_AXIS, BatchEdit
from py_autodoc.graph.rebatch.prepare import PreparedStructure, node_protos
from py_autodoc.graph.rebatch.search import BatchPlan

STEM = "rebatch"
AFTER = f"{STEM}/fold"
"""Name prefix of added nodes that follow the node they serve; other added nodes precede it."""
Parts = Sequence[int | None]
"""Dimensions of a shape, None for the batch."""


@dataclass(slots=True)
class RebatchedModel:
    """A model with another batch. Weights are unchanged references."""

    proto: onnx.ModelProto
    added: frozenset[str]
    """Names of nodes that are not in the original."""
    edits: list[str] = field(default_factory=list)
    """Descriptions of the edits, one line each."""
    symbolic: dict[str, list[int | str]] = field(default_factory=dict)
    """Weights that represent dimensions: name → values, if ``literal`` was set."""


def rewrite(
    structure: PreparedStructure, plan: BatchPlan, batch: int | str, literal: bool = False
) -> RebatchedModel:
    """Apply a plan.

    ``batch`` is a size, or the name of a symbolic dimension. A symbolic size is computed from an input shape;
    with ``literal`` it is a constant whose value is listed in ``symbolic``, so that costs equal those of a
    model with a number. Such a graph is for analysis only and cannot run.
    """
    return _BatchWriter(structure, plan, batch, literal).run()


class _BatchWriter:
    def __init__(
        self, structure: PreparedStructure, plan: BatchPlan, batch: int | str, literal: bool
    ) -> None:
        self.structure, self.plan, self.batch, self.literal = structure, plan, batch, literal
        self.proto = onnx.ModelProto()
        self.proto.CopyFrom(structure.proto)
        self.nodes = node_protos(self.proto.graph)
        self.used_names = {
            name for node in self.nodes for name in (*map(decode_text, node.output), decode_text(node.name))
        }
        self.used_names |= {t.name for t in self.proto.graph.initializer} | set(structure.read)
        self.used_names |= {decode_text(i.name) for i in self.proto.graph.input}
        self.before: dict[int, list[onnx.NodeProto]] = {}
        self.after: dict[int, list[onnx.NodeProto]] = {}
        self.constants: list[onnx.NodeProto] = []
        self.head: list[onnx.NodeProto] = []
        self.consts: dict[tuple[int, ...], str] = {}
        self.size = ""
        self.result = RebatchedModel(self.proto, frozenset())
        self.added: set[str] = set()
        self.kinds: dict[str, Callable[..., None]] = {
            "const": self._const_input,
            "ints": self._ints,
            "repeat": self._repeat,
            "reshape": self._reshape,
            "sized": self._rewrite_sizes,
            "sizes": self._sizes,
            "batch_dims": self._set_batch_dims,
            "strided": self._strided,
            "scatter": self._scatter,
            "unfold": self._unfold,
        }

    def run(self) -> RebatchedModel:
        for edit in self.plan.edits:
            node = self.nodes[edit.node]
            self.kinds[edit.kind](edit.node, node, *edit.data)
            self.result.edits.append(f"{self.structure.nodes[edit.node].label}: {_describe(edit)}")
        self._insert_nodes(self.proto.graph, [*self.constants, *self.head])
        self._declare()
        self.result.added = frozenset(self.added)
        return self.result

    # Pieces

    def _fresh(self, stem: str) -> str:
        number = len(self.used_names)
        while f"{STEM}/{stem}_{number}" in self.used_names:
            number += 1
        name = f"{STEM}/{stem}_{number}"
        self.used_names.add(name)
        return name

    def _const(self, values: Sequence[int]) -> str:
        key = tuple(values)
        if key not in self.consts:
            self.consts[key] = self._stored(np.array(key, np.int64))
        return self.consts[key]

    def _stored(self, value: Any) -> str:
        """Store numbers in the graph; as a Constant before IR version 4, which makes initializers inputs."""
        name = self._fresh("shape")
        tensor = numpy_helper.from_array(value, name)
        if self.proto.ir_version >= 4 or self.literal:
            self.proto.graph.initializer.append(tensor)
        else:
            self.constants.append(helper.make_node("Constant", [], [name], name=name, value=tensor))
            self.added.add(name)
        return name

    def _node(
        self,
        index: int,
        kind: str,
        inputs: Sequence[str],
        target: list[onnx.NodeProto] | None = None,
        **attributes: Any,
    ) -> str:
        """Add a node before another, in the same module, and return its output."""
        name = self._fresh(kind.lower())
        node = helper.make_node(kind, inputs, [name], name=name, **attributes)
        if index >= 0:
            neighbour = self.nodes[index]
            node.metadata_props.extend(neighbour.metadata_props)
            node.doc_string = neighbour.doc_string
        self.added.add(name)
        (self.before.setdefault(index, []) if target is None else target).append(node)
        return name

    def _batch(self) -> str:
        """Return a one-element tensor with the batch size."""
        if not self.size:
            name, axis = next(iter(self.plan.inputs.items()))
            shape = self._node(-1, "Shape", [name], self.head)
            self.size = self._node(-1, "Gather", [shape, self._const([axis])], self.head, axis=0)
            inner = self.plan.layouts[name].inner
            if inner != 1:
                self.size = self._node(-1, "Div", [self.size, self._const([inner])], self.head)
        return self.size

    def _vector(self, index: int, parts: Parts, entries: int) -> str:
        """Return the numbers as a tensor, with ``entries`` times the batch for None."""
        if isinstance(self.batch, int):
            return self._const([self.batch * entries if d is None else d for d in parts])
        if self.literal:
            name = self._fresh("size")
            size = self.batch if entries == 1 else f"{entries}*{self.batch}"
            self.result.symbolic[name] = [size if d is None else d for d in parts]
            self.proto.graph.initializer.append(numpy_helper.from_array(np.zeros(len(parts), np.int64), name))
            return name
        middle, position = self._batch(), list(parts).index(None)
        if entries != 1:
            middle = self._node(index, "Mul", [middle, self._const([entries])])
        left, right = [d or 0 for d in parts[:position]], [d or 0 for d in parts[position + 1 :]]
        inputs = [self._const(left)] * bool(left) + [middle] + [self._const(right)] * bool(right)
        return self._node(index, "Concat", inputs, axis=0) if len(inputs) > 1 else middle

    # Edits

    def _const_input(self, index: int, node: onnx.NodeProto, i: int, values: Sequence[int]) -> None:
        node.input[i] = self._const(values)

    def _ints(self, index: int, node: onnx.NodeProto, name: str, values: Sequence[int]) -> None:
        for attribute in node.attribute:
            if attribute.name == name:
                attribute.ints[:] = values

    def _repeat(self, index: int, node: onnx.NodeProto, i: int, axis: int, rank: int) -> None:
        counts = self._vector(index, [None if a == axis else 1 for a in range(rank)], 1)
        node.input[i] = self._node(index, "Tile", [node.input[i], counts])

    def _reshape(self, index: int, node: onnx.NodeProto, parts: Parts, entries: int) -> None:
        self._to_reshape(node, self._const([-1 if d is None else d for d in parts]))

    def _rewrite_sizes(self, index: int, node: onnx.NodeProto, parts: Parts, entries: int) -> None:
        self._to_reshape(node, self._vector(index, parts, entries))

    def _to_reshape(self, node: onnx.NodeProto, shape: str) -> None:
        node.op_type, node.domain = "Reshape", ""
        node.input[:] = [node.input[0], shape]
        del node.attribute[:]

    def _sizes(self, index: int, node: onnx.NodeProto, i: int, parts: Parts, entries: int) -> None:
        node.input[i] = self._vector(index, parts, entries)

    def _set_batch_dims(self, index: int, node: onnx.NodeProto) -> None:
        """Replace the leading item index, which was always 0, by ``batch_dims``."""
        cut = [node.input[1], self._const([1]), self._const([END_OF_AXIS]), self._const([-1])]
        node.input[1] = self._node(index, "Slice", cut)
        del node.attribute[:]
        node.attribute.append(helper.make_attribute("batch_dims", 1))

    def _strided(
        self,
        index: int,
        node: onnx.NodeProto,
        axis: int,
        shape: Sequence[int],
        index_shape: Sequence[int],
        out: Sequence[int],
        inner: int,
    ) -> None:
        node.input[0] = self._node(
            index, "Reshape", [node.input[0], self._const([*shape[:axis], -1, *shape[axis:]])]
        )
        if inner == 1:
            node.input[1] = self._node(index, "Reshape", [node.input[1], self._const(index_shape[1:])])
        del node.attribute[:]
        node.attribute.append(helper.make_attribute("axis", axis + 1))
        if inner != 1:
            self._folded(index, node, 0, [*out[:axis], -1, *out[axis + 1 :]])

    def _folded(self, index: int, node: onnx.NodeProto, k: int, shape: Sequence[int]) -> None:
        """Reshape an output, keeping its name."""
        name = node.output[k]
        node.output[k] = self._fresh("items")
        inputs = [node.output[k], self._const(shape)]
        reshape = helper.make_node("Reshape", inputs, [name], name=self._fresh("fold"))
        reshape.metadata_props.extend(node.metadata_props)
        reshape.doc_string = node.doc_string
        self.added.add(reshape.name)
        self.after.setdefault(index, []).append(reshape)

    def _scatter(self, index: int, node: onnx.NodeProto, index_shape: Sequence[int]) -> None:
        """Turn indices [1, …, k] with a leading 0 into [N, …, k] with the item as the leading index."""
        unit_dims = [1] * (len(index_shape) - 1)
        counts = self._vector(index, [None, *unit_dims], 1)
        trailing = self._node(
            index, "Slice", [node.input[1], self._const([1]), self._const([END_OF_AXIS]), self._const([-1])]
        )
        trailing = self._node(index, "Tile", [trailing, counts])
        first = self._node(
            index, "Slice", [node.input[1], self._const([0]), self._const([1]), self._const([-1])]
        )
        first = self._node(index, "Tile", [first, counts])
        incremented = self._node(index, "Add", [first, self._const([1])])
        summed = self._node(index, "CumSum", [incremented, self._scalar_zero()])
        item = self._node(index, "Sub", [summed, self._const([1])])
        node.input[1] = self._node(index, "Concat", [item, trailing], axis=-1)

    def _scalar_zero(self) -> str:
        return self._stored(np.array(0, np.int64))

    def _unfold(
        self, index: int, node: onnx.NodeProto, axis: int, before: Sequence[Any], after: Sequence[Any]
    ) -> None:
        for i, width, (left, right) in before:
            shape = self._const([*left, -1, width, *right])
            node.input[i] = self._node(index, "Reshape", [node.input[i], shape])
        if decode_text(node.op_type) == "Slice":
            extra = ["", "", "", "", ""]
            extra[: len(node.input)] = list(node.input)
            extra[3] = self._const([axis + 1])
            node.input[:] = extra if extra[4] else extra[:4]
        else:
            other_attributes = [a for a in node.attribute if a.name != "axis"]
            del node.attribute[:]
            node.attribute.extend(other_attributes)
            node.attribute.append(helper.make_attribute("axis", axis + 1))
        for k, _width, (left, right) in after:
            self._folded(index, node, k, [*left, -1, *right])

    # The whole

    def _insert_nodes(self, main_graph: onnx.GraphProto, head: Sequence[onnx.NodeProto]) -> None:
        """Insert the new nodes at their positions."""
        index = {id(node): i for i, node in enumerate(self.nodes)}
        graphs = [main_graph, *(body for node in self.nodes for a in node.attribute for body in nested(a))]
        for graph in reversed(graphs):  # subgraphs before their owner, since nodes are copied
            numbers = [index[id(node)] for node in graph.node]
            if graph is not main_graph and not any(i in self.before or i in self.after for i in numbers):
                continue
            nodes = list(head) if graph is main_graph else []
            for i in numbers:
                nodes += [*self.before.get(i, ()), self.nodes[i], *self.after.get(i, ())]
            copies = []
            for node in nodes:
                copy = onnx.NodeProto()
                copy.CopyFrom(node)
                copies.append(copy)
            del graph.node[:]
            graph.node.extend(copies)

    def _declare(self) -> None:
        """Update the shapes that the file declares."""
        pending = [self.proto.graph]
        while pending:
            graph = pending.pop()
            produced = {decode_text(name) for node in graph.node for name in node.output}
            for info in (*graph.input, *graph.output, *graph.value_info):
                self._declared(info)
                if decode_text(info.name) in produced and decode_text(info.name) not in self.plan.followed:
                    # In a branch that is never taken, which was not followed.
                    info.type.tensor_type.ClearField("shape")
            for node in graph.node:
                for attribute in node.attribute:
                    pending.extend(nested(attribute))

    def _declared(self, info: onnx.ValueInfoProto) -> None:
        name = decode_text(info.name)
        layout = self.plan.layouts.get(name)
        shape = info.type.tensor_type.shape
        if (
            layout is None
            or layout.ragged
            or not info.type.HasField("tensor_type")
            or len(shape.dim) <= layout.axis
        ):
            return
        dim = shape.dim[layout.axis]
        if name in self.plan.size_dependent:
            dim.Clear()
        elif isinstance(self.batch, int):
            dim.dim_value = layout.size(self.batch)
        else:
            dim.dim_param = (
                self.batch if layout.entries_per_item == 1 else f"{layout.entries_per_item}*{self.batch}"
            )


def _describe(edit: BatchEdit) -> str:
    """Describe an edit in words."""
    if edit.kind == "repeat":
        return f"input {edit.data[0]} is repeated for each item"
    if edit.kind in ("reshape", "sized"):
        batch_text = "-1" if edit.kind == "reshape" else "batch"
        return f"reshapes to [{', '.join(batch_text if d is None else str(d) for d in edit.data[0])}]"
    return {
        "const": "shape without the batch",
        "ints": "shape without the batch",
        "sizes": "sizes that include the batch",
        "batch_dims": "indices apply to each item",
        "strided": "indices apply to each item",
        "scatter": "indices apply to each item",
        "unfold": "works item by item",
    }[edit.kind]
