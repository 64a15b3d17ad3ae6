"""Mixtures of experts: router probabilities weight the results of several feed-forward blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.blocks.dataflow.dataflow_graph import RESHAPES, DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import (
    COPY_OPS,
    COPY_OR_LAYOUT_OPS,
    MOE,
    dim,
    input_at,
    is_float,
    is_linear,
    make_block,
    matrix,
)
from py_autodoc.blocks.results import Fact, RecognisedBlock

_ROUTES = COPY_OPS | RESHAPES | frozenset({
    "TopK", "Softmax", "Sigmoid", "Slice", "Gather", "GatherElements", "GatherND", "Split", "ReduceSum",
    "Div", "ScatterElements", "ScatterND", "OneHot", "Where", "Tile", "Concat", "Equal", "ReduceMax", "Clip",
    "Add", "Mul", "Sub", "Max", "Min", "NonZero", "Greater", "Less", "Not", "And", "CumSum", "If", "Mod",
    "Loop", "SplitToSequence", "SequenceAt", "ArgMax", "LessOrEqual", "GreaterOrEqual",
})  # fmt: skip
"""Operators allowed between a router and the product that weights an expert."""
_PICKS = (
    COPY_OPS | RESHAPES | frozenset({"Gather", "GatherND", "GatherElements", "Tile", "Where", "Slice", "Mul"})
)
"""Operators allowed between the tokens and an expert, and after an expert."""
_BEFORE = COPY_OR_LAYOUT_OPS | {"Add", "Mul", "Div"}
"""Operators allowed between the dense layer of a router and its gate."""
_JOINS = frozenset({"Add", "Sum", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
_MAX_NODES = 512
_REGION = 4096
_MAX_STEPS = 12
_MAX_EXPERTS = 4096


def find_mixtures(flow: DataflowGraph, mlps: Sequence[RecognisedBlock]) -> list[RecognisedBlock]:
    """Return blocks of kind ``moe``: fused operators, and routers with the MLPs that they weight.

    Variants: ``fused``, ``batched`` (experts in one three-dimensional weight), ``picked`` (the weights of the
    selected experts are gathered from one tensor), ``separate``. Facts: experts, top_k (None if every expert
    runs for every token), hidden.
    """
    blocks = [_fused(flow, n) for n in flow.of(MOE)]
    ends = {t: mlp for mlp in mlps for t in mlp.outputs}
    used: set[int] = set()
    tables = _tables(flow)
    for number in flow.of(("Softmax", "TopK", "Sigmoid", "ArgMax")) if ends or tables else ():
        if number in used:
            continue
        router = _router(flow, number)
        if router is None:
            continue
        mixture = _gathered_mixture(flow, router, tables) or _mixture(flow, router, ends)
        if mixture is not None:
            used |= set(mixture.nodes)
            blocks.append(mixture)
    return blocks


def _fused(flow: DataflowGraph, number: int) -> RecognisedBlock:
    node = flow.nodes[number]
    weights = next((s for t in flow.constant_inputs[number] if (s := flow.shapes[t]) and len(s) == 3), None)
    top = node.attributes.get("k", 1)
    facts: dict[str, Fact] = {
        "experts": weights[0] if weights and isinstance(weights[0], int) else None,
        "top_k": top if isinstance(top, int) else None,
        "activation": str(node.attributes.get("activation_type", "relu")),
    }
    return make_block(flow, "moe", [number], number, variant="fused", facts=facts)


@dataclass(frozen=True, slots=True)
class _Router:
    dense: int
    gate: int
    tokens: int
    experts: int
    nodes: tuple[int, ...]


def _router(flow: DataflowGraph, number: int) -> _Router | None:
    """Match a dense layer whose output features (the experts) are normalized or ranked."""
    tensor = input_at(flow, number, 0)
    passed: list[int] = []
    for _ in range(_MAX_STEPS):
        producer = flow.producers[tensor]
        if producer < 0:
            return None
        if is_linear(flow, producer) and len(flow.data_inputs[producer]) == 1:
            experts = dim(flow, flow.first_outputs[producer], -1)
            if experts is None or not 2 <= experts <= _MAX_EXPERTS:
                return None
            tokens = flow.back(flow.data_inputs[producer][0], COPY_OR_LAYOUT_OPS)
            return _Router(producer, number, tokens, experts, (producer, *passed, number))
        if flow.op_types[producer] not in _BEFORE or len(flow.data_inputs[producer]) != 1:
            return None
        passed.append(producer)
        tensor = flow.data_inputs[producer][0]
    return None


def _top_k(flow: DataflowGraph, number: int, router: _Router) -> int | None:
    """Return k if a TopK selects among all experts; None for other nodes, or if it selects groups."""
    if flow.op_types[number] != "TopK" or dim(flow, input_at(flow, number, 0), -1) != router.experts:
        return None
    return dim(flow, flow.first_outputs[number], -1)


def _argmax_count(flow: DataflowGraph, nodes: set[int], router: _Router) -> int | None:
    """Return the number of experts selected one at a time by ArgMax; None if there are none."""
    picks = [
        n
        for n in nodes
        if flow.op_types[n] == "ArgMax" and dim(flow, input_at(flow, n, 0), -1) == router.experts
    ]
    return len(picks) or None


def _mixture(
    flow: DataflowGraph, router: _Router, ends: dict[int, RecognisedBlock]
) -> RecognisedBlock | None:
    """Search forward from the router to the products with expert results."""
    queue = [router.gate]
    seen = set(queue)
    experts: dict[int, RecognisedBlock] = {}
    between: set[int] = set(router.nodes)
    top: int | None = None
    while queue and len(seen) < _MAX_NODES:
        number = queue.pop(0)
        for reader in flow.successors(number):
            if reader in seen:
                continue
            name = flow.op_types[reader]
            # A mask of experts at capacity, like a mask of selected experts, is still a selection.
            masked = name == "Mul" and dim(flow, flow.first_outputs[reader], -1) == router.experts
            if name in ("Mul", "MatMul", "Einsum") and len(flow.data_inputs[reader]) == 2 and not masked:
                for tensor in flow.data_inputs[reader]:
                    for mlp, steps in _experts(flow, tensor, ends):
                        if _reads_router_tokens(flow, mlp, router):
                            experts[mlp.anchor] = mlp
                            between |= {reader, *steps}
            elif name in _ROUTES:
                seen.add(reader)
                queue.append(reader)
                top = _top_k(flow, reader, router) or top
    top = _top_k(flow, router.gate, router) or top or _argmax_count(flow, seen, router)
    return _as_block(flow, router, experts, between | seen, top)


def _tables(flow: DataflowGraph) -> dict[int, tuple[int, ...]]:
    """Return lookups in a stored 3-D weight by a computed index → weight shape: expert weights."""
    shapes_by_node: dict[int, tuple[int, ...]] = {}
    for number in flow.of(("Gather", "GatherND")):
        inputs, attributes = flow.nodes[number].inputs, flow.nodes[number].attributes
        if len(inputs) < 2 or attributes.get("axis", 0) != 0 or attributes.get("batch_dims", 0) != 0:
            continue
        if flow.op_types[number] == "GatherND" and dim(flow, inputs[1], -1) != 1:
            continue
        shape = flow.shapes[inputs[0]] if inputs[0] >= 0 and flow.constants[inputs[0]] else None
        if shape is None or len(shape) != 3 or flow.constants[inputs[1]] or not is_float(flow, inputs[0]):
            continue
        sizes = tuple(d for d in shape if isinstance(d, int))
        if len(sizes) == 3:
            shapes_by_node[number] = sizes
    return shapes_by_node


def _gathered_mixture(
    flow: DataflowGraph, router: _Router, tables: dict[int, tuple[int, ...]]
) -> RecognisedBlock | None:
    """Match a mixture whose expert weights are gathered by the router's choice."""
    expert_tables = {n: shape for n, shape in tables.items() if shape[0] == router.experts}
    if not expert_tables:
        return None
    queue, seen = [router.gate], {router.gate}
    hits: dict[int, tuple[int, ...]] = {}
    top = _top_k(flow, router.gate, router)
    while queue and len(seen) < _MAX_NODES:
        for reader in flow.successors(queue.pop(0)):
            if reader in seen:
                continue
            if reader in expert_tables:
                hits[reader] = expert_tables[reader]
            elif flow.op_types[reader] in _ROUTES:
                queue.append(reader)
                top = _top_k(flow, reader, router) or top
            seen.add(reader)
    if not hits:
        return None
    width = dim(flow, router.tokens, -1)
    hidden = min((d for shape in hits.values() for d in shape[1:] if d != width), default=width)
    top = top or _argmax_count(flow, seen, router)
    facts: dict[str, Fact] = {"experts": router.experts, "top_k": top, "hidden": hidden}
    nodes = {*router.nodes, *hits, *_region(flow, router)}
    return make_block(flow, "moe", nodes, router.dense, variant="picked", confidence=0.9, facts=facts)


