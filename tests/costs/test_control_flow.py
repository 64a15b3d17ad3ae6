"""If, Loop and Scan: what runs how often, and what the totals take in."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

from costs.harness import Analysed, analyse
from py_autodoc import analyze
from py_autodoc.costs.engine import Totals, totals

HEAD = '<ir_version: 10, opset_import: ["" : 20, "custom" : 1]>\n'
SMALL = "a = MatMul(x, w8)"  # 4·8·8 = 256 MACs
LARGE = "h = MatMul(x, w16) b = MatMul(h, v16)"  # 4·8·16·2 = 1024 MACs


def parse(text: str) -> Analysed:
    return analyse(onnx.parser.parse_model(HEAD + text))


def total_of(done: Analysed) -> Totals:
    return totals(done.model, done.costs.nodes)


def codes(done: Analysed) -> list[str]:
    return [d.code for d in done.costs.diagnostics]


IF = """
g (float[4,8] x, {condition} float[8,8] w8, float[8,16] w16, float[16,8] v16) => (float[4,8] y) {{
  {constant}
  y = If (c) <
    then_branch = t () => (float[4,8] a) {{ {small} }},
    else_branch = e () => (float[4,8] b) {{ {large} }}
  >
}}
"""


def test_if_counts_the_costlier_branch_and_lists_both() -> None:
    done = parse(IF.format(condition="bool c,", constant="", small=SMALL, large=LARGE))
    assert total_of(done).macs == 1024
    by_op = [(n.op_type, c.counted, c.cost.macs if c.cost else None)
             for n, c in zip(done.model.nodes, done.costs.nodes, strict=True)]  # fmt: skip
    assert by_op == [("If", True, 0), ("MatMul", False, 256), ("MatMul", True, 512), ("MatMul", True, 512)]


@pytest.mark.parametrize(("value", "macs"), [("1", 256), ("0", 1024)])
def test_if_with_a_constant_condition_counts_what_runs(value: str, macs: int) -> None:
    constant = f"c = Constant <value = bool {{{value}}}> ()"
    done = parse(IF.format(condition="", constant=constant, small=SMALL, large=LARGE))
    assert total_of(done).macs == macs


LOOP = """
g (float[4,4] x, {inputs}) => (float[4,4] y) {{
  {constants}
  y = Loop ({trips}, {cond}, x) <
    body = b (int64 i, bool go, float[4,4] s) => (bool {out}, float[4,4] t) {{ {rule} t = MatMul(s, s) }}
  >
}}
"""
STAYS = "again = Identity(go)"


@pytest.mark.parametrize(
    ("trips", "cond", "rule", "repeat", "code"),
    [
        ("Constant <value = int64 {7}> ()", "", STAYS, 7, None),
        ("Constant <value = int64 {7}> ()", "c", STAYS, 7, None),
        ("Constant <value = int64[1] {7}> ()", "", STAYS, 7, None),
        ("Constant <value = int64 {0}> ()", "", STAYS, 0, None),
        ("Constant <value = int64 {-3}> ()", "", STAYS, 0, None),
        ("Constant <value = int64 {7}> ()", "", "again = Not(go)", None, "loop-trip-unknown"),
        ("Constant <value = int64 {4611686018427387904}> ()", "", STAYS, None, "unbounded-loop"),
        ("Constant <value = int64 {2147483647}> ()", "", STAYS, None, "unbounded-loop"),
        ("Identity(n)", "", STAYS, None, "loop-trip-unknown"),
    ],
)
def test_loop(trips: str, cond: str, rule: str, repeat: int | None, code: str | None) -> None:
    constants = f"m = {trips}" + (" c = Constant <value = bool {1}> ()" if cond else "")
    text = LOOP.format(
        inputs="int64 n", constants=constants, trips="m", cond=cond or "", out="again", rule=rule
    )
    done = parse(text)
    body = next(c for n, c in zip(done.model.nodes, done.costs.nodes, strict=True) if n.op_type == "MatMul")
    assert body.repeat == repeat
    assert body.cost is not None
    assert body.cost.macs == 64
    assert total_of(done).macs == 64 * (1 if repeat is None else repeat)
    assert codes(done) == ([code] if code else [])


def test_loop_that_hands_its_condition_on() -> None:
    text = LOOP.format(
        inputs="int64 n",
        constants="m = Constant <value = int64 {3}> ()",
        trips="m",
        cond="",
        out="go",
        rule="",
    )
    assert total_of(parse(text)).macs == 3 * 64


def test_loop_that_never_starts() -> None:
    constants = "m = Constant <value = int64 {3}> () c = Constant <value = bool {0}> ()"
    text = LOOP.format(inputs="int64 n", constants=constants, trips="m", cond="c", out="again", rule=STAYS)
    assert total_of(parse(text)).macs == 0


def test_nested_repeats_multiply() -> None:
    done = parse("""
