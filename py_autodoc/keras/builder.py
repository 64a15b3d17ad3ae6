"""Making the nodes of an ONNX graph, each under the layer that is being converted."""

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
"""Numbers up to which equal constants are kept once."""


class Builder:
    """A graph while it grows."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.nodes: list[ir.Node] = []
        self.initializers: dict[str, ir.Value] = {}
        self.frames: dict[ir.Node, tuple[Frame, ...]] = {}
        self.at: tuple[Frame, ...] = (Frame("", 0),)
        self.owned: list[tuple[str, str]] = []
        """Path of a layer and name of a weight that it reads."""
        self._names: Counter[str] = Counter()
        self._taken: set[str] = set()
        self._constants: dict[tuple[Any, ...], ir.Value] = {}
        self._turned: dict[tuple[ir.Value, Order], ir.Value] = {}

    # -- names ---------------------------------------------------------------------------------------

    def name(self, base: str) -> str:
        """A name that nothing has yet."""
        while True:
            number = self._names[base]
            self._names[base] += 1
            found = f"{base}_{number}" if number else base
            if found not in self._taken:
                self._taken.add(found)
                return found

    def reserve(self, names: Iterable[str]) -> None:
        """Keep names for the outputs of the model."""
        self._taken.update(names)

    @property
    def prefix(self) -> str:
        """Path of the layer, for names of nodes."""
        return self.at[-1].path.replace(".", "/")

    @contextmanager
    def under(self, frames: tuple[Frame, ...]) -> Iterator[None]:
        """Nodes made in the block belong to another layer."""
        before, self.at = self.at, frames
        try:
            yield
        finally:
            self.at = before

    # -- values --------------------------------------------------------------------------------------

    def constant(self, array: Any, name: str = "constant", kind: Any = None) -> ir.Value:
        """A constant of the graph; small equal ones are kept once."""
        data = np.asarray(array, dtype=kind)
        key = (data.dtype.str, data.shape, data.tobytes()) if data.size <= _SMALL else None
        found = self._constants.get(key) if key is not None else None
        if found is None:
            base = name if key is not None else f"{self.prefix}/{name}".lstrip("/")
            found = self._initializer(data, base)
            if key is not None:
                self._constants[key] = found
        return found

    def weight(self, array: npt.NDArray[Any], name: str) -> ir.Value:
        """A weight of the layer, under its name."""
        self.owned.append((self.at[-1].path, name))
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
        """A node with one output."""
        return self.ops(kind, inputs, 1, **attributes)[0]

    def ops(
        self, kind: str, inputs: Sequence[ir.Value | None], outputs: int, **attributes: Any
    ) -> tuple[ir.Value, ...]:
        """A node with several outputs."""
        name = self.name(f"{self.prefix}/{kind}".lstrip("/"))
        made = ir.node(kind, list(inputs), attributes, num_outputs=outputs, name=name)
        for number, value in enumerate(made.outputs):
            value.name = self.name(f"{name}_out{number or ''}")
        self.nodes.append(made)
        self.frames[made] = self.at
        return tuple(made.outputs)

    @contextmanager
    def body(self) -> Iterator[list[ir.Node]]:
        """Nodes made in the block go into a graph of their own; constants stay outside."""
        outer, self.nodes = self.nodes, []
        turned, self._turned = self._turned, {}
        try:
            yield self.nodes
        finally:
            self.nodes, self._turned = outer, turned

    # -- tensors -------------------------------------------------------------------------------------

    def turned(self, tensor: KerasTensor, order: Order) -> ir.Value:
        """A tensor's value with its axes in an order; a Transpose only where it lies otherwise."""
        if tensor.order == order:
            return tensor.value
        key = (tensor.value, tuple(tensor.order.index(axis) for axis in order))
        found = self._turned.get(key)
        if found is None:
            found = self._turned[key] = self.op("Transpose", tensor.value, perm=key[1])
        return found

    def tensor(
        self, value: ir.Value, shape: Shape, order: Order | None = None, kind: ir.DataType = ir.DataType.FLOAT
    ) -> KerasTensor:
        """A tensor that the current layer made."""
        return KerasTensor(value, shape, order or tuple(range(len(shape))), kind, maker=self.at)

    def cast(self, tensor: KerasTensor, kind: ir.DataType) -> KerasTensor:
        """The tensor in another type."""
        if tensor.kind == kind:
            return tensor
        value = self.op("Cast", tensor.value, to=kind.value)
        return KerasTensor(value, tensor.shape, tensor.order, kind, tensor.mask, self.at)
