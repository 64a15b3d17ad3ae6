"""Fields common to the report and the viewer's payload."""

from __future__ import annotations

from py_autodoc.findings.registry import Evidence
from py_autodoc.graph.ir.model import Diagnostic, Model, TensorKind
from py_autodoc.report.builders import architecture_section
from py_autodoc.report.builders.expression_pool import total_fields
from py_autodoc.report.builders.quantization_section import quantization
from py_autodoc.report.encode.json_values import MAX_TEXT, metadata_text
from py_autodoc.report.encode.labels import domain_name, dtype_name, shorten_middle, wire_shape
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.dim_bindings import Follows
from py_autodoc.report.schema import (
    Coverage,
    Description,
    DiagnosticInfo,
    DimFollows,
    DimInfo,
    Generator,
    GraphInfo,
    Metrics,
    ModelInfo,
    OpsetImport,
    OpTotals,
    RiskSignal,
    ValueInfo,
)
from py_autodoc.version import NAME, version

MAX_LISTED = 200
"""Maximum number of metadata entries, external files, reasons and the like that are listed."""
MAX_LOCATIONS = 20
"""Maximum number of locations listed per symbol."""


def generator() -> Generator:
    """Return the name and version of this package."""
    return Generator(name=NAME, version=version())


def model_info(model: Model) -> ModelInfo:
    """Return the file's own description of the model."""
    file = model.file
    return ModelInfo(
        name=shorten_middle(file.name),
        file_bytes=file.bytes,
        structure_bytes=file.structure_bytes,
        external_files=[shorten_middle(name) for name in file.external_files[:MAX_LISTED]],
        external_bytes=file.external_bytes,
        identity=file.identity,
        sha256=file.sha256,
        external_sha256={
            shorten_middle(name): value for name, value in list(file.external_sha256.items())[:MAX_LISTED]
        },
        onnx_ir_version=str(model.ir_version),
        opset_imports=[
            OpsetImport(domain=domain_name(domain), version=number) for domain, number in model.opsets.items()
        ],
        producer_name=shorten_middle(model.producer_name),
        producer_version=shorten_middle(model.producer_version),
        domain=shorten_middle(model.domain),
        model_version=model.model_version,
        doc_string=shorten_middle(model.doc_string, MAX_TEXT),
        metadata={shorten_middle(k): metadata_text(v) for k, v in list(model.metadata.items())[:MAX_LISTED]},
        descriptions=[
            Description(
                kind=one.kind,
                name=shorten_middle(one.name),
                doc_string=one.doc_string,
                metadata={shorten_middle(k): metadata_text(v) for k, v in one.metadata.items()},
            )
            for one in model.descriptions
        ],
        num_descriptions=model.num_descriptions,
    )


def graph_info(analysis: Analysis) -> GraphInfo:
    """Return the counts and the interface of the main graph."""
    model = analysis.model
    main = model.graphs[0]
    counts: dict[str, int] = {}
    for node in model.nodes:
        if not node.is_constant:
            label = op_label(node.domain, node.op_type)
            counts[label] = counts.get(label, 0) + 1
    operators = sum(counts.values())
    model_inputs = [i for i in main.inputs if model.tensors[i].kind == TensorKind.INPUT]
    return GraphInfo(
        name=shorten_middle(main.name),
        num_nodes=operators,
        num_constant_nodes=len(model.nodes) - operators,
        num_edges=_edges(model),
        num_initializers=sum(len(graph.initializers) for graph in model.graphs),
        num_subgraphs=len(model.graphs) - 1,
        num_functions=model.functions,
        inputs=[value_info(analysis, i) for i in model_inputs],
        outputs=[value_info(analysis, i) for i in main.outputs],
        op_counts=dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
    )


def _edges(model: Model) -> int:
    """Count the pairs of nodes joined by a tensor; constants are not drawn as nodes."""
    return sum(
        len(tensor.consumers)
        for tensor in model.tensors
        if tensor.producer >= 0 and tensor.kind == TensorKind.ACTIVATION
    )


def value_info(analysis: Analysis, tensor: int) -> ValueInfo:
    """Return a graph input or output with its inferred type."""
    entry, types = analysis.model.tensors[tensor], analysis.types
    whole = "(" in entry.container
    return ValueInfo(
        name=shorten_middle(entry.name),
        elem_type=shorten_middle(entry.container) if whole else dtype_name(types.dtypes[tensor]),
        shape=wire_shape(types.shapes[tensor]),
        container="map" if whole else entry.container,
    )


def op_label(domain: str, op: str) -> str:
    """Return ``Conv``, or ``com.microsoft::FusedConv`` for domains other than ai.onnx."""
    return shorten_middle(f"{domain}::{op}" if domain else op)


def build_metrics(analysis: Analysis) -> Metrics:
    """Return the totals of the whole model for one inference."""
    total, params, peak = analysis.totals, analysis.params, analysis.peak
    return Metrics(
        total_params=None if params.reason else params.total,
        params_reason=shorten_middle(params.reason),
        is_quantized=quantization(analysis).quantized,
        precision_breakdown=_params_by_type(analysis),
        other_constants=dict(params.other_constants),
        weight_bytes=params.weight_bytes,
        total_macs=_unless_unknown(total.macs, total.mac_nodes_known, total.mac_nodes_total),
        total_flops=_unless_unknown(total.flops, total.nodes_known, total.nodes_total),
        data_dependent_flops=total.data_flops,
        read_bytes=total.read_bytes,
        write_bytes=total.write_bytes,
        peak_activation_bytes=peak.inplace if peak else None,
        peak_activation_bytes_simple=peak.simple if peak else None,
        peak_reason=shorten_middle(peak.reason) if peak else "the memory stage failed",
        by_op=_by_op(analysis),
        attention=architecture_section.attention(analysis),
        **total_fields(analysis.model, analysis.symbolic),
    )


