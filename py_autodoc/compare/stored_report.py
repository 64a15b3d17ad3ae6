"""A stored report as a compared model: its layers become a graph again, its figures are taken as they are.

A report holds nodes, names, attributes and shapes, but no values of constants, no bodies of control flow, and
the element type of constants only where the operator's definition or the parameters imply it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
from onnx import AttributeProto, ModelProto, TensorProto, helper

from py_autodoc.costs.tensor_sizes import FLOAT_TYPES
from py_autodoc.errors import InputError
from py_autodoc.graph.building.operator_docs import OpDoc, op_doc
from py_autodoc.graph.ir.model import FileFacts
from py_autodoc.graph.protobuf.probe import regular_file
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.report import Report
from py_autodoc.report.document.validation import read_report
from py_autodoc.report.encode.labels import dtype_name, dtype_number
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.pipeline.stored_figures import StoredFigures
from py_autodoc.report.schema.costs import Layer

_STANDARD = "ai.onnx"
_INTEGERS = ("int8", "uint8", "int4", "uint4", "int16", "uint16", "4-bit")


def is_stored(path: str) -> bool:
    """Return whether a file looks like a report, or another of our documents. Raises: PathError."""
    with regular_file(path) as (fd, _):
        head = os.read(fd, 1 << 16)
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" and b'"schema_version"' in head


def sizes_of(report: Report) -> dict[str, int]:
    """Return the values of the symbolic dimensions for which a report was made."""
    return {dim.name: dim.value for dim in report.dims if dim.value is not None}


def stored_report(path: str) -> Report:
    """Read a report for a comparison.

    Raises: InputError, LimitError, PathError: it is no report, or lists only some of the layers.
    """
    report, name = read_report(path), os.path.basename(path)
    if report.layers_omitted:
        raise InputError(
            "report-cut",
            f"{name} leaves out {report.layers_omitted:,} layers, so its graph cannot be compared.",
            "Write the report without --max-layers.",
        )
    return report


def as_report(analysis: Analysis) -> Analysis:
    """Return a model as its report shows it, to compare it with what another report shows."""
    restored = restored_analysis(build_report(analysis), analysis.model.file.name)
    model = msgspec.structs.replace(restored.model, file=analysis.model.file)
    return replace(restored, model=model, diagnostics=analysis.diagnostics)


def restored_analysis(report: Report, name: str) -> Analysis:
    """Return the model that a report describes, as far as it can be restored; ``name`` is its file's."""
    analysis = run_analysis(_restored(report), Options(bindings=_free_sizes(report), assume=True))
    file = report.model
    facts = FileFacts(
        f"{file.name} ({name})",
        file.file_bytes,
        file.structure_bytes,
        file.identity,
        tuple(file.external_files),
        file.external_bytes,
        file.sha256,
    )
    model = msgspec.structs.replace(analysis.model, file=facts)
    # Whether it can run is known of the model; without the bodies of its loops, its sizes may contradict.
    types = replace(analysis.types, contradiction=None)
    return replace(analysis, model=model, types=types, stored=_figures(report, name), diagnostics=())


def _free_sizes(report: Report) -> dict[str, int]:
    """Return the values of the symbols that the inputs still have."""
    sizes = [size for port in report.graph.inputs for size in port.shape or () if isinstance(size, str)]
    return {name: value for name, value in sizes_of(report).items() if any(name in size for size in sizes)}


def _figures(report: Report, name: str) -> StoredFigures:
    numbers, cover, file = report.metrics, report.coverage, report.model
    metrics: dict[str, int | float | None] = {
        "size": file.file_bytes + file.external_bytes,
        "params": numbers.total_params,
        "weights": numbers.weight_bytes,
        "macs": numbers.total_macs,
        "flops": numbers.total_flops,
        "peak": numbers.peak_activation_bytes,
        "nodes": report.graph.num_nodes,
    }
    bounds: dict[str, int | float | None] = {}
    if cover.macs is not None and cover.macs < 1:
        bounds["macs"] = numbers.total_macs
    if cover.nodes_known < cover.nodes_total:
        bounds["flops"] = numbers.total_flops
    if numbers.params_reason:
        bounds["params"] = numbers.total_params
    unseen = ["values of weights and other constants"]
    if any(layer.subgraph for layer in report.layers):
        unseen.append("the nodes of If, Loop and Scan")
    return StoredFigures(
        name,
        {**metrics, **dict.fromkeys(bounds)},
        bounds,
        numbers.precision_breakdown,
        report.hardware_estimates,
        tuple(unseen),
    )


