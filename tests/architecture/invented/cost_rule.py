from py_autodoc.costs.registry import Cost, NodeView, cost


@cost("com.microsoft", "Wobble")
def wobble(v: NodeView) -> Cost:
    """Seven operations an element."""
    return Cost.of(extra=7 * v.out_numel())
