"""What must hold for any graph: sums, maxima, and independence from names.

The peak belongs to an execution order: listing the nodes in another topological order changes the order
they run in and may change the peak, but never what is produced or what the weights weigh.
"""

from __future__ import annotations

import random

import numpy as np
import onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from costs.harness import Analysed, analyse, model_with
from py_autodoc.costs.breakdown import MemoryBreakdown, breakdown
from py_autodoc.costs.params import count_params
from py_autodoc.costs.tensor_sizes import TensorSizes
from py_autodoc.costs.timeline import Timeline, timeline

UNARY = ("Relu", "Sin", "Identity", "Transpose", "Reshape", "Cast")
BINARY = ("Add", "Mul", "Concat", "MatMul")


@st.composite
def graphs(draw: st.DrawFn) -> onnx.GraphProto:
    """A random DAG of 4×4 tensors (Concat makes 8×4, sliced back) with some weights, all outputs possible."""
    count = draw(st.integers(1, 24))
    made = ["x", "z"]
    nodes: list[onnx.NodeProto] = []
    weights = [numpy_helper.from_array(np.zeros((4, 4), np.float32), f"w{i}") for i in range(2)]
    ints = {"shape": [4, 4], "from": [0], "to": [4]}
    weights += [numpy_helper.from_array(np.array(v, np.int64), k) for k, v in ints.items()]
    for i in range(count):
        op = draw(st.sampled_from(UNARY + BINARY))
        first = draw(st.sampled_from(made))
        if op in BINARY:
            second = draw(st.sampled_from([*made, "w0", "w1"]))
            attrs = {"axis": 0} if op == "Concat" else {}
            out = f"t{i}" if op != "Concat" else f"wide{i}"
            nodes.append(helper.make_node(op, [first, second], [out], **attrs))
            if op == "Concat":
                nodes.append(helper.make_node("Slice", [out, "from", "to"], [f"t{i}"]))
        else:
            ins = [first, "shape"] if op == "Reshape" else [first]
            attrs = {"to": TensorProto.FLOAT} if op == "Cast" else {}
            nodes.append(helper.make_node(op, ins, [f"t{i}"], **attrs))
        made.append(f"t{i}")
    outputs = draw(st.lists(st.sampled_from(made[2:]), min_size=1, max_size=4, unique=True))
    value = helper.make_tensor_value_info
    inputs = [value("x", TensorProto.FLOAT, [4, 4]), value("z", TensorProto.FLOAT, [4, 4])]
    return helper.make_graph(
        nodes, "g", inputs, [value(name, TensorProto.FLOAT, [4, 4]) for name in outputs], weights
    )


def look(graph: onnx.GraphProto) -> tuple[Analysed, Timeline, MemoryBreakdown]:
    done = analyse(model_with(graph, 20))
    sizes = TensorSizes(done.model, done.types)
    params = count_params(done.model, done.types, sizes)
    split = breakdown(done.model, sizes, params, done.costs.nodes)
    weights = [share.bytes for share in split.by_dtype.values()]
    assert sum(b for b in weights if b is not None) == params.weight_bytes
    return done, timeline(done.model, done.types, sizes), split


def renamed(graph: onnx.GraphProto, seed: int) -> onnx.GraphProto:
    """The same graph under other names."""
    copy = onnx.GraphProto()
    copy.CopyFrom(graph)
    names = sorted({n for node in copy.node for n in (*node.input, *node.output)} | {"x", "z"})
    fresh = [f"v{i}" for i in range(len(names))]
    random.Random(seed).shuffle(fresh)
    new = dict(zip(names, fresh, strict=True))
    for node in copy.node:
        node.input[:] = [new[n] for n in node.input]
        node.output[:] = [new[n] for n in node.output]
    for entry in (*copy.input, *copy.output, *copy.initializer):
        entry.name = new.get(entry.name, entry.name)
    return copy


def reordered(graph: onnx.GraphProto, seed: int) -> onnx.GraphProto:
    """The same nodes in another topological order."""
    rng = random.Random(seed)
    known = {"x", "z", *(w.name for w in graph.initializer)}
    left, order = list(graph.node), []
    while left:
        ready = [node for node in left if all(name in known for name in node.input)]
        node = rng.choice(ready)
        left.remove(node)
        order.append(node)
        known.update(node.output)
    copy = onnx.GraphProto()
    copy.CopyFrom(graph)
    del copy.node[:]
    copy.node.extend(order)
    return copy


@settings(deadline=None, max_examples=60)
@given(graphs())
def test_the_curve_holds_together(graph: onnx.GraphProto) -> None:
    done, time, _ = look(graph)
    assert max([time.start, *time.simple]) == time.peak.simple
    assert max([time.start, *time.inplace]) == time.peak.inplace
    assert all(a <= b for a, b in zip(time.inplace, time.simple, strict=True))
    for moment, peak in ((time.at_simple_peak, time.peak.simple), (time.at_peak, time.peak.inplace)):
        assert moment is not None
        assert sum(item.bytes for item in moment.live) == moment.bytes == peak
    size = TensorSizes(done.model, done.types).bytes
    for step, live in enumerate(time.simple):  # lifetimes tell the whole curve
        alive = (t for t, first in enumerate(time.first) if first != -2 and first <= step <= time.last[t])
        assert sum(size[t] or 0 for t in alive) == live
    assert set(time.points(8)) <= set(range(time.steps))
    assert max((time.inplace[p] for p in time.points(8)), default=0) == max(time.inplace)


@settings(deadline=None, max_examples=30)
@given(graphs(), st.integers(0, 1000))
def test_names_do_not_matter(graph: onnx.GraphProto, seed: int) -> None:
    _, time, split = look(graph)
    _, other, again = look(renamed(graph, seed))
    assert (time.simple, time.inplace, time.peak) == (other.simple, other.inplace, other.peak)
    assert (time.at_peak, time.at_simple_peak) == (other.at_peak, other.at_simple_peak)
    assert (split.by_dtype, split.by_op, split.produced) == (again.by_dtype, again.by_op, again.produced)


@settings(deadline=None, max_examples=30)
@given(graphs(), st.integers(0, 1000))
def test_the_order_of_nodes_changes_no_sum(graph: onnx.GraphProto, seed: int) -> None:
    _, time, split = look(graph)
    _, other, again = look(reordered(graph, seed))
    assert split.by_dtype == again.by_dtype
    assert split.produced == again.produced
    assert split.by_origin == again.by_origin
    assert other.start == time.start
    assert [c.bytes for c in split.largest_weights] == [c.bytes for c in again.largest_weights]
