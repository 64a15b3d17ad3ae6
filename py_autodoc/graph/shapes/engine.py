"""Inference engine: runs shape rules node by node in execution order."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Node, Shape, TensorKind
from py_autodoc.graph.protobuf.tensor_protos import stored_bytes
from py_autodoc.graph.shapes import (  # noqa: F401  (importing a module registers its rules)
    attention,
    contrib,
    contrib_layers,
    contrib_ordered,
    control,
    conv,
    elementwise,
    indexing,
    linear,
    ml_operators,
    onnx_inference,
    quantized,
    reducing,
    reshaping,
    sequences,
    signal,
)
from py_autodoc.graph.shapes.shape_context import HUGE_BYTES, RULES, InferenceState, InvalidNode, ShapeContext
from py_autodoc.graph.symbolic_dims import dim_arithmetic

MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)
"""Exceptions of a rule for a node with missing inputs or invalid attributes and ranks."""
_EXPANDING = frozenset(
    {
        "ConstantOfShape",
        "Expand",
        "OneHot",
        "Pad",
        "RandomNormal",
        "RandomUniform",
        "Range",
        "Resize",
        "Tile",
        "Upsample",
    }
)


class Engine:
    """One inference run over a model. ``use_declared``: declared shapes fill what no rule infers."""

    def __init__(self, state: InferenceState, use_declared: bool) -> None:
        self.state = state
        self.use_declared = use_declared
        state.run_graph = self.run_graph
        self.nodes = state.model.nodes
        self.graphs = state.model.graphs
        self.tensors = state.model.tensors

    def run_graph(self, graph: int) -> None:
        """Infer every node of a graph; the rules of control-flow nodes enter subgraphs."""
        nodes, state = self.nodes, self.state
        order = self.graphs[graph].nodes
        state.visits += len(order)
        for i in order:
            self._node(nodes[i])

    def _node(self, node: Node) -> None:
        state = self.state
        op = ShapeContext(state, node)
        for t in node.outputs:
            if t >= 0:
                state.shapes[t] = None
                state.dtypes[t] = 0
                state.values.pop(t, None)
        fn = RULES.get((node.domain, node.op_type))
        healthy = True
        if fn is not None:
            try:
                fn(op)
            except InvalidNode as e:
                healthy = False
                state.report(e.code, "warning", e.message, node)
            except MALFORMED as e:
                healthy = False
                message = f"it is not formed as {node.op_type} requires ({type(e).__name__}: {e})"
                state.report("shape-inference-failed", "warning", message[:200], node)
        if healthy and self._open(node):
            try:
                onnx_inference.infer_node(op)
            except InvalidNode as e:
                state.report(e.code, "info", e.message, node)
        self._finish(op)

    def _open(self, node: Node) -> bool:
        """True if the type of an output is incomplete."""
        state = self.state
        for t in node.outputs:
            if t >= 0:
                shape = state.shapes[t]
                if (shape is None and t not in state.elements) or not state.dtypes[t]:
                    return True
                if shape is not None and None in shape:
                    return True
        return False

    def _finish(self, op: ShapeContext) -> None:
        """Fill in declared types, name unknown sizes and report huge outputs."""
        state, node = self.state, op.node
        for i, t in enumerate(node.outputs):
            if t < 0:
                continue
            declared = self.tensors[t]
            if not state.dtypes[t]:
                state.dtypes[t] = declared.dtype
            shape = state.shapes[t]
            if (shape is None or None in shape) and self.use_declared and declared.shape is not None:
                shape = fill(shape, declared.shape, state.reserved)
            if shape is not None and min((d for d in shape if isinstance(d, int)), default=0) < 0:
                state.report("bad-shape", "warning", f"its output would have the shape {list(shape)}", node)
                shape = tuple(None if isinstance(d, int) and d < 0 else d for d in shape)
            if shape is not None and None in shape:
                shape = tuple(op.fresh(a, i) if d is None else d for a, d in enumerate(shape))
            state.shapes[t] = shape
            if t in state.values and not agrees(state.values[t].shape, state.shapes[t]):
                del state.values[t]
            if node.op_type in _EXPANDING and shape is not None:
                self._check_size(node, shape, state.dtypes[t])

    def _check_size(self, node: Node, shape: Shape, dtype: int) -> None:
        count = dim_arithmetic.product(shape)
        if isinstance(count, int) and (stored_bytes(dtype, count) or count) >= HUGE_BYTES:
            self.state.report("huge-output", "warning", f"its output would have {count:,} elements", node)


def agrees(value: tuple[int, ...], shape: Shape | None) -> bool:
    """True if a value has the inferred shape."""
    return shape is not None and value == shape


def fill(shape: Shape | None, declared: Shape, names: set[str]) -> Shape | None:
    """Fill unknown dimensions from the declared shape (plain names only); ranks must agree."""
    clean = tuple(d if d in names or (isinstance(d, int) and d >= 0) else None for d in declared)
    if shape is None:
        return clean
    if len(shape) != len(clean):
        return shape
    return tuple(c if d is None else d for d, c in zip(shape, clean, strict=True))


def seed(state: InferenceState, inputs: dict[int, Shape | None]) -> None:
    """Set the types and values that the model itself states: graph inputs, initializers and constants."""
    for t in state.model.tensors:
        if t.kind == TensorKind.INPUT:
            state.dtypes[t.id] = t.dtype
            state.shapes[t.id] = inputs.get(t.id)
        elif t.producer < 0 and t.kind != TensorKind.ACTIVATION:
            state.dtypes[t.id] = t.dtype
            state.shapes[t.id] = t.shape
    for i, value in state.model.constants.items():
        if value.dtype.kind in "fiub":
            state.values[i] = value
