from py_autodoc.graph.rebatch.prepare import StructureNode
from py_autodoc.graph.rebatch.trace import BatchTrace, Layouts, rule


@rule("Wobble", domain="com.microsoft")
def wobble(trace: BatchTrace, node: StructureNode) -> Layouts:
    """Each element by itself."""
    return [trace.layout(node, 0)]
