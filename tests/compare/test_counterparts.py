"""Side by side: a float model and its quantized twins have every product in common."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

pytest.importorskip("onnxruntime.quantization")

from twins import TWINS, with_weights

ROOT = Path(__file__).resolve().parents[2]
PRODUCTS = re.compile(r"MatMul|Gemm|Conv(?!ert)")
APPENDED = re.compile(r"(_quant|_Q4|_Q8|/\w+Fusion/?)$")
READY = shutil.which("node") and (ROOT / "node_modules" / "esbuild").is_dir()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not READY, reason="needs Node and the packages of the viewer"),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Name of the twins → the payloads and what the viewer makes of them."""
    folder = tmp_path_factory.mktemp("twins")
    payloads, files = {}, []
    for name, (source, make) in TWINS.items():
        left = with_weights(source, folder / f"{name}-float.onnx")
        right = folder / f"{name}.onnx"
        make(left, right)
        payloads[name] = [build_payload(run_analysis(path, Options(assume=True))) for path in (left, right)]
        for side, payload in enumerate(payloads[name]):
            files.append(folder / f"{name}-{side}.json")
            files[-1].write_bytes(msgspec.json.encode(payload))
    script = Path(__file__).with_name("counterparts.mjs")
    done = subprocess.run(["node", script, *files], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    return {name: (payloads[name], json.loads(line)) for name, line in zip(TWINS, lines, strict=True)}


def operators(payload):
    return [payload.ops[op].type for op in payload.nodes.op]


@pytest.mark.parametrize("name", TWINS)
def test_every_product_has_a_counterpart(found, name):
    payloads, matching = found[name]
    for payload, only in zip(payloads, matching["only"], strict=True):
        types = operators(payload)
        assert [payload.nodes.name[node] for node in only if PRODUCTS.search(types[node])] == []


@pytest.mark.parametrize("name", TWINS)
def test_the_counterparts_are_the_right_ones(found, name):
    """Quantizers keep the source's name and append to it; products are never paired across names."""
    (left, right), matching = found[name]
    kinds = operators(left), operators(right)
    names = left.nodes.name, right.nodes.name
    known = set(names[0])
    wrong = []
    for a, b, _ in matching["pairs"]:
        if PRODUCTS.search(kinds[0][a]):
            source = APPENDED.sub("", names[1][b])
            if source in known and source != names[0][a]:
                wrong.append((names[0][a], names[1][b]))
    assert wrong == []
    assert all(PRODUCTS.search(kinds[1][b]) for a, b, _ in matching["pairs"] if PRODUCTS.search(kinds[0][a]))
