"""Queries × models → node ids, or what is wrong and where: what both search engines are tested against.

``python tests/report/query_fixture.py`` writes ``src/core/testing/queries.json``, which
``src/core/query/queryFixture.test.ts`` reads.
"""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import onnx
from builders import F, model, weight
from onnx import helper

from py_autodoc.report.node_query.node_matcher import NodeMatcher
from py_autodoc.report.node_query.query_parser import QueryError
from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.report.schema import DeviceColumns, GraphPayload, HardwarePart
from py_autodoc.report.viewer_payload.build_payload import build_payload

DATA = Path(__file__).parents[1] / "data" / "models"
FIXTURE = Path(__file__).parents[2] / "src/core/testing/queries.json"
COUNT = 150
"""Random queries a model."""

WRITTEN = [
    "op=Conv & macs>1e8 & in[0].shape[1]>=256", "op=conv", "OP=CONV", "op=C*v", "op=*o*n*v", "op=Conv*v",
    "op~ELU", "op!=Conv", "op==Relu", "op≠Relu", "conv", '"conv"', "conv & relu", "conv | relu", "!conv",
    "!!relu", "! ! relu", "relu|conv&!bn", "(relu|conv)&!bn", "a|b|c", "  ", "", '""', "&", "()", "(conv",
    "conv)", "macs>", "macs>&", ">5", "macs=?", "!macs=?", "macs!=?", "macs>1e999", "macs=lots", "macs~3",
    "op>3", "colour>3", "conv & x=1", "in[0].size>3", "__proto__=1", "constructor=1", "conv &", "| conv",
    "conv & | relu", "!", "conv \t\n relu", "conv\u00a0relu", "conv\u3000relu", "conv\x1crelu",
    "macs≥1k params≤10K", "macs>=1KiB", "weights>1kB", "weights>.5k", "params=0", "bytes>1e3",
    "intensity>1", "intensity=0", "read>write", "in[0].shape[0]=batch", "in[0].shape[0]!=batch",
    "in[0].shape[0]~bat", "in[0].shape[0]>batch", "in[0].shape[-1]=8", "in[0].shape[-9]=8",
    "in[0].shape[9]=8", "in[9].shape[0]=1", "in[1].shape=16x3x3x3", "16x3x3x3", "3×3", "out[0].rank=4",
    "out[0].rank=?", "out[0].shape=?", "out[0].shape=scalar", "out[0].shape~×", "dtype=float32", "dtype=?",
    "in[1].dtype=int64", "in[0].name=x", "in[0].name~", 'name="odd(1) & <b>"', "name~odd", 'name="',
    "name=*", "name=", "tag~layer.0", "module~attention", "tag=?", "domain=ai.onnx", "domain=com.example",
    "then_branch", '"then_branch"', "größe", "GRÖSSE", "Straße", "İ", "softmax layer.1", "layer.0",
    '"layer.0"', "attention/self", "bertmodel/bertencoder", "tag=bertmodel", "float32", "add float32 1",
    "x", "0", "1e3", "latency>5e-6", "latency=?", "latency=0", "!latency<1e-5",
    "latency>=5.3e-6 & op=Conv", "latency~1", "macs>0 | macs=?", "!(macs>0)",
    "!(macs>0 & op=Conv)", "!(op=Mystery | macs>0)",
    "(" * 50 + "relu" + ")" * 50, "(" * 51 + "relu" + ")" * 51, "!" * 99 + "relu", "a&&b", "a||b", "a&|b",
    "tag=/BertModel/BertEncoder/BertLayer.1/*", "tag=*/bertlayer.0/*attention", "scope=m.encoder.layer.1.*",
    "scope=*.attention.self*", "scope~layer.0", "scope=?", "scope!=encoder*", "scope>3", "scope=m.*",
    "tag~bertlayer.0 & op=MatMul", "tag=*/BertModel/*BertLayer.1*", "conv!", "co!nv", "co!=nv", "params<10.",
    "params<10.5", "params<-1", "params<1_000", "params<0x10",
    "attr.pads=1,1,1,1", "attr.pads=1x1x1x1", "attr.pads=[1,1,1,1]", "attr.pads[0]=1", "attr.pads[-1]>0",
    "attr.pads[9]=1", "attr.pads~1", "attr.keepdims=0", "attr.KeepDims<1", "attr.axis=-1", "attr.axis[0]=1",
    "attr.epsilon<1e-3", "attr.epsilon=?", "attr.then_branch=?", "attr.=1", "attr.[0]=1",
    "attr.transB=1 | gelu", "attr.__proto__=1", "attr.group=1", "!(attr.group=1)", "epsilon", "keepdims",
    "kernel_shape & relu",
    "tanh", "attr.approximate=tanh", "attr.approximate!=tanh", "attr.approximate=none", "attr.strides!=1,1",
    "params<1e+3", "macs > 1e3 op = Conv", "\u2167", "ﬁ", "ſ", "Σ ΟΔΟΣ", "𝒜", "op=Conv op=Relu",
]  # fmt: skip
_WORDS = [
    "conv", "relu", "add", "layer.0", "attention", '"relu"', "float32", "stage", "norm", "1", "gelu",
    "weight",
]  # fmt: skip
_TEXTS = [
    "op",
    "name",
    "tag",
    "module",
    "scope",
    "domain",
    "dtype",
    "in[0].name",
    "out[0].dtype",
    "in[1].shape",
]
_NUMBERS = [
    "params", "macs", "flops", "bytes", "read", "write", "weights", "activation", "intensity", "in[0].rank",
]  # fmt: skip
_SIZES = [
    "attr.axis",
    "attr.strides[0]",
    "attr.pads",
    "in[0].shape[0]",
    "in[0].shape[1]",
    "out[0].shape[-1]",
    "in[1].shape[0]",
    "out[0].shape[2]",
]


