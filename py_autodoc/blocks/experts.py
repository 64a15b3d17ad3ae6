"""Mixtures of experts: a router's probabilities weigh the results of several feed-forward blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from py_autodoc.blocks.flow import RESHAPES, Flow
from py_autodoc.blocks.model import Fact, Found
from py_autodoc.blocks.ops import MOE, MOVES, PASS, arg, block, dim, is_linear, matrix

_ROUTES = PASS | RESHAPES | frozenset({
    "TopK", "Softmax", "Sigmoid", "Slice", "Gather", "GatherElements", "GatherND", "Split", "ReduceSum",
    "Div", "ScatterElements", "ScatterND", "OneHot", "Where", "Tile", "Concat", "Equal", "ReduceMax", "Clip",
    "Add",
})  # fmt: skip
"""What may stand between a router and the product that weighs an expert."""
_PICKS = (
    PASS | RESHAPES | frozenset({"Gather", "GatherND", "GatherElements", "Tile", "Where", "Slice", "Mul"})
)
"""What may stand between the tokens and an expert, and behind one."""
_BEFORE = MOVES | {"Add", "Mul", "Div"}
"""What may stand between a router's layer and its gate."""
_NEAR = 512
_MAX_STEPS = 12
_MAX_EXPERTS = 4096


def find_mixtures(flow: Flow, mlps: Sequence[Found]) -> list[Found]:
    """Blocks of kind ``moe``: fused operators, and routers with the MLPs they weigh.

    Variants: ``fused``, ``batched`` (experts in one three-dimensional weight), ``separate``. Facts:
    experts, top_k (None when every expert runs for every token), hidden.
    """
    found = [_fused(flow, n) for n in flow.of(MOE)]
    ends = {t: mlp for mlp in mlps for t in mlp.outputs}
    used: set[int] = set()
    for number in flow.of(("Softmax", "TopK", "Sigmoid")) if ends else ():
        if number in used:
            continue
        router = _router(flow, number)
        if router is None:
            continue
        mixture = _mixture(flow, router, ends)
        if mixture is not None:
            used |= set(mixture.nodes)
            found.append(mixture)
    return found


def _fused(flow: Flow, number: int) -> Found:
    node = flow.nodes[number]
    weights = next((s for t in flow.weighs[number] if (s := flow.shapes[t]) and len(s) == 3), None)
    top = node.attributes.get("k", 1)
    facts: dict[str, Fact] = {
        "experts": weights[0] if weights and isinstance(weights[0], int) else None,
        "top_k": top if isinstance(top, int) else None,
        "activation": str(node.attributes.get("activation_type", "relu")),
    }
    return block(flow, "moe", [number], number, variant="fused", facts=facts)


@dataclass(frozen=True, slots=True)
class _Router:
    dense: int
    gate: int
    tokens: int
    experts: int
    nodes: tuple[int, ...]


def _router(flow: Flow, number: int) -> _Router | None:
    """A dense layer whose features, the experts, are normalized or ranked."""
    tensor = arg(flow, number, 0)
    passed: list[int] = []
    for _ in range(_MAX_STEPS):
        maker = flow.makers[tensor]
        if maker < 0:
            return None
        if is_linear(flow, maker) and len(flow.reads[maker]) == 1:
            experts = dim(flow, flow.firsts[maker], -1)
            if experts is None or not 2 <= experts <= _MAX_EXPERTS:
                return None
            tokens = flow.back(flow.reads[maker][0], MOVES)
            return _Router(maker, number, tokens, experts, (maker, *passed, number))
        if flow.bare[maker] not in _BEFORE or len(flow.reads[maker]) != 1:
            return None
        passed.append(maker)
        tensor = flow.reads[maker][0]
    return None


def _mixture(flow: Flow, router: _Router, ends: dict[int, Found]) -> Found | None:
    """Forward from the router to the products with expert results."""
    queue = [router.gate]
    seen = set(queue)
    experts: dict[int, Found] = {}
    between: set[int] = set(router.nodes)
    top: int | None = None
    while queue and len(seen) < _NEAR:
        number = queue.pop(0)
        for reader in flow.successors(number):
            if reader in seen:
                continue
            name = flow.bare[reader]
            if name in ("Mul", "MatMul", "Einsum") and len(flow.reads[reader]) == 2:
                for tensor in flow.reads[reader]:
                    mlp, steps = _expert(flow, tensor, ends)
                    if mlp is not None and _fed(flow, mlp, router):
                        experts[mlp.anchor] = mlp
                        between |= {reader, *steps}
            elif name in _ROUTES:
                seen.add(reader)
                queue.append(reader)
                if name == "TopK":
                    top = dim(flow, flow.firsts[reader], -1)
    if flow.bare[router.gate] == "TopK":
        top = dim(flow, flow.firsts[router.gate], -1)
    return _built(flow, router, experts, between | seen, top)


def _built(
    flow: Flow, router: _Router, experts: dict[int, Found], nodes: set[int], top: int | None
) -> Found | None:
    """A mixture when there are several experts, or one weight that holds several."""
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
    # The routing nodes that do not lead to an expert stay in: they are the router's bookkeeping.
    return block(flow, "moe", members | nodes, router.dense, variant=variant, confidence=0.9, facts=facts)


def _stacked(flow: Flow, expert: Found, experts: int) -> bool:
    shape = flow.shapes[matrix(flow, expert.anchor)]
    return shape is not None and len(shape) == 3 and shape[0] == experts


def _expert(flow: Flow, tensor: int, ends: dict[int, Found]) -> tuple[Found | None, list[int]]:
    """The MLP a factor comes from."""
    steps: list[int] = []
    for _ in range(_MAX_STEPS):
        if tensor in ends:
            return ends[tensor], steps
        number = flow.makers[tensor]
        if number < 0 or flow.bare[number] not in MOVES:
            return None, steps
        steps.append(number)
        tensor = arg(flow, number, 0)
    return None, steps


def _fed(flow: Flow, expert: Found, router: _Router) -> bool:
    """The expert reads the router's tokens, or some of them."""
    data = flow.reads[expert.anchor]
    tensor = data[0] if data else -1
    for _ in range(_MAX_STEPS):
        if flow.back(tensor, MOVES) == router.tokens:
            return True
        number = flow.makers[tensor]
        if number < 0 or flow.bare[number] not in _PICKS:
            return False
        before = flow.reads[number]
        if not before:
            return False
        place = 1 if flow.bare[number] == "Where" and len(before) > 1 else 0
        tensor = before[place]
    return False
