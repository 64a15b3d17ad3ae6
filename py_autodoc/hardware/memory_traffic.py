"""Memory traffic of kernels: the tensors each reads from and writes to memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from py_autodoc.graph.ir.model import Model, Node, TypeTable
from py_autodoc.hardware.fusion_roles import FusionRole

_INT64 = 7


class Borders(Protocol):
    """The columns filled here."""

    members: list[list[int]]
    reads: list[list[int]]
    writes: list[list[int]]


class FusedKernels(Protocol):
    """The fusion result: every node has its kernel."""

    model: Model
    types: TypeTable
    roles: list[int]
    fixed: list[bool]
    alias: list[int]
    """Per tensor: the tensor whose memory a view reads."""
    source: list[int]
    """Per tensor: the tensor that it is a part of."""
    kernel_of: list[int]
    """Per tensor: the kernel that produces it."""

    @property
    def kernels(self) -> Borders:
        """The kernels."""


class Traffic:
    """Determines the tensors that each kernel reads and writes."""

    def __init__(self, fusion: FusedKernels) -> None:
        self.fusion = fusion
        self.needed: set[int] = set()
        """Tensors read outside the kernel that produces them."""

    def run(self) -> None:
        """Fill the columns."""
        fusion, kernels = self.fusion, self.fusion.kernels
        nodes = fusion.model.nodes
        for kernel, members in enumerate(kernels.members):
            kernels.reads.append(self._reads([nodes[number] for number in members], kernel))
        for graph in fusion.model.graphs:
            self._need(graph.outputs)
            if graph.parent_node >= 0:
                self._need(nodes[graph.parent_node].inputs)
        needed = self.needed
        for members in kernels.members:
            outputs = [t for number in members for t in nodes[number].outputs if t in needed]
            kernels.writes.append(outputs)

    def _need(self, tensors: Iterable[int]) -> None:
        for tensor in tensors:
            if tensor >= 0:
                self.needed.add(self.fusion.source[self.fusion.alias[tensor]])

    def _reads(self, members: Iterable[Node], kernel: int) -> list[int]:
        fusion, needed = self.fusion, self.needed
        fixed, alias, kernel_of, source, roles = (
            fusion.fixed,
            fusion.alias,
            fusion.kernel_of,
            fusion.source,
            fusion.roles,
        )
        reads: dict[int, None] = {}
        for node in members:
            role = roles[node.id]
            reads_outputs_only = role == FusionRole.GATHER or role == FusionRole.SLICE
            for i, operand in enumerate(node.inputs):
                if operand < 0:
                    continue
                tensor = alias[operand]
                if fixed[operand]:
                    if i and role != FusionRole.GATHER and self._setting(tensor):
                        continue
                elif kernel_of[tensor] == kernel:
                    continue
                else:
                    needed.add(source[tensor])
                if reads_outputs_only and not i:
                    reads.update(dict.fromkeys(t for t in node.outputs if t >= 0))
                else:
                    reads[tensor] = None
        return list(reads)

    def _setting(self, tensor: int) -> bool:
        """Return True for shapes, axes and similar arguments, which are not data."""
        if self.fusion.types.dtypes[tensor] != _INT64:
            return False
        shape = self.fusion.types.shapes[tensor]
        return shape is None or len(shape) < 2