def _params_by_type(analysis: Analysis) -> dict[str, int] | None:
    """Return the parameters by stored type; None if a shape is unknown or the memory stage failed."""
    split = analysis.breakdown
    if split is None or analysis.params.reason:
        return None
    params_by_type: dict[str, int] = {}
    for (dtype, bits), share in split.by_dtype.items():
        if share.params is None:
            return None
        name = f"{bits}-bit" if bits else dtype_name(dtype)
        params_by_type[name] = params_by_type.get(name, 0) + share.params
    non_zero = {name: count for name, count in params_by_type.items() if count}
    return dict(sorted(non_zero.items(), key=lambda item: (-item[1], item[0])))


def _unless_unknown(total: int | None, known_nodes: int, nodes: int) -> int | None:
    """Return the total; None for a total of 0 while the values of some nodes are unknown."""
    return None if not total and known_nodes < nodes else total


def _by_op(analysis: Analysis) -> list[OpTotals]:
    """Return the totals per operator type, the heaviest first."""
    params: dict[tuple[str, str], int | None] = {}
    computed: set[tuple[str, str]] = set()
    for node, entry in zip(analysis.model.nodes, analysis.costs, strict=True):
        key = (node.domain, node.op_type)
        node_params, sum_ = analysis.params.params[node.id], params.get(key, 0)
        params[key] = None if node_params is None or sum_ is None else sum_ + node_params
        if entry.cost is not None and analysis.contradiction is None:
            computed.add(key)
    rows = [
        OpTotals(
            type=op_label(*key),
            count=op.count,
            params=params[key],
            macs=op.macs if key in computed else None,
            flops=op.flops if key in computed else None,
        )
        for key, op in analysis.totals.by_op.items()
    ]
    return sorted(rows, key=lambda row: (-(row.macs or 0), -(row.flops or 0), -row.count, row.type))


def build_coverage(analysis: Analysis) -> Coverage:
    """Return how much of the model the totals cover."""
    total = analysis.totals
    shapes = [
        all(type(d) is int for d in shape) if shape is not None else False
        for tensor, shape in zip(analysis.model.tensors, analysis.types.shapes, strict=True)
        if tensor.container == "tensor"
    ]
    return Coverage(
        nodes=total.node_share,
        nodes_known=total.nodes_known,
        nodes_total=total.nodes_total,
        shapes=sum(shapes) / len(shapes) if shapes else 1.0,
        macs=total.mac_share,
        unknown_ops=_largest({shorten_middle(k): v for k, v in total.unknown_ops.items()}),
        data_dependent=_largest({shorten_middle(k): v for k, v in total.data_ops.items()}),
        reasons=_largest({shorten_middle(k): v for k, v in total.reasons.items()}),
    )


def _largest(counts: dict[str, int]) -> dict[str, int]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered[:MAX_LISTED])


def build_dims(analysis: Analysis) -> list[DimInfo]:
    """Return the symbolic dimensions of the inputs."""
    original = analysis.symbolic.original if analysis.symbolic else {}
    safe = {name: symbol for symbol, name in original.items() if symbol != name}
    return [
        DimInfo(
            name=shorten_middle(symbol.name),
            value=symbol.value,
            assumed=symbol.assumed,
            suggested=symbol.suggested,
            where=[shorten_middle(location) for location in symbol.locations[:MAX_LOCATIONS]],
            symbol=safe.get(symbol.name, ""),
            follows=_follows(symbol.follows),
        )
        for symbol in analysis.dims.symbols
    ]


def _follows(follows: Follows | None) -> DimFollows | None:
    if follows is None:
        return None
    return DimFollows(
        factors={shorten_middle(name): f for name, f in follows.factors.items()}, plus=follows.plus
    )


def diagnostics(collected: tuple[Diagnostic, ...]) -> list[DiagnosticInfo]:
    """Return the diagnostics, most severe first, otherwise in the order found."""
    order = {"error": 0, "warning": 1, "info": 2}
    return [
        DiagnosticInfo(
            code=item.code,
            severity=item.severity,
            message=shorten_middle(item.message, MAX_TEXT),
            where=shorten_middle(item.where),
            node=item.node if item.node >= 0 else None,
        )
        for item in sorted(collected, key=lambda item: order.get(item.severity, 3))
    ]


def risk_signals(analysis: Analysis) -> list[RiskSignal]:
    """Return the findings of the rules, most severe first."""
    return [
        RiskSignal(
            id=item.rule,
            severity=item.severity,
            description=shorten_middle(item.message, MAX_TEXT),
            nodes=list(item.nodes),
            evidence={name: _evidence(value) for name, value in item.evidence.items()},
            recommendation=shorten_middle(item.recommendation, MAX_TEXT),
        )
        for item in analysis.findings
    ]


def _evidence(value: Evidence) -> Evidence:
    """Return an evidence value with its texts and lists bounded."""
    if isinstance(value, str):
        return shorten_middle(value)
    if isinstance(value, list):
        return [shorten_middle(v) if isinstance(v, str) else v for v in value[:MAX_LISTED]]  # type: ignore[return-value]
    return value
