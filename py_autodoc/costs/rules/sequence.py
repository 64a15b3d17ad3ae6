"""Sequences, optionals and strings. A sequence holds tensors: inserting or reading one copies nothing."""

from __future__ import annotations

from py_autodoc.costs.registry import VIEW, Cost, NodeView, UnknownSize, cost
from py_autodoc.costs.rules._make import movement, register

register(
    "",
    "SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength "
    "Optional OptionalGetElement OptionalHasElement",
    lambda v: VIEW,
)
register("", "ConcatFromSequence", movement(read=lambda v: v.bytes_out(0)))
register("", "SplitToSequence", movement(write=lambda v: v.bytes_in(0)))
register("", "StringConcat StringNormalizer StringSplit RegexFullMatch TfIdfVectorizer", movement())


@cost("", "ImageDecoder")
def image_decoder(v: NodeView) -> Cost:
    """The cost of decoding a compressed image depends on its content. Raises: UnknownSize."""
    raise UnknownSize("the cost of decoding depends on the image")
