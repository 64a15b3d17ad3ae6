"""Memory over time on graphs small enough to follow by hand."""

from __future__ import annotations

import onnx.parser
import pytest

from costs.harness import Analysed, analyse
from py_autodoc.costs.timeline import PeakSnapshot, Timeline, timeline

HEAD = '<ir_version: 10, opset_import: ["" : 20]>\n'


def run(text: str) -> tuple[Analysed, Timeline]:
    done = analyse(onnx.parser.parse_model(HEAD + text))
    return done, timeline(done.model, done.types)


def alive(done: Analysed, snapshot: PeakSnapshot | None) -> list[tuple[str, int, int, int]]:
    """(name, bytes, first step, last step) of what is alive at a peak."""
    assert snapshot is not None
    assert sum(item.bytes for item in snapshot.live) == snapshot.bytes
    return [(done.model.tensors[a.tensor].name, a.bytes, a.first, a.last) for a in snapshot.live]


def life(done: Analysed, time: Timeline, name: str) -> tuple[int, int]:
    tensor = next(t.id for t in done.model.tensors if t.name == name)
    return time.first[tensor], time.last[tensor]


def test_a_chain() -> None:
    done, time = run("g (float[10] x) => (float[10] y) { a = Sin(x) b = Relu(a) y = Cos(b) }")
    assert time.start == 40
    assert time.simple == [80, 80, 80]
    assert time.inplace == [80, 40, 80]  # Relu writes over a
    assert [done.model.nodes[n].op_type for n in time.nodes] == ["Sin", "Relu", "Cos"]
    assert [life(done, time, name) for name in "xaby"] == [(-1, 0), (0, 1), (1, 2), (2, 2)]
    assert alive(done, time.at_simple_peak) == [("x", 40, -1, 0), ("a", 40, 0, 1)]
    assert time.at_simple_peak is not None
    assert time.at_simple_peak.nodes == (0,)


def test_a_branch_keeps_its_source() -> None:
    done, time = run("""g (float[10] x) => (float[20] y) {
      a = Sin(x) b = Sin(a) c = Cos(b) y = Concat <axis = 0> (a, c) }""")
    assert time.simple == [80, 80, 120, 160]
    assert alive(done, time.at_simple_peak) == [("y", 80, 3, 3), ("a", 40, 0, 3), ("c", 40, 2, 3)]
    assert life(done, time, "a") == (0, 3)


def test_views_share_and_elementwise_overwrites() -> None:
    done, time = run("""g (float[10] x) => (float[2, 5] z, float[10] w) {
      s = Constant <value_ints = [2, 5]> ()
      a = Sin(x)
      b = Reshape(a, s)
      c = Relu(b)
      z = Sin(c)
      w = Cos(a) }""")
    # a lives on in its view b: one memory; c cannot write over it while a is needed
    assert time.inplace == [80, 40, 80, 120, 120]
    assert time.simple == [80, 80, 120, 120, 120]
    at = time.at_peak
    assert alive(done, at)[0][1] == 40
    assert at is not None
    assert at.step == 3
    names = {done.model.tensors[t].name: done.model.tensors[o].name for t, o in time.memory.items()}
    assert names == {"b": "a"}
    assert [a.sharing for a in at.live] == [1, 1, 1]


def test_the_youngest_tensor_stands_for_a_shared_memory() -> None:
    done, time = run("""g (float[10] x) => (float[30] z) {
      s = Constant <value_ints = [10]> ()
      a = Sin(x)
      b = Reshape(a, s)
      z = Concat <axis = 0> (a, b, a) }""")
    at = time.at_peak
    assert alive(done, at) == [("z", 120, 2, 2), ("b", 40, 1, 2)]
    assert at is not None
    assert [a.sharing for a in at.live] == [1, 2]


def test_what_nobody_reads() -> None:
    """A result without a reader dies at once; an input without one stays with its owner."""
    done, time = run("g (float[10] x, float[10] idle) => (float[10] y) { unused = Sin(x) y = Cos(x) }")
    assert time.simple == [120, 120]
    assert life(done, time, "unused") == (0, 0)
    assert life(done, time, "idle") == (-1, 1)


def test_weights_have_no_life() -> None:
    done, time = run("""g (float[10] x) => (float[10] y) {
      w = Constant <value_floats = [1.0]> () y = Mul(x, w) }""")
    assert life(done, time, "w") == (-2, -2)
    assert time.steps == 1


