"""Models whose names are commands to terminals and CI runners, in every place that has a name."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from onnx import ModelProto, ValueInfoProto, helper, numpy_helper

MARK = "Qzq"
"""In every name; no text of ours contains it."""
NAMES = (
    f"{MARK}\n::error file=a.py,line=1::{MARK}\r::set-output name=x::{MARK}",
    f"::warning::{MARK}",
    f"  \t::error::{MARK}\u2028::error::{MARK}\u2029##[error]{MARK}\x85::error::{MARK}",
    f"{MARK}##[error]{MARK}##vso[task.setvariable variable=a]{MARK}",
    f"##teamcity[buildStop comment='{MARK}']\n##[group]{MARK}\v##vso[task.x]",
    f"\x1b[0Ksection_start:1:{MARK}\r\x1b[0K{MARK}\x1b]0;owned\x07\x1b[8mha:////{MARK}\x1b[0m",
    f"--- {MARK}\n+++ {MARK}\n~~~ {MARK}\n^^^ +++\ntravis_fold:start:{MARK}\r",
    f"{MARK}%0A::error::{MARK}%0D%0A##[error]",
    f"{MARK}\u202e\u2066\u200f\ufeff\x00\x9b31m\x7f{MARK}",
    f"{MARK}\n::error::{MARK * 1_000}",
)
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_ANYWHERE = re.compile(r"##\w*\[")
_START = re.compile(r"\s*::|---|\+\+\+|~~~|\^\^\^|travis_|section_")


def forged(text: str, *, ci: bool, wrapped: bool = False) -> list[str]:
    """Return the lines of a log that would be commands to some CI runner, or that begin with a name.

    A ``wrapped`` text may begin a line with a name, since its lines are as long as the terminal is wide.
    """
    found = []
    for line in re.split("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text):
        is_command = _ANYWHERE.search(line) or _START.match(line) or (ci and "::" in line)
        if is_command or (line.startswith(MARK) and not wrapped):
            found.append(line)
    return found


def value(name: str, dims: list[object] | None) -> ValueInfoProto:
    """Return a float tensor."""
    info = helper.make_tensor_value_info(name, 1, dims)
    info.doc_string = name
    return info


def model(name: str, kind: str = "valid") -> ModelProto:
    """Return a model: ``valid``, or with an unknown operator, a function, or a name that nothing produces."""
    names = {key: f"{name}{key}" for key in ("x", "w", "b", "y", "z", "o")}
    nodes = [
        helper.make_node(
            "Gemm", [names["x"], names["w"], names["b"]], [names["y"]], f"{name}n1", doc_string=name
        ),
        helper.make_node("Relu", [names["y"]], [names["z"]], f"{name}n2", doc_string=name),
    ]
    outputs = [value(names["z"], [f"{name}batch", 4])]
    opsets, functions = [helper.make_opsetid("", 17)], []
    if kind == "unknown":
        nodes.append(helper.make_node(f"{name}Op", [names["z"]], [names["o"]], f"{name}n3", domain=name))
        nodes[-1].attribute.append(helper.make_attribute(f"{name}attribute", name))
        nodes[-1].attribute.append(helper.make_attribute("__proto__", name))
        outputs.append(value(names["o"], None))
        opsets.append(helper.make_opsetid(name, 1))
    if kind == "function":
        inner = helper.make_node("Sigmoid", [f"{name}i"], [f"{name}o"], f"{name}inner", doc_string=name)
        made = helper.make_function(name, f"{name}F", [f"{name}i"], [f"{name}o"], [inner], opsets)
        made.doc_string = name
        functions.append(made)
        nodes.append(helper.make_node(f"{name}F", [names["z"]], [names["o"]], f"{name}n3", domain=name))
        outputs.append(value(names["o"], None))
        opsets.append(helper.make_opsetid(name, 1))
    if kind == "dangling":
        nodes[1].input[0] = f"{name}nothing"
    for node in nodes:
        for key, text in (
            ("autodoc.tag", f"/{name}/Net"), ("autodoc.scope", name), ("namespace", name), (name, name),
        ):  # fmt: skip
            node.metadata_props.add(key=key, value=text)
    weights = [
        numpy_helper.from_array(np.arange(16, dtype=np.float32).reshape(4, 4) / 16, names["w"]),
        numpy_helper.from_array(np.ones(4, np.float32), names["b"]),
    ]
    graph = helper.make_graph(
        nodes, f"{name}g", [value(names["x"], [f"{name}batch", 4])], outputs, weights, doc_string=name
    )
    made_model = helper.make_model(
        graph, opset_imports=opsets, ir_version=10, functions=functions, producer_name=name,
        producer_version=name, domain=name, doc_string=name,
    )  # fmt: skip
    for key in (name, "author", "pipeline_tag", "labels", "license"):
        made_model.metadata_props.add(key=key, value=name)
    return made_model


def write(folder: Path, name: str, kind: str) -> str:
    """Write such a model under a harmless file name and return its path."""
    path = folder / f"{kind}.onnx"
    path.write_bytes(model(name, kind).SerializeToString())
    return str(path)
