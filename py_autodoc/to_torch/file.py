"""Text of the generated file."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from py_autodoc.graph.ir.model import Tensor
from py_autodoc.to_torch.classes import class_lines
from py_autodoc.to_torch.code import quoted
from py_autodoc.to_torch.dtypes import TORCH
from py_autodoc.to_torch.identifiers import shortened
from py_autodoc.to_torch.layout import wrap
from py_autodoc.to_torch.runtime_functions import functions, needed
from py_autodoc.to_torch.source import ModelFile
from py_autodoc.to_torch.writer import Writer
from py_autodoc.version import NAME

_LOAD = '''def load(weights=None, device="cpu"):
    """Return the model with its weights, in evaluation mode.

    ``weights`` is the file with the weights; the default is the one next to this file. The forward pass
    creates tensors on the default device: to run on another, call ``torch.set_default_device`` first.
    """
    path = Path(weights) if weights is not None else Path(__file__).with_name(WEIGHTS)
{read}
{tie}    with torch.device("meta"):
        model = Model()
    model.load_state_dict(state, strict=True, assign=True)
{share}    return model.eval().to(device)
'''
_SAFETENSORS = "    state = load_file(path)"
_NPZ = """    with np.load(path, allow_pickle=False) as held:
        state = {name: torch.from_numpy(held[name].copy()) for name in held.files}"""
_BITS = """    for name, dtype in BITS.items():
        state[name] = state[name].view(getattr(torch, dtype))"""
_TIE = "    state.update({name: state[source] for name, source in TIED.items()})\n"
_SHARE = """    parameters = dict(model.named_parameters(remove_duplicate=False))
    for name, source in TIED.items():
        if source in parameters:
            owner, _, leaf = name.rpartition(".")
            setattr(model.get_submodule(owner), leaf, parameters[source])
"""


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """Facts about the weights file that the generated file needs."""

    name: str
    kind: str
    tied: dict[str, str]
    bits: dict[str, str]


def file_text(source: ModelFile, writer: Writer, weights: WeightsFile) -> str:
    """Return the complete source of the file."""
    classes = writer.classes.all
    bodies = []
    for module_class in classes:
        root = module_class is classes[-1]
        doc = _interface(source, writer) if root else []
        bodies.append("\n".join(class_lines(module_class, doc)))
    helpers = [functions()[name] for name in needed(_used(writer, bodies))]
    constants = _constants(source, writer, weights)
    read = _SAFETENSORS if weights.kind == "safetensors" else _NPZ
    if weights.bits and weights.kind == "npz":
        read += f"\n{_BITS}"
    tied = bool(weights.tied)
    loader = _LOAD.format(read=read, tie=_TIE if tied else "", share=_SHARE if tied else "")
    main = _main(source, writer)
    parts = [*helpers, *bodies, loader.rstrip(), *main]
    body = "\n\n\n".join(parts)
    head = _head(source, weights)
    imports = _imports(f"{constants}\n\n\n{body}", weights)
    text = f"{head}\n\n{imports}\n\n{constants}\n\n\n{body}\n"
    ast.parse(text)
    return text


def _used(writer: Writer, bodies: list[str]) -> set[str]:
    """Return the runtime functions that the classes still call after unused statements were removed."""
    text = "\n".join(bodies)
    return {name for name in writer.helpers if name in text}


def _head(source: ModelFile, weights: WeightsFile) -> str:
    lines = [f'"""{shortened(source.name, 70)} as a PyTorch module.', ""]
    lines.append(f"Written by {NAME} from the ONNX file. ``load()`` returns the model with its weights from")
    lines += [f"{shortened(weights.name)}, next to this file.", '"""']
    return "\n".join(lines)


