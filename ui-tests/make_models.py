"""Makes the folder that the UI tests open: real models, a huge one, a hostile one and broken ones.

usage: python make_models.py ROOT
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from py_autodoc.tags import tag_file

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
REAL = {
    "resnet50.onnx": "stripped/resnet50.stripped.onnx",
    "detr.onnx": "stripped/detr_r50.stripped.onnx",
    "llama.onnx": "stripped/llama32_narrow.stripped.onnx",
    "bert_base.onnx": "stripped/bert_base.stripped.onnx",
    "bert_dyn.onnx": "stripped/bert_base_dyn.stripped.onnx",
    "ppocr_v4_det.onnx": "models/ppocr_v4_det.onnx",
    "resnet_tiny.onnx": "models/resnet_tiny.onnx",
    "silero_vad.onnx": "models/silero_vad_half.onnx",
    "digits_cnn.onnx": "quant/digits_cnn.onnx",
    "digits.npz": "quant/digits.npz",
}
HOSTILE = '<img src=x onerror="window.PWNED=1"><script>window.PWNED=1</script>'


def save(nodes, inputs, outputs, initializers, path, name="g", **kw):
    """Write a model without checking it: some are wrong on purpose."""
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers, **kw)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, path)
    return model


def f32(name, shape):
    """A float input or output."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


class _Layer:
    """Nodes of one decoder layer, about 64 of them, in the names exporters give."""

    def __init__(self, index: int, hidden: str, width: int) -> None:
        self.scope = f"/model/layers.{index}"
        self.prefix = f"L{index}"
        self.nodes: list[onnx.NodeProto] = []
        self.hidden = hidden
        self.width = width

    def op(self, op_type, inputs, where, **attrs):
        """Append a node and return its output's name."""
        n = len(self.nodes)
        out = f"{self.prefix}_{n}"
        self.nodes.append(
            helper.make_node(op_type, inputs, [out], name=f"{self.scope}/{where}/{op_type}_{n}", **attrs)
        )
        return out

    def norm(self, x, where):
        """RMS normalization spelt out in primitives."""
        v = self.op("Mul", [x, x], where)
        v = self.op("ReduceMean", [v], where, axes=[-1], keepdims=1)
        v = self.op("Add", [v, "eps"], where)
        v = self.op("Sqrt", [v], where)
        v = self.op("Div", [x, v], where)
        return self.op("Mul", [v, "gain"], where)

    def rotary(self, x, where):
        """Rotary embedding of a query or key."""
        a = self.op("Mul", [x, "cos"], where)
        b = self.op("Neg", [x], where)
        b = self.op("Mul", [b, "sin"], where)
        return self.op("Add", [a, b], where)

    def build(self):
        """The whole layer; returns the new hidden state's name."""
        x = self.norm(self.hidden, "input_layernorm")
        heads = []
        for part in ("q_proj", "k_proj", "v_proj"):
            h = self.op("MatMul", [x, "w_square"], f"self_attn/{part}")
            h = self.op("Reshape", [h, "to_heads"], "self_attn")
            heads.append(self.op("Transpose", [h], "self_attn", perm=[0, 2, 1, 3]))
        q, k = (self.rotary(t, "self_attn/rotary_emb") for t in heads[:2])
        k = self.op("Transpose", [k], "self_attn", perm=[0, 1, 3, 2])
        s = self.op("MatMul", [q, k], "self_attn")
        s = self.op("Mul", [s, "scale"], "self_attn")
        s = self.op("Add", [s, "mask"], "self_attn")
        s = self.op("Softmax", [s], "self_attn", axis=-1)
        o = self.op("MatMul", [s, heads[2]], "self_attn")
        o = self.op("Transpose", [o], "self_attn", perm=[0, 2, 1, 3])
        o = self.op("Reshape", [o, "from_heads"], "self_attn")
        o = self.op("MatMul", [o, "w_square"], "self_attn/o_proj")
        x = self.op("Add", [self.hidden, o], "residual")
        y = self.norm(x, "post_attention_layernorm")
        g = self.op("MatMul", [y, "w_up"], "mlp/gate_proj")
        a = self.op("Sigmoid", [g], "mlp/act_fn")
        a = self.op("Mul", [g, a], "mlp/act_fn")
        u = self.op("MatMul", [y, "w_up"], "mlp/up_proj")
        u = self.op("Mul", [a, u], "mlp")
        u = self.op("MatMul", [u, "w_down"], "mlp/down_proj")
        return self.op("Add", [x, u], "residual")