def _region(flow: DataflowGraph, router: _Router) -> set[int]:
    """Return the nodes computed only from the router's tokens, up to the sum with another stream."""
    produced = {router.tokens}
    inside: set[int] = set()
    start = flow.position[router.dense]
    for number in flow.order[max(0, start - _MAX_NODES) : start + _REGION]:
        node = flow.nodes[number]
        if produced.isdisjoint(node.inputs):
            continue
        foreign = [
            t
            for t in flow.data_inputs[number]
            if t not in produced and is_float(flow, t) and flow.producers[t] not in inside
        ]
        joins = flow.op_types[number] in _JOINS and router.tokens in node.inputs
        if joins or (foreign and inside and flow.op_types[number] in _JOINS):
            continue
        inside.add(number)
        produced.update(t for t in node.outputs if t >= 0)
    return inside


def _as_block(
    flow: DataflowGraph,
    router: _Router,
    experts: dict[int, RecognisedBlock],
    nodes: set[int],
    top: int | None,
) -> RecognisedBlock | None:
    """Return a mixture if there are several experts, or one weight that holds several."""
    batched = [e for e in experts.values() if _stacked(flow, e, router.experts)]
    if not batched and len(experts) < 2:
        return None
    members = {n for expert in experts.values() for n in expert.nodes}
    facts: dict[str, Fact] = {
        "experts": router.experts,
        "top_k": top,
        "hidden": next(iter(experts.values())).facts.get("hidden"),
    }
    variant = "batched" if batched else "separate"
    # Routing nodes that do not lead to an expert are included: they belong to the router.
    return make_block(
        flow, "moe", members | nodes, router.dense, variant=variant, confidence=0.9, facts=facts
    )


