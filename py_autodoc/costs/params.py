"""Parameter counts, and the bytes of all constants.

A parameter is an element of a float (or quantized) weight:

* every float constant counts, in an initializer or a Constant node of any graph (all branches of an
    If), dense or sparse (stored values), inside the file or external, as do the learned numbers in
    attributes of ai.onnx.ml;
* an integer constant counts if an operator takes it as a quantized weight (``weight_slots.QUANTIZED``),
  directly, through views, or through a Gather; values packed in one element count separately;
* a ConstantOfShape output counts if it is a weight: its shape is a constant and it reaches a weight
    input (``weight_slots.LEARNED``) through views only. Published "light" models use this form.

A tensor counts once however often it is used, as do two tensors that share one external
region. Scales, zero points, integer constants, masks and text are listed separately.

The first node that uses a parameter owns it. Nodes that only prepare a weight (DequantizeLinear,
Cast, Transpose, Reshape …) are skipped: the Conv after a DequantizeLinear owns the weight.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from py_autodoc.costs.tensor_sizes import FLOAT_TYPES, TensorSizes
from py_autodoc.costs.weight_slots import (
    LEARNED,
    ML_ATTRIBUTES,
    PASSES_ON,
    PER_CHANNEL,
    QUANTIZED,
    VIEWS,
    packed_bits,
    packed_elements,
)
from py_autodoc.graph.ir.model import ConstTensor, Model, Node, Tensor, TypeTable
from py_autodoc.graph.protobuf.tensor_protos import BITS

MAX_ELEMENTS = 1 << 50
"""Maximum plausible elements of one constant, more than all weights of any model together."""
_FLOAT, _BOOL, _STRING = 1, 9, 8


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
    """Parameters of which each node is the first user; None if one has an invalid shape, see ``reasons``."""
    node_bytes: list[int | None]
    """Bytes of the constants of which each node is the first user; None if a size is unknown."""
    weight_bytes: int | None
    """Stored bytes of all constants, a generated weight at its full size; None if one is unknown."""
    other_constants: dict[str, int] = field(default_factory=dict)
    """scales, zero_points, integer_constants, masks, text → elements."""
    unused: int = 0
    """Number of parameters that no node uses."""
    tensors: frozenset[int] = frozenset()
    """Ids of the tensors that count as parameters."""
    constants: tuple[Constant, ...] = ()
    """Every constant once; their bytes add up to ``weight_bytes``, their parameters to ``total``."""
    reason: str = ""
    """Why ``total`` is meaningless: it excludes a weight with an invalid shape. Empty if there is none."""
    reasons: dict[int, str] = field(default_factory=dict)
    """Node → reason for unknown parameters."""


def count_params(model: Model, types: TypeTable, sizes: TensorSizes | None = None) -> ParamTable:
    """Count parameters and constants of all graphs, without reading weights. Never raises on content."""
    return _Count(model, types, sizes or TensorSizes(model, types)).run()


class _Count:
    def __init__(self, model: Model, types: TypeTable, sizes: TensorSizes) -> None:
        self.model = model
        self.types = types
        self.sizes = sizes
        self.params: list[int | None] = [0] * len(model.nodes)
        self.node_bytes: list[int | None] = [0] * len(model.nodes)
        self.total = self.unused = 0
        self.weight_bytes: int | None = 0
        self.other_constants: Counter[str] = Counter()
        self.tensors: set[int] = set()
        self.regions: set[tuple[object, ...]] = set()
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
        )

    def _constant(self, tensor: Tensor) -> None:
        storage = tensor.storage
        if storage is not None and storage.location and storage.offset is not None and storage.length:
            region = (storage.location, storage.offset, storage.length, tensor.dtype, tensor.shape)
            if region in self.regions:
                return
            self.regions.add(region)
        element_count = self.sizes.numel[tensor.id]
        if storage is not None and storage.sparse_values is not None:
            element_count = storage.sparse_values
        possible = element_count is not None and element_count <= MAX_ELEMENTS
        elements = element_count if element_count is not None and possible else 0
        reason, elements, bits = self._kind(tensor, elements)
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
        if tensor.quantized_scale:
            return ("scales" if dtype in FLOAT_TYPES else "zero_points"), elements, 0
        if dtype in FLOAT_TYPES:
            return "", elements, 0
        if dtype in (_BOOL, _STRING):
            return ("masks" if dtype == _BOOL else "text"), elements, 0
        use = self._quantized_use(tensor)
        if use is None:
            return "integer_constants", elements, 0
        if BITS.get(dtype, 8) < 8:  # one element is one weight
            return "", elements, 0
        packed = packed_elements(*use, elements)
        return "", packed, packed_bits(*use) if packed != elements else 0

    def _quantized_use(self, tensor: Tensor) -> tuple[Node, int] | None:
        """Return the (node, input) that takes the tensor as a quantized weight, through views and Gather."""
        seen = {tensor.id}
        stack = [tensor.id]
        while stack:
            current = stack.pop()
            for number in self.model.tensors[current].consumers:
                node = self.model.nodes[number]
                slots = QUANTIZED.get((node.domain, node.op_type))
                if slots is not None:
                    for slot in slots:
                        if slot < len(node.inputs) and node.inputs[slot] == current:
                            return node, slot
                elif (node.op_type in VIEWS or node.op_type == "Gather") and node.inputs[0] == current:
                    stack.extend(t for t in node.outputs if t >= 0 and t not in seen)
                    seen.update(node.outputs)
        return None

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
        """True if a weight input takes the tensor, directly or through views."""
        shape = self.types.shapes[tensor] or ()
        vector = len(shape) > 0 and sum(d != 1 for d in shape) == 1
        seen = {tensor}
        stack = [tensor]
        while stack:
            current = stack.pop()
            for number in self.model.tensors[current].consumers:
                node = self.model.nodes[number]
                slots = LEARNED.get((node.domain, node.op_type), ())
                if any(slot < len(node.inputs) and node.inputs[slot] == current for slot in slots):
                    return True
                if vector and node.op_type in PER_CHANNEL and not node.domain:
                    return True
                if node.op_type in VIEWS and node.inputs[0] == current:
                    stack.extend(t for t in node.outputs if t >= 0 and t not in seen)
                    seen.update(node.outputs)
        return False

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
        self._add_to_owner(Constant(tensor, self._first_user(tensor), dtype, size, params, bits, origin))

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

    def _first_user(self, tensor: int) -> int:
        """Return the first node (in file order) that uses the tensor, past nodes that only prepare it."""
        first = -1
        seen = {tensor}
        stack = [tensor]
        tensors, nodes = self.model.tensors, self.model.nodes
        while stack:
            current = stack.pop()
            for number in tensors[current].consumers:
                node = nodes[number]
                passed: tuple[int, ...] = ()
                if node.op_type in PASSES_ON and node.inputs[0] == current:
                    passed = tuple(t for t in node.outputs if t >= 0 and tensors[t].consumers)
                if passed:
                    stack.extend(t for t in passed if t not in seen)
                    seen.update(passed)
                elif first < 0 or number < first:
                    first = number
        return first


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
