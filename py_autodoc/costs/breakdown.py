"""Memory breakdown: weights by element type and operator, activations by operator.

Weights are the constants of ``params``: stored sizes (4-bit types packed), shared constants once, generated
ones at full size. Activations are the bytes that nodes produce in one inference; subgraphs count as often as
they run, and branches of an If that the totals exclude are excluded here, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice

from py_autodoc.costs.engine import MAX_NUMBER, NodeCost, in_inference
from py_autodoc.costs.liveness import VIEW_OPS
from py_autodoc.costs.params import Constant, ParamTable
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Model, Tensor

TOP = 10
"""Number of weights and activations listed individually."""

STORAGE_KINDS = ("inline", "external", "generated")


@dataclass(slots=True)
class WeightShare:
    """A part of the constants. A sum is None if one of its values is unknown."""

    tensors: int = 0
    params: int | None = 0
    bytes: int | None = 0

    def add(self, constant: Constant) -> None:
        """Add a constant."""
        self.tensors += 1
        self.params = _plus(self.params, constant.params)
        self.bytes = _plus(self.bytes, constant.bytes)


@dataclass(slots=True)
class ActivationShare:
    """The bytes that the nodes of an operator type produce in one inference.

    ``bytes`` is the sum of the known values, None if there are none; ``unknown`` counts the excluded
    nodes, which have an output of unknown size.
    """

    nodes: int = 0
    bytes: int | None = None
    unknown: int = 0

    def add(self, number: int | None) -> None:
        """Add a node."""
        self.nodes += 1
        if number is None:
            self.unknown += 1
        else:
            self.bytes = (self.bytes or 0) + number


@dataclass(frozen=True, slots=True)
class MemoryBreakdown:
    """Bytes by kind. Operators are (domain, operator); ``("", "")`` stands for unused weights."""

    by_dtype: dict[tuple[int, int], WeightShare]
    """(element type, bits per weight if several share an element, else 0) → weights."""
    by_op: dict[tuple[str, str], WeightShare]
    """Operator of the first consumer → weights."""
    by_origin: dict[str, WeightShare]
    """``inline``, ``external``, ``generated`` → weights."""
    produced: dict[tuple[str, str], ActivationShare]
    """Operator → activations. An inner node and the control-flow node that returns its output both count."""
    produced_total: ActivationShare
    largest_weights: tuple[Constant, ...]
    largest_activations: tuple[int, ...]
    """Tensor ids, graph inputs included; views of other tensors excluded."""


def breakdown(
    model: Model,
    sizes: TensorSizes,
    params: ParamTable,
    costs: Sequence[NodeCost],
) -> MemoryBreakdown:
    """Break down the bytes of weights and activations. Linear in the size of the graph.

    Never raises on content.
    """
    by_dtype: dict[tuple[int, int], WeightShare] = {}
    by_op: dict[tuple[str, str], WeightShare] = {}
    by_origin = {origin: WeightShare() for origin in STORAGE_KINDS}
    for constant in params.constants:
        node = model.nodes[constant.node] if constant.node >= 0 else None
        storage = (constant.dtype, constant.bits)
        if storage not in by_dtype:
            by_dtype[storage] = WeightShare()
        by_dtype[storage].add(constant)
        user = (node.domain, node.op_type) if node else ("", "")
        if user not in by_op:
            by_op[user] = WeightShare()
        by_op[user].add(constant)
        by_origin[constant.origin].add(constant)
    produced, total = _produced(model, sizes, costs)
    stored = sorted((c for c in params.constants if c.tensor >= 0 and c.bytes), key=lambda c: c.tensor)
    return MemoryBreakdown(
        by_dtype=by_dtype,
        by_op=by_op,
        by_origin=by_origin,
        produced=produced,
        produced_total=total,
        largest_weights=tuple(nlargest(TOP, stored, key=lambda c: c.bytes or 0)),
        largest_activations=_largest(model, sizes),
    )


def _produced(
    model: Model, sizes: TensorSizes, costs: Sequence[NodeCost]
) -> tuple[dict[tuple[str, str], ActivationShare], ActivationShare]:
    """Return the output bytes of all counted nodes, by operator and in total."""
    table: dict[tuple[str, str], ActivationShare] = {}
    size = sizes.bytes
    for node, entry in zip(model.nodes, costs, strict=True):
        if not entry.counted or node.is_constant:
            continue
        number: int | None = 0
        for tensor in node.outputs:
            if tensor >= 0:
                tensor_bytes = size[tensor]
                number = None if number is None or tensor_bytes is None else number + tensor_bytes
        number = in_inference(number, entry.runs)
        if number is not None and number > MAX_NUMBER:
            number = None
        kind = (node.domain, node.op_type)
        if kind not in table:
            table[kind] = ActivationShare()
        table[kind].add(number)
    known_bytes = [share.bytes for share in table.values() if share.bytes is not None]
    nodes = sum(share.nodes for share in table.values())
    unknown = sum(share.unknown for share in table.values())
    return table, ActivationShare(nodes, sum(known_bytes) if known_bytes else None, unknown)


def _largest(model: Model, sizes: TensorSizes) -> tuple[int, ...]:
    """Return the largest activations of all graphs; ties in file order."""
    size = sizes.bytes
    tensors = model.tensors
    candidates = [
        t.id
        for t, bytes_of_tensor in zip(tensors, size, strict=True)
        if bytes_of_tensor and not t.is_constant
    ]
    candidates.sort(key=lambda tensor: size[tensor] or 0, reverse=True)  # a stable sort
    return tuple(islice((t for t in candidates if not _is_view(model, tensors[t])), TOP))


def _is_view(model: Model, tensor: Tensor) -> bool:
    """True for an activation that is a view of another tensor."""
    if tensor.producer < 0:
        return False
    node = model.nodes[tensor.producer]
    if node.domain or node.op_type not in VIEW_OPS or not node.inputs or node.outputs[0] != tensor.id:
        return False
    return node.inputs[0] >= 0 and not model.tensors[node.inputs[0]].is_constant


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
