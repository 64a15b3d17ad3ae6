"""Changes between a unit and its counterpart, as bits and as text."""

from __future__ import annotations

from collections import Counter
from enum import IntFlag
from functools import cached_property
from math import prod
from typing import NamedTuple

from py_autodoc.compare.meaning import FORMS, LAYOUTS, MERGED, QUANTIZED
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


NAMES = {one: str(one.name).lower() for one in Change}
_CLAMPED = frozenset({"Relu", "Clip"})
"""Activations that the value range of a quantized result can replace."""
_BIASED = frozenset({"BiasGelu", "FastGelu"})
"""Activations that first add a bias."""
_LENT = {"SkipLayerNormalization": 4, "SkipSimplifiedLayerNormalization": 3, "MultiHeadAttention": 3}
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
        self.quantized = {q.node: q for q in analysis.structure.quantized if q.scheme}

    @cached_property
    def lent(self) -> frozenset[int]:
        """Nodes whose bias is added by a fused node after them."""
        found: set[int] = set()
        for unit in self.graph.units:
            node = self.node(unit.node)
            place = _LENT.get(node.op_type)
            if place is not None and place < len(node.inputs) and node.inputs[place] >= 0:
                found.update(self.graph.units[made].node for made in unit.ins if made >= 0)
        return frozenset(found)

    def node(self, number: int) -> Node:
        """Return a node as in the file."""
        return self.model.nodes[number]

    def operator(self, unit: Unit) -> str:
        """Return the operator that does the unit's work."""
        return self.node(unit.node).op_type

    def precision(self, unit: Unit) -> str:
        """Return the quantization of the unit, else the element type of its result."""
        known = self.quantized.get(unit.node)
        if known is not None:
            return f"{known.weights or known.data or 'quantized'} ({known.scheme})"
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
        given = self.node(unit.node).attributes.get("activation")
        return f"{given} {unit.activation}".strip() if isinstance(given, str) else unit.activation

    def bias(self, unit: Unit) -> bool:
        """Return whether a constant is added or a normalization folded in."""
        if {"Add", "Sub", "BatchNormalization"} & set(unit.affine):
            return True
        after = (self.node(number) for number in unit.nodes[1 : unit.work])
        if any(n.op_type in _BIASED and len(n.inputs) > 1 and n.inputs[1] >= 0 for n in after):
            return True
        node = self.node(unit.node)
        known = FORMS.get(node.op_type)
        places = known.inputs[2:3] if known is not None else (2,)
        return any(at < len(node.inputs) and node.inputs[at] >= 0 for at in places)

    def shape(self, unit: Unit) -> Shape | None:
        """Return the output shape of the core operator; None if unknown."""
        return self.types.shapes[unit.out] if unit.out >= 0 else None

    def moves(self, unit: Unit) -> Counter[str]:
        """Count the reshapes and transposes of its output."""
        return Counter(self.node(number).op_type for number in unit.moved)

    def work(self, unit: Unit) -> list[str]:
        """Return the operators of the computing nodes."""
        return [self.node(number).op_type for number in unit.nodes[: unit.work]]


def changes(left: ComparedSide, one: Unit, right: ComparedSide, other: Unit) -> list[Detail]:
    """Return the differences between two counterparts."""
    found: list[Detail] = []
    before, after = left.precision(one), right.precision(other)
    if before and after and before != after:
        found.append(Detail(Change.PRECISION, "precision", before, after))
    work = left.work(one), right.work(other)
    quantized = QUANTIZED & {left.operator(one), right.operator(other)}
    merged = bool(MERGED & {*work[0], *work[1]}) or one.opened != other.opened
    fused = merged or (len(work[0]) != len(work[1]))
    _function(left, one, right, other, fused, found)
    if (fused or merged) and work[0] != work[1]:
        found.append(Detail(Change.FUSED, "nodes", " + ".join(work[0]), " + ".join(work[1])))
    elif not quantized and work[0] != work[1] and not _forms(*work):
        found.append(Detail(Change.OPERATOR, "operator", " + ".join(work[0]), " + ".join(work[1])))
    if one.opened < 2 and other.opened < 2:
        _sizes(left, one, right, other, found)
        _settings(left, one, right, other, found)
    if not fused and not quantized:
        moved = left.moves(one), right.moves(other)
        if moved[0] == moved[1]:
            _turned(left, one, right, other, found)
        else:
            found.append(Detail(Change.MOVES, "moves", _counted(moved[0]), _counted(moved[1])))
    return found


def bits(found: list[Detail]) -> Change:
    """Return the kinds of changes as bits."""
    made = Change(0)
    for one in found:
        made |= one.kind
    return made


