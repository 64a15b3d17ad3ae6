from py_autodoc.graph.model import Node
from py_autodoc.graph.resize.walk import Walk, rule


@rule("Wobble", domain="com.microsoft")
def wobble(walk: Walk, node: Node) -> None:
    """Each element by itself."""
    walk.infer(node)
    walk.put(node, 0, walk.at(node.inputs[0]))
