"""Checks of a model's structure, reported as diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.model import Node, Shape
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.protobuf.tensor_protos import (
    KNOWN_TYPES,
    MAX_ELEMENTS,
    element_count,
    payload,
    stored_bytes,
)

_T = onnx.TensorProto
MAX_OPSET = {"": onnx.defs.onnx_opset_version(), "ai.onnx.ml": onnx.defs.onnx_ml_opset_version()}


_IMPORTING_IR = 3
"""Format version from which a file must import operator sets."""


def check_ir_version(proto: onnx.ModelProto, notes: DiagnosticCollector) -> None:
    """Add a diagnostic for a format version that is newer than the installed onnx."""
    if proto.ir_version > onnx.IR_VERSION:
        notes.add(
            "ir-unknown", f"The IR version {proto.ir_version} is unknown; up to {onnx.IR_VERSION} are known."
        )


def check_divisors(
    nodes: Iterable[Node],
    constants: Mapping[int, Any],
    notes: DiagnosticCollector,
    name: Callable[[int], str],
) -> None:
    """Add a diagnostic for each division of integers by a constant with a zero; runtimes check it first."""
    for node in nodes:
        if node.domain or node.op_type not in ("Div", "Mod") or len(node.inputs) != 2:
            continue
        divisor = constants.get(node.inputs[1])
        if divisor is not None and divisor.dtype.kind in "iu" and not divisor.all():
            notes.add(
                "zero-divisor",
                f"The divisor {name(node.inputs[1])} has a zero.",
                node.name or f"{node.op_type} #{node.id}",
                node.id,
            )


def check_opsets(proto: onnx.ModelProto, notes: DiagnosticCollector) -> dict[str, int]:
    """Return the imported opsets by normalised domain; of duplicates the highest."""
    opsets: dict[str, int] = {}
    if not proto.opset_import:
        opsets[""] = 1  # what a file without imports means; they came with version 3 of the format
        if proto.ir_version >= _IMPORTING_IR and len(proto.graph.node):
            notes.add("opset-missing", "The model imports no operators; version 1 is assumed.", "ai.onnx")
    for entry in proto.opset_import:
        domain = decode_text(entry.domain)
        domain = "" if domain == "ai.onnx" else domain
        domain_text = domain or "ai.onnx"
        if domain in opsets:
            notes.add("opset-duplicate", "Imported twice; the higher version is used.", domain_text)
        opsets[domain] = max(entry.version, opsets.get(domain, entry.version))
        limit = MAX_OPSET.get(domain)
        if limit is not None and not 1 <= entry.version <= limit:
            notes.add(
                "opset-unknown", f"Version {entry.version} is unknown; 1 to {limit} are known.", domain_text
            )
    return opsets


def used_domains(nodes: Iterable[Node], imported: Mapping[str, int], notes: DiagnosticCollector) -> None:
    """Add a diagnostic for each domain that is used but not imported."""
    for domain in sorted({node.domain for node in nodes} - set(imported)):
        notes.add(
            "opset-missing", "Nodes use this domain, but the model does not import it.", domain or "ai.onnx"
        )


def check_not_empty(proto: onnx.ModelProto, notes: DiagnosticCollector) -> None:
    """Add a diagnostic for a model without nodes."""
    if not proto.HasField("graph"):
        notes.add("empty-graph", "The model has no graph.")
        notes.add("no-outputs", "The model has no graph, and so no outputs.")
        return
    if not len(proto.graph.node):
        notes.add("empty-graph", "The graph has no nodes.", decode_text(proto.graph.name))
    if not len(proto.graph.output):
        notes.add("no-outputs", "The graph has no outputs.", decode_text(proto.graph.name))


def check_declared(
    proto: onnx.TypeProto,
    dtype: int,
    shape: Shape | None,
    label: str,
    tensor: int,
    notes: DiagnosticCollector,
) -> None:
    """Add diagnostics for negative dimensions and unknown element types of a declared type."""
    if dtype and dtype not in KNOWN_TYPES:
        notes.add("unknown-dtype", f"Element type {dtype} is unknown.", label, tensor=tensor)
    if shape is None or None not in shape:
        return
    kind = proto.sparse_tensor_type if proto.HasField("sparse_tensor_type") else proto.tensor_type
    if any(dim.dim_value < 0 for dim in kind.shape.dim):
        notes.add("negative-dim", "A declared size is negative; it counts as unknown.", label, tensor=tensor)


def check_tensor(
    proto: onnx.TensorProto, dims: tuple[int, ...], label: str, number: int, notes: DiagnosticCollector
) -> bool:
    """Check type, shape and data size of a constant. Return True if they are consistent."""
    if proto.data_type not in KNOWN_TYPES:
        notes.add("unknown-dtype", f"Element type {proto.data_type} is unknown.", label, tensor=number)
        return False
    elements = element_count(dims)
    if elements is None:
        notes.add("negative-dim", f"Shape {_shape(dims)} has a negative size.", label, tensor=number)
        return False
    if elements > MAX_ELEMENTS:
        notes.add("dim-overflow", f"Shape {_shape(dims)} overflows 63 bits.", label, tensor=number)
        return False
    fault = _data_fault(proto, elements)
    if fault:
        notes.add("data-size-mismatch", f"Shape {_shape(dims)} {fault}", label, tensor=number)
    return not fault


def _data_fault(proto: onnx.TensorProto, elements: int) -> str:
    stored, count = payload(proto)
    if stored is not None:
        needed = stored_bytes(proto.data_type, elements)
        if needed is None:
            return "holds strings, which cannot be raw data."
        return "" if needed == stored else f"needs {needed:,} bytes, {stored:,} are there."
    if count is None or proto.data_type in _PACKED:
        return ""
    if proto.data_type in (_T.COMPLEX64, _T.COMPLEX128):
        elements *= 2
    return "" if count == elements else f"needs {elements:,} values, {count:,} are there."


_PACKED = frozenset({_T.UINT4, _T.INT4, _T.FLOAT4E2M1, 25, 26, 27, 28})
"""Types that store several elements per int32_data entry, in a layout that depends on the release."""


def _shape(dims: Sequence[int]) -> str:
    return "×".join(map(str, dims[:16])) or "()"


def attribute_constant(name: str, value: Any) -> tuple[int, np.ndarray[Any, Any]] | None:
    """Return (element type, value) of a Constant with value_int(s), value_float(s) or value_string(s)."""
    try:
        if name in ("value_int", "value_ints"):
            return _T.INT64, np.array(value, np.int64)
        if name in ("value_float", "value_floats"):
            return _T.FLOAT, np.array(value, np.float32)
        if name in ("value_string", "value_strings"):
            return _T.STRING, np.array(value, object)
    except (TypeError, ValueError, OverflowError):
        return None
    return None