g (float[5,4,4] xs, float[4,4] x) => (float[4,4] y) {
  m = Constant <value = int64 {3}> ()
  y = Loop (m, , x) <
    body = b (int64 i, bool go, float[4,4] s) => (bool go, float[4,4] t) {
      t = Scan <num_scan_inputs = 1,
        body = c (float[4,4] u, float[4,4] v) => (float[4,4] w) { w = MatMul(u, v) }
      > (s, xs)
    }
  >
}""")
    inner = next(c for n, c in zip(done.model.nodes, done.costs.nodes, strict=True) if n.op_type == "MatMul")
    assert inner.repeat == 15
    assert total_of(done).macs == 15 * 64


def test_deep_nests_of_large_loops_stay_finite() -> None:
    body = "t{0} = MatMul(x, x)"
    for depth in range(8):
        body = (
            f"m{depth} = Constant <value = int64 {{1000000}}> () t{depth + 1} = Loop (m{depth}, , x) "
            f"<body = b{depth} (int64 i{depth}, bool g{depth}, float[4,4] s{depth}) => "
            f"(bool g{depth}, float[4,4] t{depth}) {{ {body.replace('{0}', '0')} }}>"
        )
    done = parse(f"g (float[4,4] x) => (float[4,4] t8) {{ {body} }}")
    total = total_of(done)
    assert "unbounded-loop" in codes(done)
    assert total.macs is not None
    assert total.macs < 1 << 63


@pytest.mark.parametrize("shape", ["float[5,4,4]", "float[n,4,4]"])
def test_scan_runs_once_a_slice(shape: str) -> None:
    done = parse(f"""
g ({shape} xs, float[4,4] x) => (float[4,4] y) {{
  y = Scan <num_scan_inputs = 1,
    body = c (float[4,4] u, float[4,4] v) => (float[4,4] w) {{ w = MatMul(u, v) }}
  > (x, xs)
}}""")
    assert total_of(done).macs == (320 if "5" in shape else 64)
    assert codes(done) == ([] if "5" in shape else ["loop-trip-unknown"])


def test_scan_along_another_axis() -> None:
    done = parse("""
g (float[4,6,4] xs, float[4,4] x) => (float[4,4] y) {
  y = Scan <num_scan_inputs = 1, scan_input_axes = [1],
    body = c (float[4,4] u, float[4,4] v) => (float[4,4] w) { w = MatMul(u, v) }
  > (x, xs)
}""")
    assert total_of(done).macs == 6 * 64


def test_an_unknown_operator_costs_nothing_known() -> None:
    done = parse("""
