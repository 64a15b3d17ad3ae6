"""Queries shared by rules: nodes with trained weights, and the size of these weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from py_autodoc.costs.engine import in_inference
from py_autodoc.costs.registry import carries_macs
from py_autodoc.costs.weight_slots import PASSES_ON
from py_autodoc.findings.registry import RuleContext
from py_autodoc.graph.ir.model import Node

_MAX_CHAIN = 16
"""Maximum operators followed between a stored weight and its use."""


class TrainedTensor(NamedTuple):
    """A trained tensor as used by an operator."""

    tensor: int
    """The stored tensor before casts, views and dequantization."""
    elements: int
    bytes: int


def weight(ctx: RuleContext, tensor: int) -> TrainedTensor | None:
    """Return the trained tensor behind ``tensor``; None if there is none or its size is unknown."""
    flow, trained = ctx.flow, ctx.params.tensors
    for _ in range(_MAX_CHAIN):
        if tensor < 0:
            return None
        if tensor in trained:
            elements, size = ctx.sizes.numel[tensor], ctx.sizes.bytes[tensor]
            return None if elements is None or size is None else TrainedTensor(tensor, elements, size)
        number = flow.producers[tensor]
        if number < 0:
            return None
        node = flow.nodes[number]
        if node.domain or node.op_type not in PASSES_ON or not node.inputs:
            return None
        tensor = node.inputs[0]
    return None


def macs(ctx: RuleContext, number: int) -> int:
    """Return the MACs of all executions of a node in one inference; 0 if unknown or not counted."""
    entry = ctx.costs[number]
    return 0 if entry.cost is None else in_inference(entry.cost.macs, entry.runs) or 0


def flops(ctx: RuleContext, number: int) -> int:
    """Return the FLOPs of all executions of a node in one inference; 0 if unknown or not counted."""
    entry = ctx.costs[number]
    return 0 if entry.cost is None else in_inference(entry.cost.flops, entry.runs) or 0


def weighted(ctx: RuleContext) -> list[int]:
    """Return nodes of the main graph that multiply data by trained weights (Conv, Gemm, MatMul, LSTM …)."""
    if "weighted" not in ctx.shared:
        ctx.shared["weighted"] = _weighted(ctx)
    layers: list[int] = ctx.shared["weighted"]
    return layers


def _weighted(ctx: RuleContext) -> list[int]:
    flow = ctx.flow
    candidates = [
        number for number in ctx.nodes_of(lambda kind: carries_macs(*kind)) if flow.data_inputs[number]
    ]
    layers = [n for n in candidates if n in flow.position and has_weight(ctx, flow.nodes[n])]
    return sorted(layers, key=flow.position.__getitem__)


def has_weight(ctx: RuleContext, node: Node) -> bool:
    """True if one of the first inputs is a trained tensor of at least two dimensions."""
    flow = ctx.flow
    for tensor in node.inputs[:9]:
        if flow.constants[tensor]:
            shape = flow.shapes[tensor]
            if shape is not None and len(shape) >= 2 and weight(ctx, tensor) is not None:
                return True
    return False


def label(ctx: RuleContext, number: int) -> str:
    """Return the node's name for messages, at most 60 characters; ``Conv_17`` for unnamed nodes."""
    node = ctx.model.nodes[number]
    name = node.name or f"{node.op_type}_{node.id}"
    return name if len(name) <= 60 else f"{name[:28]}…{name[-28:]}"


def total(numbers: Iterable[int | None]) -> int | None:
    """Return the sum; None if a value is unknown."""
    result = 0
    for number in numbers:
        if number is None:
            return None
        result += number
    return result
