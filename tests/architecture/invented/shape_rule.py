from py_autodoc.graph.shapes.core import Op, rule


@rule("Wobble", domain="com.microsoft")
def wobble(op: Op) -> None:
    """Shape and type of the input."""
    op.same()