def _stacked(flow: DataflowGraph, expert: RecognisedBlock, experts: int) -> bool:
    shape = flow.shapes[matrix(flow, expert.anchor)]
    return shape is not None and len(shape) == 3 and shape[0] == experts


def _experts(
    flow: DataflowGraph, tensor: int, ends: dict[int, RecognisedBlock]
) -> list[tuple[RecognisedBlock, list[int]]]:
    """Return the MLPs behind a factor: one, or several stacked."""
    experts = []
    mlp, steps = _expert(flow, tensor, ends)
    if mlp is not None:
        experts.append((mlp, steps))
    stack = flow.producers[flow.back(tensor, COPY_OR_LAYOUT_OPS)]
    if flow.op_types[stack] == "Concat":
        for stacked in flow.data_inputs[stack][:_MAX_EXPERTS]:
            mlp, steps = _expert(flow, stacked, ends)
            if mlp is not None:
                experts.append((mlp, [*flow.chain_back(tensor, COPY_OR_LAYOUT_OPS), stack, *steps]))
    return experts


def _expert(
    flow: DataflowGraph, tensor: int, ends: dict[int, RecognisedBlock]
) -> tuple[RecognisedBlock | None, list[int]]:
    """Return the MLP behind a factor."""
    steps: list[int] = []
    for _ in range(_MAX_STEPS):
        if tensor in ends:
            return ends[tensor], steps
        number = flow.producers[tensor]
        if number < 0 or flow.op_types[number] not in COPY_OR_LAYOUT_OPS:
            return None, steps
        steps.append(number)
        tensor = input_at(flow, number, 0)
    return None, steps


def _reads_router_tokens(flow: DataflowGraph, expert: RecognisedBlock, router: _Router) -> bool:
    """True if the expert reads the router's tokens, or some of them."""
    data = flow.data_inputs[expert.anchor]
    tensor = data[0] if data else -1
    for _ in range(_MAX_STEPS):
        if flow.back(tensor, COPY_OR_LAYOUT_OPS) == router.tokens:
            return True
        number = flow.producers[tensor]
        if number < 0 or flow.op_types[number] not in _PICKS:
            return False
        before = flow.data_inputs[number]
        if not before:
            return False
        index = 1 if flow.op_types[number] == "Where" and len(before) > 1 else 0
        tensor = before[index]
    return False