def _interface(source: ModelFile, writer: Writer) -> list[str]:
    graph = source.model.graphs[0]
    lines = ['"""Inputs and outputs, with their names in the ONNX file.', "", "Inputs:"]
    for tensor, name in writer.inputs.items():
        label = source.model.tensors[tensor].name
        original = "" if label == name else f" ({shortened(label, 36)})"
        lines.append(f"    {name}{original}: {_type(source, source.model.tensors[tensor])}")
    if not writer.inputs:
        lines.append("    none")
    lines += ["", "Returns:"]
    for tensor in graph.outputs:
        stored = source.model.tensors[tensor]
        lines.append(f"    {shortened(stored.name, 36)}: {_type(source, stored)}")
    return [*lines, '"""']


def _type(source: ModelFile, tensor: Tensor) -> str:
    dtype = TORCH.get(source.dtype(tensor.id), "unknown")
    shape = source.types.shapes[tensor.id]
    if shape is None:
        return f"{dtype}, any shape"
    sizes = ", ".join("?" if size is None else shortened(str(size), 24) for size in shape)
    return f"{dtype} [{shortened(sizes, 50)}]"


def _mapping(name: str, keys: dict[str, str]) -> str:
    items = ", ".join(f"{quoted(key)}: {quoted(value)}" for key, value in keys.items())
    return "\n".join(wrap(f"{name} = {{{items}}}", 0))


def _constants(source: ModelFile, writer: Writer, weights: WeightsFile) -> str:
    model = source.model
    inputs = {name: model.tensors[tensor].name for tensor, name in writer.inputs.items()}
    outputs = ", ".join(quoted(model.tensors[tensor].name) for tensor in model.graphs[0].outputs)
    lines = [f"WEIGHTS = {quoted(weights.name)}", _mapping("INPUTS", inputs)]
    lines.append("\n".join(wrap(f"OUTPUTS = [{outputs}]", 0)))
    if weights.tied:
        lines.append(_mapping("TIED", weights.tied))
    if weights.bits and weights.kind == "npz":
        lines.append(_mapping("BITS", weights.bits))
    return "\n".join(lines)


def _main(source: ModelFile, writer: Writer) -> list[str]:
    """Return code that runs the model on zeros, if all inputs are tensors of known rank.

    Symbolic dimensions are 2.
    """
    arguments = []
    for tensor in writer.inputs:
        shape = source.types.shapes[tensor]
        dtype = source.dtype(tensor)
        if shape is None or dtype not in TORCH or source.model.tensors[tensor].container != "tensor":
            return []
        sizes = [str(size) if isinstance(size, int) else "2" for size in shape]
        inside = ", ".join(sizes) if sizes else "()"
        arguments.append(f"torch.zeros({inside}, dtype=torch.{TORCH[dtype]})")
    lines = ['if __name__ == "__main__":', "    with torch.no_grad():"]
    call = f"load()({', '.join(arguments)})"
    if len(source.model.graphs[0].outputs) == 1:
        call = f"({call},)"
    lines += wrap(f"results = {call}", 8)
    lines.append("    for name, result in zip(OUTPUTS, results, strict=True):")
    lines.append('        print(name, getattr(result, "dtype", ""), list(getattr(result, "shape", ())))')
    return ["\n".join(lines)]


def _imports(body: str, weights: WeightsFile) -> str:
    tree = ast.parse(body)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    first = ["from __future__ import annotations", ""]
    standard = [f"import {name}" for name in ("itertools", "math") if name in names]
    abstract = [name for name in ("Callable", "Sequence") if name in names]
    standard += [f"from collections.abc import {', '.join(abstract)}"] if abstract else []
    third_party = ["import numpy as np"] if weights.kind == "npz" else []
    third_party.append("import torch")
    third_party += ["import torch.nn.functional as F"] if "F" in names else []
    third_party += ["from safetensors.torch import load_file"] if weights.kind == "safetensors" else []
    third_party.append("from torch import nn")
    last = ["from pathlib import Path", *(["from typing import Any"] if "Any" in names else [])]
    return "\n".join([*first, *standard, *last, "", *third_party])
