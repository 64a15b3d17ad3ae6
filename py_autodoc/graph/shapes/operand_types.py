"""Checks of the element types of nodes' inputs against the definitions of their operators.

Runtimes refuse a file in which an input has a type that its operator does not accept, or in which inputs
that share a type differ. Only known types count: those that the file states, or that follow from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from onnx import TensorProto, defs

from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.model import Diagnostic, Model, Node, TensorKind
from py_autodoc.graph.protobuf.tensor_protos import KNOWN_TYPES

_DOMAINS = ("", "ai.onnx.ml")
"""Domains whose operators runtimes define as the standard does."""


def mistyped_operands(model: Model, dtypes: Sequence[int]) -> tuple[list[Diagnostic], set[int]]:
    """Return an ``operand-type`` diagnostic for each node with an input of a wrong type.

    Args:
        model: the model.
        dtypes: element types by tensor id, 0 if unknown.

    Returns:
        The diagnostics, and the tensors whose type follows from a wrong one: nothing is known of them.
    """
    notes, doubtful = DiagnosticCollector(), set[int]()
    if model.unexpanded_calls or any(note.code == "function-opset" for note in model.diagnostics):
        return [], doubtful  # a node may be a call, or of another opset than that of the model
    for graph in model.graphs:
        for number in graph.nodes:
            node = model.nodes[number]
            fault = ""
            if node.domain in _DOMAINS:
                kinds = tuple(0 if t in doubtful else _known(model, dtypes, t) for t in node.inputs)
                fault = _fault(node.domain, node.op_type, node.opset, kinds) if any(kinds) else ""
            if fault:
                label = node.name or node.op_type
                notes.add("operand-type", f"{node.op_type[:80]} {fault}.", label, node.id)
            if fault or (doubtful and not doubtful.isdisjoint(node.inputs)):
                doubtful.update(_results(model, node))
    return notes.diagnostics(), doubtful


def _results(model: Model, node: Node) -> Iterator[int]:
    """Yield the outputs of a node and the inputs of its bodies, which get their types from its inputs."""
    yield from (t for t in node.outputs if t >= 0)
    for _, body in node.subgraphs:
        yield from model.graphs[body].inputs


def _known(model: Model, dtypes: Sequence[int], number: int) -> int:
    """Return the element type of an input; 0 if it has none, is no tensor, or its type is in doubt."""
    if number < 0:
        return 0
    tensor, dtype = model.tensors[number], dtypes[number]
    if tensor.container != "tensor" or dtype not in KNOWN_TYPES:
        return 0
    if tensor.kind in (TensorKind.ACTIVATION, TensorKind.OUTER) and tensor.dtype not in (0, dtype):
        return 0  # the declaration is the fault
    return dtype


@lru_cache(maxsize=1 << 14)
def _fault(domain: str, op_type: str, opset: int, kinds: tuple[int, ...]) -> str:
    """Return what is wrong with inputs of these types (0: unknown); empty if nothing is."""
    if not 1 <= opset <= (defs.onnx_opset_version() if not domain else (1 << 31) - 1):
        return ""
    try:
        schema = defs.get_schema(op_type, opset, domain)
    except (defs.SchemaError, UnicodeEncodeError):
        return ""
    formals = schema.inputs
    if schema.deprecated or not formals:
        return ""
    variadic = formals[-1].option == defs.OpSchema.FormalParameterOption.Variadic
    bound: dict[str, tuple[int, int]] = {}
    for position, kind in enumerate(kinds):
        if not kind:
            continue
        if position >= len(formals) and not variadic:
            break  # too many inputs: ``wrong-signature``
        formal = formals[min(position, len(formals) - 1)]
        accepted = [one for one in formal.types if one.startswith("tensor(")]
        if not accepted:
            continue  # a sequence, map or optional: the containers are not compared
        if _type_text(kind) not in accepted:
            return f"does not accept {_name(kind)} for its input {position} ({formal.name})"
        if not formal.is_homogeneous:
            continue
        first, before = bound.setdefault(formal.type_str, (position, kind))
        if kind != before:
            pair = f"inputs {first} ({_name(before)}) and {position} ({_name(kind)})"
            return f"has {pair}, which must be of one type"
    return ""


def _name(kind: int) -> str:
    name: str = TensorProto.DataType.Name(kind)
    return name.lower()


def _type_text(kind: int) -> str:
    return f"tensor({_name(kind)})"
