"""Which tensors cross the border of each kernel: what it reads from memory and writes to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from py_autodoc.graph.ir.model import Model, Node, TypeTable
from py_autodoc.hardware.fusion_roles import FusionRole

_INT64 = 7


class Borders(Protocol):
    """The columns of kernels that are filled here."""

    members: list[list[int]]
    reads: list[list[int]]
    writes: list[list[int]]


class FusedKernels(Protocol):
    """What is known when every node has its kernel."""

    model: Model
    types: TypeTable
    roles: list[int]
    fixed: list[bool]
    alias: list[int]
    """Tensor whose memory a view reads."""
    source: list[int]
    """Tensor that a part lies in."""
    maker: list[int]
    """Kernel that a tensor comes from."""

    @property
    def found(self) -> Borders:
        """The kernels."""


class Traffic:
    """Which tensors cross the border of each kernel."""

    def __init__(self, fusion: FusedKernels) -> None:
        self.fusion = fusion
        self.needed: set[int] = set()
        """Tensors that somebody outside their kernel reads."""

    def run(self) -> None:
        """Fills the columns."""
        fusion, found = self.fusion, self.fusion.found
        nodes = fusion.model.nodes
        for kernel, members in enumerate(found.members):
            found.reads.append(self._reads([nodes[number] for number in members], kernel))
        for graph in fusion.model.graphs:
            self._need(graph.outputs)
            if graph.parent_node >= 0:
                self._need(nodes[graph.parent_node].inputs)
        needed = self.needed
        for members in found.members:
            made = [t for number in members for t in nodes[number].outputs if t in needed]
            found.writes.append(made)

    def _need(self, tensors: Iterable[int]) -> None:
        for tensor in tensors:
            if tensor >= 0:
                self.needed.add(self.fusion.source[self.fusion.alias[tensor]])

    def _reads(self, members: Iterable[Node], kernel: int) -> list[int]:
        fusion, needed = self.fusion, self.needed
        fixed, alias, maker, source, roles = (
            fusion.fixed, fusion.alias, fusion.maker, fusion.source, fusion.roles,
        )  # fmt: skip
        reads: dict[int, None] = {}
        for node in members:
            role = roles[node.id]
            take = role == FusionRole.TAKE or role == FusionRole.PART
            for place, given in enumerate(node.inputs):
                if given < 0:
                    continue
                tensor = alias[given]
                if fixed[given]:
                    if place and role != FusionRole.TAKE and self._setting(tensor):
                        continue
                elif maker[tensor] == kernel:
                    continue
                else:
                    needed.add(source[tensor])
                if take and not place:
                    reads.update(dict.fromkeys(t for t in node.outputs if t >= 0))
                else:
                    reads[tensor] = None
        return list(reads)

    def _setting(self, tensor: int) -> bool:
        """True for sizes, axes and the like, which are not data."""
        if self.fusion.types.dtypes[tensor] != _INT64:
            return False
        shape = self.fusion.types.shapes[tensor]
        return shape is None or len(shape) < 2
