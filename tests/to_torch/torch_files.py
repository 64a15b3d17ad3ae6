"""Runs written files beside ONNX Runtime."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch

from py_autodoc.to_torch import write

_COUNT = itertools.count()


def imported(path: Path) -> Any:
    """The written file as a module."""
    name = f"written_{next(_COUNT)}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # The next file of this name may be as old to the second and as long: its bytecode would be this one's.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
        del sys.modules[name]
    return module


def run(module: Any, feeds: dict[str, np.ndarray], model: Any = None) -> list[Any]:
    """Results of a written model for inputs by their ONNX names."""
    model = module.load() if model is None else model
    inputs = [torch.from_numpy(np.array(feeds[name])) for name in module.INPUTS.values()]
    with torch.no_grad():
        results = model(*inputs)
    return list(results) if isinstance(results, tuple) else [results]


def session(model: str | bytes) -> onnxruntime.InferenceSession:
    """ONNX Runtime without optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def save(folder: Path, proto: onnx.ModelProto, name: str = "model.onnx") -> Path:
    path = folder / name
    path.write_bytes(proto.SerializeToString())
    return path


def same(folder: Path, proto: onnx.ModelProto, *feeds: dict[str, np.ndarray], atol: float = 1e-5) -> str:
    """Write a model and compare it with ONNX Runtime; the written source."""
    path = save(folder, proto)
    write(path, folder / "model.py")
    oracle = session(str(path))
    module = imported(folder / "model.py")
    model = module.load()
    for feed in feeds:
        expected = oracle.run(None, feed)
        results = run(module, feed, model)
        assert len(results) == len(expected)
        for result, wanted in zip(results, expected, strict=True):
            assert tuple(result.shape) == wanted.shape
            np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-4, atol=atol)
            assert result.numpy().dtype == wanted.dtype
    return (folder / "model.py").read_text("ascii")
