"""Whether a model runs, as ONNX Runtime says: every bad file, and files of each kind of fault."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from click.testing import CliRunner
from corpus import CASES, Error
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.cli.app import app
from py_autodoc.graph.ir.file_faults import FAULTS, Acceptance, file_faults
from py_autodoc.report.builders.runnable_section import runnable
from py_autodoc.report.pipeline.analysis import Options, run_analysis

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
node = helper.make_node


def value(name, *dims, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, None if dims == (None,) else list(dims))


def stored(name="w", dims=(4, 4), kind=FLOAT, **held):
    return TensorProto(name=name, data_type=kind, dims=dims, **(held or {"raw_data": bytes(64)}))


def model(
    nodes, weights=(), inputs=None, outputs=None, functions=(), opsets=(("", 17),), infos=(), ir=8
) -> bytes:
    ends = (
        [value("x", 1, 4)] if inputs is None else inputs,
        [value("y", None)] if outputs is None else outputs,
    )
    graph = helper.make_graph(nodes, "g", *ends, list(weights), value_info=list(infos))
    imports = [helper.make_opsetid(*one) for one in opsets]
    made = helper.make_model(graph, opset_imports=imports, ir_version=ir, functions=list(functions))
    return made.SerializeToString()


def product(weight, **more) -> bytes:
    return model([node("MatMul", ["x", "w"], ["y"])], [weight], **more)


def unused(weight, **more) -> bytes:
    return model([node("Relu", ["x"], ["y"])], [weight], **more)


def calling(*body, used=True, name="F") -> bytes:
    function = helper.make_function(
        "f", name, ["a"], ["b"], list(body), [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    )
    main = node("F", ["x"], ["y"], domain="f") if used else node("Relu", ["x"], ["y"])
    return model([main], functions=[function], opsets=(("", 17), ("f", 1)))


def branching(inside, result, before=(), weights=(), inner=()) -> bytes:
    then = helper.make_graph([inside], "then", [], [value(result, None)], list(inner))
    other = helper.make_graph([node("Neg", ["x"], ["e"], "n")], "else", [], [value("e", None)])
    choose = node("If", ["c"], ["y"], "if", then_branch=then, else_branch=other)
    ends = [value("x", 1, 4), value("c", kind=TensorProto.BOOL)]
    return model([*before, choose], weights, ends)


good = numpy_helper.from_array(np.ones((4, 4), np.float32), "w")
ones = numpy_helper.from_array(np.ones(4, np.float32), "k")
relu, relu_again = node("Relu", ["x"], ["h"], "twin"), node("Relu", ["h"], ["y"], "twin")
zeros = numpy_helper.from_array(np.array([1, 0, 1, 1], np.int64), "zeros")
ints = numpy_helper.from_array(np.arange(4, dtype=np.int64), "k")
DIVISIONS = [
    ("Div", np.int64, "zero"), ("Mod", np.int32, "zero"), ("Div", np.uint8, "constant-zero"),
    ("Div", np.float32, "zero"), ("Div", np.int64, "one"), ("Mul", np.int64, "zero"),
]  # fmt: skip


def dividing(op, kind, part) -> bytes:
    """An integer, cast from the input, divided by a stored value."""
    by = numpy_helper.from_array(np.array([3, 1 if part == "one" else 0, 3, 3], kind), "by")
    cast = [node("Cast", ["x"], ["i"], to=helper.np_dtype_to_tensor_dtype(np.dtype(kind)))]
    if part.startswith("constant"):
        cast.append(node("Constant", [], ["by"], value=by))
    back = node("Cast", ["q"], ["y"], to=FLOAT)
    return model([*cast, node(op, ["i", "by"], ["q"]), back], [] if part.startswith("constant") else [by])


def branching_to(kind) -> bytes:
    """A branch with an inner result that is declared as of this type."""
    body = [node("Relu", ["x"], ["h"]), node("Neg", ["h"], ["t"])]
    then = helper.make_graph(body, "then", [], [value("t", None)], value_info=[value("h", 1, 4, kind=kind)])
    other = helper.make_graph([node("Neg", ["x"], ["e"])], "else", [], [value("e", None)])
    choose = node("If", ["c"], ["y"], "if", then_branch=then, else_branch=other)
    return model([choose], (), [value("x", 1, 4), value("c", kind=TensorProto.BOOL)])


half = numpy_helper.from_array(np.ones((4, 4), np.float16), "w")
half_row = numpy_helper.from_array(np.ones((1, 4), np.float16), "half")
cast = node("Cast", ["x"], ["i"], to=INT64)
small = numpy_helper.from_array(np.array(1, np.float64), "small")
choice = node(
    "If",
    ["f"],
    ["y"],
    then_branch=helper.make_graph([node("Neg", ["x"], ["t"])], "then", [], [value("t", None)]),
    else_branch=helper.make_graph([node("Abs", ["x"], ["e"])], "else", [], [value("e", None)]),
)

FILES: dict[str, bytes] = {
    "raw-short": product(stored(raw_data=bytes(12))),
    "raw-long": product(stored(raw_data=bytes(6400))),
    "values-few": product(stored(float_data=[1.0] * 12)),
    "values-many": product(stored(float_data=[1.0] * 20)),
    "no-data": product(TensorProto(name="w", data_type=FLOAT, dims=[4, 4])),
    "raw-short-unused": unused(stored(raw_data=bytes(12))),
    "raw-short-as-output": unused(stored(raw_data=bytes(12)), outputs=[value("y", None), value("w", None)]),
    "raw-short-constant": model(
        [node("Constant", [], ["w"], value=stored(raw_data=bytes(12))), node("MatMul", ["x", "w"], ["y"])]
    ),
    "raw-short-in-branch": branching(
        node("MatMul", ["x", "w"], ["t"]), "t", inner=[stored(raw_data=bytes(12))]
    ),
    "negative": product(stored(dims=(4, -4))),
    "negative-unused": unused(stored(dims=(4, -4))),
    "negative-declared": model([node("Relu", ["x"], ["y"])], outputs=[value("y", -1, 4)]),
    "overflow-unused": unused(stored(dims=(1 << 40, 1 << 40), raw_data=b"")),
    "unknown-type": product(stored(kind=99)),
    "unknown-type-unused": unused(stored(kind=99)),
    "unknown-type-declared": model([relu, node("Relu", ["h"], ["y"])], infos=[value("h", 1, 4, kind=99)]),
    "output-twice": model([node("Relu", ["x"], ["y"]), node("Neg", ["x"], ["y"])]),
    "output-is-input": model([node("Relu", ["x"], ["x"]), node("Relu", ["x"], ["y"])]),
    "output-is-weight": model([node("Relu", ["x"], ["w"]), node("Relu", ["w"], ["y"])], [good]),
    "input-twice": model([node("Relu", ["x"], ["y"])], inputs=[value("x", 1, 4)] * 2),
    "listed-twice": model([node("Relu", ["x"], ["y"])], outputs=[value("y", 1, 4)] * 2),
    "weight-twice": model([node("MatMul", ["x", "w"], ["y"])], [good, good]),
    "weight-twice-differs": model([node("MatMul", ["x", "w"], ["y"])], [good, stored(dims=(4, 9))]),
    "node-name-twice": model([relu, relu_again]),
    "node-name-of-branch": branching(node("Relu", ["x"], ["t"], "n"), "t"),
    "output-in-branch-twice": branching(node("Relu", ["x"], ["e"]), "e"),
    "shadowing": branching(node("Relu", ["x"], ["h"]), "h", [node("Neg", ["x"], ["h"])]),
    "shadowing-input": branching(node("Relu", ["k"], ["x"]), "x", inner=[ones]),
    "shadowing-weight-by-weight": branching(
        node("MatMul", ["x", "w"], ["t"]), "t", [node("MatMul", ["x", "w"], ["o"])], [good], [good]
    ),
    "cycle-of-functions": calling(node("F", ["a"], ["b"], domain="f")),
    "cycle-of-functions-unused": calling(node("F", ["a"], ["b"], domain="f"), used=False),
    "function": calling(node("Relu", ["a"], ["b"])),
    "undefined-output": model([node("Relu", ["x"], ["y"])], outputs=[value("z", 1, 4)]),
    "no-outputs": model([node("Relu", ["x"], ["y"])], outputs=[]),
    "many-inputs": model([node("Relu", ["x", "x"], ["y"])]),
    "many-outputs": model([node("Relu", ["x"], ["y", "z"])]),
    "no-inputs": model([node("Relu", [], ["z"]), node("Relu", ["x"], ["y"])]),
    "no-output": model([node("Relu", ["x"], []), node("Relu", ["x"], ["y"])]),
    "constant-without-output": model([node("Constant", [], [], value=good), node("Relu", ["x"], ["y"])]),
    "input-left-out": model([node("Add", ["x", ""], ["y"])]),
    "optional-left-out": model([node("Clip", ["x", "", ""], ["y"])]),
    "attribute-unknown": model([node("Relu", ["x"], ["y"], made_up=1)]),
    "attribute-missing": model([node("Concat", ["x", "x"], ["y"])]),
    "function-with-many-inputs": calling(node("Relu", ["a", "a"], ["b"])),
    "operator-unknown": model([node("Nonsense", ["x"], ["y"])], outputs=[value("y", 1, 4)]),
    "operator-too-new": model([node("Gelu", ["x"], ["y"])], outputs=[value("y", 1, 4)]),
    "domain-unknown": model(
        [node("Made", ["x"], ["y"], domain="made")],
        outputs=[value("y", 1, 4)],
        opsets=(("", 17), ("made", 1)),
    ),
    "opset-missing": model([node("Relu", ["x"], ["y"])], outputs=[value("y", 1, 4)], opsets=()),
    "opset-9999": model([node("Relu", ["x"], ["y"])], opsets=(("", 9999),)),
    "declares-7x9": product(good, outputs=[value("y", 7, 9)]),
    "declares-rank-3": product(good, outputs=[value("y", 1, 1, 4)]),
    "declares-inside": model(
        [node("MatMul", ["x", "w"], ["h"]), node("Relu", ["h"], ["y"])], [good], infos=[value("h", 7, 9)]
    ),
    "ir-99": model([node("Relu", ["x"], ["y"])], ir=99),
    "opset-0": model([node("Relu", ["x"], ["y"])], opsets=(("", 0),)),
    "declares-int64": product(good, outputs=[value("y", 1, 4, kind=INT64)]),
    "declares-double-inside": model([relu, node("Relu", ["h"], ["y"])], infos=[value("h", 1, 4, kind=11)]),
    "declares-int64-in-branch": branching_to(INT64),
    "declares-float-in-branch": branching_to(FLOAT),
    **{f"{op}-by-{part}": dividing(op, kind, part) for op, kind, part in DIVISIONS},
    "zero-in-branch": branching(node("Div", ["k", "zeros"], ["t"]), "t", weights=[ints, zeros]),
    "operand-int64": model([cast, node("Sigmoid", ["i"], ["y"])]),
    "operands-differ": product(half),
    "operands-differ-optional": model([node("Clip", ["x", "", "small"], ["y"])], [small]),
    "operands-differ-variadic": model([node("Concat", ["x", "x", "half"], ["y"], axis=0)], [half_row]),
    "operand-of-another-variable": model([node("Gather", ["x", "k"], ["y"], axis=1)], [ones]),
    "operand-in-branch": branching(node("MatMul", ["x", "w"], ["t"]), "t", inner=[half]),
    "operand-in-function": calling(node("Not", ["a"], ["b"])),
    "operand-too-new": model([cast, node("Relu", ["i"], ["y"])], opsets=(("", 13),)),
    "condition-float": model([choice], (), [value("x", 1, 4), value("f")]),
    "sound": product(good),
}  # fmt: skip


def _runtime_says(path: Path, feeds: dict[str, np.ndarray] | None) -> str:
    """``refused`` at loading, ``ran``, or ``failed`` (also if not tried), in a child with limits."""
    source, sink = os.pipe()
    pid = os.fork()
    if pid == 0:
        import resource
        import signal

        said = b"failed"
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            options = ort.SessionOptions()
            options.log_severity_level = 4
            options.intra_op_num_threads = 1
            try:
                session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            except Exception:  # noqa: BLE001 - whatever it raises
                said = b"refused"
            else:
                if feeds is not None:
                    session.run(None, feeds)
                    said = b"ran"
        finally:
            os.write(sink, said)
            os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as answer:
        said = answer.read().decode()
    os.waitpid(pid, 0)
    return said or "failed"


linux = pytest.mark.skipif(sys.platform == "win32", reason="forks")


@linux
@pytest.mark.parametrize("name", FILES)
def test_the_verdict_is_the_runtimes(tmp_path, name):
    path = tmp_path / "m.onnx"
    path.write_bytes(FILES[name])
    said = _runtime_says(path, {"x": np.ones((1, 4), np.float32), **_flags(FILES[name])})
    verdict = runnable(run_analysis(path))
    if said == "ran":
        assert verdict.verdict != "no", verdict.reason
    else:
        assert verdict.verdict != "yes", said
        assert verdict.reason
    if name == "sound":
        assert (said, verdict.verdict) == ("ran", "yes")


def _flags(data: bytes) -> dict[str, np.ndarray]:
    names = [one.name for one in onnx.ModelProto.FromString(data).graph.input]
    return {"c": np.array(True)} if "c" in names else {}


BIG = {"chain-300k", "concat-20000", "billion-laughs", "matmul-1e7"}
"""Too large for this test."""


@linux
@pytest.mark.parametrize(
    "case",
    [one for one in CASES if not isinstance(one.expect, Error) and one.name not in BIG],
    ids=lambda one: one.id,
)
def test_no_bad_file_that_a_runtime_refuses_runs(tmp_path, case):
    path = case.make(tmp_path)
    verdict = runnable(run_analysis(path, Options(assume=True)))
    if _runtime_says(path, None) == "refused":
        assert verdict.verdict != "yes"


@pytest.mark.parametrize("name", ["output-twice", "weight-twice-differs", "cycle-of-functions", "raw-long"])
def test_require_runs(tmp_path, name):
    (tmp_path / "m.onnx").write_bytes(FILES[name])
    done = CliRunner().invoke(app, ["check", str(tmp_path / "m.onnx"), "--require", "runs"])
    assert done.exit_code == 5
    for command in (["run"], ["verify", "--against", str(tmp_path / "m.onnx")], ["sensitivity"]):
        refused = CliRunner().invoke(app, [command[0], str(tmp_path / "m.onnx"), *command[1:]])
        assert refused.exit_code == 1
        errors = [line for line in refused.stderr.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1
        assert "m.onnx: " in errors[0]


@pytest.mark.parametrize("name", ["attribute-missing", "operand-int64", "raw-long", "condition-float"])
@pytest.mark.parametrize("limit", ["--max-macs", "--max-params", "--max-size"])
def test_a_file_that_no_runtime_accepts_passes_no_limit(tmp_path, name, limit):
    (tmp_path / "m.onnx").write_bytes(FILES[name])
    done = CliRunner().invoke(app, ["check", str(tmp_path / "m.onnx"), limit, "1G"])
    assert done.exit_code == 5
    assert "runnable: The model cannot run: " in done.stdout


def test_the_totals_of_a_refused_file_are_known(tmp_path):
    (tmp_path / "m.onnx").write_bytes(FILES["raw-long"])
    done = CliRunner().invoke(app, ["analyze", str(tmp_path / "m.onnx")])
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["runnable"]["reason"] == "w: Shape 4×4 needs 64 bytes, 6,400 are there"
    assert report["runnable"]["file"]
    assert report["metrics"]["total_macs"] == 16


def test_a_declaration_that_is_not_computed_is_told(tmp_path):
    for name in ("declares-7x9", "declares-rank-3", "declares-inside"):
        found = run_analysis(FILES[name])
        assert [one.code for one in found.diagnostics] == ["declared-shape"]
        assert runnable(found).verdict == "yes"
    assert not run_analysis(FILES["sound"]).diagnostics


def test_every_code_is_met_and_told():
    """A code that no file here has would not be confirmed by the runtime."""
    met = {
        one.diagnostic.code
        for data in FILES.values()
        for found in [run_analysis(data)]
        for one in file_faults(found.model, found.diagnostics)
    }
    by_path = {
        "external-missing",
        "external-outside",
        "external-range",
        "huge-output",
        "dim-overflow",
        "expansion-too-large",
    }
    assert met | by_path == set(FAULTS)
    docs = (Path(__file__).parents[2] / "docs/diagnostics.md").read_text(encoding="utf-8")
    assert set(FAULTS) <= set(re.findall(r"^\| `([a-z-]+)`", docs, re.MULTILINE))
    assert {acceptance for acceptance, _ in FAULTS.values()} == set(Acceptance)


def _doubling(levels: int) -> bytes:
    """Functions that each call the next one twice."""
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("b", 1)]
    functions = [
        helper.make_function(
            "b",
            f"F{i}",
            ["a"],
            ["c"],
            [node(f"F{i - 1}", ["a"], ["m"], domain="b"), node(f"F{i - 1}", ["m"], ["c"], domain="b")]
            if i
            else [node("Relu", ["a"], ["c"])],
            opset,
        )
        for i in range(levels + 1)
    ]
    main = node(f"F{levels}", ["x"], ["y"], domain="b")
    return model([main], (), None, [value("y", 1, 4)], functions, (("", 17), ("b", 1)))


def test_functions_without_end_are_no_missing_operator():
    verdict = runnable(run_analysis(_doubling(29)))
    assert (verdict.verdict, verdict.file) == ("no", True)
    assert f"{2**29:,} nodes" in verdict.reason


def test_names_are_shown_as_they_are(tmp_path):
    """The letter with which a message begins is never that of a name."""
    (tmp_path / "m.onnx").write_bytes(FILES["declares-int64"])
    done = CliRunner().invoke(app, ["check", str(tmp_path / "m.onnx"), "--require", "runs"])
    assert "The model cannot run: y: Declared as int64, computed as float." in done.stdout


def test_names_in_why_costs_are_unknown(tmp_path):
    wide = numpy_helper.from_array(np.ones((9, 4), np.float32), "W")
    (tmp_path / "m.onnx").write_bytes(model([node("MatMul", ["x", "W"], ["y"], "Stem_MatMul")], [wide]))
    done = CliRunner().invoke(app, ["check", str(tmp_path / "m.onnx"), "--require", "opset>=1"])
    assert "The model cannot run: Stem_MatMul: " in done.stdout
