"""A small summary of a report in plain dataclasses, used for charts and short texts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py_autodoc.report.schema import Layer, ReportFields

Sizes = tuple["int | str | None", ...]


@dataclass(frozen=True, slots=True)
class OpTypeStats:
    """Statistics per operator type."""

    counts: dict[str, int]
    """Operator type → nodes, most frequent first."""
    params_per_op: dict[str, int]
    """Operator type → parameters that its nodes are the first to use."""


@dataclass(frozen=True, slots=True)
class LayerShapeSnapshot:
    """The nodes at one depth of the main graph, with their output shapes."""

    layer_index: int
    """Longest path from the inputs, in nodes; 0 for nodes that depend on no other node."""
    node_names: list[str]
    shapes: list[Sizes | None]
    """Shape of each node's first output; None if the rank is unknown."""


@dataclass(frozen=True, slots=True)
class ModelStats:
    """Counts and shapes of one model."""

    model_name: str
    num_parameters: int | None
    num_initializers: int
    num_nodes: int
    num_inputs: int
    num_outputs: int
    total_macs: int | None
    """Multiply-accumulate operations (MACs) in one inference."""
    total_flops: int | None
    """Floating-point operations in one inference: 2 × MACs plus all others."""
    op_stats: OpTypeStats
    layer_shapes: list[LayerShapeSnapshot]


def model_stats(report: ReportFields) -> ModelStats:
    """Return the summary of a report that lists all layers; nodes in subgraphs have no depth."""
    params: Counter[str] = Counter()
    for layer in report.layers:
        params[layer.type] += layer.params or 0
    return ModelStats(
        model_name=report.model.name,
        num_parameters=report.metrics.total_params,
        num_initializers=report.graph.num_initializers,
        num_nodes=report.graph.num_nodes,
        num_inputs=len(report.graph.inputs),
        num_outputs=len(report.graph.outputs),
        total_macs=report.metrics.total_macs,
        total_flops=report.metrics.total_flops,
        op_stats=OpTypeStats(
            counts=dict(report.graph.op_counts),
            params_per_op={op: number for op, number in params.most_common() if number},
        ),
        layer_shapes=_snapshots([layer for layer in report.layers if not layer.subgraph]),
    )


def _snapshots(layers: list[Layer]) -> list[LayerShapeSnapshot]:
    """Group layers by depth. They are in execution order, so dependencies come first."""
    depth_of: dict[str, int] = {}
    levels: dict[int, LayerShapeSnapshot] = {}
    for layer in layers:
        depth = max((depth_of[name] + 1 for name in layer.inputs if name in depth_of), default=0)
        for name in layer.outputs:
            if name:
                depth_of.setdefault(name, depth)
        level = levels.setdefault(depth, LayerShapeSnapshot(depth, [], []))
        level.node_names.append(layer.name)
        level.shapes.append(None if layer.output_shape is None else tuple(layer.output_shape))
    return [levels[depth] for depth in sorted(levels)]
