"""Data movement: no MACs and no FLOPs, but bytes.

By default all inputs are read and all outputs written. This table lists the exceptions: views move
nothing, gathers read the rows they use, slices read the range they keep.
"""

from __future__ import annotations

from py_autodoc.costs.registry import VIEW, Cost, NodeView, cost
from py_autodoc.costs.rules._make import in_bytes, movement, nothing, register, rows_read, traffic

# The output is a view of the input, or a fact about its shape.
register("", "Reshape Squeeze Unsqueeze Flatten Identity BitCast Shape Size Constant", lambda v: VIEW)

# The whole input moves.
register(
    "", "Cast Transpose Concat Split Pad Expand Tile DepthToSpace SpaceToDepth ReverseSequence", movement()
)
register("", "Where Trilu OneHot NonZero CenterCropPad Scatter", movement())


@cost("", "ScatterElements", "ScatterND")
def scatter(v: NodeView) -> Cost:
    """Updates (input 2) replace elements of a copy, or are added, multiplied or compared: 1 FLOP each."""
    return Cost(0, 0 if v.text_attr("reduction", "none") == "none" else v.numel(2))


# Only the used part is read.
register("", "Gather GatherElements GatherND Compress Slice", movement(read=rows_read(0)))
register("", "CastLike", movement(read=lambda v: v.bytes_in(0)))  # input 1 only supplies its type

# Only the shape is read.
register("", "ConstantOfShape EyeLike", movement(read=nothing))

# An in-place update: the cache is not copied.
register("", "TensorScatter", movement(read=lambda v: in_bytes(v, 1, 2), write=lambda v: v.bytes_in(1)))


@cost("", "Dropout")
def dropout(v: NodeView) -> Cost:
    """A view at inference (a requested mask is written); × mask and × 1/(1 − p) in training."""
    training = v.value(2)
    if v.has(2) and training is not None and training.size and bool(training.reshape(-1)[0]):
        return Cost(0, 2 * v.numel(0))
    return Cost(0, 0, 0, traffic(lambda w: w.bytes_out(1) if w.has_out(1) else 0, v))


@cost("", "Col2Im")
def col2im(v: NodeView) -> Cost:
    """Every column element is added at its position in the image."""
    return Cost(0, v.numel(0))
