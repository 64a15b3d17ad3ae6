"""The graph in the DOT language: modules as clusters, shapes on edges, costs in the boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from py_autodoc.errors import LimitError
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.report.builders.node_numbers import NOT_COUNTED, column_in_inference
from py_autodoc.report.schema import GraphPayload
from py_autodoc.units import at_least, count, shape

MAX_BOXES = 3000
"""Graphviz takes minutes for more boxes than this."""
_MAX_CHARACTERS = 80
_ENTITY = re.compile(r"&(?=#?\w+;)")


def dot(
    payload: GraphPayload, depth: int | None = None, max_boxes: int = MAX_BOXES, direction: str = "right"
) -> str:
    """Return the payload as a DOT file.

    ``depth`` is the number of expanded levels of modules; a module below it is one box with the totals of its
    nodes. None expands all. ``direction`` is ``down``; any other value is left to right, in one row.

    Raises: LimitError if there would be more than ``max_boxes`` boxes; the hint gives a depth that fits.
    """
    picture = _DotWriter(payload, depth, direction)
    if picture.boxes > max_boxes:
        raise LimitError(
            "dot-boxes",
            picture.boxes,
            max_boxes,
            f"The drawing would have {picture.boxes:,} boxes; the limit is {max_boxes:,}.",
            _advice(payload, depth, max_boxes),
        )
    return "\n".join(picture.lines()) + "\n"


def _advice(payload: GraphPayload, depth: int | None, max_boxes: int) -> str:
    """Suggest the deepest level that fits."""
    levels = _depths(payload.scopes.parent)
    start = max(levels, default=0) + 1 if depth is None else depth
    for smaller in range(min(start, 64) - 1, -1, -1):
        if (boxes := _DotWriter(payload, smaller).boxes) <= max_boxes:
            return f"--depth {smaller} gives {boxes:,} boxes."
    return "Use --out FILE.html, which opens module by module."


def quote(*lines: str) -> str:
    """Return a quoted DOT string in which Graphviz interprets neither escapes nor entities (``&lt;``)."""
    cleaned = [_ENTITY.sub("&amp;", _clean(line)) for line in lines if line]
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in cleaned) + '"'


def _clean(text: str) -> str:
    """Return one line of at most ``_MAX_CHARACTERS`` characters without control characters."""
    text = "".join(c if c.isprintable() else " " for c in text[: 4 * _MAX_CHARACTERS])
    half = _MAX_CHARACTERS // 2
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:half]}…{text[-half:]}"


def _depths(parents: list[int]) -> list[int]:
    depths: list[int] = []
    for parent in parents:  # a parent comes before its children
        depths.append(0 if parent < 0 else depths[parent] + 1)
    return depths


class _DotWriter:
    """Maps nodes to boxes: the node itself (``n<id>``) or the collapsed module around it (``s<id>``)."""

    def __init__(self, payload: GraphPayload, depth: int | None, direction: str = "right") -> None:
        self.payload = payload
        self.macs = column_in_inference(payload.nodes, "macs")
        self.endless = frozenset(payload.nodes.runs_unknown)
        self.rankdir = "TB" if direction == "down" else "LR"
        scopes = payload.scopes.parent
        depths = _depths(scopes)
        self.closed: list[int] = []
        """Per scope: the outermost collapsed module at or above it, -1 for none."""
        for scope, parent in enumerate(scopes):
            above = -1 if parent < 0 else self.closed[parent]
            self.closed.append(
                above if above >= 0 else scope if depth is not None and depths[scope] >= depth else -1
            )
        constant = set(payload.nodes.constant)
        self.nodes = [n for n in range(len(payload.nodes.op)) if n not in constant]
        self.members: dict[int, list[int]] = {}
        """Nodes of each collapsed module."""
        for node in self.nodes:
            if (scope := self._closed(node)) >= 0:
                self.members.setdefault(scope, []).append(node)
        self.boxes = len(self.members) + sum(self._closed(n) < 0 for n in self.nodes)

    def _closed(self, node: int) -> int:
        scope = self.payload.nodes.scope[node]
        return -1 if scope < 0 else self.closed[scope]

    def _box(self, node: int) -> str:
        closed = self._closed(node)
        return f"n{node}" if closed < 0 else f"s{closed}"

    def lines(self) -> Iterator[str]:
        payload = self.payload
        numbers = payload.metrics
        macs = at_least(numbers.total_macs, payload.coverage.macs)
        totals = f"{count(numbers.total_params)} parameters · {macs} MACs"
        yield f"digraph {quote(payload.model.name)} {{"
        yield f"label={quote(payload.model.name, totals, _sizes(payload))};"
        yield f'rankdir={self.rankdir}; fontname="Helvetica"; fontsize=12;'
        yield 'node [shape=box fontname="Helvetica" fontsize=11];'
        yield 'edge [fontname="Helvetica" fontsize=9];'
        yield from self._tree()
        yield from self._ends()
        yield from self._edges()
        yield "}"

    def _tree(self) -> Iterator[str]:
        """Yield clusters and boxes iteratively: files may nest modules arbitrarily deep."""
        scopes = self.payload.scopes
        inside: dict[int, list[str]] = {}
        for node in self.nodes:
            if self._closed(node) < 0:
                inside.setdefault(self.payload.nodes.scope[node], []).append(self._node(node))
        children: dict[int, list[int]] = {}
        for scope, parent in enumerate(scopes.parent):
            if self.closed[scope] < 0:
                children.setdefault(parent, []).append(scope)
            elif self.closed[scope] == scope and scope in self.members:
                inside.setdefault(parent, []).append(self._module(scope))
        stack: list[int | str] = [-1]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                yield item
                continue
            if item >= 0:
                yield f"subgraph cluster_{item} {{"
                yield f"label={quote(scopes.role[item] or scopes.type[item], scopes.label[item])};"
                stack.append("}")
            yield from inside.get(item, ())
            stack.extend(reversed(children.get(item, [])))

    def _node(self, node: int) -> str:
        nodes = self.payload.nodes
        costs = _costs(self.macs[node], nodes.params[node], True) if self._counted(node) else NOT_COUNTED
        kind = self.payload.ops[nodes.op[node]].type
        setting = nodes.settings.get(str(node))
        title = f"{kind} {setting}" if setting else kind
        return f"n{node} [label={quote(title, nodes.name[node], costs)}];"

    def _counted(self, node: int) -> bool:
        """Return False in a branch of an If that the totals do not include."""
        return self.payload.nodes.reason.get(str(node)) != NOT_COUNTED

    def _module(self, scope: int) -> str:
        nodes, scopes, members = self.payload.nodes, self.payload.scopes, self.members[scope]
        counted = [self.macs[n] for n in members if self._counted(n)]
        macs = [value for value in counted if value is not None]
        params = [nodes.params[n] for n in members]
        is_lower_bound = any(n in self.endless and self.macs[n] for n in members)
        costs = _costs(
            sum(macs) if macs else None,
            None if None in params else sum(param_count or 0 for param_count in params),
            len(macs) == len(counted) and not is_lower_bound,
        )
        name = scopes.label[scope]
        count = f"{len(members)} node" + ("s" if len(members) != 1 else "")
        title = scopes.role[scope] or scopes.type[scope]
        return f"s{scope} [shape=box3d label={quote(title, name, count, costs)}];"

    def _ends(self) -> Iterator[str]:
        tensors = self.payload.tensors
        for tensor in dict.fromkeys(tensors.inputs):
            yield f"i{tensor} [style=rounded label={quote(tensors.name[tensor])}];"
        for tensor in dict.fromkeys(tensors.outputs):
            yield f"o{tensor} [style=rounded label={quote(tensors.name[tensor])}];"

    def _edges(self) -> Iterator[str]:
        """Yield one edge per pair of boxes for all their tensors, with the shape of the first."""
        carried: dict[tuple[str, str], list[int]] = {}
        for source, target, tensor in self._wires():
            if source and source != target:
                tensor_ids = carried.setdefault((source, target), [])
                if tensor not in tensor_ids[-1:]:
                    tensor_ids.append(tensor)
        tensors, shapes = self.payload.tensors, self.payload.shapes
        for (source, target), tensor_ids in carried.items():
            more_text = f" +{len(tensor_ids) - 1}" if len(tensor_ids) > 1 else ""
            label = shape(shapes[tensors.shape[tensor_ids[0]]]) + more_text
            yield f"{source} -> {target} [label={quote(label)}];"

    def _wires(self) -> Iterator[tuple[str, str, int]]:
        nodes, tensors, graphs = self.payload.nodes, self.payload.tensors, self.payload.graphs
        graph_inputs = set(tensors.inputs)

        def source(tensor: int) -> str:
            if tensor < 0 or TensorKind(tensors.kind[tensor]).is_constant:
                return ""
            producer = tensors.producer[tensor]
            return self._box(producer) if producer >= 0 else f"i{tensor}" if tensor in graph_inputs else ""

        for node in self.nodes:
            for tensor in nodes.inputs[nodes.input_offsets[node] : nodes.input_offsets[node + 1]]:
                yield source(tensor), self._box(node), tensor
        for tensor in tensors.outputs:
            yield source(tensor), f"o{tensor}", tensor
        for parent, outputs in zip(graphs.parent_node, graphs.outputs, strict=True):
            for tensor in outputs if parent >= 0 else ():
                yield source(tensor), self._box(parent), tensor


def _sizes(payload: GraphPayload) -> str:
    """Return the dimensions the numbers apply to: ``batch = 1 (assumed) · seq symbolic``."""
    parts = [
        f"{dim.name} symbolic"
        if dim.value is None
        else f"{dim.name} = {dim.value}" + " (assumed)" * dim.assumed
        for dim in payload.dims
    ]
    return " · ".join(parts)


def _costs(macs: int | None, params: int | None, is_complete: bool) -> str:
    """Return ``118 M MACs · 9.41 K params``; zeros are omitted, ``≥`` marks lower bounds."""
    parts = []
    if macs is None:
        parts.append("MACs unknown")
    elif macs or not is_complete:
        parts.append(("" if is_complete else "≥ ") + count(macs, "MACs"))
    if params is None:
        parts.append("params unknown")
    elif params:
        parts.append(count(params, "params"))
    return " · ".join(parts)
