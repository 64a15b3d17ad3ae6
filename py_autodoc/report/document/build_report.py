"""Analysis → ``Report``."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.graph.ir.gc_pause import gc_paused
from py_autodoc.graph.ir.model import Model, Node
from py_autodoc.report.builders import architecture_section, shared_parts
from py_autodoc.report.builders.block_section import blocks
from py_autodoc.report.builders.dataset_section import dataset
from py_autodoc.report.builders.expression_pool import Texts
from py_autodoc.report.builders.hardware_section import hardware_estimates
from py_autodoc.report.builders.identity_section import identity
from py_autodoc.report.builders.label_check import label_diagnostics
from py_autodoc.report.builders.memory_section import memory_info
from py_autodoc.report.builders.node_numbers import activation_bytes, per_execution, per_inference, why_null
from py_autodoc.report.builders.repeat_section import repeats
from py_autodoc.report.builders.runnable_section import runnable
from py_autodoc.report.builders.shared_weights import shared_weights
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.json_values import node_attributes
from py_autodoc.report.encode.labels import (
    domain_name,
    dtype_name,
    graph_label,
    node_label,
    shorten_middle,
    wire_shape,
)
from py_autodoc.report.module_tree.scope_tree import ScopeTree, scope_tree
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import SCHEMA_VERSION, GraphPayload, Layer


def build_report(analysis: Analysis, max_layers: int | None = None) -> Report:
    """Build the whole report.

    With ``max_layers``, only the layers with the most FLOPs (then parameters) are listed, in graph order, and
    ``layers_omitted`` counts the others; totals and blocks stay complete.
    """
    with gc_paused():  # many objects, none of them garbage
        layers, omitted = layers_of(analysis, max_layers)
        return report_around(analysis, list(layers), omitted)


def brief_report(analysis: Analysis, payload: GraphPayload, max_layers: int) -> Report:
    """Build a report without blocks and repeats, for a summary next to the payload; shared data is reused."""
    with gc_paused():
        layers, omitted = layers_of(analysis, max_layers)
        return Report(
            schema_version=SCHEMA_VERSION,
            generator=shared_parts.generator(),
            model=payload.model,
            graph=payload.graph,
            architecture=architecture_section.architecture(analysis),
            metrics=payload.metrics,
            memory=payload.memory,
            coverage=payload.coverage,
            dims=payload.dims,
            diagnostics=payload.diagnostics,
            layers=list(layers),
            layers_omitted=omitted,
            blocks=[],
            repeats=[],
            risk_signals=payload.risk_signals,
            rule_settings=payload.rule_settings,
            runnable=payload.runnable,
            hardware_estimates=hardware_estimates(analysis),
            rebatch=analysis.rebatch.info() if analysis.rebatch else None,
            identity=payload.identity,
            resize=analysis.resize.info() if analysis.resize else None,
            dataset=dataset(analysis.model.metadata),
            num_shared_weights=len(analysis.params.shared),
            shared_weights=shared_weights(analysis),
            quantization=analysis.quantization,
            card=analysis.card,
            system_requirements=analysis.requirements,
            serving=analysis.serving,
        )


def layers_of(analysis: Analysis, max_layers: int | None) -> tuple[Iterator[Layer], int]:
    """Return the layers to list, built one by one, and the number of others."""
    order = [node for node in graph_order(analysis.model) if not node.is_constant]
    selected = order if max_layers is None else heaviest(analysis, order, max_layers)
    builder = _LayerBuilder(analysis, scope_tree(analysis.model))
    return map(builder.layer, selected), len(order) - len(selected)


def report_around(analysis: Analysis, layers: list[Layer], omitted: int) -> Report:
    """Build the report around the given layers."""
    model = analysis.model
    return Report(
        schema_version=SCHEMA_VERSION,
        generator=shared_parts.generator(),
        model=shared_parts.model_info(model),
        graph=shared_parts.graph_info(analysis),
        architecture=architecture_section.architecture(analysis),
        metrics=shared_parts.build_metrics(analysis),
        memory=memory_info(analysis),
        coverage=shared_parts.build_coverage(analysis),
        dims=shared_parts.build_dims(analysis),
        diagnostics=shared_parts.diagnostics((*analysis.diagnostics, *label_diagnostics(analysis))),
        layers=layers,
        layers_omitted=omitted,
        blocks=blocks(analysis, scope_tree(model)),
        repeats=repeats(analysis),
        risk_signals=shared_parts.risk_signals(analysis),
        rule_settings=analysis.rules,
        runnable=runnable(analysis),
        hardware_estimates=hardware_estimates(analysis),
        rebatch=analysis.rebatch.info() if analysis.rebatch else None,
        identity=identity(analysis),
        resize=analysis.resize.info() if analysis.resize else None,
        dataset=dataset(analysis.model.metadata),
        num_shared_weights=len(analysis.params.shared),
        shared_weights=shared_weights(analysis),
        quantization=analysis.quantization,
        card=analysis.card,
        system_requirements=analysis.requirements,
        serving=analysis.serving,
    )


def graph_order(model: Model) -> Iterator[Node]:
    """Yield all nodes in execution order; subgraphs follow their node."""
    stack = [iter(model.graphs[0].nodes)]
    while stack:
        number = next(stack[-1], -1)
        if number < 0:
            stack.pop()
            continue
        node = model.nodes[number]
        yield node
        stack.extend(iter(model.graphs[graph].nodes) for _, graph in reversed(node.subgraphs))


def heaviest(analysis: Analysis, order: list[Node], count: int) -> list[Node]:
    """Return the ``count`` nodes with the most FLOPs, then parameters, in the given order."""

    def weight(node: Node) -> tuple[int, int]:
        return (per_inference(analysis.costs[node.id]).flops or 0, analysis.params.params[node.id] or 0)

    chosen = {node.id for node in sorted(order, key=weight, reverse=True)[: max(0, count)]}
    return [node for node in order if node.id in chosen]


class _LayerBuilder:
    """Builds the layer of a node."""

    def __init__(self, analysis: Analysis, tree: ScopeTree) -> None:
        self.analysis = analysis
        self.tree = tree
        self.graph_labels = [graph_label(analysis.model, graph.id) for graph in analysis.model.graphs]
        self.groups: dict[int, str] = {-1: ""}
        self.texts = Texts()
        self.names = [shorten_middle(tensor.name) for tensor in analysis.model.tensors]

    def layer(self, node: Node) -> Layer:
        analysis = self.analysis
        entry, shapes = analysis.costs[node.id], analysis.types.shapes
        numbers = per_execution(entry)
        inputs = [wire_shape(shapes[i]) if i >= 0 else None for i in node.inputs]
        outputs = [wire_shape(shapes[i]) if i >= 0 else None for i in node.outputs]
        first = self._first_input(node)
        return Layer(
            id=node.id,
            name=node_label(node),
            type=shorten_middle(node.op_type),
            domain=shorten_middle(domain_name(node.domain)),
            inputs=[self.names[i] if i >= 0 else "" for i in node.inputs],
            outputs=[self.names[i] if i >= 0 else "" for i in node.outputs],
            input_shape=None if first is None else inputs[first],
            output_shape=outputs[0] if outputs else None,
            input_shapes=inputs,
            output_shapes=outputs,
            output_dtype=self._dtype(node),
            params=analysis.params.params[node.id],
            weight_bytes=analysis.params.node_bytes[node.id],
            macs=numbers.macs,
            flops=numbers.flops,
            read_bytes=numbers.read_bytes,
            write_bytes=numbers.write_bytes,
            activation_bytes=activation_bytes(analysis, node),
            data_dependent_flops=None if entry.cost is None else entry.cost.data_flops,
            group=self._group(node),
            tag=shorten_middle(node.tag),
            attributes=node_attributes(analysis.model, node),
            subgraph=self.graph_labels[node.graph],
            runs=entry.runs,
            repeat=entry.repeat,
            counted=entry.counted,
            reason=why_null(analysis, node.id, numbers.reason),
            **self.texts.layer(None if analysis.symbolic is None else analysis.symbolic.nodes[node.id]),
        )

    def _first_input(self, node: Node) -> int | None:
        tensors = self.analysis.model.tensors
        for index, tensor in enumerate(node.inputs):
            if tensor >= 0 and not tensors[tensor].is_constant:
                return index
        return None

    def _dtype(self, node: Node) -> str:
        first = node.outputs[0] if node.outputs else -1
        return dtype_name(self.analysis.types.dtypes[first]) if first >= 0 else dtype_name(0)

    def _group(self, node: Node) -> str:
        scope = self.tree.node[node.id]
        path = self.groups.get(scope)
        if path is None:
            path = self.groups[scope] = "/".join(self.tree.path(scope))
        return path
