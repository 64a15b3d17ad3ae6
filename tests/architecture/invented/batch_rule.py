from py_autodoc.graph.rebatch.prepare import Node
from py_autodoc.graph.rebatch.trace import Found, Trace, rule


@rule("Wobble", domain="com.microsoft")
def wobble(trace: Trace, node: Node) -> Found:
    """Each element by itself."""
    return [trace.at(node, 0)]