def _restored(report: Report) -> ModelProto:
    """Return the main graph of a report; constants have shapes, but no values."""
    layers = [layer for layer in report.layers if not layer.subgraph]
    opsets = {_domain(item.domain): item.version for item in report.model.opset_imports}
    integer = next((t for t in report.metrics.precision_breakdown or {} if t in _INTEGERS), "int8")
    produced = {name for layer in layers for name in layer.outputs if name}
    fed = {port.name for port in report.graph.inputs}
    constants: dict[str, TensorProto] = {}
    values = []
    nodes = []
    for layer in layers:
        domain = _domain(layer.domain)
        doc = op_doc(domain, layer.type, opsets.get(domain, 0))
        nodes.append(_node(layer, domain, doc))
        for position, name in enumerate(layer.inputs):
            shape = layer.input_shapes[position] if position < len(layer.input_shapes) else None
            if name and name not in produced and name not in fed and name not in constants:
                constants[name] = _constant(name, shape, _input_type(layer, doc, position, integer))
        for position, name in enumerate(layer.outputs):
            shape = layer.output_shapes[position] if position < len(layer.output_shapes) else None
            dtype = _output_type(layer, doc, position)
            if name and dtype:
                values.append(helper.make_tensor_value_info(name, dtype, shape))
    ports = [
        [helper.make_tensor_value_info(port.name, dtype_number(port.elem_type), port.shape) for port in side]
        for side in (report.graph.inputs, report.graph.outputs)
    ]
    outputs = {port.name for port in report.graph.outputs}
    graph = helper.make_graph(
        nodes,
        report.graph.name or "graph",
        *ports,
        list(constants.values()),
        value_info=[value for value in values if value.name not in outputs],
    )
    file = report.model
    model = helper.make_model(
        graph,
        producer_name=file.producer_name,
        producer_version=file.producer_version,
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in opsets.items()],
    )
    version = file.onnx_ir_version
    model.ir_version = int(version) if version.isdecimal() else 0
    model.model_version = file.model_version
    helper.set_model_props(model, file.metadata)
    return model


def _domain(name: str) -> str:
    return "" if name == _STANDARD else name


def _node(layer: Layer, domain: str, doc: OpDoc | None) -> Any:
    node = helper.make_node(layer.type, layer.inputs, layer.outputs, layer.name, domain=domain)
    for name, value in layer.attributes.items():
        kind = "" if doc is None or name not in doc.attributes else doc.attributes[name].type
        attribute = _attribute(name, value, kind)
        if attribute is not None:
            node.attribute.append(attribute)
    if layer.group:
        entry = node.metadata_props.add()
        entry.key, entry.value = "namespace", layer.group
    return node


def _attribute(name: str, value: Any, kind: str) -> AttributeProto | None:
    """Return an attribute; None for tensors, graphs and long lists, of which a report has a summary."""
    if kind in ("float", "floats") and value in ("NaN", "Infinity", "-Infinity"):
        value = float(value)
    if isinstance(value, dict) or value is None or value == []:
        return None
    if kind in ("float", "floats"):
        value = [float(item) for item in value] if isinstance(value, list) else float(value)
    if isinstance(value, list) and any(isinstance(item, (dict, list)) or item is None for item in value):
        return None
    return helper.make_attribute(name, value)


def _constant(name: str, shape: Any, dtype: int) -> TensorProto:
    tensor = TensorProto(name=name, data_type=dtype, data_location=TensorProto.EXTERNAL)
    tensor.dims.extend(size for size in shape or () if isinstance(size, int))
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "values are not in the report"
    return tensor


def _type_of(formal: str, same: str, dtype: str, integer: str) -> int:
    """Return an element type: that of a result of the same type, or the only one that is allowed."""
    if formal == same:
        return dtype_number(dtype)
    if formal.startswith("tensor("):
        return dtype_number(_long_name(formal[7:-1]))
    return dtype_number(integer)


def _long_name(name: str) -> str:
    return {"float": "float32", "double": "float64"}.get(name, name)


def _input_type(layer: Layer, doc: OpDoc | None, position: int, integer: str) -> int:
    if layer.type == "DequantizeLinear":
        bias = position != 1 and len(layer.input_shapes[0] or ()) == 1 and len(layer.outputs) == 1
        return dtype_number(layer.output_dtype if position == 1 else "int32" if bias else integer)
    formal = None
    if doc is not None and doc.inputs:
        formal = doc.inputs[min(position, len(doc.inputs) - 1)].types
    if formal is None or not doc or not doc.outputs:
        return dtype_number(layer.output_dtype) if layer.output_dtype in _floats() else TensorProto.FLOAT
    if formal != doc.outputs[0].types and not formal.startswith("tensor("):
        # Indices and shapes: types of their own, nearly always int64, except in quantized operators.
        small = layer.type.startswith("QLinear") or "Integer" in layer.type
        return dtype_number(integer if small else "int64")
    return _type_of(formal, doc.outputs[0].types, layer.output_dtype, integer)


def _output_type(layer: Layer, doc: OpDoc | None, position: int) -> int:
    if position == 0 or doc is None or not doc.outputs:
        return dtype_number(layer.output_dtype)
    formal = doc.outputs[min(position, len(doc.outputs) - 1)].types
    return _type_of(formal, doc.outputs[0].types, layer.output_dtype, "unknown")


def _floats() -> Iterator[str]:
    return (dtype_name(number) for number in FLOAT_TYPES)
