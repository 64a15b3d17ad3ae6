"""Checks of nodes against the definitions of their operators: numbers of inputs and outputs, attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx

from py_autodoc.graph.building.structure_checks import MAX_OPSET
from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.model import Node

_SINGLE = onnx.defs.OpSchema.FormalParameterOption.Single


@dataclass(frozen=True, slots=True)
class _Signature:
    """What a definition requires of a node."""

    inputs: tuple[int, int]
    """Smallest and largest number."""
    outputs: tuple[int, int]
    needed: tuple[bool, ...]
    """For each input, whether it cannot be left out by an empty name."""
    attributes: frozenset[str]
    required: frozenset[str]


class SignatureChecks:
    """Checks the nodes of the standard's domains.

    Args:
        opsets: imported opsets by domain.
        notes: receives ``wrong-signature`` and ``undefined-operator``.
        exact: False if nodes may be calls of local functions, of which nothing is known.
    """

    def __init__(self, opsets: Mapping[str, int], notes: DiagnosticCollector, exact: bool) -> None:
        self._opsets, self._notes, self._exact = opsets, notes, exact
        self._known: dict[tuple[str, str], _Signature | str] = {}

    def check(self, node: Node, proto: onnx.NodeProto, label: str) -> None:
        """Add diagnostics for a node."""
        opset = self._opsets.get(node.domain, 0)
        if not self._exact or not 1 <= opset <= MAX_OPSET.get(node.domain, 0):
            return
        key = node.domain, node.op_type
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _signature(*key, opset)
        if isinstance(found, str):
            self._notes.add("undefined-operator", found, label, node.id)
            return
        fault = (
            _count_fault("inputs", len(proto.input), found.inputs)
            or _count_fault("outputs", len(proto.output), found.outputs)
            or _end_fault(proto.input, found.needed)
            or ((proto.attribute or found.required) and _attribute_fault(proto, found))
        )
        if fault:
            self._notes.add("wrong-signature", f"{node.op_type[:80]} {fault}.", label, node.id)


def _signature(domain: str, op_type: str, opset: int) -> _Signature | str:
    name = f"{domain or 'ai.onnx'} {opset}"
    try:
        schema = onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return f"{name} does not define {op_type[:80]}; only a runtime that knows it runs the model."
    if schema.deprecated:
        return f"{op_type[:80]} is no longer part of {name}."
    return _Signature(
        (schema.min_input, schema.max_input),
        (schema.min_output, schema.max_output),
        tuple(one.option == _SINGLE for one in schema.inputs),
        frozenset(schema.attributes),
        frozenset(name for name, one in schema.attributes.items() if one.required),
    )


def _count_fault(what: str, count: int, bounds: tuple[int, int]) -> str:
    least, most = bounds
    if least <= count <= most:
        return ""
    wanted = (
        f"{least:,}" if least == most else f"at least {least:,}" if count < least else f"at most {most:,}"
    )
    return f"has {count:,} {what} instead of {wanted}"


def _end_fault(names: Sequence[str], needed: Sequence[bool]) -> str:
    for position, (name, single) in enumerate(zip(names, needed, strict=False)):
        if single and not name:
            return f"lacks input {position}, which it needs"
    return ""


def _attribute_fault(proto: onnx.NodeProto, signature: _Signature) -> str:
    given = {one.name for one in proto.attribute}
    unknown, missing = sorted(given - signature.attributes), sorted(signature.required - given)
    if missing:
        return f"lacks the attribute {missing[0]}"
    return f"has no attribute {unknown[0][:80]}" if unknown else ""
