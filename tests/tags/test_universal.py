"""The exporter knows no architecture, no operator and no name of a model; tags need no torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import onnx.defs
import pytest

from py_autodoc.tags import KEEP

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent / "py_autodoc"
FILES = [p for folder in ("tags", "torch", "hf") for p in sorted((ROOT / folder).rglob("*.py"))]
# Comparing by structure knows what operators compute; comparing tags and bytes does not.
FILES += [ROOT / "compare" / name for name in ("tags.py", "topology.py")]


def literals(tree):
    """String literals in code: not docstrings, not the text of annotations."""
    quiet = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else []:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                quiet.add(one.value)
        if isinstance(node, ast.JoinedStr):
            quiet.update(v for v in node.values if isinstance(v, ast.Constant))
        if isinstance(node, ast.Raise):  # messages
            quiet.update(n for n in ast.walk(node) if isinstance(n, ast.Constant))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in quiet:
            yield node.value


def known_names():
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    architectures = set(CONFIG_MAPPING_NAMES) | {
        n.removesuffix("Config").lower() for n in CONFIG_MAPPING_NAMES.values()
    }
    # What attributes of models are usually called.
    parts = {
        "encoder", "decoder", "attention", "embeddings", "layer", "query", "key", "pooler", "classifier",
        "mlp", "word_embeddings", "lm_head", "wte", "layernorm", "conv", "convolution", "normalization",
    }  # fmt: skip
    operators = {schema.name.lower() for schema in onnx.defs.get_all_schemas()}
    words = {"if", "data", "value", "key", "shape", "size", "equal"}  # also plain words of this code
    return (architectures | parts | operators) - words


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_nothing_is_hard_coded(path):
    tree = ast.parse(path.read_text())
    # Tags show some of torch's own classes: a list by glob, which every caller can replace.
    allowed = set(KEEP) if path.name == "naming.py" else set()
    if path.name == "quantizing.py":  # what a quantizer writes is no operator of any model
        allowed = {"QuantizeLinear", "DequantizeLinear"}
    found = {text for text in literals(tree) if text.lower() in NAMES}
    assert found <= allowed
    for node in ast.walk(tree):  # no decision by what an operator is called, but to tell two apart
        if isinstance(node, ast.Compare) and any(
            isinstance(n, ast.Attribute) and n.attr == "op_type" for n in ast.walk(node)
        ):
            assert not any(isinstance(n, ast.Constant) and n.value for n in ast.walk(node)), ast.unparse(node)


NAMES = known_names()


def test_the_grep_finds_what_it_looks_for():
    code = 'def f(n):\n    """Gemm"""\n    return n.op == "MatMul" or "bert" in n.name or "query" in n.name'
    assert {t.lower() for t in literals(ast.parse(code))} & NAMES == {"matmul", "bert", "query"}


@pytest.mark.slow
def test_tags_need_no_torch():
    code = (
        "import py_autodoc.tags, py_autodoc.compare, sys\n"
        "py_autodoc.tags.load_tags('tests/data/models/bert_tiny.onnx')\n"
        "assert not {'torch', 'transformers', 'onnxruntime', 'onnxscript'} & set(sys.modules)\n"
        "import py_autodoc.torch\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
