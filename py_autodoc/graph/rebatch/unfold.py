"""Operators along an axis that folds several entries per item after the batch.

``[batch · 64, …]`` is reshaped to ``[batch, 64, …]`` for one operator, which then works along the second
axis, and is folded again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from py_autodoc.graph.rebatch.layout import BatchBlocked

if TYPE_CHECKING:
    from py_autodoc.graph.rebatch.prepare import StructureNode
    from py_autodoc.graph.rebatch.trace import BatchTrace


def unfolded(
    trace: BatchTrace,
    node: StructureNode,
    inputs: Sequence[int],
    axis: int,
    input_shape: Sequence[int],
    output_shape: Sequence[int],
) -> None:
    """Make ``node`` work item by item along ``axis``.

    ``input_shape`` and ``output_shape`` are the entries of one item along the axis, for each of ``inputs``
    and each output.
    Raises: BatchBlocked if the operator specifies its axis in an unsupported way.
    """
    if trace.opset < 13 or trace.batch != 1:
        raise BatchBlocked(f"it works along axis {axis}, which holds the batch")
    before = tuple(
        (i, width, _other_dims(trace, node.inputs[i], axis))
        for i, width in zip(inputs, input_shape, strict=True)
    )
    after = tuple(
        (k, width, _other_dims(trace, node.outputs[k], axis))
        for k, width in enumerate(output_shape)
        if node.outputs[k]
    )
    trace.edit("unfold", node, axis, before, after)


def _other_dims(trace: BatchTrace, name: str, axis: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = trace.shape(name)
    return shape[:axis], shape[axis + 1 :]
