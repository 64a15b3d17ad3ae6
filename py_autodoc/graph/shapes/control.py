"""If, Loop, Scan and SequenceMap: inference through subgraphs."""

from __future__ import annotations

import numpy as np

from py_autodoc.graph.ir.model import Dim, Shape, SubGraph
from py_autodoc.graph.shapes.sequences import common
from py_autodoc.graph.shapes.shape_context import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT64,
    Assumptions,
    Element,
    InferenceState,
    InvalidNode,
    ShapeContext,
    assuming,
    assumptions,
    rule,
)

MAX_ROUNDS = 4
"""Maximum passes over a loop body until its carried shapes are stable."""


def _body(op: ShapeContext, name: str) -> SubGraph:
    for attribute, graph in op.node.subgraphs:
        if attribute == name:
            return op.state.model.graphs[graph]
    raise InvalidNode("bad-attribute", f"the graph {name} is missing")


def _run(state: InferenceState, body: SubGraph) -> None:
    state.depth += 1
    try:
        state.run_graph(body.id)
    finally:
        state.depth -= 1


def _outer_shape(state: InferenceState, shape: Shape | None) -> Shape | None:
    """Replace sizes defined inside a subgraph, which have no meaning outside, by unknown ones."""
    if shape is None:
        return None
    return tuple(None if isinstance(d, str) and state.is_inner(d) else d for d in shape)


