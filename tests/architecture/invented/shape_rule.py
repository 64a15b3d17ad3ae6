from py_autodoc.graph.shapes.shape_context import ShapeContext, rule


@rule("Wobble", domain="com.microsoft")
def wobble(op: ShapeContext) -> None:
    """Shape and type of the input."""
    op.same()
