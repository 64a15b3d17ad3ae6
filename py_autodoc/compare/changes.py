"""Changes between a unit and its counterpart, as bits and as text."""

from __future__ import annotations

from collections import Counter
from enum import IntFlag
from functools import cached_property
from math import prod
from typing import NamedTuple

from py_autodoc.compare.meaning import FORMS, LAYOUTS, MERGED, POOLS, QUANTIZED, RENAMED
from py_autodoc.compare.node_case import Settings
from py_autodoc.compare.settings import different, settings
from py_autodoc.compare.units import ContractedGraph, Unit
from py_autodoc.graph.ir.model import Node, Shape
from py_autodoc.report.encode.labels import dtype_name
from py_autodoc.report.pipeline.analysis import Analysis


class Change(IntFlag):
    """Kinds of changes; several can be combined."""

    OPERATOR = 1
    """A different operator, bias or activation."""
    ATTRIBUTES = 2
    SHAPES = 4
    """Dimensions of its output or weights."""
    PRECISION = 8
    WEIGHTS = 16
    """Values of weights, if they were read."""
    FUSED = 32
    """Fewer or more nodes do the same work."""
    MOVES = 64
    """Different reshapes and transposes around it."""
    INPUTS = 128
    """It reads a different input."""
    NAME = 256
    """Of an input or output: another name."""
    ORDER = 512
    """Of the inputs or outputs: another order."""
    FILE = 1024
    """A statement of the file: opset, labels, preprocessing …"""


NAMES = {change: str(change.name).lower() for change in Change}
_CLAMPED = frozenset({"Relu", "Clip"})
"""Activations that the value range of a quantized result can replace."""
_BIASED = frozenset({"BiasGelu", "FastGelu"})
"""Activations that first add a bias."""
_BIAS_INPUTS = {"SkipLayerNormalization": 4, "SkipSimplifiedLayerNormalization": 3, "MultiHeadAttention": 3}
"""Fused operators → input that may be the bias of a preceding product."""
_NHWC = frozenset({"NhwcConv", "NhwcFusedConv", "NhwcMaxPool"})


class Detail(NamedTuple):
    """One change: its kind, its subject, and the values on both sides as text."""

    kind: Change
    what: str
    left: str
    right: str
    distance: float | None = None
    """For weights: norm of the difference over the norm of the left."""
    largest: float | None = None
    """For weights: the largest difference between two values."""