def odd() -> onnx.ModelProto:
    """Free sizes, a body, an operator nobody knows, names nobody expects."""

    def branch(name: str) -> onnx.GraphProto:
        nodes = [helper.make_node("Relu", ["h"], [f"{name}_y"], name=f"/gate/{name}/Relu")]
        out = helper.make_tensor_value_info(f"{name}_y", F, None)
        return helper.make_graph(nodes, name, [], [out])

    nodes = [
        helper.make_node("Conv", ["x", "w"], ["h"], name="/stem/größe/Conv", pads=[1, 1, 1, 1]),
        helper.make_node("ReduceSum", ["h"], ["s"], keepdims=0, name="odd(1) & <b>"),
        helper.make_node("Greater", ["s", "zero"], ["c"], name="Straße"),
        helper.make_node(
            "If", ["c"], ["g"], name="/gate/If", then_branch=branch("then"), else_branch=branch("else")
        ),
        helper.make_node("Mystery", ["g"], ["m"], domain="com.example", name="/tail/a//b/Mystery"),
        helper.make_node("Identity", ["m"], ["z"]),
        helper.make_node("Constant", [], ["k"], value_float=1.0, name="Constant_relu"),
        helper.make_node("Mul", ["h", "k"], ["y"], name="ΟΔΟΣ"),
    ]
    made = model(
        nodes,
        [("x", ["batch", 3, "h", 8])],
        [("y", None), ("z", None)],
        [weight("w", 16, 3, 3, 3), weight("zero")],
    )
    made.opset_import.append(helper.make_opsetid("com.example", 1))
    return made


@cache
def payloads() -> dict[str, GraphPayload]:
    """The models, without what no query reads."""
    sources: dict[str, Any] = {
        "odd": odd(),
        "resnet": DATA / "resnet_tiny.onnx",
        "bert": DATA / "bert_tiny.onnx",
    }
    found = {}
    for name, source in sources.items():
        device = "" if name == "odd" else "t4"
        payload = build_payload(run_analysis(source, Options(assume=name != "odd", hardware=device)))
        found[name] = msgspec.structs.replace(
            payload,
            expressions=None,
            timeline=None,
            hardware=_one_device(payload.hardware),
            risk_signals=[],
            diagnostics=[],
        )
    return found


def _one_device(part: HardwarePart | None) -> HardwarePart | None:
    """The device that was chosen, alone: hundreds that nobody asks about would fill the file."""
    if part is None or not part.chosen:
        return None
    columns = part.devices
    at = columns.id.index(part.chosen)
    kept = {
        name: getattr(columns, name)[at : at + 1]
        for name in DeviceColumns.__struct_fields__
        if name not in ("peaks", "measured", "prices")
    }
    peaks = {name: rates[at : at + 1] for name, rates in columns.peaks.items()}
    measured = {"0": columns.measured[str(at)]} if str(at) in columns.measured else {}
    return msgspec.structs.replace(
        part, devices=DeviceColumns(**kept, peaks=peaks, measured=measured, prices={})
    )


def query(rng: random.Random, depth: int) -> str:
    """A random query, often with matches."""
    kind = rng.randrange(8) if depth else rng.randrange(4)
    if kind == 0:
        return rng.choice(_WORDS)
    if kind == 1:
        value = rng.choice(["*", "*r*", *_WORDS, "Conv", "?"])
        return f"{rng.choice(_TEXTS)}{rng.choice(['=', '!=', '~'])}{value}"
    if kind == 2:
        number = rng.choice(["0", "1", "4", "1e3", "10k", "1.5M", "64KiB", "1e7"])
        return f"{rng.choice(_NUMBERS)}{rng.choice(['<', '>', '<=', '>=', '=', '!='])}{number}"
    if kind == 3:
        return (
            f"{rng.choice(_SIZES)}{rng.choice(['<', '>=', '=', '!='])}{rng.choice(['1', '16', '64', '128'])}"
        )
    if kind == 4:
        return f"!({query(rng, depth - 1)})"
    joint = rng.choice([" & ", " ", " | ", "|"])
    return f"({query(rng, depth - 1)}{joint}{query(rng, depth - 1)})"


def answer(matcher: NodeMatcher, text: str) -> dict[str, Any]:
    """Ids, or the fault with its place counted as a browser counts, in units of UTF-16."""
    try:
        return {"ids": matcher.find(text)}
    except QueryError as fault:
        return {"fault": [fault.kind, len(text[: fault.position].encode("utf-16-le")) // 2, fault.text]}


def fixture() -> bytes:
    """The file."""
    rng = random.Random(20261121)
    cases = []
    found = payloads()
    for name, payload in found.items():
        matcher = NodeMatcher(payload)
        texts = [*WRITTEN, *(query(rng, 3) for _ in range(COUNT))]
        cases += [{"model": name, "query": text, **answer(matcher, text)} for text in texts]
    return json.dumps(
        {"models": msgspec.to_builtins(found), "cases": cases}, ensure_ascii=True, separators=(",", ":")
    ).encode()


if __name__ == "__main__":
    FIXTURE.write_bytes(fixture())
