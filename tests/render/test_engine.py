"""Pictures without Node: the bytes of both engines, limits, hostile models."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import msgspec
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper

from py_autodoc.cli.app import app
from py_autodoc.errors import LimitError, RequirementError
from py_autodoc.render import engine, svg
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

ROOT = Path(__file__).parents[2]
MODELS = sorted([
    *ROOT.glob("tests/data/models/*.onnx"),
    *ROOT.glob("tests/data/stripped/*.onnx"),
])  # fmt: skip
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(engine.quickjs() is None, reason="quickjs-ng has no wheel here")
both = pytest.mark.skipif(NODE is None, reason="needs Node to compare with")
HOSTILE = [
    "</svg><script>alert(1)</script>",
    "${globalThis.drawSvg = null}",
    '"]}});for(;;);({"a":[{"',
    "__proto__",
    "constructor",
    "nul\x00inside",
    "pair \U0001f600 and \u2028 line",
    "\u202eright to left",
    "x" * 5_000,
]


def request(model, **options) -> bytes:
    payload = msgspec.structs.replace(
        build_payload(run_analysis(str(model))), expressions=None, timeline=None
    )
    asked = {"dark": False, "overlay": "auto", "depth": None, "budget": 40, "most": 4000} | options
    return msgspec.json.encode({"payload": payload, "options": asked})


def ours(asked: bytes) -> str:
    return engine._in_thread(engine._bundle(), asked)


def theirs(asked: bytes) -> str:
    return engine._in_node(NODE, asked)


@both
@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.name)
def test_the_same_bytes_from_both(model):
    asked = request(model)
    drawn = ours(asked)
    assert drawn.startswith(("<?xml", "<svg"))
    assert drawn == theirs(asked)


@pytest.mark.slow
@both
@pytest.mark.parametrize(
    "options", [{"depth": 20}, {"dark": True}, {"direction": "wrapped"}, {"overlay": "params"}]
)
@pytest.mark.parametrize(
    "name", ["models/resnet_tiny_qdq_int8.onnx", "stripped/llama_gqa_small.stripped.onnx"]
)
def test_the_same_bytes_with_options(name, options):
    asked = request(ROOT / "tests/data" / name, **options)
    assert ours(asked) == theirs(asked)


def hostile(path: Path) -> Path:
    """A chain whose every name is an attack."""
    names = HOSTILE
    nodes = [
        helper.make_node(
            "Relu" if i % 2 else "Exp", [names[i]], [names[i + 1]], names[i], doc_string=names[i]
        )
        for i in range(len(names) - 1)
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 8]) for n in (names[0], names[-1])]
    graph = helper.make_graph(nodes, names[0], [ends[0]], [ends[1]])
    onnx.save(helper.make_model(graph, producer_name=names[1]), path)
    return path


@both
def test_a_hostile_model_is_data(tmp_path):
    asked = request(hostile(tmp_path / "a.onnx"), depth=20)
    drawn = ours(asked)
    assert drawn == theirs(asked)
    assert "<script" not in drawn
    assert "\x00" not in drawn


def test_the_code_sees_nothing_of_the_machine(monkeypatch):
    names = "process require std os fetch XMLHttpRequest WebSocket Deno Bun module exports"
    probe = f"""globalThis.drawSvg = () => Promise.resolve(
        {names.split()!r}.filter(name => typeof globalThis[name] !== 'undefined').join());"""
    assert engine._in_thread(probe, b"{}") == ""


def test_text_leaves_whole():
    code = r"globalThis.drawSvg = text => Promise.resolve(text + '\u0000 \ud83d\ude00 \ud800 end');"
    assert engine._in_thread(code, "é".encode()) == "é\0 \U0001f600 \ufffd end"


@pytest.mark.parametrize(
    ("code", "what", "words"),
    [
        ("const a = []; for (;;) a.push(new Array(10_000).fill(1));", "memory", "MB of memory"),
        ("for (;;);", "seconds", "seconds"),
        ("/^(a+)+$/.test('a'.repeat(60) + 'b');", "seconds", "seconds"),
        ("(function f() { f(); })();", "stack", "MB of stack"),
        ("JSON.parse('['.repeat(1e6));", "stack", "MB of stack"),
    ],
)
@pytest.mark.slow
@pytest.mark.parametrize("when", ["at once", "in a promise"])
def test_limits(monkeypatch, code, what, words, when):
    monkeypatch.setattr(engine, "MEMORY", 32 << 20)
    if what == "seconds":
        monkeypatch.setattr(engine, "SECONDS", 0.1)
    body = (
        f"{{ {code} }}" if when == "at once" else f"{{ return Promise.resolve().then(() => {{ {code} }}); }}"
    )
    with pytest.raises(LimitError) as fault:
        engine._in_thread(f"globalThis.drawSvg = () => {body};", b"{}")
    assert fault.value.code == f"limit-picture-{what}"
    assert words in fault.value.message


def test_a_limit_that_is_met_is_one_line_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "MEMORY", 2 << 20)
    out = tmp_path / "a.svg"
    model = ROOT / "tests/data/stripped/bert_base.stripped.onnx"
    done = CliRunner().invoke(app, ["graph", str(model), "--out", str(out)])
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "2 MB of memory" in done.stderr
    assert "--depth" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_too_many_boxes_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(svg, "MAX_BOXES", 3)
    payload = build_payload(run_analysis(str(ROOT / "tests/data/models/mnist_cntk.onnx")))
    with pytest.raises(LimitError, match="boxes"):
        svg.svg_picture(payload, depth=20)


def test_deep_recursion_in_a_thread_with_a_small_stack():
    """The picture is drawn in a stack of its own, whatever the thread that asks has."""
    before = threading.stack_size(256 << 10)
    found = []
    try:
        thread = threading.Thread(target=lambda: found.append(depth()))
        thread.start()
        thread.join()
        assert threading.stack_size() == 256 << 10
    finally:
        threading.stack_size(before)
    assert found == ["limit-picture-stack"]


def depth() -> str:
    try:
        engine._in_thread("globalThis.drawSvg = () => { (function f() { f(); })(); };", b"{}")
    except LimitError as fault:
        return fault.code
    return ""


@both
def test_node_draws_where_the_wheel_is_missing(monkeypatch):
    asked = request(ROOT / "tests/data/models/mnist_cntk.onnx")
    expected = ours(asked)
    monkeypatch.setattr(engine, "quickjs", lambda: None)
    assert engine.draw(asked) == expected


def test_another_package_of_the_same_module_is_not_used(monkeypatch):
    monkeypatch.setattr(engine, "import_module", lambda name: SimpleNamespace(Context=object))
    engine.quickjs.cache_clear()
    try:
        assert engine.quickjs() is None
    finally:
        engine.quickjs.cache_clear()


def test_neither_engine(monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "quickjs", lambda: None)
    monkeypatch.setattr("py_autodoc.render.nodejs.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RequirementError, match="quickjs-ng") as fault:
        engine.require_engine()
    assert "pip install quickjs-ng" in fault.value.hint
