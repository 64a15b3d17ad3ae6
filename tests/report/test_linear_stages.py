"""No stage takes time that grows with the square of anything in a model.

Calls are counted, of Python and of C functions, for a model and for one of twice its size: linear work has
twice the calls. Times would depend on the machine.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import onnx
import pytest
from onnx import TensorProto, helper

from py_autodoc.render.markdown import card
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.sections import stages
from py_autodoc.report.sections.section_document import document
from py_autodoc.report.sections.section_model import SectionContext
from py_autodoc.report.viewer_payload.build_payload import build_payload

SIZE = 200
MAX_GROWTH = 2.5
"""n·log n is 2.2 here; a square is 4, also with a linear part of the same size 3."""
OPS = ("Relu", "Neg", "Abs", "Exp", "Tanh", "Sigmoid", "Sqrt")
OPSET = helper.make_opsetid("", 17)
LOCAL = helper.make_opsetid("local", 1)


def value(name: str, shape=(1, 4)) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def a_model(nodes, inputs=None, outputs=None, *, functions=(), imports=(), **graph) -> onnx.ModelProto:
    made = helper.make_graph(nodes, "g", inputs or [value("x")], outputs or [value("y")], **graph)
    return helper.make_model(made, opset_imports=[OPSET, *imports], functions=list(functions), ir_version=9)


def chain(count: int, make: Callable[..., onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Nodes from x to y, one after another; ``make`` gets number, input and output."""
    names = ["x", *(f"t{index}" for index in range(count - 1)), "y"]
    return [make(index, names[index], names[index + 1]) for index in range(count)]


def functions(count: int) -> onnx.ModelProto:
    inner = helper.make_node("Relu", ["a"], ["b"], name="r")
    made = [
        helper.make_function("local", f"F{index}", ["a"], ["b"], [inner], [OPSET]) for index in range(count)
    ]
    calls = chain(count, lambda i, a, b: helper.make_node(f"F{i}", [a], [b], domain="local", name=f"n{i}"))
    return a_model(calls, functions=made, imports=[LOCAL])


