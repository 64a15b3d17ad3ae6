"""Analysis → ``GraphPayload``: columns instead of objects, because viewers load 50,000 nodes at once."""

from __future__ import annotations

from typing import Any, TypeVar

from py_autodoc.graph.ir.model import Model, Shape
from py_autodoc.hardware.runtimes import RUNTIMES, TENSORRT, VENDOR
from py_autodoc.report.box_tree.grouping import build_box_tree
from py_autodoc.report.builders import architecture_section, shared_parts
from py_autodoc.report.builders.expression_pool import expression_pool
from py_autodoc.report.builders.identity_section import identity
from py_autodoc.report.builders.label_check import label_diagnostics
from py_autodoc.report.builders.memory_section import memory_info, timeline_columns
from py_autodoc.report.builders.node_details import MAX_MODULE_ORIGINS
from py_autodoc.report.builders.node_numbers import (
    NOT_COUNTED,
    NodeNumbers,
    activation_bytes,
    per_execution,
    why_null,
)
from py_autodoc.report.builders.repeat_section import repeat_columns
from py_autodoc.report.builders.runnable_section import runnable
from py_autodoc.report.encode.categories import category_of
from py_autodoc.report.encode.csr_rows import to_csr
from py_autodoc.report.encode.json_values import node_attributes
from py_autodoc.report.encode.labels import domain_name, dtype_name, shorten_middle, wire_shape
from py_autodoc.report.module_tree.scope_tree import ScopeTree
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.device_analysis import kernels_in
from py_autodoc.report.pipeline.device_choice import stored_precisions
from py_autodoc.report.schema import (
    SCHEMA_VERSION,
    BatchOffer,
    GraphColumns,
    GraphPayload,
    HardwarePart,
    ModuleColumns,
    NodeColumns,
    OpEntry,
    ScopeColumns,
    TensorColumns,
)
from py_autodoc.report.viewer_payload.attribute_columns import attribute_columns
from py_autodoc.report.viewer_payload.block_columns import block_columns
from py_autodoc.report.viewer_payload.hardware_columns import hardware_part
from py_autodoc.report.viewer_payload.node_settings import node_settings

K = TypeVar("K")


class _StringPool(dict[K, int]):
    """Value → its index in a list of distinct values."""

    def __missing__(self, key: K) -> int:
        index = self[key] = len(self)
        return index


def build_payload(analysis: Analysis, batch: BatchOffer | None = None) -> GraphPayload:
    """Return the viewer's data except for documentation and constants, which are requested per node.

    ``batch`` is for pages without a server to request it from (``batch_section``).
    """
    model = analysis.model
    tree = build_box_tree(analysis)
    ops: _StringPool[tuple[str, str, int]] = _StringPool()
    nodes = _nodes(analysis, tree, ops)
    dtypes: _StringPool[int] = _StringPool()
    # Different expressions can give equal numbers: the pool stores each pair once.
    shapes: _StringPool[tuple[Shape | None, Shape | None]] = _StringPool()
    free = analysis.symbolic.shapes if analysis.symbolic else ()
    pairs = zip(analysis.types.shapes, free or analysis.types.shapes, strict=True)
    tensors = TensorColumns(
        name=[shorten_middle(tensor.name) for tensor in model.tensors],
        dtype=[dtypes[dtype] for dtype in analysis.types.dtypes],
        shape=[shapes[pair] for pair in pairs],
        kind=[int(tensor.kind) for tensor in model.tensors],
        producer=[tensor.producer for tensor in model.tensors],
        inputs=list(model.graphs[0].inputs),
        outputs=list(model.graphs[0].outputs),
    )
    sizes = [size for _, size in shapes] if free else []
    return GraphPayload(
        schema_version=SCHEMA_VERSION,
        model=shared_parts.model_info(model),
        graph=shared_parts.graph_info(analysis),
        metrics=shared_parts.build_metrics(analysis),
        architecture=architecture_section.architecture(analysis),
        memory=memory_info(analysis),
        timeline=timeline_columns(analysis.timeline),
        coverage=shared_parts.build_coverage(analysis),
        dims=shared_parts.build_dims(analysis),
        diagnostics=shared_parts.diagnostics((*analysis.diagnostics, *label_diagnostics(analysis))),
        ops=[_op(*key) for key in ops],
        dtypes=[dtype_name(dtype) for dtype in dtypes],
        shapes=[wire_shape(shape) for shape, _ in shapes],
        graphs=_graphs(model, tree),
        scopes=ScopeColumns(
            parent=tree.parent, label=tree.label, type=tree.type, role=tree.role, origin=tree.origin
        ),
        nodes=nodes,
        tensors=tensors,
        expressions=expression_pool(analysis.symbolic, sizes),
        batch=batch,
        repeats=repeat_columns(analysis),
        blocks=block_columns(analysis),
        risk_signals=shared_parts.risk_signals(analysis),
        rule_settings=analysis.rules,
        runnable=runnable(analysis),
        modules=_modules(model),
        attributes=attribute_columns(
            (node.id, node_attributes(model, node))
            for node in model.nodes
            if node.attributes and not node.is_constant
        ),
        hardware=_hardware(analysis),
        identity=identity(analysis),
    )