class ComparedSide:
    """One model with its units, and queries on them."""

    def __init__(self, analysis: Analysis, graph: ContractedGraph) -> None:
        self.analysis = analysis
        self.graph = graph
        self.model, self.types = analysis.model, analysis.types
        self.restored = analysis.stored is not None
        open_types = analysis.open_types
        self._fixed = self.types.shapes if open_types is None else open_types.types.shapes
        self._settings: dict[int, Settings] = {}
        self.quantized = {q.node: q for q in analysis.structure.quantized if q.scheme}

    @cached_property
    def nodes_with_moved_bias(self) -> frozenset[int]:
        """Nodes whose bias is added by a fused node after them."""
        nodes: set[int] = set()
        for unit in self.graph.units:
            node = self.node(unit.node)
            position = _BIAS_INPUTS.get(node.op_type)
            if position is not None and position < len(node.inputs) and node.inputs[position] >= 0:
                nodes.update(self.graph.units[source].node for source in unit.sources if source >= 0)
        return frozenset(nodes)

    def node(self, number: int) -> Node:
        """Return a node as in the file."""
        return self.model.nodes[number]

    def settings(self, number: int) -> Settings:
        """Return the settings of a node in canonical form."""
        found = self._settings.get(number)
        if found is None:
            found = settings(self.model, self.types, self.node(number), self._fixed)
            self._settings[number] = found
        return found

    def operator(self, unit: Unit) -> str:
        """Return the operator that does the unit's work."""
        return self.node(unit.node).op_type

    def precision(self, unit: Unit) -> str:
        """Return the quantization of the unit, else the element type of its result."""
        quantization = self.quantized.get(unit.node)
        if quantization is not None:
            return f"{quantization.weights or quantization.data or 'quantized'} ({quantization.scheme})"
        for number in unit.nodes[unit.work :]:
            node = self.node(number)
            if node.op_type == "QuantizeLinear" and node.outputs and node.outputs[0] >= 0:
                return dtype_name(self.types.dtypes[node.outputs[0]])
        if unit.out < 0:
            return ""
        return dtype_name(self.types.dtypes[unit.out])

    def clamps(self, unit: Unit) -> bool:
        """Return whether its output is quantized immediately."""
        if self.operator(unit) in QUANTIZED:
            return True
        after = unit.nodes[unit.work :]
        return any(self.node(number).op_type == "QuantizeLinear" for number in after)

    def activation(self, unit: Unit) -> str:
        """Return the included activation, whether an attribute or a following node."""
        activation = self.node(unit.node).attributes.get("activation")
        return f"{activation} {unit.activation}".strip() if isinstance(activation, str) else unit.activation

    def has_bias(self, unit: Unit) -> bool:
        """Return whether a constant is added, also by a fused node after it, or a normalization folded in."""
        if unit.node in self.nodes_with_moved_bias or {"Add", "Sub", "BatchNormalization"} & set(unit.affine):
            return True
        after = (self.node(number) for number in unit.nodes[1 : unit.work])
        if any(n.op_type in _BIASED and len(n.inputs) > 1 and n.inputs[1] >= 0 for n in after):
            return True
        node = self.node(unit.node)
        form = FORMS.get(node.op_type)
        bias_inputs = form.inputs[2:3] if form is not None else (2,)
        return any(position < len(node.inputs) and node.inputs[position] >= 0 for position in bias_inputs)

    def shape(self, unit: Unit) -> Shape | None:
        """Return the output shape of the core operator; None if unknown."""
        return self.types.shapes[unit.out] if unit.out >= 0 else None

    def moves(self, unit: Unit) -> Counter[str]:
        """Count the reshapes and transposes of its output."""
        return Counter(self.node(number).op_type for number in unit.moved)

    def work(self, unit: Unit) -> list[str]:
        """Return the operators of the computing nodes."""
        return [self.node(number).op_type for number in unit.nodes[: unit.work]]


def changes(left: ComparedSide, left_unit: Unit, right: ComparedSide, right_unit: Unit) -> list[Detail]:
    """Return the differences between two counterparts."""
    details: list[Detail] = []
    before, after = left.precision(left_unit), right.precision(right_unit)
    if before and after and before != after:
        details.append(Detail(Change.PRECISION, "precision", before, after))
    work = left.work(left_unit), right.work(right_unit)
    quantized = QUANTIZED & {left.operator(left_unit), right.operator(right_unit)}
    merged = bool(MERGED & {*work[0], *work[1]}) or left_unit.decomposed_into != right_unit.decomposed_into
    fused = merged or (len(work[0]) != len(work[1]))
    _compare_function(left, left_unit, right, right_unit, fused, details)
    if (fused or merged) and work[0] != work[1]:
        details.append(Detail(Change.FUSED, "nodes", " + ".join(work[0]), " + ".join(work[1])))
    elif (
        work[0] != work[1]
        and not quantized
        and not _differ_in_form_only(*map(_pools_by_name, work, (left_unit, right_unit)))
    ):
        details.append(Detail(Change.OPERATOR, "operator", " + ".join(work[0]), " + ".join(work[1])))
    if left_unit.decomposed_into < 2 and right_unit.decomposed_into < 2:
        _compare_shapes(left, left_unit, right, right_unit, details)
        _compare_settings(left, left_unit, right, right_unit, details)
    pooled = left_unit.is_global and right_unit.is_global
    pooled = pooled and left.operator(left_unit) != right.operator(right_unit)
    if not fused and not quantized and not pooled:  # a reduction may drop the axes that a reshape drops
        moved = left.moves(left_unit), right.moves(right_unit)
        if moved[0] == moved[1]:
            _compare_moves(left, left_unit, right, right_unit, details)
        else:
            details.append(Detail(Change.MOVES, "moves", _count_text(moved[0]), _count_text(moved[1])))
    return details


