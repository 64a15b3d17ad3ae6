"""Models and hostile texts that the tests of all documents share."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from py_autodoc.render.document import context
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.sections.section_model import SectionContext

DATA = Path(__file__).parents[1] / "data"
MODELS = {
    "resnet50": ("stripped/resnet50.stripped.onnx", ""),
    "resnet50-l4": ("stripped/resnet50.stripped.onnx", "l4"),
    "bert-free": ("stripped/bert_base_dyn.stripped.onnx", ""),
    "gpt2": ("stripped/gpt2.stripped.onnx", "l4"),
    "llama": ("stripped/llama_gqa_small.stripped.onnx", ""),
    "detr": ("stripped/detr_r50.stripped.onnx", ""),
    "mamba": ("models/mamba_tiny.onnx", ""),
    "qdq": ("models/resnet_tiny_qdq_int8.onnx", ""),
    "loop": ("models/trt_loop.onnx", ""),
    "vad": ("models/silero_vad_half.onnx", ""),
    "pitch": ("models/swift_f0.onnx", ""),
}
HOSTILE = [
    "</td><script>alert(1)</script>",
    "![x](http://evil.example/a.png)",
    "[click](javascript:alert(1))",
    "`code` ``two`` ``` three",
    "# title\n- item\n1. one",
    "a|b|c $x^2$ @everyone #1 ~~gone~~",
    "https://evil.example/a www.evil.example",
    '"]; s1 --> s2; click s1 "javascript:1"',
    "---\nlicense: mit\n---",
    "<!-- onnx-autodoc: end -->",
    '#panic("x") #import "@preview/a:1.0.0" $x$ \\ *b* _i_',
    "{{ 7 * 7 }} {% raw %} ${x}",
    "\x1b[31mred\x07 \u202eright",
    "x" * 5_000,
]


@cache
def analysed(name: str) -> tuple[Analysis, SectionContext]:
    """A model of ``MODELS``, analysed, and what its documents are made from."""
    path, device = MODELS[name]
    analysis = run_analysis(str(DATA / path), Options(hardware=device))
    return analysis, context(analysis)


def hostile(path: Path) -> Path:
    """A chain whose every name and text is an attack."""
    nodes = [
        helper.make_node("Relu" if at % 2 else "Exp", [one], [two], one, doc_string=one)
        for at, (one, two) in enumerate(itertools.pairwise(HOSTILE))
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 8]) for n in (HOSTILE[0], HOSTILE[-1])]
    graph = helper.make_graph(nodes, HOSTILE[0], [ends[0]], [ends[1]])
    model = helper.make_model(graph, producer_name=HOSTILE[2], doc_string=HOSTILE[4])
    names = dict(enumerate(HOSTILE))
    helper.set_model_props(
        model,
        {"names": str(names), "license": HOSTILE[8], "description": HOSTILE[0], "task": "detect"}
        | {text[:200]: text for text in HOSTILE},
    )
    onnx.save(model, path)
    return path