MAX_NODES = 5_000
"""Larger models include the kernels of only one runtime: each adds the same amount of data."""


def _hardware(analysis: Analysis) -> HardwarePart | None:
    if analysis.kernels is None:
        return None
    stored = stored_precisions(analysis.model, analysis.types, analysis.sizes, analysis.costs)
    current = TENSORRT if analysis.hardware is None else analysis.hardware.runtime
    is_small = len(analysis.model.nodes) <= MAX_NODES
    alternatives = [
        (runtime, kernels_in(analysis, runtime))
        for runtime in RUNTIMES
        # That of the vendor has the kernels of TensorRT, under another name.
        if is_small and runtime.id != current.id and runtime is not VENDOR
    ]
    return hardware_part(analysis.kernels, stored, analysis.hardware, alternatives)


def _modules(model: Model) -> ModuleColumns | None:
    """Return each module once, and the module of each node."""
    pool: _StringPool[tuple[str, tuple[str, ...]]] = _StringPool()
    nodes = [-1] * len(model.nodes)
    for node in model.nodes:
        if node.record is not None:
            scope = node.record.scope
            other_scopes = tuple(path for path in node.record.scopes if path != scope)[:MAX_MODULE_ORIGINS]
            nodes[node.id] = pool[node.record.tag or node.tag, (scope, *other_scopes)]
    if not pool:
        return None
    return ModuleColumns(
        tag=[shorten_middle(tag) for tag, _ in pool],
        scopes=[[shorten_middle(path) for path in scopes] for _, scopes in pool],
        node=nodes,
    )


def _op(domain: str, op: str, opset: int) -> OpEntry:
    return OpEntry(
        type=shorten_middle(op),
        domain=shorten_middle(domain_name(domain)),
        category=category_of(domain, op),
        opset=opset,
    )


def _nodes(analysis: Analysis, tree: ScopeTree, ops: _StringPool[tuple[str, str, int]]) -> NodeColumns:
    all_nodes = analysis.model.nodes
    numbers = [per_execution(entry) for entry in analysis.costs]
    input_offsets, inputs = to_csr([node.inputs for node in all_nodes])
    output_offsets, outputs = to_csr([node.outputs for node in all_nodes])
    return NodeColumns(
        op=[ops[(node.domain, node.op_type, node.opset)] for node in all_nodes],
        name=[shorten_middle(node.name) for node in all_nodes],
        scope=tree.node,
        graph=[node.graph for node in all_nodes],
        constant=[node.id for node in all_nodes if node.is_constant],
        input_offsets=input_offsets,
        inputs=inputs,
        output_offsets=output_offsets,
        outputs=outputs,
        params=analysis.params.params,
        weight_bytes=analysis.params.node_bytes,
        macs=[n.macs for n in numbers],
        flops=[n.flops for n in numbers],
        read_bytes=[n.read_bytes for n in numbers],
        write_bytes=[n.write_bytes for n in numbers],
        activation_bytes=[activation_bytes(analysis, node) for node in all_nodes],
        reason=_reasons(analysis, numbers),
        settings=node_settings(analysis.model),
        **_runs(analysis),
    )


def _reasons(analysis: Analysis, numbers: list[NodeNumbers]) -> dict[str, str]:
    """Return why nodes have no number for one inference."""
    costs = enumerate(zip(analysis.costs, numbers, strict=True))
    reasons = [
        why_null(analysis, node, n.reason) if entry.counted else NOT_COUNTED for node, (entry, n) in costs
    ]
    return {str(node): reason for node, reason in enumerate(reasons) if reason}


def _runs(analysis: Analysis) -> dict[str, Any]:
    """Return the columns about how often nodes run."""
    costs = analysis.costs if len(analysis.model.graphs) > 1 else ()
    return {
        "runs": {str(node): entry.runs for node, entry in enumerate(costs) if entry.runs != 1},
        "runs_unknown": [node for node, entry in enumerate(costs) if entry.repeat is None],
        "uncounted": [node for node, entry in enumerate(costs) if not entry.counted],
    }


def _graphs(model: Model, tree: ScopeTree) -> GraphColumns:
    graphs = model.graphs
    return GraphColumns(
        name=[shorten_middle(graph.name) for graph in graphs],
        parent_node=[graph.parent_node for graph in graphs],
        attribute=[shorten_middle(graph.attribute) for graph in graphs],
        scope=tree.graph,
        inputs=[list(graph.inputs) for graph in graphs],
        outputs=[list(graph.outputs) for graph in graphs],
    )