def _function(
    left: ComparedSide, one: Unit, right: ComparedSide, other: Unit, fused: bool, found: list[Detail]
) -> None:
    """Compare activation and bias, independent of which node computes them."""
    acts = left.activation(one), right.activation(other)
    if acts[0] != acts[1]:
        names = set(acts[0].split()) ^ set(acts[1].split())
        inside = names <= _CLAMPED and (left.clamps(one) if acts[1] else right.clamps(other))
        kind, nothing = (Change.FUSED, "into the quantized output") if inside else (Change.OPERATOR, "–")
        found.append(Detail(kind, "activation", acts[0] or nothing, acts[1] or nothing))
    if one.opened < 2 and other.opened < 2 and one.core in ("Conv", "ConvTranspose", "MatMul"):
        biased = left.bias(one) or one.node in left.lent, right.bias(other) or other.node in right.lent
        if biased[0] != biased[1]:
            told = ["yes" if one_has else "–" for one_has in biased]
            found.append(Detail(Change.OPERATOR, "bias", told[0], told[1]))


def _forms(one: list[str], other: list[str]) -> bool:
    """Return whether operators differ only in form, such as a float operator and its integer variant."""
    if len(one) != len(other):
        return False
    return all(
        x == y or (x in FORMS and FORMS[x].core == y) or (y in FORMS and FORMS[y].core == x)
        for x, y in zip(one, other, strict=True)
    ) and not {"Gemm"} & {*one, *other}


def _sizes(left: ComparedSide, one: Unit, right: ComparedSide, other: Unit, found: list[Detail]) -> None:
    if one.weight and other.weight and one.weight != other.weight:
        found.append(Detail(Change.SHAPES, "weight", _shape(one.weight), _shape(other.weight)))
    before, after = left.shape(one), right.shape(other)
    if before is None or after is None:
        return
    if len(before) == len(after):
        nodes = left.node(one.node), right.node(other.node)
        nhwc = any(node.op_type in _NHWC or node.domain in LAYOUTS for node in nodes)
        pair = (sorted(map(str, before)), sorted(map(str, after))) if nhwc else (before, after)
        known = all(isinstance(x, int) or isinstance(y, int) for x, y in zip(before, after, strict=True))
        same = pair[0] == pair[1] or not known
    else:
        sizes = [[n for n in shape if isinstance(n, int)] for shape in (before, after)]
        whole = len(sizes[0]) == len(before) and len(sizes[1]) == len(after)
        same = not whole or prod(sizes[0]) == prod(sizes[1])
    if not same:
        found.append(Detail(Change.SHAPES, "result", _shape(before), _shape(after)))


def _settings(left: ComparedSide, one: Unit, right: ComparedSide, other: Unit, found: list[Detail]) -> None:
    """Compare attributes of computing nodes whose operators are equal on both sides."""
    first, second = one.nodes[: one.work], other.nodes[: other.work]
    if len(first) != len(second):
        first, second = [one.node], [other.node]
    shaped = any(detail.kind is Change.SHAPES for detail in found)
    stored = any(detail.kind is Change.PRECISION for detail in found)
    """Constants may also be stored in another format, so they are not compared as settings."""
    for a, b in zip(first, second, strict=True):
        x, y = left.node(a), right.node(b)
        if x.op_type != y.op_type or x.domain != y.domain:
            continue
        for name, before, after in different(
            settings(left.model, left.types, x), settings(right.model, right.types, y)
        ):
            moved = shaped and name in ("shape", "sizes", "starts", "ends", "split", "repeats")
            if not (moved or (stored and "–" in (before, after))):
                found.append(Detail(Change.ATTRIBUTES, name, before, after))


_PLACED = frozenset({"Transpose"})
"""Operators that move values according to their attributes; others follow from the dimensions."""


def _turned(left: ComparedSide, one: Unit, right: ComparedSide, other: Unit, found: list[Detail]) -> None:
    """Compare the attributes of operators that move values, in any order."""
    if any(detail.kind is Change.SHAPES for detail in found):
        return
    sides = []
    for side, unit in ((left, one), (right, other)):
        nodes = [side.node(number) for number in unit.moved]
        sides.append(
            [(n.op_type, settings(side.model, side.types, n)) for n in nodes if n.op_type in _PLACED]
        )
    rest = list(sides[1])
    for op, mine in sides[0]:
        same = [x for x in rest if x[0] == op]
        match = next((x for x in same if not different(mine, x[1])), same[0] if same else None)
        if match is None:
            continue
        rest.remove(match)
        for name, before, after in different(mine, match[1]):
            found.append(Detail(Change.ATTRIBUTES, f"{op} {name}", before, after))


def _shape(sizes: Shape | tuple[int, ...]) -> str:
    return "×".join("?" if size is None else str(size) for size in sizes) or "scalar"


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(name if n == 1 else f"{n} {name}" for name, n in sorted(kinds.items())) or "–"
