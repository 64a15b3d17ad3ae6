#!/usr/bin/env python3
"""Writes the models that the benchmarks in a browser open; prints how many nodes each has.

benchmarks/models.py FOLDER NAME [NAME …]

A name is ``chain-5000``, ``decoder-5000`` (mask shared by every layer; any number of nodes),
``encoder-5000`` (BERT-like, as TorchScript writes it, weights small; whole layers, so a few more
nodes), ``free-2000`` (the decoder for any batch and number of tokens), or ``resnet50``, ``bert_dyn``,
``llama``: real graphs, their weights left out.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import onnx
from synthetic import Encoder, chain, save_single

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "ui-tests"))
from make_models import llama_like  # noqa: E402

LAYER_NODES = 79
"""In a layer of the encoder."""
REAL = {"resnet50": "resnet50", "bert_dyn": "bert_base_dyn", "llama": "llama32_narrow"}


def free_decoder(nodes: int, path: Path) -> None:
    """The decoder with free sizes: rotary tables and mask become inputs as long as the text."""
    llama_like(nodes, path)
    model = onnx.load(path)
    graph = model.graph
    for tensor in list(graph.initializer):
        if tensor.name in ("to_heads", "from_heads"):
            sizes = onnx.numpy_helper.to_array(tensor).copy()
            sizes[:2] = 0  # as in the input
            tensor.CopyFrom(onnx.numpy_helper.from_array(sizes, tensor.name))
        elif tensor.name in ("cos", "sin"):
            graph.initializer.remove(tensor)
            width = tensor.dims[1]
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, 1, ["tokens", width]))
    shapes = {
        "hidden": ("batch", "tokens"),
        "logits": ("batch", "tokens"),
        "mask": ("batch", None, "tokens", "tokens"),
    }
    for value in (*graph.input, *graph.output):
        for dim, name in zip(value.type.tensor_type.shape.dim, shapes.get(value.name, ()), strict=False):
            if name is not None:
                dim.dim_param = name
    onnx.save(model, path)


def write(folder: Path, name: str) -> int:
    """Write one model as ``NAME.onnx``; how many nodes it has."""
    path = folder / f"{name}.onnx"
    kind, _, count = name.partition("-")
    if kind in REAL:
        shutil.copyfile(ROOT / "tests" / "data" / "stripped" / f"{REAL[kind]}.stripped.onnx", path)
    elif kind == "chain" and count.isdigit():
        onnx.save(chain(int(count)), path)
    elif kind == "decoder" and count.isdigit():
        llama_like(int(count), path)
    elif kind == "encoder" and count.isdigit():
        encoder = Encoder(-(-int(count) // LAYER_NODES), hidden=64, heads=4)
        save_single(encoder.proto(), encoder.weights, path)
    elif kind == "free" and count.isdigit():
        free_decoder(int(count), path)
    else:
        raise SystemExit(f"{name}: not a name of a model; see the top of {Path(__file__).name}")
    return len(onnx.load(path, load_external_data=False).graph.node)


def main(folder: str, *names: str) -> None:
    """Write the models and print ``{name: nodes}``."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    print(json.dumps({name: write(Path(folder), name) for name in names}))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
