"""``Report`` → ``GraphPayload``: what can be shown of a model that is not at hand.

A report lists its layers with the names of their tensors, so that the graph can be put together again.
What it does not hold is left out, never made up, and a diagnostic says so: memory over time, costs as
expressions that a browser evaluates, which inputs are weights and of what type, the inputs of loop
bodies, and the layers that ``--max-layers`` cut off.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from py_autodoc.errors import InputError
from py_autodoc.report.attribute_columns import attribute_columns
from py_autodoc.report.categories import category_of
from py_autodoc.report.numbers import COSTS, NOT_COUNTED
from py_autodoc.report.report import Report
from py_autodoc.report.revived_scopes import Drawn, ReportScopes
from py_autodoc.report.schema import (
    DiagnosticInfo,
    DimValue,
    GraphColumns,
    GraphPayload,
    Layer,
    NodeColumns,
    OpEntry,
    RepeatColumns,
    ScopeColumns,
    TensorColumns,
)

CODE = "report-only"
"""Code of the diagnostic that says that the picture is drawn from a report."""
_ACTIVATION, _INPUT, _CONSTANT = 0, 1, 3
_UNKNOWN = "unknown"
_SPARE = 100_000
"""Ids may be this much larger than there are layers: each id takes memory."""


def payload_of(report: Report, why: str = "") -> GraphPayload:
    """What a viewer can show of a report; ``why`` begins the diagnostic about what is missing.

    Raises: InputError when ids of layers are not those of a report.
    """
    return _Reviver(report).payload(why)


def opset_of(report: Report, domain: str) -> int:
    """Version of an operator set the model imports, 0 when it imports none of that name."""
    return next((item.version for item in report.model.opset_imports if item.domain == domain), 0)


@dataclass(slots=True)
class _Pool:
    """Value → its index in a list of distinct values."""

    values: list[object] = field(default_factory=list)
    known: dict[object, int] = field(default_factory=dict)

    def index(self, key: object, value: object = None) -> int:
        if key not in self.known:
            self.known[key] = len(self.values)
            self.values.append(key if value is None else value)
        return self.known[key]


class _Reviver:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.count = _node_count(report)
        self.tensors = TensorColumns(name=[], dtype=[], shape=[], kind=[], producer=[], inputs=[], outputs=[])
        self.defined: dict[tuple[int, str], int] = {}
        self.ops, self.dtypes, self.shapes = _Pool(), _Pool(), _Pool()
        self.shape_list: list[list[DimValue] | None] = []
        self.graphs = GraphColumns(
            name=[report.graph.name], parent_node=[-1], attribute=[""], scope=[-1], inputs=[[]], outputs=[[]]
        )
        self.bodies: dict[tuple[int, str], int] = {}
        """(control node, attribute) → body."""
        self.around = [0]
        self.node_graph: dict[int, int] = {}
        self.latest: dict[str, int] = {}
        """Name → the last node of that name."""
        self.scopes = ReportScopes(report)

    def payload(self, why: str) -> GraphPayload:
        report = self.report
        self._inputs()
        nodes = self._nodes()
        self._outputs()
        scopes = self._tree(nodes)
        return GraphPayload(
            schema_version=report.schema_version,
            model=report.model,
            graph=report.graph,
            metrics=report.metrics,
            memory=report.memory,
            timeline=None,
            coverage=report.coverage,
            dims=report.dims,
            diagnostics=[*report.diagnostics, self._note(why)],
            ops=[op for op in self.ops.values if isinstance(op, OpEntry)],
            dtypes=[str(name) for name in self.dtypes.values],
            shapes=self.shape_list,
            graphs=self.graphs,
            scopes=scopes,
            nodes=nodes,
            tensors=self.tensors,
            architecture=report.architecture,
            expressions=None,
            repeats=RepeatColumns(
                count=[item.count for item in report.repeats],
                size=[item.size for item in report.repeats],
                name=[item.name for item in report.repeats],
            ),
            attributes=attribute_columns(
                (layer.id, layer.attributes) for layer in report.layers if layer.attributes
            ),
            risk_signals=report.risk_signals,
            rule_settings=report.rule_settings,
            runnable=report.runnable,
            identity=report.identity,
        )

    def _note(self, why: str) -> DiagnosticInfo:
        missing = ["memory over time", "other sizes", "types and values of constants"]
        if self.report.graph.num_subgraphs:
            missing.append("inputs of subgraphs")
        if self.report.layers_omitted:
            missing.append(f"{self.report.layers_omitted:,} layers that the report leaves out")
        text = f"{why} " if why else ""
        return DiagnosticInfo(
            code=CODE,
            severity="warning" if self.report.layers_omitted else "info",
            message=f"{text}Shown from the report alone; missing: {', '.join(missing)}.",
        )

    def _tree(self, nodes: NodeColumns) -> ScopeColumns:
        """The boxes, which nodes and bodies are told of."""
        ops = [op for op in self.ops.values if isinstance(op, OpEntry)]
        drawn = Drawn.of(nodes, self.graphs, ops, [layer.id for layer in self.report.layers])
        tree = self.scopes.tree(drawn, nodes.scope, self.graphs.scope)
        nodes.scope[:], self.graphs.scope[:] = tree.node, tree.graph
        return ScopeColumns(
            parent=tree.parent,
            label=tree.label,
            type=tree.type,
            role=[""] * len(tree.parent),
            origin=tree.origin,
        )

    # ---- tensors

    def _tensor(self, graph: int, name: str, kind: int, producer: int, shape: int, dtype: str) -> int:
        columns, number = self.tensors, len(self.tensors.name)
        columns.name.append(name)
        columns.dtype.append(self.dtypes.index(dtype))
        columns.shape.append(shape)
        columns.kind.append(kind)
        columns.producer.append(producer)
        self.defined[graph, name] = number
        return number

    def _shape(self, shape: list[DimValue] | None) -> int:
        index = self.shapes.index(None if shape is None else tuple(shape), "")
        if index == len(self.shape_list):
            self.shape_list.append(shape)
        return index

    def _inputs(self) -> None:
        for item in self.report.graph.inputs:
            number = self._tensor(0, item.name, _INPUT, -1, self._shape(item.shape), item.elem_type)
            self.tensors.inputs.append(number)
            self.graphs.inputs[0].append(number)

    def _outputs(self) -> None:
        for item in self.report.graph.outputs:
            number = self.defined.get((0, item.name))
            if number is None:  # its layer was left out
                number = self._tensor(0, item.name, _ACTIVATION, -1, self._shape(item.shape), item.elem_type)
            self.tensors.outputs.append(number)
            self.graphs.outputs[0].append(number)

    def _read(self, graph: int, name: str, shape: list[DimValue] | None) -> int:
        """The tensor a name stands for: of this graph or of one around it, else a constant."""
        if not name:
            return -1
        inner = graph
        while True:
            found = self.defined.get((graph, name))
            if found is not None:
                return found
            if graph == 0:
                return self._tensor(inner, name, _CONSTANT, -1, self._shape(shape), _UNKNOWN)
            graph = self.around[graph]

    # ---- nodes

    def _nodes(self) -> NodeColumns:
        count = self.count
        filler = self.ops.index(
            "Constant", OpEntry(type="Constant", domain="ai.onnx", category="constant", opset=0)
        )
        rows: list[tuple[list[int], list[int]]] = [([], [])] * count
        nodes = NodeColumns(
            op=[filler] * count, name=[""] * count, scope=[-1] * count, graph=[0] * count, constant=[],
            input_offsets=[0], inputs=[], output_offsets=[0], outputs=[], params=[0] * count,
            weight_bytes=[0] * count, macs=[None] * count, flops=[None] * count, read_bytes=[None] * count,
            write_bytes=[None] * count, activation_bytes=[None] * count, reason={}, runs={},
            runs_unknown=[], uncounted=[],
        )  # fmt: skip
        listed = set()
        for layer in self.report.layers:
            listed.add(layer.id)
            rows[layer.id] = self._node(nodes, layer)
        nodes.constant.extend(node for node in range(count) if node not in listed)
        for inputs, outputs in rows:
            nodes.inputs.extend(inputs)
            nodes.outputs.extend(outputs)
            nodes.input_offsets.append(len(nodes.inputs))
            nodes.output_offsets.append(len(nodes.outputs))
        return nodes

    def _node(self, nodes: NodeColumns, layer: Layer) -> tuple[list[int], list[int]]:
        number, graph = layer.id, self._graph(layer)
        domain = "" if layer.domain == "ai.onnx" else layer.domain
        opset = opset_of(self.report, layer.domain)
        entry = OpEntry(
            type=layer.type, domain=layer.domain, category=category_of(domain, layer.type), opset=opset
        )
        nodes.op[number] = self.ops.index((layer.domain, layer.type), entry)
        nodes.name[number] = "" if layer.name == f"{layer.type}_{number}" else layer.name
        nodes.scope[number] = self.scopes.of(layer.group)
        nodes.graph[number] = graph
        nodes.params[number] = layer.params
        nodes.weight_bytes[number] = layer.weight_bytes
        nodes.activation_bytes[number] = layer.activation_bytes
        _costs(nodes, layer)
        shapes = iter(layer.input_shapes)
        inputs = [self._read(graph, name, next(shapes, None)) for name in layer.inputs]
        shapes, outputs = iter(layer.output_shapes), []
        for place, name in enumerate(layer.outputs):
            shape = self._shape(next(shapes, None))
            dtype = layer.output_dtype if place == 0 else _UNKNOWN
            outputs.append(self._tensor(graph, name, _ACTIVATION, number, shape, dtype) if name else -1)
        self.latest[layer.name] = number
        return inputs, outputs

    def _graph(self, layer: Layer) -> int:
        """The graph of a layer: ``If_3.then_branch`` is a body of the last node called ``If_3``."""
        label = layer.subgraph
        if not label:
            return 0
        at = label.rfind(".")
        while at > 0 and label[:at] not in self.latest:
            at = label.rfind(".", 0, at)
        parent = self.latest.get(label[:at], -1) if at > 0 else -1
        attribute = label[at + 1 :]
        found = self.bodies.get((parent, attribute))
        if found is None:
            found = self.bodies[parent, attribute] = len(self.around)
            self.around.append(self.node_graph.get(parent, 0))
            self.graphs.name.append(attribute)
            self.graphs.parent_node.append(parent)
            self.graphs.attribute.append(attribute)
            self.graphs.scope.append(self.scopes.box(layer.group, label.rpartition("/")[2]))
            self.graphs.inputs.append([])
            self.graphs.outputs.append([])
        self.node_graph[layer.id] = found
        return found


def _node_count(report: Report) -> int:
    """One more than the largest id. Raises: InputError for ids that no report has."""
    ids = [layer.id for layer in report.layers]
    most = len(ids) + report.layers_omitted + _SPARE
    if len(set(ids)) < len(ids) or any(not 0 <= number < most for number in ids):
        raise InputError(
            "report-inconsistent",
            "The layers of this report have ids that repeat or lie outside the model.",
            "Make the report again from the model.",
        )
    return max(ids, default=-1) + 1


def _costs(nodes: NodeColumns, layer: Layer) -> None:
    """The numbers of one execution, and how often the node runs."""
    number = layer.id
    if layer.runs != 1:
        nodes.runs[str(number)] = layer.runs
    if layer.repeat is None:
        nodes.runs_unknown.append(number)
    if not layer.counted:
        nodes.uncounted.append(number)
    reason = layer.reason if layer.counted else NOT_COUNTED
    if reason:
        nodes.reason[str(number)] = reason
    for column in COSTS:
        getattr(nodes, column)[number] = getattr(layer, column)