def test_constants_computed_at_run_time_are_marked() -> None:
    done, time = run("""g (float[10] x) => (float[10] y) {
      s = Constant <value_ints = [100, 10]> ()
      one = Constant <value_float = 1.0> ()
      big = Expand(one, s)
      axes = Constant <value_ints = [0]> ()
      row = ReduceSum <keepdims = 0> (big, axes)
      y = Mul(x, row) }""")
    at = time.at_peak
    assert at is not None
    assert [(done.model.tensors[a.tensor].name, a.folded) for a in at.live] == [
        ("big", True), ("x", False), ("row", True),
    ]  # fmt: skip


IF = """
g (float[10] x, bool c) => (float[10] y) {
  s = Constant <value_ints = [100, 10]> ()
  z = Constant <value_ints = [0]> ()
  a = Sin(x)
  y = If (c) <
    then_branch = t () => (float[10] p) { p = Relu(a) },
    else_branch = e () => (float[10] q) { big = Expand(a, s) q = ReduceSum <keepdims = 0> (big, z) }
  >
}"""


def test_a_branch_stands_on_top_of_its_node() -> None:
    done, time = run(IF)
    # while the else branch sums: a, the condition, 100·10 floats and their sum
    assert time.simple == [81, 40 + 1 + 4000 + 40]
    assert time.bodies == {1: (4040, 4040)}
    at = time.at_simple_peak
    assert at is not None
    assert [done.model.nodes[n].op_type for n in at.nodes] == ["If", "ReduceSum"]
    assert alive(done, at) == [("big", 4000, 0, 1), ("a", 40, 0, 1), ("q", 40, 1, 1), ("c", 1, -1, 1)]
    assert [done.model.graphs[a.graph].attribute for a in at.live] == ["else_branch", "", "else_branch", ""]


def test_a_loop_body_counts_once() -> None:
    _, time = run("""
g (float[10] x) => (float[10] y) {
  n = Constant <value_int = 5> ()
  go = Constant <value = bool {1}> ()
  a = Sin(x)
  y = Loop (n, go, a) <body = b (int64 i, bool ok, float[10] state) => (bool ok2, float[10] next) {
    ok2 = Identity(ok)
    wide = Concat <axis = 0> (state, state, state)
    e = Constant <value_ints = [0]> ()
    f = Constant <value_ints = [10]> ()
    next = Slice(wide, e, f)
  }>
}""")
    # its peak when Slice runs: i (read by nobody, so it stays), ok2 (returned), wide and next
    inside = 8 + 1 + 120 + 40
    outside = 40
    assert time.bodies[1][0] == inside
    assert time.simple == [80, outside + inside]
    at = time.at_simple_peak
    assert at is not None
    assert len(at.nodes) == 2
    assert sum(item.bytes for item in at.live) == at.bytes


def test_inputs_alone_can_be_the_most() -> None:
    done, time = run("""g (float[1000] x) => (float[20, 50] y) {
      s = Constant <value_ints = [20, 50]> () y = Reshape(x, s) }""")
    at = time.at_peak
    assert at is not None
    assert (at.bytes, at.step, at.nodes) == (4000, -1, ())
    assert alive(done, at) == [("x", 4000, -1, 0)]


def test_unknown_sizes_leave_lifetimes() -> None:
    done, time = run("g (float[n] x) => (float[n] y) { a = Sin(x) y = Cos(a) }")
    assert time.peak.simple is None
    assert (time.simple, time.at_peak, time.at_simple_peak) == ([], None, None)
    assert life(done, time, "a") == (0, 1)
    assert time.points() == []


@pytest.mark.parametrize("steps", [5, 256, 257, 1000])
def test_fewer_points_keep_the_maxima(steps: int) -> None:
    body = " ".join(f"t{i + 1} = Sin(t{i})" for i in range(steps - 1))
    spike = steps // 3
    body = body.replace(f"t{spike} = Sin(t{spike - 1})", f"t{spike} = Exp(t{spike - 1})")
    _, time = run(f"g (float[10] t0) => (float[10] y) {{ {body} y = Cos(t{steps - 1}) }}")
    points = time.points(256)
    assert points == sorted(set(points))
    assert len(points) <= 256
    assert (len(points) == steps) == (steps <= 256)
    assert max(time.simple[p] for p in points) == max(time.simple)
    assert max(time.inplace[p] for p in points) == max(time.inplace)
    assert max(time.points(4), default=0) < steps
