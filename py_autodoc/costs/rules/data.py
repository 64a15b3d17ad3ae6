"""Data movement: no MACs and no FLOPs, but bytes.

The default traffic is all inputs read and all outputs written. Exceptions are the point of this
table: views move nothing, gathers read the rows they use, slices read what they keep.
"""

from __future__ import annotations

from py_autodoc.costs.registry import VIEW, Cost, NodeView, cost
from py_autodoc.costs.rules._make import in_bytes, movement, nothing, register, rows_read, traffic

# The output is the input under another shape or type, or a fact about its shape.
register("", "Reshape Squeeze Unsqueeze Flatten Identity BitCast Shape Size Constant", lambda v: VIEW)

# All of the input moves.
register(
    "", "Cast Transpose Concat Split Pad Expand Tile DepthToSpace SpaceToDepth ReverseSequence", movement()
)
register("", "Where Trilu OneHot NonZero CenterCropPad Scatter ScatterElements ScatterND", movement())

# Only what is used is read.
register("", "Gather GatherElements GatherND Compress Slice", movement(read=rows_read(0)))
register("", "CastLike", movement(read=lambda v: v.bytes_in(0)))  # input 1 only lends its type

# Nothing but the shape is read.
register("", "ConstantOfShape EyeLike", movement(read=nothing))

# An update in place: the cache is not copied.
register("", "TensorScatter", movement(read=lambda v: in_bytes(v, 1, 2), write=lambda v: v.bytes_in(1)))


@cost("", "Dropout")
def dropout(v: NodeView) -> Cost:
    """A view at inference (a mask, where asked for, is written); × mask and × 1/(1 − p) in training."""
    training = v.value(2)
    if v.has(2) and training is not None and training.size and bool(training.reshape(-1)[0]):
        return Cost(0, 2 * v.numel(0))
    return Cost(0, 0, 0, traffic(lambda w: w.bytes_out(1) if w.has_out(1) else 0, v))


@cost("", "Col2Im")
def col2im(v: NodeView) -> Cost:
    """Every column element is added to its place in the image."""
    return Cost(0, v.numel(0))
