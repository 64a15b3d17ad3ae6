"""What a constant is in the model: a weight, or a mask, a table, a scale, a setting.

What reads the constant decides, past operators that only prepare it: views, casts, gathers, slices, joins,
and arithmetic with other constants (a weight stored as ``Cast`` · ``Mul``, nibbles taken from bytes). The
slot of the operator that finally reads it says what it is (``weight_slots``). Elementwise operators have no
slots, so the tensor that the constant meets decides:

* any other number is a setting, unless it is the bias of a product of width one;
* against positions or indices (integers), or against an image input, it is a table;
* on attention scores (a product of two activations) it is a mask, unless it has a size for each head;
* two products with constants that are added are a rotation (cosines and sines);
* a product between a spectrum and its logarithm is fixed (``front_end``): a table;
* one number on the products of two embeddings, past all layers, is a temperature or offset, and trained;
* one that nothing trained follows, past the last layer, is a grid (anchors, strides) unless it is a bias;
* everything else is trained: biases, scales, learned positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from py_autodoc.costs.registry import rule_for
from py_autodoc.costs.tensor_sizes import FLOAT_TYPES
from py_autodoc.costs.weight_facts import BITS, MAX_STEPS, ConstantFacts, node_key
from py_autodoc.costs.weight_slots import (
    ELEMENTWISE,
    LEARNED,
    PRODUCTS,
    QUANTIZED,
    UNARY,
    is_dequantizer,
)
from py_autodoc.graph.building.quantization_params import param_positions
from py_autodoc.graph.ir.model import Model, Node, TypeTable

WEIGHT = ""
MASK, TABLE, SCALE, ZERO_POINT, SETTING = "masks", "tables", "scales", "zero_points", "settings"
OPEN = "open"
"""Nothing says what it is: an unknown operator reads it, an output of the model, or nothing at all."""


class Role(NamedTuple):
    """What a tensor is to its readers, and the strongest reading that says so."""

    kind: str
    node: int = -1
    slot: int = -1
    strict: bool = False
    """True for a slot that only takes weights: one number there is one too."""
    scaled: bool = False
    """True if a dequantizer or a product with scales is on the way."""
    unpacked: int = -1
    """The tensor behind bit operations that take several weights from one element; -1 without them."""


_ORDER = {WEIGHT: 0, SCALE: 1, ZERO_POINT: 2, TABLE: 3, MASK: 4, SETTING: 5, OPEN: 6}


class WeightRoles(ConstantFacts):
    """Roles of the constants of a model. Linear in the graph."""

    def __init__(self, model: Model, types: TypeTable) -> None:
        super().__init__(model, types)
        self._roles: dict[int, Role] = {}

    def role(self, tensor: int) -> Role:
        """Return the role of a tensor that consists of constants."""
        stack = [tensor]
        entered: set[int] = set()
        while stack:
            current = stack[-1]
            if current in self._roles:
                stack.pop()
                continue
            needed = [] if current in entered else [t for t in self._next(current) if t not in self._roles]
            entered.add(current)
            needed = [t for t in needed if t not in entered]
            if needed:
                stack.extend(needed)
                continue
            self._roles[current] = self._decide(current)
            stack.pop()
        return self._roles[tensor]

    def computes(self, node: Node, tensor: int) -> bool:
        """Return whether a node computes another constant from ``tensor`` and other constants."""
        return node.op_type not in _CHOOSES and self._carries(node, tensor) and node.outputs[0] in self.stored

    # ------------------------------------------------------------------ readings

    def _decide(self, tensor: int) -> Role:
        """Combine the readings of a tensor; a weight to one reader is a weight."""
        entry = self.model.tensors[tensor]
        best: Role | None = None
        for number in entry.consumers:
            node = self.model.nodes[number]
            for slot in self._slots_of(node).get(tensor, ()):  # a damaged graph may list another reader
                found = self._reading(node, slot, tensor)
                if best is None or _rank(found) < _rank(best):
                    best = found
        return Role(OPEN) if best is None else best

    def _reading(self, node: Node, slot: int, tensor: int) -> Role:
        key = node_key(node)
        if not node.outputs or node.outputs[0] < 0:
            return Role(OPEN, node.id, slot)
        positions = param_positions(node)
        if positions is not None and (slot in positions[0] or slot in positions[1]):
            return Role(SCALE if slot in positions[0] else ZERO_POINT, node.id, slot)
        if self._carries(node, tensor):
            return self._carried(node, slot, tensor)
        if slot in QUANTIZED.get(key, ()):
            return Role(WEIGHT, node.id, slot, strict=True, scaled=True)
        if slot in LEARNED.get(key, ()):
            return self._slot(node, slot, tensor)
        if node.domain:
            known = rule_for(*key) is not None
            return Role(SETTING if known else OPEN, node.id, slot)
        if node.op_type in ELEMENTWISE or (node.op_type == "Where" and slot):
            return self._elementwise(node, slot, tensor)
        if node.op_type == "Where":
            return Role(MASK, node.id, slot)
        if node.op_type == "Concat":
            kind = WEIGHT if node.id in self.trained_after or not self.trained_before else TABLE
            return Role(kind, node.id, slot)
        if node.op_type in UNARY or rule_for(*key) is None:
            return Role(OPEN, node.id, slot)
        return Role(SETTING, node.id, slot)

    def _carried(self, node: Node, slot: int, tensor: int) -> Role:
        """Return the role that the outputs have, as seen from this input."""
        roles = [self._roles.get(t, Role(OPEN)) for t in node.outputs if t >= 0]
        role = min(roles, key=_rank, default=Role(OPEN))
        if (
            node.op_type in ELEMENTWISE
            and tensor not in self.integer
            and not self.integer.isdisjoint(self._slots_of(node))
        ):
            return Role(ZERO_POINT if node.op_type in ("Sub", "Add") else SCALE, node.id, slot)
        if node.op_type in BITS and (slot if node.op_type == "BitShift" else self._count(tensor) == 1):
            return Role(SETTING, node.id, slot)  # how far to shift, which bits to keep
        if node.op_type == "Gather" and slot == 0 and role.kind not in (TABLE, MASK):
            if len(self.types.shapes[tensor] or ()) == 1 and self._is_beyond(node):
                return Role(TABLE, node.id, slot)  # frequencies or classes that the result is read from
            embeds = tensor not in self.integer or role.scaled or role.kind == WEIGHT
            if node.inputs[-1] not in self.stored and embeds:
                return role._replace(kind=WEIGHT, node=node.id, slot=slot, strict=True)
        if is_dequantizer(node) or (node.op_type in ELEMENTWISE and tensor in self.integer):
            role = role._replace(scaled=True)
        if node.op_type in BITS and tensor in self.integer and role.unpacked < 0:
            role = role._replace(unpacked=self._widest(node))
        return role

    def _widest(self, node: Node) -> int:
        """Return the largest tensor computed from the outputs of a node by operators that only prepare it."""
        best, most = -1, 0
        stack, seen = [t for t in node.outputs if t >= 0], set[int]()
        while stack and len(seen) < MAX_STEPS:
            tensor = stack.pop()
            if tensor in seen:
                continue
            seen.add(tensor)
            count = self._count(tensor)
            if count is not None and count > most:
                best, most = tensor, count
            stack.extend(self._next(tensor))
        return best

    def _slot(self, node: Node, slot: int, tensor: int) -> Role:
        """A slot for weights, but a vector that positions are multiplied by holds frequencies."""
        if node.id in self.front_end:
            return Role(TABLE, node.id, slot)
        if node.op_type in PRODUCTS:
            partners = [t for i, t in enumerate(node.inputs[:2]) if i != slot and t >= 0]
            axes = self._axes(tensor)
            if slot < 2 and axes is not None and len(axes) < 2 and any(self._counts(t) for t in partners):
                return Role(TABLE, node.id, slot)
        return Role(WEIGHT, node.id, slot, strict=True)

    def _elementwise(self, node: Node, slot: int, tensor: int) -> Role:
        """An elementwise operator: decided by what the constant meets."""
        partners = self._computed_inputs(node)
        if node.op_type == "Where":
            partners = [t for t in partners if t != node.inputs[0]]
        role = Role(SETTING, node.id, slot)
        axes = self._axes(tensor)
        if node.op_type not in _TRAINED or (
            tensor in self.integer and self._dtype(tensor) not in FLOAT_TYPES
        ):
            return role
        sources = [self._source(t) for t in partners]
        if axes is not None and not axes:
            narrow = any(self._is_layer(s) and self._width(s) == 1 for s in sources)
            rank_one = len(self.types.shapes[tensor] or ()) == 1
            offset = narrow and rank_one and node.op_type == "Add"
            learned = node.op_type in ("Mul", "Div", "Add") and self._compares(node)
            return role._replace(kind=WEIGHT, strict=learned) if offset or learned else role
        if any(self._counts(t) for t in partners):
            return role._replace(kind=TABLE)
        if any(self._rescales(s) for s in sources) and node.op_type in ("Mul", "Div"):
            return role._replace(kind=SCALE)
        if any(self._is_image(s) for s in sources) and len(axes or ()) == 1 and self._small(tensor):
            return role._replace(kind=TABLE)
        if self._is_pattern(tensor):
            return role._replace(kind=MASK)
        several = axes is None or len(axes) > 1
        if any(self._is_score(s) for s in sources):
            return role._replace(kind=self._on_scores(node, tensor, axes))
        if several and node.op_type == "Mul" and self._rotates(node, partners):
            return role._replace(kind=TABLE)
        if self._is_beyond(node) and (several or self._count(tensor) not in self.widths):
            return role._replace(kind=TABLE)
        return role._replace(kind=WEIGHT)

    # ------------------------------------------------------------------ facts about what a constant meets

    def _on_scores(self, node: Node, tensor: int, axes: Sequence[int] | None) -> str:
        """A constant on attention scores: learned biases and temperatures have a size for each head."""
        if axes is None:
            return MASK
        by_head = -3 in axes
        if by_head and (len(axes) == 1 or (-1 in axes and -2 in axes)):
            return WEIGHT
        if len(axes) == 1 and not self._to_softmax(node):
            return WEIGHT
        return MASK


_TRAINED = frozenset({"Add", "Sub", "Mul", "Div", "Sum", "Where"})
"""Elementwise operators whose constant may be trained; an exponent or a bound is not."""
_CHOOSES = frozenset({"Gather", "GatherElements", "GatherND", "Slice", "Split"})
"""Operators that use a part of a weight, and so are its first users."""


def _rank(role: Role) -> int:
    return _ORDER[role.kind]