def _join(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def _set_type(
    state: InferenceState, t: int, dtype: int, shape: Shape | None, element: Element | None = None
) -> None:
    """Set the type of a subgraph input."""
    state.dtypes[t] = dtype
    state.shapes[t] = shape
    if element is not None:
        state.elements[t] = element


@rule("If", folds=True)
def if_(op: ShapeContext) -> None:
    """Use the properties common to both branches; a known condition selects one branch."""
    state = op.state
    branches = [_body(op, "then_branch"), _body(op, "else_branch")]
    cond = op.value(0)
    chosen = branches
    if cond is not None and cond.dtype != object and cond.size == 1:
        chosen = [branches[0 if bool(cond.reshape(-1)[0]) else 1]]
    granted = [_branch(state, body, len(chosen) == 1, body is chosen[0]) for body in branches]
    outer = assumptions()
    if outer is not None and len(chosen) > 1:
        outer.join([branch_assumptions for branch_assumptions in granted if branch_assumptions is not None])
    for i in range(len(op.outputs)):
        results = [b.outputs[i] for b in chosen if i < len(b.outputs)]
        if len(results) != len(chosen):
            raise InvalidNode("shape-mismatch", "a branch returns fewer values than the node")
        _if_output(op, i, results)


def _branch(state: InferenceState, body: SubGraph, decided: bool, is_taken: bool) -> Assumptions | None:
    """Infer a branch; return its assumptions unless the branch is taken for certain."""
    if decided and is_taken:
        _run(state, body)
        return None
    outer = assumptions()
    inner = None if outer is None else Assumptions(outer.symbols)
    state.branches += 1
    try:
        with assuming(inner):
            _run(state, body)
    finally:
        state.branches -= 1
    return inner


def _if_output(op: ShapeContext, i: int, results: list[int]) -> None:
    state = op.state
    elements = [state.elements.get(t) for t in results]
    if all(e is not None for e in elements):
        same = common(tuple((e.dtype, e.shape) for e in elements if e is not None))
        only_element = elements[0] if len(elements) == 1 else None
        if op.has_out(i):
            first = elements[0]
            container = first.container if first is not None else "sequence"
            state.elements[op.outputs[i]] = only_element or Element(container, *same)
            state.dtypes[op.outputs[i]] = same[0]
        return
    dtype = state.dtypes[results[0]]
    shape = _outer_shape(state, state.shapes[results[0]])
    for t in results[1:]:
        dtype = dtype if state.dtypes[t] == dtype else 0
        shape = _join(shape, _outer_shape(state, state.shapes[t]))
    op.set(i, shape, dtype)
    if len(results) == 1 and results[0] in state.values:
        op.set_value(i, state.values[results[0]])


def _count(state: InferenceState, t: int, shape: tuple[int, ...], trips: int | None) -> None:
    """Name the iteration count in a tensor, so that slices by it have a size."""
    state.depth += 1
    try:
        name = state.fresh(f"step_{t}")
    finally:
        state.depth -= 1
    value = np.empty(shape, dtype=object)
    value[...] = name
    state.values[t] = value
    state.steps[name] = trips


def _counts(state: InferenceState, start: int, t: int, out: int) -> bool:
    """True for a carried number that starts at 0 or above and grows by a constant."""
    value = state.values.get(start)
    if value is None or value.size != 1 or value.dtype.kind not in "iu" or int(value.reshape(-1)[0]) < 0:
        return False
    producer = state.model.tensors[out].producer
    for _ in range(4):
        node = state.model.nodes[producer] if producer >= 0 else None
        if node is None or node.domain or node.op_type not in ("Identity", "Cast"):
            break
        producer = state.model.tensors[node.inputs[0]].producer
    if node is None or node.domain or node.op_type != "Add" or t not in node.inputs or len(node.inputs) != 2:
        return False
    step = state.model.constants.get(node.inputs[1] if node.inputs[0] == t else node.inputs[0])
    return step is not None and step.size == 1 and step.dtype.kind in "iu" and int(step.reshape(-1)[0]) >= 0


@rule("Loop")
def loop(op: ShapeContext) -> None:
    """Body (iteration, condition, carried…) → (condition, carried…, scanned…)."""
    state, body = op.state, _body(op, "body")
    carried = len(op.inputs) - 2
    if len(body.inputs) < carried + 2 or len(body.outputs) < carried + 1:
        raise InvalidNode("shape-mismatch", f"the body does not take {carried} carried values")
    if len(body.inputs) > 0:
        _set_type(state, body.inputs[0], INT64, ())
        limit = op.value(0)
        is_constant = limit is not None and limit.size == 1 and limit.dtype.kind in "iu"
        _count(state, body.inputs[0], (), int(limit.reshape(-1)[0]) if is_constant else None)
    if len(body.inputs) > 1:
        _set_type(state, body.inputs[1], BOOL, ())
    starts = [op.inputs[2 + i] for i in range(carried)]
    _iterate(state, body, starts, list(body.inputs[2 : 2 + carried]), list(body.outputs[1 : 1 + carried]))
    for i in range(carried):
        _carried_output(op, i, starts[i], body.outputs[1 + i])
    trips = _trip_count(op, body)
    for i in range(carried, len(op.outputs)):
        if 1 + i >= len(body.outputs):
            raise InvalidNode("shape-mismatch", "the body returns fewer values than the node")
        t = body.outputs[1 + i]
        inner = _outer_shape(state, state.shapes[t])
        op.set(i, None if inner is None else (trips, *inner), state.dtypes[t])


def _carried_output(op: ShapeContext, i: int, start: int, end: int) -> None:
    """After n iterations: the result of the body, or the start value if there may be no iteration."""
    state = op.state
    element = state.elements.get(end)
    if element is not None:
        if op.has_out(i):
            state.elements[op.outputs[i]] = Element(
                element.container, element.dtype, _outer_shape(state, element.shape)
            )
            state.dtypes[op.outputs[i]] = element.dtype
        return
    shape = _outer_shape(state, state.shapes[end])
    runs = op.ints_in(0)
    if start >= 0 and not (runs and runs[0] > 0):
        shape = _join(shape, state.shapes[start])
    op.set(i, shape, state.dtypes[end] or (state.dtypes[start] if start >= 0 else 0))


def _iterate(
    state: InferenceState, body: SubGraph, starts: list[int], ins: list[int], outs: list[int]
) -> None:
    """Infer the body until the carried shapes are stable; shapes that keep changing become unknown."""
    shapes: list[Shape | None] = []
    for start, t in zip(starts, ins, strict=True):
        has_start = start >= 0 and not state.is_exhausted()
        shape = state.shapes[start] if has_start else None
        element = state.elements.get(start)
        if element is not None and element.items is not None:
            element = Element(element.container, element.dtype, element.shape)
        shapes.append(shape)
        dtype = state.dtypes[start] if start >= 0 else 0
        _set_type(state, t, dtype or state.model.tensors[t].dtype, shape, element)
    for start, t, out in zip(starts, ins, outs, strict=True):
        if start >= 0 and _counts(state, start, t, out):
            _count(state, t, state.values[start].shape, None)
    for attempt in range(MAX_ROUNDS):
        _run(state, body)
        merged = [_stable_shape(state, t, s, o) for t, s, o in zip(ins, shapes, outs, strict=True)]
        if merged == shapes:
            return
        if attempt == MAX_ROUNDS - 2:
            merged = [None] * len(shapes)
        elif attempt:
            merged = [m if m == s else None for m, s in zip(merged, shapes, strict=True)]
        shapes = merged
        for t, shape in zip(ins, shapes, strict=True):
            _set_type(state, t, state.dtypes[t], shape)


def _stable_shape(state: InferenceState, t: int, shape: Shape | None, out: int) -> Shape | None:
    """Return the carried shape valid before and after an iteration."""
    if t in state.elements:
        before, after = state.elements[t], state.elements.get(out)
        if after is not None and (before.dtype, before.shape) != (after.dtype, after.shape):
            dtype, joined = common(((before.dtype, before.shape), (after.dtype, after.shape)))
            state.elements[t] = Element(before.container, dtype or after.dtype, joined)
            return () if shape is None else None
        return shape
    result = state.shapes[out]
    if shape is None or result is None or len(shape) != len(result):
        return None
    # A size that differs, or is defined in the body, gets one symbol for any iteration.
    return tuple(
        a if a == b else state.fresh(f"loop_{t}_{i}")
        for i, (a, b) in enumerate(zip(shape, result, strict=True))
    )


def _trip_count(op: ShapeContext, body: SubGraph) -> Dim:
    """Return the iteration limit, if nothing can end the loop earlier."""
    state = op.state
    limit = op.value(0)
    cond = op.value(1)
    starts_true = not op.has(1) or (cond is not None and cond.size == 1 and bool(cond.reshape(-1)[0]))
    out = body.outputs[0]
    stays = _same_value(state, out, body.inputs[1]) or _is_true(state, out)
    if limit is None or limit.size != 1 or not starts_true or not stays:
        return op.fresh()
    count = limit.reshape(-1).tolist()[0]
    if isinstance(count, int):
        return max(count, 0) if count < 1 << 40 else op.fresh()
    return count if isinstance(count, str) else op.fresh()


def _same_value(state: InferenceState, t: int, target: int) -> bool:
    """True if ``t`` is ``target`` through Identity nodes."""
    for _ in range(8):
        if t == target:
            return True
        producer = state.model.tensors[t].producer
        if producer < 0 or state.model.nodes[producer].op_type not in ("Identity", "Cast"):
            return False
        t = state.model.nodes[producer].inputs[0]
    return False


def _is_true(state: InferenceState, t: int) -> bool:
    value = state.values.get(t)
    return value is not None and value.dtype != object and value.size == 1 and bool(value.reshape(-1)[0])


@rule("Scan")
def scan(op: ShapeContext) -> None:
    """Body (states…, slices…) → (states…, slices…); opset 8 has a batch axis first."""
    state, body = op.state, _body(op, "body")
    old = op.opset == 8
    lead = 1 if old else 0
    n = op.int_attr("num_scan_inputs", 0)
    states = len(op.inputs) - lead - n
    if n <= 0 or states < 0 or len(body.inputs) != states + n:
        raise InvalidNode("bad-attribute", f"num_scan_inputs {n} does not fit {len(op.inputs)} inputs")
    axes = op.ints_attr("scan_input_axes") or (0,) * n
    trips: Dim = None
    for i in range(n):
        t = op.inputs[lead + states + i]
        shape = state.shapes[t]
        axis = 1 if old else axes[i]
        if shape is None:
            _set_type(state, body.inputs[states + i], state.dtypes[t], None)
            continue
        if not -len(shape) <= axis < len(shape):
            raise InvalidNode("bad-attribute", f"scan axis {axis} is out of range")
        axis %= len(shape)
        trips = shape[axis] if trips is None else trips
        slice_ = tuple(d for k, d in enumerate(shape) if k != axis and not (old and k == 0))
        _set_type(state, body.inputs[states + i], state.dtypes[t], slice_)
    starts = list(op.inputs[lead : lead + states])
    if old:
        _scan_states_8(op, body, starts)
        _run(state, body)
    else:
        _iterate(state, body, starts, list(body.inputs[:states]), list(body.outputs[:states]))
    _scan_outputs(op, body, states, trips, old)


def _scan_states_8(op: ShapeContext, body: SubGraph, starts: list[int]) -> None:
    for t, start in zip(body.inputs, starts, strict=False):
        shape = op.state.shapes[start]
        _set_type(op.state, t, op.state.dtypes[start], None if shape is None else shape[1:])


def _scan_outputs(op: ShapeContext, body: SubGraph, states: int, trips: Dim, old: bool) -> None:
    state = op.state
    if len(body.outputs) < len(op.outputs):
        raise InvalidNode("shape-mismatch", "the body returns fewer values than the node")
    first = op.shape(1) if old else None
    batch: Shape = (first[0] if first else None,) if old else ()
    axes = op.ints_attr("scan_output_axes") or (0,) * (len(op.outputs) - states)
    for i in range(len(op.outputs)):
        t = body.outputs[i]
        shape = _outer_shape(state, state.shapes[t])
        if shape is None:
            op.set(i, None, state.dtypes[t])
        elif i < states:
            op.set(i, batch + shape, state.dtypes[t])
        else:
            axis = axes[i - states] % (len(shape) + 1)
            op.set(i, batch + shape[:axis] + (trips,) + shape[axis:], state.dtypes[t])


@rule("SequenceMap")
def sequence_map(op: ShapeContext) -> None:
    """The body takes one item of each sequence; the results are sequences."""
    state, body = op.state, _body(op, "body")
    for i, t in enumerate(op.inputs):
        if i >= len(body.inputs) or t < 0:
            break
        element = state.elements.get(t)
        if element is not None:
            _set_type(state, body.inputs[i], element.dtype, element.shape)
        else:
            _set_type(state, body.inputs[i], state.dtypes[t], state.shapes[t])
    _run(state, body)
    first = state.elements.get(op.inputs[0]) if op.inputs and op.inputs[0] >= 0 else None
    count = None if first is None or first.items is None else len(first.items)
    for i, t in enumerate(body.outputs):
        if op.has_out(i):
            item = (state.dtypes[t], _outer_shape(state, state.shapes[t]))
            same = count is not None and item[1] is not None and None not in item[1] and count <= 1
            state.elements[op.outputs[i]] = Element(
                "sequence", *item, (item,) * (count or 0) if same else None
            )
            state.dtypes[op.outputs[i]] = item[0]


@rule("FlexAttention", domain="ai.onnx.preview")
def flex_attention(op: ShapeContext) -> None:
    """Q [B, heads, S, d], V [B, kv heads, T, dv] → [B, heads, S, dv]; the modifiers take the scores."""
    q, k, v = op.shape(0), op.shape(1), op.shape(2)
    op.set(0, None, op.dtype(0))
    scores = (q[0], q[1], q[2], k[2]) if q and k and len(q) == len(k) == 4 else None
    dtype = op.int_attr("softmax_precision", 0) or (DOUBLE if op.dtype(0) == DOUBLE else FLOAT)
    state = op.state
    for _, graph in op.node.subgraphs:
        for t in state.model.graphs[graph].inputs:
            _set_type(state, t, dtype, scores)
        _run(state, state.model.graphs[graph])
    if q is not None and v is not None and len(q) == 4 and len(v) == 4:
        op.set(0, (q[0], q[1], q[2], v[3]))
