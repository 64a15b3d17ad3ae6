"""The weights that several layers use: tied embeddings, layers that share parameters."""

from __future__ import annotations

from py_autodoc.report.encode.labels import dtype_name, node_label, shorten_middle, wire_shape
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import SharedWeight

MAX_LISTED = 1_000


def shared_weights(analysis: Analysis) -> list[SharedWeight]:
    """Return the weights with several users, those with the most parameters first."""
    model, types, shared = analysis.model, analysis.types, analysis.params.shared
    listed = sorted(
        (constant for constant in analysis.params.constants if constant.tensor in shared),
        key=lambda constant: (-(constant.params or 0), constant.tensor),
    )
    return [
        SharedWeight(
            name=shorten_middle(model.tensors[constant.tensor].name),
            elem_type=dtype_name(constant.dtype),
            shape=wire_shape(types.shapes[constant.tensor]),
            params=constant.params or 0,
            bytes=constant.bytes,
            layers=list(shared[constant.tensor]),
            layer_names=[node_label(model.nodes[node]) for node in shared[constant.tensor]],
        )
        for constant in listed[:MAX_LISTED]
    ]