def bits(details: list[Detail]) -> Change:
    """Return the kinds of changes as bits."""
    kinds = Change(0)
    for detail in details:
        kinds |= detail.kind
    return kinds


def _compare_function(
    left: ComparedSide,
    left_unit: Unit,
    right: ComparedSide,
    right_unit: Unit,
    fused: bool,
    details: list[Detail],
) -> None:
    """Compare activation and bias, independent of which node computes them."""
    acts = left.activation(left_unit), right.activation(right_unit)
    if acts[0] != acts[1]:
        names = set(acts[0].split()) ^ set(acts[1].split())
        inside = names <= _CLAMPED and (left.clamps(left_unit) if acts[1] else right.clamps(right_unit))
        kind, nothing = (Change.FUSED, "into the quantized output") if inside else (Change.OPERATOR, "–")
        details.append(Detail(kind, "activation", acts[0] or nothing, acts[1] or nothing))
    if (
        left_unit.decomposed_into < 2
        and right_unit.decomposed_into < 2
        and left_unit.core in ("Conv", "ConvTranspose", "MatMul")
    ):
        biased = left.has_bias(left_unit), right.has_bias(right_unit)
        if biased[0] != biased[1]:
            texts = ["yes" if has_bias else "–" for has_bias in biased]
            details.append(Detail(Change.OPERATOR, "bias", texts[0], texts[1]))


def _pools_by_name(operators: list[str], unit: Unit) -> list[str]:
    """Name a pool over whole images the same in all its forms."""
    return [f"Global{unit.core}" if unit.is_global and op in POOLS else op for op in operators]


def _differ_in_form_only(left_operators: list[str], right_operators: list[str]) -> bool:
    """Return whether operators differ only in form, such as a float operator and its integer variant."""
    if len(left_operators) != len(right_operators):
        return False
    return all(
        RENAMED.get(x, x) == RENAMED.get(y, y)
        or (x in FORMS and FORMS[x].core == y)
        or (y in FORMS and FORMS[y].core == x)
        for x, y in zip(left_operators, right_operators, strict=True)
    ) and not {"Gemm"} & {*left_operators, *right_operators}


def _compare_shapes(
    left: ComparedSide, left_unit: Unit, right: ComparedSide, right_unit: Unit, details: list[Detail]
) -> None:
    if left_unit.weight and right_unit.weight and left_unit.weight != right_unit.weight:
        details.append(Detail(Change.SHAPES, "weight", _shape(left_unit.weight), _shape(right_unit.weight)))
    before, after = left.shape(left_unit), right.shape(right_unit)
    if before is None or after is None:
        return
    if len(before) == len(after):
        nodes = left.node(left_unit.node), right.node(right_unit.node)
        nhwc = any(node.op_type in _NHWC or node.domain in LAYOUTS for node in nodes)
        compared = (sorted(map(str, before)), sorted(map(str, after))) if nhwc else (before, after)
        comparable = all(isinstance(x, int) or isinstance(y, int) for x, y in zip(before, after, strict=True))
        same = compared[0] == compared[1] or not comparable
    else:
        sizes = [[n for n in shape if isinstance(n, int)] for shape in (before, after)]
        static = len(sizes[0]) == len(before) and len(sizes[1]) == len(after)
        same = not static or prod(sizes[0]) == prod(sizes[1])
    if not same:
        details.append(Detail(Change.SHAPES, "result", _shape(before), _shape(after)))