def nested_functions(count: int) -> onnx.ModelProto:
    made = []
    for index in range(count // 4):
        for depth in range(4):
            below = helper.make_node(f"G{index}_{depth + 1}", ["a"], ["b"], domain="local")
            body = below if depth < 3 else helper.make_node("Relu", ["a"], ["b"])
            name = f"G{index}_{depth}"
            made.append(helper.make_function("local", name, ["a"], ["b"], [body], [OPSET, LOCAL]))
    calls = chain(count // 4, lambda i, a, b: helper.make_node(f"G{i}_0", [a], [b], domain="local"))
    return a_model(calls, functions=made, imports=[LOCAL])


def modules(count: int) -> onnx.ModelProto:
    def node(index: int, before: str, after: str) -> onnx.NodeProto:
        kind = OPS[index * 3 % 7]
        return helper.make_node(kind, [before], [after], name=f"/layer.{index // 2}/sub{index % 2}/{kind}")

    return a_model(chain(count, node))


def subgraphs(count: int) -> onnx.ModelProto:
    def branch(op: str, name: str) -> onnx.GraphProto:
        return helper.make_graph([helper.make_node(op, ["x"], [name])], name, [], [value(name)])

    nodes = [
        helper.make_node("If", ["c"], [f"t{i}"], then_branch=branch("Relu", f"a{i}"),
                         else_branch=branch("Neg", f"b{i}"), name=f"if{i}")
        for i in range(count)
    ]  # fmt: skip
    nodes.append(helper.make_node("Sum", [f"t{i}" for i in range(count)], ["y"]))
    return a_model(nodes, [value("x"), helper.make_tensor_value_info("c", TensorProto.BOOL, [])])


def symbols(count: int) -> onnx.ModelProto:
    nodes = [helper.make_node("Relu", [f"x{i}"], [f"y{i}"]) for i in range(count)]
    shapes = [(f"s{i}", 4) for i in range(count)]
    return a_model(
        nodes,
        [value(f"x{i}", shape) for i, shape in enumerate(shapes)],
        [value(f"y{i}", shape) for i, shape in enumerate(shapes)],
    )


def metadata(count: int) -> onnx.ModelProto:
    made = a_model([helper.make_node("Relu", ["x"], ["y"])])
    helper.set_model_props(made, {f"k{i}": f"v{i}" for i in range(count)})
    return made


def sums(count: int, **graph) -> onnx.ModelProto:
    return a_model([helper.make_node("Sum", [f"x{i}" for i in range(count)], ["y"])], **graph)


def weights(count: int) -> list[onnx.TensorProto]:
    return [helper.make_tensor(f"x{i}", TensorProto.FLOAT, [1, 4], [i, 1, 2, 3]) for i in range(count)]


def relu(**more) -> onnx.ModelProto:
    return a_model([helper.make_node("Relu", ["x"], ["y"])], **more)


MODELS: dict[str, Callable[[int], onnx.ModelProto]] = {
    "functions": functions,
    "nested functions": nested_functions,
    "modules": modules,
    "subgraphs": subgraphs,
    "symbols": symbols,
    "metadata": metadata,
    "kinds of nodes": lambda count: a_model(
        chain(count, lambda i, a, b: helper.make_node(OPS[i * i % 7], [a], [b]))
    ),
    "inputs": lambda count: sums(count, inputs=[value(f"x{i}") for i in range(count)]),
    "initializers": lambda count: sums(count, initializer=weights(count)),
    "unused initializers": lambda count: relu(initializer=weights(count)),
    "outputs": lambda count: a_model(
        [helper.make_node("Relu", ["x"], [f"y{i}"]) for i in range(count)],
        outputs=[value(f"y{i}") for i in range(count)],
    ),
    "unused nodes": lambda count: a_model(
        [
            helper.make_node("Relu", ["x"], ["y"]),
            *(helper.make_node("Neg", ["x"], [f"d{i}"]) for i in range(count)),
        ]
    ),
    "value infos": lambda count: a_model(
        chain(count, lambda i, a, b: helper.make_node("Relu", [a], [b])),
        value_info=[value(f"t{i}") for i in range(count - 1)],
    ),
    "operator sets": lambda count: a_model(
        chain(count, lambda i, a, b: helper.make_node("Op", [a], [b], domain=f"d{i}")),
        imports=[helper.make_opsetid(f"d{i}", 1) for i in range(count)],
    ),
    "unknown operators": lambda count: a_model(
        chain(count, lambda i, a, b: helper.make_node(f"Op{i}", [a], [b], domain="local")), imports=[LOCAL]
    ),
    "attributes": lambda count: a_model(
        [helper.make_node("Op", ["x"], ["y"], domain="local", **{f"a{i}": i for i in range(count)})],
        imports=[LOCAL],
    ),
}


def calls(work: Callable[[], object]) -> tuple[object, int]:
    """Return the result of ``work``, and how many functions it called."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()
    sys.setprofile(note)
    try:
        result = work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return result, count


def counted(path: Path) -> dict[str, int]:
    """Return the number of calls by stage."""
    counts: dict[str, int] = {}

    def stage(name: str, work: Callable[[], object]):
        result, counts[name] = calls(work)
        return result

    analysis = stage("analysis", lambda: run_analysis(str(path), Options()))
    report = stage("report", lambda: build_report(analysis))
    stage("payload", lambda: build_payload(analysis))
    stage("sections", lambda: document(SectionContext(report)))
    stage("card", lambda: card(SectionContext(report)))
    return counts


@pytest.mark.parametrize("kind", MODELS)
def test_twice_the_model_is_twice_the_work(tmp_path, kind):
    path = tmp_path / "m.onnx"
    found = []
    for size in (10, SIZE, SIZE, 2 * SIZE):  # what is done once, on first use, does not count
        onnx.save(MODELS[kind](size), path)
        found.append(counted(path))
    _, _, once, twice = found
    grown = {name: twice[name] / once[name] for name in once}
    assert max(grown.values()) < MAX_GROWTH, grown


def test_merging_gives_the_smallest_neighbours_first():
    """The result is that of searching the smallest pair anew for every merge."""

    def simple(boxes: list[stages.Box]) -> list[stages.Box]:
        while len(boxes) > stages.MAX_STAGES:
            pair = min(range(len(boxes) - 1), key=lambda i: len(boxes[i][1]) + len(boxes[i + 1][1]))
            (before, first), (after, second) = boxes[pair : pair + 2]
            begin, end = before.split(" … ")[0], after.split(" … ")[-1]
            boxes[pair : pair + 2] = [(begin if begin == end else f"{begin} … {end}", first + second)]
        return boxes

    for seed in range(40):
        sizes = [
            1 + (seed * 7 + index * index * (seed % 5 + 1)) % (seed % 6 + 2) for index in range(4 * seed)
        ]
        boxes = [("abcd"[index * seed % 4], list(range(size))) for index, size in enumerate(sizes)]
        copies = [(title, list(nodes)) for title, nodes in boxes]
        assert stages._merge_smallest(copies) == simple(boxes)
