"""Normalizations: fused operators and their decomposed forms.

Sources: Ioffe & Szegedy 2015 (batch), Ba et al. 2016 (layer), Ulyanov et al. 2016 (instance), Wu & He
2018 (group), Zhang & Sennrich 2019 (RMS).
"""

from __future__ import annotations

from py_autodoc.blocks.dataflow.dataflow_graph import RESHAPES, DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import (
    COPY_OPS,
    NORMS,
    dim,
    input_at,
    make_block,
    next_node,
    per_channel,
    weight,
)
from py_autodoc.blocks.layer_blocks.decomposed_norm import ROOT_OPS, DecomposedNorm, decomposed_norm_at
from py_autodoc.blocks.results import Fact, RecognisedBlock

_RESHAPED = COPY_OPS | RESHAPES
_ROOTS = ROOT_OPS.union(NORMS)


def find_normalizations(flow: DataflowGraph) -> list[RecognisedBlock]:
    """Return blocks of kind ``normalization``; the variant is the equivalent operator.

    Variants: BatchNormalization, LayerNormalization, RMSNormalization, GroupNormalization,
    InstanceNormalization, LpNormalization (division by the L2 norm), MeanVarianceNormalization, LRN.
    Facts: size (length of the normalized axes), scale, bias, fused (one operator), epsilon.
    """
    if find_normalizations not in flow.memo:
        flow.memo[find_normalizations] = _find(flow)
    blocks: list[RecognisedBlock] = flow.memo[find_normalizations]
    return blocks.copy()


def normalized_from(flow: DataflowGraph) -> dict[int, int]:
    """Map the output tensor of each decomposed normalization to its input."""
    if normalized_from not in flow.memo:
        flow.memo[normalized_from] = {
            norm.outputs[0]: norm.inputs[0]
            for norm in find_normalizations(flow)
            if len(norm.nodes) > 1 and norm.inputs and norm.outputs
        }
    ends: dict[int, int] = flow.memo[normalized_from]
    return ends


def _find(flow: DataflowGraph) -> list[RecognisedBlock]:
    blocks: list[RecognisedBlock] = []
    used: set[int] = set()
    for number in flow.of(_ROOTS):
        if number in used:
            continue
        kind = NORMS.get(flow.op_types[number])
        if kind is not None:
            block = _fused(flow, number, kind)
        else:
            block = _primitive(flow, number)
        if block is not None and not used.intersection(block.nodes):
            used.update(block.nodes)
            blocks.append(block)
    return blocks


def _fused(flow: DataflowGraph, number: int, kind: str) -> RecognisedBlock | None:
    node = flow.nodes[number]
    if not node.inputs or not (flow.data_inputs[number] or flow.producers[node.inputs[0]] >= 0):
        return None
    if kind == "InstanceNormalization":
        group = _group(flow, number)
        if group is not None:
            return group
    skip = 1 if node.op_type.startswith("Skip") else 0
    index = 1 + skip
    scale = node.inputs[index] if len(node.inputs) > index else -1
    bias = node.inputs[index + 1] if len(node.inputs) > index + 1 else -1
    if kind in ("LpNormalization", "LRN", "MeanVarianceNormalization"):
        scale = bias = -1
    epsilon = node.attributes.get("epsilon")
    facts: dict[str, Fact] = {
        "size": dim(flow, scale, -1) if scale >= 0 else None,
        "scale": scale >= 0,
        "bias": bias >= 0 and kind != "RMSNormalization",
        "fused": True,
        "epsilon": float(epsilon) if isinstance(epsilon, (int, float)) else None,
    }
    return make_block(flow, "normalization", [number], number, variant=kind, facts=facts)


def _group(flow: DataflowGraph, number: int) -> RecognisedBlock | None:
    """Match a reshape to groups, InstanceNormalization, a reshape back, and scale and shift per channel."""
    before = flow.producers[input_at(flow, number, 0)]
    if flow.op_types[before] != "Reshape" or not flow.data_inputs[before]:
        return None
    after, passed = next_node(flow, flow.first_outputs[number])
    if flow.op_types[after] != "Reshape":
        return None
    source, back = input_at(flow, before, 0), flow.first_outputs[after]
    source_shape, result_shape = flow.shapes[source], flow.shapes[back]
    if source_shape is None or result_shape is None or len(source_shape) != len(result_shape):
        return None
    groups = dim(flow, flow.nodes[before].outputs[0], 1)
    nodes = [before, number, *passed, after]
    affine, _ = affine_after(flow, back)
    facts: dict[str, Fact] = {
        "size": None,
        "groups": groups,
        "scale": any(flow.op_types[n] == "Mul" for n in affine),
        "bias": any(flow.op_types[n] == "Add" for n in affine),
        "fused": False,
        "epsilon": float(flow.nodes[number].attributes.get("epsilon", 1e-5)),
    }
    return make_block(
        flow, "normalization", [*nodes, *affine], number, variant="GroupNormalization", facts=facts
    )


def _primitive(flow: DataflowGraph, number: int) -> RecognisedBlock | None:
    """Match a normalization with this node as its root (Sqrt, Pow, ReduceL2)."""
    norm = decomposed_norm_at(flow, number)
    if norm is None:
        return None
    affine, _ = affine_after(flow, norm.output) if not norm.affine else ([], norm.output)
    names = [flow.op_types[n] for n in affine]
    facts: dict[str, Fact] = {
        "size": _size(flow, norm),
        "scale": "Mul" in names or norm.scaled,
        "bias": "Add" in names or norm.affine,
        "fused": False,
        "epsilon": norm.epsilon,
    }
    return make_block(
        flow,
        "normalization",
        [*norm.nodes, *affine],
        number,
        variant=norm.kind,
        confidence=norm.confidence,
        facts=facts,
    )


def _size(flow: DataflowGraph, norm: DecomposedNorm) -> int | None:
    total = 1
    for axis in norm.axes or ():
        length = dim(flow, norm.source, axis)
        if length is None:
            return None
        total *= length
    return total if norm.axes else None


def affine_after(flow: DataflowGraph, tensor: int) -> tuple[list[int], int]:
    """Return the Mul and Add with constants that consume all of ``tensor``, and the tensor they produce."""
    nodes: list[int] = []
    for op_type in ("Mul", "Add"):
        number, passed = next_node(flow, tensor)
        before = flow.first_outputs[passed[-1]] if passed else tensor
        if (
            flow.op_types[number] != op_type
            or flow.data_inputs[number] != (before,)
            or flow.first_outputs[number] < 0
        ):
            continue
        factor = weight(flow, number)
        shape = flow.shapes[factor]
        if shape is None or not per_channel(flow, factor, before) or all(size == 1 for size in shape):
            continue
        nodes += [*passed, number]
        tensor = flow.first_outputs[number]
    return nodes, tensor
