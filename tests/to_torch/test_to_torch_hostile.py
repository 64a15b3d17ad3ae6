"""Names in a model are untrusted: none of them becomes code."""

from __future__ import annotations

import ast
import builtins
import keyword
from itertools import pairwise

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch_files import imported, run, same, save

from py_autodoc.to_torch import write
from py_autodoc.to_torch.code import quoted
from py_autodoc.to_torch.identifiers import MODULE_NAMES, attribute, class_name, identifier

BOMB = "__import__('pathlib').Path('BOMB').write_text('x')"
HOSTILE = [
    BOMB,
    f'"""\n{BOMB}\n"""',
    f"x\n{BOMB}\n",
    f"');{BOMB};('",
    f'"); {BOMB} #',
    f"x\\\n\r\u2028{BOMB}",
    "\\",
    "\\'",
    '"',
    "é\u202eü\U0001f600",
    "class",
    "self",
    "torch",
    "print",
    "__init__",
    "0",
    "",
    " ",
    "\x001\x02",
    "\x010\x02",
    "\x030\x04",
    "{0}",
    "%s",
    "forward",
    "onnx_pad",
    "load",
    "Model",
    "a" * 5000,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_identifiers(text):
    for made in (identifier(text), attribute(text), class_name(text)):
        assert made.isidentifier()
        assert made.isascii()
        assert not keyword.iskeyword(made)
        assert len(made) < 60
    assert identifier(text) not in dir(builtins)
    assert not identifier(text).startswith("onnx_")
    assert ast.literal_eval(quoted(text)) == text
    assert quoted(text).isascii()
    assert quoted(text).isprintable()


def test_no_attribute_hides_one_of_torch():
    kinds = (torch.nn.Module(), torch.nn.ModuleDict())
    own = {name: getattr(kind, name) for kind in kinds for name in dir(kind) if not name.startswith("_")}
    # Other libraries hang functions of their own onto torch's classes.
    public = {
        name for name, it in own.items() if not str(getattr(it, "__module__", "")).startswith("transformers")
    }
    assert public <= MODULE_NAMES
    assert all(attribute(name) not in public for name in public)


def model(texts: list[str], scoped: bool) -> onnx.ModelProto:
    """x → one Mul after the other, every name hostile."""
    names = [text or f"empty{number}" for number, text in enumerate(texts)]
    names = [f"{name}{number}" if name in names[:number] else name for number, name in enumerate(names)]
    nodes, weights = [], []
    for number, (before, after) in enumerate(pairwise(names)):
        weight = f"w{number}.{texts[number]}"
        weights.append(onnx.numpy_helper.from_array(np.arange(1, 4, dtype=np.float32), weight))
        node = helper.make_node("Mul", [before, weight], [after], name=texts[number])
        node.doc_string = texts[number]
        if scoped:
            levels = ["", texts[number], f"{texts[number]}.{texts[-number]}", "op"]
            node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=repr(levels))
            kinds = ["m.Top", f"m.{texts[-number]}", texts[number], "aten.mul"]
            node.metadata_props.add(key="pkg.torch.onnx.class_hierarchy", value=repr(kinds))
        nodes.append(node)
    value = [
        helper.make_tensor_value_info(names[n], TensorProto.FLOAT, [texts[7] or "n", 3])
        for n in (0, len(names) - 1)
    ]
    graph = helper.make_graph(nodes, texts[1], value[:1], value[1:], weights, doc_string=texts[1])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    made.producer_name = texts[1]
    return made


@pytest.mark.parametrize("scoped", [False, True])
@pytest.mark.parametrize("turn", range(0, len(HOSTILE), 3))
def test_no_name_runs(turn, scoped, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [*HOSTILE[turn:], *HOSTILE[:turn]]
    proto = model(texts, scoped)
    path = save(tmp_path, proto, "evil\"'name.onnx")
    write(path, tmp_path / "evil.py")
    source = (tmp_path / "evil.py").read_text("ascii")
    tree = ast.parse(source)
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & {"exec", "eval", "compile", "open", "__import__"}
    module = imported(tmp_path / "evil.py")
    x = np.ones((2, 3), np.float32)
    (result,) = run(module, dict.fromkeys(module.INPUTS.values(), x))
    expected = np.arange(1, 4, dtype=np.float32) ** (len(texts) - 1)
    np.testing.assert_allclose(result.numpy(), np.broadcast_to(expected, (2, 3)), rtol=1e-4)
    assert not (tmp_path / "BOMB").exists()


def test_strings_of_attributes(tmp_path):
    node = helper.make_node("Einsum", ["x"], ["y"], equation=" i j -> j i ")
    shapes = (("x", [2, 3]), ("y", [3, 2]))
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes]
    graph = helper.make_graph([node], "g", value[:1], value[1:])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    same(tmp_path, proto, {"x": np.ones((2, 3), np.float32)})
