"""The proof of a resized model: it gives what an equal model gives that was exported at the wanted sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnxruntime as ort


def session(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def outputs(path: Path, given: Mapping[str, np.ndarray] | Sequence[np.ndarray]) -> list[np.ndarray]:
    """What ONNX Runtime computes; inputs by name or in order."""
    one = session(path)
    names = [i.name for i in one.get_inputs()]
    named = given if isinstance(given, Mapping) else dict(zip(names, given, strict=True))
    return [np.asarray(value) for value in one.run(None, dict(named))]


def worst(got: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> float:
    """The largest difference, relative to the size of the values. Raises: AssertionError for other shapes."""
    assert [value.shape for value in got] == [value.shape for value in wanted]
    assert wanted
    return max(
        float(np.abs(a.astype(np.float64) - b).max() / max(np.abs(b).max(), 1e-9))
        for a, b in zip(got, wanted, strict=True)
    )
