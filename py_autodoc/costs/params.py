"""Parameter counts, and the bytes of all constants.

A parameter is an element of a weight: a constant that a layer reads in a slot for trained numbers, or an
elementwise operator as bias, scale or learned position (``weight_roles``). This holds

* in an initializer or a Constant node of any graph (all branches of an If), dense or sparse (stored values),
  inside the file or external, and for the learned numbers in attributes of ai.onnx.ml;
* for quantized weights, whatever turns them into numbers; values packed in one element count separately;
* for the output of a ConstantOfShape whose shape is a constant. Published "light" models use this form.

A tensor counts once however often it is used, as do two tensors that share one external
region. Scales, zero points, masks, tables (rotary embeddings, grids, frequencies), settings (bounds,
epsilons, thresholds), integer constants and text are listed separately. A float constant that nothing reads,
or only an unknown operator, counts.

The first node that uses a parameter owns it. Nodes that only prepare a weight (DequantizeLinear,
Cast, Transpose, arithmetic with other constants …) are skipped: the Conv after a DequantizeLinear owns the
weight.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from py_autodoc.costs.tensor_sizes import FLOAT_TYPES, TensorSizes
from py_autodoc.costs.weight_roles import MASK, OPEN, SCALE, SETTING, WEIGHT, ZERO_POINT, Role, WeightRoles
from py_autodoc.costs.weight_slots import ML_ATTRIBUTES, PASSES_ON, packed_bits, packed_elements
from py_autodoc.graph.ir.model import ConstTensor, Model, Node, Tensor, TypeTable
from py_autodoc.graph.operators.compiled_parts import compiled_for, is_compiled
from py_autodoc.graph.protobuf.tensor_protos import BITS

MAX_ELEMENTS = 1 << 50
"""Maximum plausible elements of one constant, more than all weights of any model together."""
_FLOAT, _INT32, _STRING, _BOOL, _UINT32 = 1, 6, 8, 9, 12
_NARROW = frozenset({2, 3, 4, 5, 21, 22, 25, 26})
"""Integer types of quantized weights: 2 to 16 bits."""


class Constant(NamedTuple):
    """A counted constant, stored or generated; tensors that share data are one constant."""

    tensor: int
    """-1 for numbers in an attribute of ai.onnx.ml."""
    node: int
    """The first node that uses it, past nodes that only prepare it; -1 if none."""
    dtype: int
    bytes: int | None
    """Stored bytes; a generated weight at its full size."""
    params: int | None
    """None if its shape is invalid: negative, or more than ``MAX_ELEMENTS``."""
    bits: int = 0
    """Bits per weight if several share an element, 0 if each element is one weight."""
    origin: str = "inline"
    """``inline`` (in the model file), ``external``, or ``generated`` (a ConstantOfShape)."""


@dataclass(frozen=True, slots=True)
class ParamTable:
    """Parameters of a model. Lists are indexed by node id."""

    total: int
    """Elements of all parameters, including unused ones."""
    params: list[int | None]
    """Parameters of which each node is the first user; None if unknown, see ``reasons``."""
    node_bytes: list[int | None]
    """Bytes of the constants of which each node is the first user; None if a size is unknown."""
    weight_bytes: int | None
    """Stored bytes of all constants, a generated weight at its full size; None if one is unknown."""
    other_constants: dict[str, int] = field(default_factory=dict)
    """scales, zero_points, masks, tables, settings, integer_constants, text → elements."""
    unused: int = 0
    """Number of parameters that no node uses."""
    tensors: frozenset[int] = frozenset()
    """Ids of the tensors that count as parameters."""
    constants: tuple[Constant, ...] = ()
    """Every constant once; their bytes add up to ``weight_bytes``, their parameters to ``total``."""
    reason: str = ""
    """Why ``total`` is meaningless: it excludes a weight with an invalid shape, or weights compiled into a
    binary. Empty if there is none."""
    reasons: dict[int, str] = field(default_factory=dict)
    """Node → reason for unknown parameters."""
    shared: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """Tensor with parameters → the nodes that use it, if there are several."""


def count_params(model: Model, types: TypeTable, sizes: TensorSizes | None = None) -> ParamTable:
    """Count parameters and constants of all graphs, without reading weights. Never raises on content."""
    return _Count(model, types, sizes or TensorSizes(model, types)).run()


class _Count:
    def __init__(self, model: Model, types: TypeTable, sizes: TensorSizes) -> None:
        self.model = model
        self.types = types
        self.sizes = sizes
        self.roles = WeightRoles(model, types)
        self.params: list[int | None] = [0] * len(model.nodes)
        self.node_bytes: list[int | None] = [0] * len(model.nodes)
        self.total = self.unused = 0
        self.weight_bytes: int | None = 0
        self.other_constants: Counter[str] = Counter()
        self.tensors: set[int] = set()
        self.regions: dict[tuple[object, ...], int] = {}
        self.users: dict[int, set[int]] = {}
        self.constants: list[Constant] = []
        self.reason = ""
        self.reasons: dict[int, str] = {}

    def run(self) -> ParamTable:
        for tensor in self.model.tensors:
            if tensor.is_constant:
                self._constant(tensor)
        for node in self.model.nodes:
            if node.op_type == "ConstantOfShape" and not node.domain:
                self._generated(node)
            elif node.domain == "ai.onnx.ml":
                self._attributes(node)
            elif is_compiled(node):
                why = f"weights are compiled into {node.op_type} for {compiled_for(node)}"
                self.reason = self.reason or why
                self.params[node.id] = None
                self.reasons[node.id] = why
        return ParamTable(
            self.total,
            self.params,
            self.node_bytes,
            self.weight_bytes,
            dict(self.other_constants),
            self.unused,
            frozenset(self.tensors),
            tuple(self.constants),
            self.reason,
            self.reasons,
            {tensor: tuple(sorted(users)) for tensor, users in self.users.items() if len(users) > 1},
        )

    def _constant(self, tensor: Tensor) -> None:
        storage = tensor.storage
        if storage is not None and storage.location and storage.offset is not None and storage.length:
            region = (storage.location, storage.offset, storage.length, tensor.dtype, tensor.shape)
            first = self.regions.setdefault(region, tensor.id)
            if first != tensor.id:
                if first in self.users:
                    self.users[first] |= self._users(tensor.id)
                return
        element_count = self.sizes.numel[tensor.id]
        if storage is not None and storage.sparse_values is not None:
            element_count = storage.sparse_values
        possible = element_count is not None and element_count <= MAX_ELEMENTS
        elements = element_count if element_count is not None and possible else 0
        reason, elements, bits = self._kind(tensor, elements)
        if not possible and (self.types.dtypes[tensor.id] or tensor.dtype) in FLOAT_TYPES:
            reason = ""  # with such a shape nobody knows what it is
        if reason:
            self.other_constants[reason] += elements
        origin = "external" if storage is not None and storage.location else "inline"
        params = 0 if reason else elements if possible else None
        self._add(tensor.id, params, self.sizes.bytes[tensor.id], bits, origin)
        if not reason:
            self.tensors.add(tensor.id)

    def _kind(self, tensor: Tensor, elements: int) -> tuple[str, int, int]:
        """Return ("", parameters, bits if packed) or (reason for exclusion, elements, 0)."""
        dtype = self.types.dtypes[tensor.id] or tensor.dtype
        is_float = dtype in FLOAT_TYPES
        if tensor.quantized_scale:
            return (SCALE if is_float else ZERO_POINT), elements, 0
        if dtype in (_BOOL, _STRING):
            return (MASK if dtype == _BOOL else "text"), elements, 0
        role = self.roles.role(tensor.id)
        if role.kind == OPEN:
            role = role._replace(kind=WEIGHT if is_float or role.scaled else SETTING)
        if role.kind == WEIGHT and not is_float and not self._is_quantized(role, dtype):
            role = role._replace(kind=SETTING)
        if role.kind == WEIGHT and elements == 1 and not role.strict and not self._is_bias(role):
            role = role._replace(kind=SETTING)
        if role.kind != WEIGHT:
            return (role.kind if is_float or role.kind != SETTING else "integer_constants"), elements, 0
        if is_float and BITS.get(dtype, 8) >= 8:
            return "", elements, 0
        return self._packed(role, dtype, elements)

    def _is_quantized(self, role: Role, dtype: int) -> bool:
        """Return whether integers are a quantized weight: few bits, scaled or multiplied, or their bias."""
        if dtype in _NARROW:
            return role.strict or role.scaled
        packed = role.unpacked >= 0
        return dtype in (_INT32, _UINT32) and (role.scaled or packed)

    def _is_bias(self, role: Role) -> bool:
        return role.node >= 0 and self.model.nodes[role.node].op_type == "Add"

    def _packed(self, role: Role, dtype: int, elements: int) -> tuple[str, int, int]:
        """Return a quantized weight, whose elements may hold several numbers."""
        if role.unpacked >= 0:
            values = self.sizes.numel[role.unpacked] or 0
            several = values // elements if elements else 0
            if several in (2, 4, 8, 16) and values == several * elements:
                return "", values, BITS.get(dtype, 8) // several
        if BITS.get(dtype, 8) < 8 or role.node < 0:  # one element is one weight
            return "", elements, 0
        use = self.model.nodes[role.node], role.slot
        packed = packed_elements(*use, elements)
        return "", packed, packed_bits(*use) if packed != elements else 0

    def _generated(self, node: Node) -> None:
        """Count the output of a ConstantOfShape node if it is a weight."""
        if not node.inputs or not node.outputs or min(node.inputs[0], node.outputs[0]) < 0:
            return
        output = node.outputs[0]
        elements = self.sizes.numel[output]
        if not self.model.tensors[node.inputs[0]].is_constant or elements is None:
            return
        if self.types.dtypes[output] in FLOAT_TYPES and self._reaches_weight(output):
            self.tensors.add(output)
            possible = elements <= MAX_ELEMENTS
            size = self.sizes.bytes[output] if possible else None
            self._add(output, elements if possible else None, size, 0, "generated")

    def _reaches_weight(self, tensor: int) -> bool:
        """True if a weight input takes the tensor, or it is a vector that an elementwise layer takes."""
        shape = self.types.shapes[tensor] or ()
        vector = len(shape) > 0 and sum(d != 1 for d in shape) == 1
        role = self.roles.role(tensor)
        return role.kind == WEIGHT and (role.strict or vector)

    def _attributes(self, node: Node) -> None:
        """Count learned numbers of an ai.onnx.ml operator: float lists (4 bytes each) or tensors."""
        for name in ML_ATTRIBUTES.get(node.op_type, ()):
            value = node.attributes.get(name)
            if isinstance(value, list):
                self._add_to_owner(Constant(-1, node.id, _FLOAT, 4 * len(value), len(value)))
            elif isinstance(value, ConstTensor):
                count = 1
                for d in value.shape:
                    count *= max(d, 0)
                origin = "external" if value.storage.location else "inline"
                self._add_to_owner(Constant(-1, node.id, value.dtype, value.storage.bytes, count, 0, origin))

    def _add(self, tensor: int, params: int | None, size: int | None, bits: int, origin: str) -> None:
        dtype = self.types.dtypes[tensor] or self.model.tensors[tensor].dtype
        users = self._users(tensor)
        if params:
            self.users[tensor] = users
        self._add_to_owner(Constant(tensor, min(users, default=-1), dtype, size, params, bits, origin))

    def _add_to_owner(self, constant: Constant) -> None:
        """Add a constant to the node that uses it first, and to the totals."""
        self.constants.append(constant)
        _, node, _, size, params, *_ = constant
        self.total += params or 0
        self.weight_bytes = _plus(self.weight_bytes, size)
        if params is None:
            self._record_invalid(constant)
        if node < 0:
            self.unused += params or 0
            return
        self.params[node] = _plus(self.params[node], params)
        self.node_bytes[node] = _plus(self.node_bytes[node], size)

    def _record_invalid(self, constant: Constant) -> None:
        """Record a weight with an invalid shape."""
        weight = self.model.tensors[constant.tensor]
        shape = self.types.shapes[constant.tensor] if weight.shape is None else weight.shape
        sizes = "×".join("?" if d is None else str(d) for d in shape or ())
        problem = "cannot have the shape" if "?" not in sizes else "has a negative size in its shape"
        why = f"the weight {weight.name or f'tensor {weight.id}'} {problem} {sizes}"
        self.reason = self.reason or why
        if constant.node >= 0:
            self.reasons.setdefault(constant.node, why)

    def _users(self, tensor: int) -> set[int]:
        """Return the nodes that use the tensor, past nodes that only prepare it."""
        users = set[int]()
        seen = {tensor}
        stack = [tensor]
        tensors, nodes = self.model.tensors, self.model.nodes
        while stack:
            current = stack.pop()
            for number in tensors[current].consumers:
                node = nodes[number]
                passed: tuple[int, ...] = ()
                prepares = node.op_type in PASSES_ON and node.inputs[0] == current
                if prepares or self.roles.computes(node, current):
                    passed = tuple(t for t in node.outputs if t >= 0 and tensors[t].consumers)
                if passed:
                    stack.extend(t for t in passed if t not in seen)
                    seen.update(passed)
                else:
                    users.add(number)
        return users


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