def _compare_settings(
    left: ComparedSide, left_unit: Unit, right: ComparedSide, right_unit: Unit, details: list[Detail]
) -> None:
    """Compare attributes of computing nodes whose operators are equal on both sides."""
    first, second = left_unit.nodes[: left_unit.work], right_unit.nodes[: right_unit.work]
    if len(first) != len(second):
        first, second = [left_unit.node], [right_unit.node]
    shaped = any(detail.kind is Change.SHAPES for detail in details)
    stored = any(detail.kind is Change.PRECISION for detail in details)
    """Constants may also be stored in another format, so they are not compared as settings."""
    for a, b in zip(first, second, strict=True):
        x, y = left.node(a), right.node(b)
        names = [RENAMED.get(node.op_type, node.op_type) for node in (x, y)]
        if names[0] != names[1] or x.domain != y.domain:
            continue
        for name, before, after in different(left.settings(a), right.settings(b)):
            moved = shaped and name in ("shape", "sizes", "starts", "ends", "split", "repeats")
            moved = moved or (name == "kernel_shape" and left_unit.weight != right_unit.weight)
            # A report has no values of constants: what it does not have may be equal.
            moved = moved or (left.restored and before == "–") or (right.restored and after == "–")
            if not (moved or (stored and "–" in (before, after))):
                details.append(Detail(Change.ATTRIBUTES, name, before, after))


_PERMUTING = frozenset({"Transpose"})
"""Operators that move values according to their attributes; others follow from the dimensions."""


def _compare_moves(
    left: ComparedSide, left_unit: Unit, right: ComparedSide, right_unit: Unit, details: list[Detail]
) -> None:
    """Compare the attributes of operators that move values, in any order."""
    if any(detail.kind is Change.SHAPES for detail in details):
        return
    moves = []
    for side, unit in ((left, left_unit), (right, right_unit)):
        nodes = [side.node(number) for number in unit.moved]
        moves.append([(n.op_type, side.settings(n.id)) for n in nodes if n.op_type in _PERMUTING])
    unmatched = list(moves[1])
    for op, left_settings in moves[0]:
        same = [x for x in unmatched if x[0] == op]
        match = next((x for x in same if not different(left_settings, x[1])), same[0] if same else None)
        if match is None:
            continue
        unmatched.remove(match)
        for name, before, after in different(left_settings, match[1]):
            details.append(Detail(Change.ATTRIBUTES, f"{op} {name}", before, after))
    first, second = _moved_shapes(left, left_unit), _moved_shapes(right, right_unit)
    if first is not None and second is not None and first != second:
        texts = [", ".join(map(_shape, sorted(shapes))) for shapes in (first, second)]
        details.append(Detail(Change.SHAPES, "moved values", texts[0], texts[1]))


def _moved_shapes(side: ComparedSide, unit: Unit) -> Counter[tuple[int, ...]] | None:
    """Count the shapes that reshapes leave, which decide how values are broadcast; None if one is unknown.

    Shapes between two reshapes do not matter, unless values are transposed in between.
    """
    nodes = [side.node(number) for number in unit.moved]
    inner = (
        set() if any(node.op_type in _PERMUTING for node in nodes) else {t for n in nodes for t in n.inputs}
    )
    shapes: Counter[tuple[int, ...]] = Counter()
    for tensor in (t for node in nodes for t in node.outputs if t >= 0 and t not in inner):
        shape = side.types.shapes[tensor] or ()
        sizes = tuple(size for size in shape if isinstance(size, int))
        if side.types.shapes[tensor] is None or len(sizes) != len(shape):
            return None
        shapes[sizes] += 1
    return shapes


def _shape(sizes: Shape | tuple[int, ...]) -> str:
    return "×".join("?" if size is None else str(size) for size in sizes) or "scalar"


def _count_text(kinds: Counter[str]) -> str:
    return ", ".join(name if n == 1 else f"{n} {name}" for name, n in sorted(kinds.items())) or "–"