def llama_like(nodes: int, path: Path, width: int = 64, tokens: int = 16) -> int:
    """A decoder with about ``nodes`` nodes and mask and rotary tables shared by every layer."""
    heads = 4
    w = np.zeros
    consts = {
        "w_square": w((width, width), np.float32),
        "w_up": w((width, 2 * width), np.float32),
        "w_down": w((2 * width, width), np.float32),
        "gain": np.ones(width, np.float32),
        "eps": np.array(1e-6, np.float32),
        "scale": np.array(0.25, np.float32),
        "cos": w((tokens, width // heads), np.float32),
        "sin": w((tokens, width // heads), np.float32),
        "to_heads": np.array([1, tokens, heads, width // heads], np.int64),
        "from_heads": np.array([1, tokens, width], np.int64),
    }
    all_nodes: list[onnx.NodeProto] = []
    hidden, layer = "hidden", 0
    while len(all_nodes) < nodes:
        part = _Layer(layer, hidden, width)
        hidden = part.build()
        all_nodes += part.nodes
        layer += 1
    all_nodes.append(helper.make_node("Identity", [hidden], ["logits"], name="/model/norm/Identity"))
    save(
        all_nodes,
        [f32("hidden", [1, tokens, width]), f32("mask", [1, 1, tokens, tokens])],
        [f32("logits", [1, tokens, width])],
        [numpy_helper.from_array(v, k) for k, v in consts.items()],
        path,
    )
    return len(all_nodes)


def big(path: Path, megabytes: int = 300) -> None:
    """A small graph with one large weight whose bytes must never travel."""
    rows = megabytes * 1_000_000 // (4 * 1000)
    weight = numpy_helper.from_array(np.zeros((rows, 1000), np.float32), "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="/head/MatMul")
    save([node], [f32("x", [1, rows])], [f32("y", [1, 1000])], [weight], path)


def nameless(source: Path, path: Path) -> None:
    """A real model with all that tells where a node comes from taken away."""
    model = onnx.load(source, load_external_data=False)
    graph = model.graph
    kept = {value.name for value in (*graph.input, *graph.output)}
    numbers: dict[str, str] = {"": ""}

    def renamed(name: str) -> str:
        return name if name in kept else numbers.setdefault(name, str(len(numbers)))

    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [renamed(name) for name in names]
        for field in ("name", "doc_string", "metadata_props"):
            node.ClearField(field)
    for value in (*graph.initializer, *graph.value_info):
        value.name = renamed(value.name)
    model.ClearField("metadata_props")
    onnx.save(model, path)


INHERITED = (
    "constructor", "__defineGetter__", "__defineSetter__", "hasOwnProperty", "__lookupGetter__",
    "__lookupSetter__", "isPrototypeOf", "propertyIsEnumerable", "toString", "valueOf", "__proto__",
    "toLocaleString",
)  # fmt: skip
"""What every object of JavaScript answers to."""


def hostile(path: Path) -> None:
    """Every string a script; also names that trip JavaScript objects."""
    nodes = [
        helper.make_node("Relu", ["x"], [HOSTILE], name=HOSTILE, doc_string=HOSTILE),
        helper.make_node("Sigmoid", [HOSTILE], ["__proto__"], name="__proto__"),
        helper.make_node("Tanh", ["__proto__"], ["constructor"], name="constructor"),
        helper.make_node(
            f"Custom{HOSTILE}",
            ["constructor"],
            ["y"],
            name="=cmd|' /C calc'!A0",
            domain=HOSTILE,
            text=HOSTILE,
            **dict.fromkeys(INHERITED, 1),
        ),
    ]
    for node in nodes[:3]:
        node.attribute.extend(helper.make_attribute(name, 1) for name in INHERITED)
    model = save(nodes, [f32("x", [1, 8])], [f32("y", [1, 8])], [], path, name=HOSTILE, doc_string=HOSTILE)
    model.producer_name = HOSTILE
    meta = model.metadata_props.add()
    meta.key, meta.value = HOSTILE, HOSTILE
    onnx.save(model, path)


def main(root: Path) -> None:
    """Fill ``root``."""
    root.mkdir(parents=True, exist_ok=True)
    for name, source in REAL.items():
        shutil.copyfile(DATA / source, root / name)
    shutil.copy(Path(__file__).resolve().parent / "models" / "llama_cache.onnx", root)
    llama_like(10_000, root / "ten_thousand.onnx")
    tag_file(DATA / REAL["resnet_tiny.onnx"], root / "tagged.onnx")
    nameless(DATA / REAL["bert_base.onnx"], root / "nameless.onnx")
    big(root / "big.onnx")
    hostile(root / "hostile.onnx")
    (root / "lfs.onnx").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 102400000\n"
    )
    (root / "model.ort").write_bytes(b"\x18\x00\x00\x00ORTM" + os.urandom(64))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
