from py_autodoc.graph.ir.model import Node
from py_autodoc.graph.resize.walk import SizePass, rule


@rule("Wobble", domain="com.microsoft")
def wobble(walk: SizePass, node: Node) -> None:
    """Each element by itself."""
    walk.infer(node)
    walk.put(node, 0, walk.axes_of(node.inputs[0]))
