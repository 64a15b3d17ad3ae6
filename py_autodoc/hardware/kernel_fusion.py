"""Kernel fusion: the nodes of a graph → kernels of a runtime.

``runtimes`` defines what each runtime fuses. TensorRT fuses most: into a product the following per-channel
normalization, bias, activation (decomposed or not) and residual sum of the same shape; other elementwise
operators, copies and normalizations into one kernel, split before a third reduction (a decomposed LayerNorm
or Softmax has two); recognised attention into one kernel. Reshapes run nothing, and neither do nodes that
depend on shapes and weights only.

Nodes are visited once, in execution order. A node joins the youngest kernel that produces one of its
operands, so kernels only depend on older ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from py_autodoc.costs.engine import NodeCost
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.graph.ir.model import Model, Node, SubGraph, TypeTable
from py_autodoc.hardware.cpu_elements import ElementTime, element_times
from py_autodoc.hardware.fusion_roles import COMPUTED, ROLES, FusionRole
from py_autodoc.hardware.kernel_products import (
    CONV,
    DEPTHWISE,
    EXPERTS,
    GEMM,
    GROUPED,
    RECURRENT,
    KernelProduct,
    attention,
    convolution,
    experts,
    product,
    recurrent,
)
from py_autodoc.hardware.memory_traffic import Traffic
from py_autodoc.hardware.routed import Mixture, RoutedExperts, routed
from py_autodoc.hardware.runtimes import (
    ACTIVATION,
    BIAS,
    NORMALIZATION,
    OTHER,
    RESIDUAL,
    TENSORRT,
    Runtime,
)

MEMORY, CORE, NOT_ESTIMABLE = 0, 6, -1
"""Further kinds of kernels, in addition to those of ``kernel_products``."""
_MOST_SUMS = 2
_JOINING = frozenset(
    {FusionRole.POINTWISE, FusionRole.REDUCE, FusionRole.NORM, FusionRole.MOVE, FusionRole.GATHER}
)
_CONVOLUTIONS = (CONV, GROUPED, DEPTHWISE)
_ACTIVATIONS = frozenset(
    [
        "Clip",
        "Elu",
        "FastGelu",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "PRelu",
        "Relu",
        "Selu",
        "Sigmoid",
        "Softplus",
        "Swish",
        "Tanh",
    ]
)
_READ_IN_PLACE = frozenset({FusionRole.PRODUCT, FusionRole.ATTENTION})
_PARTS_READ_IN_PLACE = _JOINING | _READ_IN_PLACE

FusionKey = int | tuple[object, ...] | None
"""Number of elements of a tensor; its shape if that is unknown."""


@dataclass(frozen=True, slots=True)
class AttentionRegion:
    """A recognised attention: the nodes from scores to context, and its Softmax."""

    nodes: tuple[int, ...]
    anchor: int


@dataclass(slots=True)
class Kernels:
    """Kernels of all graphs, index = kernel. The fields are those of ``KernelColumns`` in the payload."""

    node: list[int]
    """By node: its kernel, -1 if it runs nothing."""
    kind: list[int] = field(default_factory=list)
    anchor: list[int] = field(default_factory=list)
    product: list[int] = field(default_factory=list)
    n_axis: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    members: list[list[int]] = field(default_factory=list)
    reads: list[list[int]] = field(default_factory=list)
    writes: list[list[int]] = field(default_factory=list)
    routed: list[RoutedExperts] = field(default_factory=list)
    by_element: dict[int, list[ElementTime]] = field(default_factory=dict)
    """Kernels that a CPU computes element by element, if they are known for the runtime."""


def find_kernels(
    model: Model,
    types: TypeTable,
    sizes: TensorSizes,
    costs: Sequence[NodeCost],
    cores: Iterable[AttentionRegion] = (),
    mixtures: Iterable[Mixture] = (),
    runtime: Runtime = TENSORRT,
    decomposed: Iterable[Sequence[int]] = (),
) -> Kernels:
    """Return the kernels of a model; ``cores`` and ``mixtures`` are the recognised attentions and experts.

    ``decomposed`` are groups of nodes that the runtime runs as one operator although the file decomposes it.

    Dimensions determine what is fused, not a kernel's cost: kernels found for one set apply to others.
    """
    kernels = _Fusion(
        model, types, sizes, costs, cores if runtime.attention else (), runtime, decomposed
    ).run()
    crossing = [[*reads, *writes] for reads, writes in zip(kernels.reads, kernels.writes, strict=True)]
    kernels.routed = routed(model, types.shapes, kernels.members, crossing, kernels.kind, mixtures)
    if runtime.by_element:
        for number, kernel in enumerate(kernels.node):
            slow = element_times(model.nodes[number], types.shapes, types.values) if kernel >= 0 else ()
            if slow:
                kernels.by_element.setdefault(kernel, []).extend(slow)
    return kernels


class _Fusion:
    def __init__(
        self,
        model: Model,
        types: TypeTable,
        sizes: TensorSizes,
        costs: Sequence[NodeCost],
        cores: Iterable[AttentionRegion],
        runtime: Runtime,
        decomposed: Iterable[Sequence[int]],
    ) -> None:
        self.runtime = runtime
        self.group_of = {node: group for group, nodes in enumerate(decomposed) for node in nodes}
        """Node → index of the decomposed operator it belongs to."""
        self.model, self.types, self.sizes, self.costs = model, types, sizes, costs
        count = len(model.tensors)
        self.kernels = Kernels(node=[-1] * len(model.nodes))
        role = ROLES.get
        self.roles: list[int] = [
            role(f"{node.domain}::{node.op_type}" if node.domain else node.op_type, FusionRole.UNKNOWN)
            for node in model.nodes
        ]
        self.fixed = [tensor.is_constant for tensor in model.tensors]
        self.alias = list(range(count))
        """Per tensor: the tensor whose memory a view reads."""
        self.source = list(range(count))
        """Per tensor: the tensor that it is a part of."""
        self.kernel_of = [-1] * count
        """Per tensor: the kernel that produces it."""
        self.kernel_by_input: dict[tuple[int, int], int] = {}
        """(graph, tensor) → kernel that multiplies it by weights."""
        self.graph: list[int] = []
        self.sums: list[int] = []
        self.domain: list[FusionKey] = []
        self.cores = list(cores)
        self.core = {node: i for i, core in reversed(list(enumerate(self.cores))) for node in core.nodes}

    def run(self) -> Kernels:
        for graph in self.model.graphs:
            self._graph(graph)
        Traffic(self).run()
        return self.kernels

    def _graph(self, graph: SubGraph) -> None:
        nodes, costs, core = self.model.nodes, self.costs, self.core
        last = {core[number]: number for number in graph.nodes if number in core} if core else {}
        roles, fixed = self.roles, self.fixed
        for number in graph.nodes:
            if not costs[number].counted:
                continue
            node = nodes[number]
            role = roles[number]
            live = False
            for tensor in node.inputs:
                if tensor >= 0 and not fixed[tensor]:
                    live = True
                    break
            if role == FusionRole.SHAPE or (not live and self._is_known_before_run(node, role)):
                self._mark_constant(node)
            elif number in core:
                if number == last[core[number]]:
                    self._in_core(node)
            else:
                self._assign(node, role)

    def _is_known_before_run(self, node: Node, role: int) -> bool:
        """Return True if all operands, and so the results, are known before the run."""
        return role != FusionRole.CONTROL and node.op_type not in COMPUTED and not node.subgraphs

    def _mark_constant(self, node: Node) -> None:
        """Mark values computed before the run; weights behind views and Transposes remain weights."""
        for tensor in node.outputs:
            if tensor >= 0:
                self.fixed[tensor] = True
        passes = node.op_type in ("Transpose", "Cast") or self.roles[node.id] == FusionRole.VIEW
        if passes and node.inputs and node.inputs[0] >= 0 and node.outputs and node.outputs[0] >= 0:
            self.alias[node.outputs[0]] = self.alias[node.inputs[0]]

    def _in_core(self, node: Node) -> None:
        """Handle the last node of an attention; the others were deferred until all operands are available."""
        core = self.cores[self.core[node.id]]
        members = [n for n in core.nodes if self.core.get(n) == self.core[node.id] and self.costs[n].counted]
        members = [n for n in members if self.model.nodes[n].graph == node.graph]
        core_product = next((p for p in map(self._core_product, members) if p), None)
        if core_product is None:
            for number in members:
                self._assign(self.model.nodes[number], self.roles[number])
            return
        kernel = self._new(node, CORE, core_product)
        self.kernels.anchor[kernel] = core.anchor
        for number in members:
            if number != node.id:
                self._join(self.model.nodes[number], kernel)

    def _core_product(self, number: int) -> KernelProduct | None:
        """Return the product that has the queries: the fused operator, or the product of the scores."""
        node = self.model.nodes[number]
        if self.roles[number] == FusionRole.ATTENTION:
            return attention(node, self.types.shapes)
        if self.roles[number] == FusionRole.PRODUCT and node.outputs and node.outputs[0] >= 0:
            return KernelProduct(CORE, node.outputs[0], -1, 1)
        return None

    def _assign(self, node: Node, role: int) -> None:
        out = node.outputs[0] if node.outputs else -1
        if role == FusionRole.CONTROL or out < 0:
            return
        if role == FusionRole.VIEW or (
            node.op_type == "Transpose" and self._read_in_place(node, _READ_IN_PLACE)
        ):
            self._view(node)
        elif role == FusionRole.SLICE and self._read_in_place(node, _PARTS_READ_IN_PLACE):
            self._slice(node)
        elif role == FusionRole.PRODUCT:
            self._product(node)
        elif role == FusionRole.CONV:
            self._new(node, 0, convolution(node, self.types.shapes))
        elif role == FusionRole.ATTENTION:
            self._new(node, CORE, attention(node, self.types.shapes))
        elif role in (FusionRole.RECURRENT, FusionRole.EXPERTS):
            described = (recurrent if role == FusionRole.RECURRENT else experts)(node, self.types.shapes)
            self._new(node, NOT_ESTIMABLE if described is None else 0, described)
        elif role == FusionRole.UNKNOWN:
            self._new(node, NOT_ESTIMABLE)
        else:
            self._memory(node, role)

    def _product(self, node: Node) -> None:
        """Merge products of one tensor with several weights (queries, keys, values) into one kernel."""
        matmul = product(node, self.types.shapes, self.fixed)
        live = [self.alias[t] for t in node.inputs if t >= 0 and not self.fixed[t]]
        if not self.runtime.side_by_side or matmul.kind != GEMM or len(live) != 1:
            self._new(node, 0, matmul)
            return
        sibling = self.kernel_by_input.get((node.graph, live[0]))
        if sibling is None:
            self.kernel_by_input[node.graph, live[0]] = self._new(node, 0, matmul)
        else:
            self._join(node, sibling)

    def _view(self, node: Node) -> None:
        source = node.inputs[0]
        for out in node.outputs[:1]:
            self.alias[out] = self.alias[source] if source >= 0 else out
            self.kernel_of[out] = self.kernel_of[source] if source >= 0 else -1
            self.fixed[out] = source >= 0 and self.fixed[source]

    def _slice(self, node: Node) -> None:
        source = self.alias[node.inputs[0]] if node.inputs[0] >= 0 else -1
        for out in node.outputs:
            if out >= 0 and source >= 0:
                self.source[out] = self.source[source]
                self.kernel_of[out] = self.kernel_of[source]

    def _read_in_place(self, node: Node, readers: frozenset[int]) -> bool:
        """Return True if all consumers of the result (through views) can read it in place."""
        todo, steps = [t for t in node.outputs if t >= 0], 0
        tensors, nodes = self.model.tensors, self.model.nodes
        while todo:
            tensor = tensors[todo.pop()]
            steps += len(tensor.consumers) + 1
            if tensor.is_output or steps > 64:
                return False
            for number in tensor.consumers:
                role = self.roles[number]
                if role in readers or role == FusionRole.SHAPE or number in self.core:
                    continue
                if role != FusionRole.VIEW and not (role == FusionRole.SLICE and FusionRole.MOVE in readers):
                    return False
                todo += [t for t in nodes[number].outputs if t >= 0]
        return True

    # ------------------------------------------------------------------ memory-bound kernels

    def _memory(self, node: Node, role: int) -> None:
        """Join the youngest kernel of the operands, or start a new one."""
        kernel, operand = -1, -1
        for tensor in node.inputs:
            if tensor >= 0 and not self.fixed[tensor]:
                producer = self.kernel_of[tensor]
                if producer > kernel:
                    kernel, operand = producer, tensor
        if kernel >= 0 and self.graph[kernel] == node.graph and self._fits(node, role, kernel, operand):
            self._join(node, kernel)
            if role == FusionRole.NORM or role == FusionRole.REDUCE:
                if not self.sums[kernel]:
                    self.kernels.anchor[kernel] = node.id
                self.sums[kernel] += _sums(role)
            elif role == FusionRole.MOVE or role == FusionRole.GATHER:
                self.domain[kernel] = self._key(node.outputs[0])
            return
        self._new(node, MEMORY)
        self.sums[-1] = _sums(role)
        if role == FusionRole.NORM or role == FusionRole.REDUCE:
            self.domain[-1] = self._key(node.inputs[0])

    def _fits(self, node: Node, role: int, kernel: int, operand: int) -> bool:
        kind = self.kernels.kind[kernel]
        if kind in (NOT_ESTIMABLE, RECURRENT, EXPERTS) or role == FusionRole.SEPARATE:
            return False
        if kind == MEMORY and not self.runtime.chains:
            # Only nodes of the same decomposed operator.
            group = self.group_of.get(node.id, -1)
            return group >= 0 and group == self.group_of.get(self.kernels.members[kernel][0], -1)
        if role == FusionRole.POINTWISE:
            out = self._key(node.outputs[0])
            if kind != MEMORY:
                fusible = self.runtime.convolution if kind in _CONVOLUTIONS else self.runtime.product
                if self._elementwise_kind(node) not in fusible:
                    return False
                return out is not None and out == self._key(operand) and not self._summed(node)
            return out is None or out in (self.domain[kernel], self._key(operand))
        if kind != MEMORY:
            return False
        if role == FusionRole.MOVE or role == FusionRole.GATHER:
            return True
        return self.sums[kernel] + _sums(role) <= _MOST_SUMS and self._key(operand) == self.domain[kernel]

    def _elementwise_kind(self, node: Node) -> str:
        """Classify an elementwise operator that follows a product."""
        if node.op_type == "BatchNormalization":
            return NORMALIZATION
        if node.op_type == "Add":
            return BIAS if any(t >= 0 and self.fixed[t] for t in node.inputs) else RESIDUAL
        # A node of a longer activation is not itself the activation.
        alone = node.op_type in _ACTIVATIONS and node.id not in self.group_of
        return ACTIVATION if alone else OTHER

    def _summed(self, node: Node) -> bool:
        """Return True for a square that is only summed: it belongs to a normalization, not to the product."""
        readers = self.model.tensors[node.outputs[0]].consumers
        return len(readers) == 1 and self.roles[readers[0]] == FusionRole.REDUCE

    def _key(self, tensor: int) -> FusionKey:
        if tensor < 0:
            return None
        elements = self.sizes.numel[tensor]
        return self.types.shapes[tensor] if elements is None else elements

    def _new(self, node: Node, kind: int, matmul: KernelProduct | None = None) -> int:
        kernels = self.kernels
        kernel = len(kernels.kind)
        kernels.kind.append(kind if matmul is None else matmul.kind)
        kernels.anchor.append(node.id)
        kernels.product.append(-1 if matmul is None else matmul.tensor)
        kernels.n_axis.append(-1 if matmul is None else matmul.n_axis)
        kernels.groups.append(1 if matmul is None else matmul.groups)
        kernels.members.append([])
        self.graph.append(node.graph)
        self.sums.append(0)
        self.domain.append(self._key(node.outputs[0]))
        self._join(node, kernel)
        return kernel

    def _join(self, node: Node, kernel: int) -> None:
        self.kernels.node[node.id] = kernel
        self.kernels.members[kernel].append(node.id)
        for tensor in node.outputs:
            if tensor >= 0:
                self.kernel_of[tensor] = kernel


_SUMS = {FusionRole.REDUCE: 1, FusionRole.NORM: _MOST_SUMS, FusionRole.SEPARATE: _MOST_SUMS}


def _sums(role: int) -> int:
    """Return the number of reductions over the same axes in an operator."""
    return _SUMS.get(role, 0)
