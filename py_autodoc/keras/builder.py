"""Create the nodes of an ONNX graph, each attributed to the layer being converted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx_ir as ir

from py_autodoc.keras.tensor import KerasTensor, Order, Shape
from py_autodoc.tags import Frame

_SMALL = 64
"""Maximum elements of constants that are deduplicated."""


class Builder:
    """A graph under construction."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.nodes: list[ir.Node] = []
        self.initializers: dict[str, ir.Value] = {}
        self.frames: dict[ir.Node, tuple[Frame, ...]] = {}
        self.current_frames: tuple[Frame, ...] = (Frame("", 0),)
        self.owned: list[tuple[str, str]] = []
        """(path of a layer, name of a weight that it reads)."""
        self._names: Counter[str] = Counter()
        self._used_names: set[str] = set()
        self._constants: dict[tuple[Any, ...], ir.Value] = {}
        self._transposed: dict[tuple[ir.Value, Order], ir.Value] = {}

    # -- names ---------------------------------------------------------------------------------------

    def name(self, base: str) -> str:
        """Return an unused name."""
        while True:
            number = self._names[base]
            self._names[base] += 1
            candidate = f"{base}_{number}" if number else base
            if candidate not in self._used_names:
                self._used_names.add(candidate)
                return candidate

    def reserve(self, names: Iterable[str]) -> None:
        """Reserve names for the outputs of the model."""
        self._used_names.update(names)

    @property
    def prefix(self) -> str:
        """Path of the current layer, as a prefix of node names."""
        return self.current_frames[-1].path.replace(".", "/")

    @contextmanager
    def under(self, frames: tuple[Frame, ...]) -> Iterator[None]:
        """Attribute nodes created in the ``with`` block to another layer."""
        before, self.current_frames = self.current_frames, frames
        try:
            yield
        finally:
            self.current_frames = before

    # -- values --------------------------------------------------------------------------------------

    def constant(self, array: Any, name: str = "constant", kind: Any = None) -> ir.Value:
        """Return a constant of the graph; small equal constants are stored once."""
        data = np.asarray(array, dtype=kind)
        key = (data.dtype.str, data.shape, data.tobytes()) if data.size <= _SMALL else None
        value = self._constants.get(key) if key is not None else None
        if value is None:
            base = name if key is not None else f"{self.prefix}/{name}".lstrip("/")
            value = self._initializer(data, base)
            if key is not None:
                self._constants[key] = value
        return value

    def weight(self, array: npt.NDArray[Any], name: str) -> ir.Value:
        """Return a weight of the layer under its name."""
        self.owned.append((self.current_frames[-1].path, name))
        return self._initializer(np.ascontiguousarray(array), f"{self.prefix}/{name}".lstrip("/"))

    def _initializer(self, data: npt.NDArray[Any], base: str) -> ir.Value:
        name = self.name(base)
        value = ir.Value(
            name=name,
            shape=ir.Shape(data.shape),
            type=ir.TensorType(ir.DataType.from_numpy(data.dtype)),
            const_value=ir.tensor(data, name=name),
        )
        self.initializers[name] = value
        return value

    # -- nodes ---------------------------------------------------------------------------------------

    def op(self, kind: str, *inputs: ir.Value | None, **attributes: Any) -> ir.Value:
        """Create a node with one output."""
        return self.ops(kind, inputs, 1, **attributes)[0]

    def ops(
        self, kind: str, inputs: Sequence[ir.Value | None], outputs: int, **attributes: Any
    ) -> tuple[ir.Value, ...]:
        """Create a node with several outputs."""
        name = self.name(f"{self.prefix}/{kind}".lstrip("/"))
        node = ir.node(kind, list(inputs), attributes, num_outputs=outputs, name=name)
        for number, value in enumerate(node.outputs):
            value.name = self.name(f"{name}_out{number or ''}")
        self.nodes.append(node)
        self.frames[node] = self.current_frames
        return tuple(node.outputs)

    @contextmanager
    def body(self) -> Iterator[list[ir.Node]]:
        """Collect nodes created in the ``with`` block for a subgraph; constants stay in the main graph."""
        outer, self.nodes = self.nodes, []
        transposed, self._transposed = self._transposed, {}
        try:
            yield self.nodes
        finally:
            self.nodes, self._transposed = outer, transposed

    # -- tensors -------------------------------------------------------------------------------------

    def transposed(self, tensor: KerasTensor, order: Order) -> ir.Value:
        """Return a tensor's value with its axes in ``order``; transpose it only if stored otherwise."""
        if tensor.order == order:
            return tensor.value
        key = (tensor.value, tuple(tensor.order.index(axis) for axis in order))
        value = self._transposed.get(key)
        if value is None:
            value = self._transposed[key] = self.op("Transpose", tensor.value, perm=key[1])
        return value

    def tensor(
        self, value: ir.Value, shape: Shape, order: Order | None = None, kind: ir.DataType = ir.DataType.FLOAT
    ) -> KerasTensor:
        """Return a tensor created by the current layer."""
        return KerasTensor(value, shape, order or tuple(range(len(shape))), kind, maker=self.current_frames)

    def cast(self, tensor: KerasTensor, kind: ir.DataType) -> KerasTensor:
        """Return the tensor cast to another type."""
        if tensor.kind == kind:
            return tensor
        value = self.op("Cast", tensor.value, to=kind.value)
        return KerasTensor(value, tensor.shape, tensor.order, kind, tensor.mask, self.current_frames)
