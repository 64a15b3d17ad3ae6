"""Run models in ONNX Runtime: latency, memory, results, and the time of each layer."""

from __future__ import annotations

from py_autodoc.runner.compare import compare_precisions
from py_autodoc.runner.loaders import ArrayLoader, DataLoader, ImageFolderLoader
from py_autodoc.runner.metrics import MetricsCalculator
from py_autodoc.runner.profile import NodeTimes, measure_nodes, read_profile
from py_autodoc.runner.session import InferenceRunner, RunResult
from py_autodoc.runner.text_loader import TextLoader, text_loader

__all__ = [
    "ArrayLoader",
    "DataLoader",
    "ImageFolderLoader",
    "InferenceRunner",
    "MetricsCalculator",
    "NodeTimes",
    "RunResult",
    "TextLoader",
    "compare_precisions",
    "measure_nodes",
    "read_profile",
    "text_loader",
]
