"""Display labels of nodes, graphs and element types."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Dim, Model, Node, Shape

MAX_NAME = 512
"""Maximum length of displayed names; entities are distinguished by id, not by name."""

_DTYPES = {
    0: "unknown", 1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    8: "string", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64",
    15: "complex128", 16: "bfloat16", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2",
    20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4e2m1", 24: "float8e8m0", 25: "uint2",
    26: "int2", 27: "float6e2m3", 28: "float6e3m2",
}  # fmt: skip

_NUMBERS = {name: number for number, name in _DTYPES.items()}


def dtype_name(dtype: int) -> str:
    """Return ``float32`` and so on, as in numpy; ``type 99`` for a number the standard does not define."""
    return _DTYPES.get(dtype) or f"type {dtype}"


def dtype_number(name: str) -> int:
    """Return the type number for a name from ``dtype_name``; 0 (undefined) for any other name."""
    return _NUMBERS.get(name, 0)


def shorten_middle(text: str, limit: int = MAX_NAME) -> str:
    """Return ``text`` with its middle omitted if it is longer than ``limit`` characters."""
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def sentence_start(text: str) -> str:
    """Return a text with its first letter in upper case; not for one that may begin with a name."""
    return text[:1].upper() + text[1:]


def domain_name(domain: str) -> str:
    """Return the domain, with ai.onnx spelt out."""
    return domain or "ai.onnx"


def node_label(node: Node) -> str:
    """Return the node's name, or ``Conv_17`` if the file has none."""
    return shorten_middle(node.name) if node.name else f"{node.op_type}_{node.id}"


def graph_label(model: Model, graph: int) -> str:
    """Return ``If_3.then_branch`` for a subgraph, empty for the main graph."""
    body = model.graphs[graph]
    if body.parent_node < 0:
        return ""
    return f"{node_label(model.nodes[body.parent_node])}.{body.attribute}"


def wire_shape(shape: Shape | None) -> list[Dim] | None:
    """Return a shape in wire format: symbols bounded in length, invalid sizes unknown."""
    if shape is None:
        return None
    return [shorten_middle(d) if isinstance(d, str) else d for d in shape]