g (float[4,4] x) => (float[4,4] z) { y = custom.Magic(x) w = custom.Magic(y) z = MatMul(x, x) }""")
    total = total_of(done)
    assert codes(done) == ["unknown-op"]
    assert "2 nodes" in done.costs.diagnostics[0].message
    assert done.costs.nodes[0].cost is None
    assert done.costs.nodes[0].reason == "no cost rule for custom::Magic"
    assert (total.nodes_known, total.nodes_total) == (1, 3)
    assert total.unknown_ops == {"custom::Magic": 2}
    assert total.macs == 64
    assert total.mac_share == 1 / 3  # nobody knows whether the others multiply


def test_a_model_of_unknown_operators_has_no_totals() -> None:
    total = total_of(parse("g (float[4,4] x) => (float[4,4] y) { y = custom.Magic(x) }"))
    assert (total.macs, total.flops, total.read_bytes) == (None, None, None)
    assert total.node_share == 0


def test_constants_are_not_nodes() -> None:
    done = parse(
        "g (float[2] x) => (float[2] y) { c = Constant <value = float[2] {1.0, 2.0}> () y = Add(x, c) }"
    )
    total = total_of(done)
    assert (total.nodes_known, total.nodes_total, total.flops) == (1, 1, 2)
    assert done.costs.nodes[0].cost is not None
    assert done.costs.nodes[0].cost.write_bytes == 0
    assert total.read_bytes == 16


def test_symbols_leave_macs_of_movement_known() -> None:
    text = "g (float[n,4] x, float[4,4] w) => (float[n,4] y) { t = Identity(x) y = MatMul(t, w) }"
    total = total_of(parse(text))
    assert (total.mac_nodes_known, total.mac_nodes_total) == (0, 1)
    assert total.reasons == {"output 0 has the dimension n": 1}
    assert total_of(analyse(onnx.parser.parse_model(HEAD + text), {"n": 5})).macs == 80


@pytest.mark.parametrize(("condition", "said"), [("input", True), ("constant", False)])
@pytest.mark.parametrize("wide", [8, 64])
def test_a_branch_that_is_chosen_at_run_time_is_said(condition, said, wide):
    """The costlier branch counts; branches that cost the same need no word."""
    tensors = [
        numpy_helper.from_array(np.zeros(shape, np.float32), name)
        for name, shape in (("a", (8, 8)), ("b", (8, wide)))
    ]
    branches = [
        helper.make_graph(
            [helper.make_node("MatMul", ["x", name], [f"out_{name}"])],
            name,
            [],
            [helper.make_tensor_value_info(f"out_{name}", TensorProto.FLOAT, None)],
        )
        for name in ("a", "b")
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 8])]
    if condition == "input":
        inputs.append(helper.make_tensor_value_info("go", TensorProto.BOOL, []))
    else:
        tensors.append(numpy_helper.from_array(np.array(True), "go"))
    node = helper.make_node("If", ["go"], ["y"], then_branch=branches[0], else_branch=branches[1])
    out = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    proto = helper.make_model(
        helper.make_graph([node], "g", inputs, out, tensors),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    report = analyze(proto.SerializeToString())
    found = [d.message for d in report.diagnostics if d.code == "branch-unknown"]
    assert bool(found) == (said and wide != 8)
    if found:
        assert "1.02 K MACs; the other has 128" in found[0]
    assert report.metrics.total_macs == (2 * 8 * wide if condition == "input" else 128)


def test_branches_of_symbolic_sizes_have_expressions() -> None:
    """Which one runs is open, and their costs are expressions without a figure."""

    def branch(nodes: list[onnx.NodeProto]) -> onnx.GraphProto:
        return helper.make_graph(nodes, "b", [], [helper.make_tensor_value_info("r", 1, None)], [])

    long = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("MatMul", ["m", "w"], ["r"])]
    short = [helper.make_node("MatMul", ["x", "w"], ["r"])]
    ends = [helper.make_tensor_value_info("x", 1, ["n", 4]), helper.make_tensor_value_info("c", 9, [])]
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch(long), else_branch=branch(short))
    weight = numpy_helper.from_array(np.ones((4, 4), np.float32), "w")
    graph = helper.make_graph(
        [node], "g", ends, [helper.make_tensor_value_info("y", 1, None)], initializer=[weight]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for bindings in ({}, {"n": 3}):
        report = analyze(model, bindings=bindings)
        codes = {one.code for one in report.diagnostics}
        assert "analysis-failed" not in codes
        assert ("branch-unknown" in codes) <= bool(bindings)
