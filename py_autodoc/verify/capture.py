"""Run a model and return any tensors of its main graph, dequantized, in groups of bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import open_session, read_model, run_session
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import Sample
from py_autodoc.verify.distance import is_text

FEATURE = "The comparison of tensors"
"""Subject of the error message if ONNX Runtime is not installed."""
GROUP_BYTES = 1 << 28
"""Maximum bytes of the tensors held at once."""
UNKNOWN_BYTES = 1 << 24
"""Assumed bytes of a tensor whose size is unknown."""


@dataclass(frozen=True, slots=True)
class TensorRequest:
    """Names of a tensor and of its scale and zero point; both are empty for a tensor of real values."""

    tensor: str
    scale: str = ""
    zero_point: str = ""


class CapturedTensors:
    """Runs a model in ONNX Runtime and returns intermediate tensors.

    Args:
        path: the ONNX file.
        analysis: the analysis of this file.
        fuse: let ONNX Runtime optimize the graph; otherwise every operator runs as in the file.

    Raises:
        InputError: the file or its external weights cannot be read.
    """

    def __init__(self, path: PathLike, analysis: Analysis, fuse: bool = False) -> None:
        self.path, self.name, self.fuse = path, base_name(path), fuse
        self.proto = read_model(path, weights=False)
        self.outputs = [output.name for output in self.proto.graph.output]
        self.available = {name for node in self.proto.graph.node for name in node.output if name}
        """Names of the tensors that a session can return; those of functions and subgraphs are missing."""
        ids = {tensor.name: tensor.id for tensor in analysis.model.tensors if tensor.graph == 0}
        known = {**analysis.types.values, **analysis.model.constants}
        self.constants = {name: known[number] for name, number in ids.items() if number in known}

    def has(self, request: TensorRequest) -> bool:
        """Return whether the tensor can be captured and, if it is quantized, dequantized."""
        return request.tensor in self.available and all(
            not name or name in self.available or name in self.constants
            for name in (request.scale, request.zero_point)
        )

    def session(self, requests: Sequence[TensorRequest]) -> _Session:
        """Return a session that computes the requested tensors.

        Raises: RequirementError, InputError: as ``ort.open_session``.
        """
        scales = (name for request in requests for name in (request.scale, request.zero_point) if name)
        names = dict.fromkeys([request.tensor for request in requests])
        names.update(dict.fromkeys(name for name in scales if name not in self.constants))
        proto = onnx.ModelProto()
        proto.CopyFrom(self.proto)
        declared = set(self.outputs)
        proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in declared)
        session = open_session(self.path, FEATURE, proto=proto, fuse=self.fuse)
        return _Session(session, list(names), self.constants, self.name)


@dataclass(frozen=True, slots=True)
class _Session:
    session: Any
    names: list[str]
    constants: dict[str, Any]
    model: str
    """File name of the model, for messages."""

    def values(self, sample: Sample, requests: Iterable[TensorRequest]) -> Iterator[np.ndarray[Any, Any]]:
        """Yield the requested tensors for one sample. Raises: AnalysisError."""
        results = run_session(self.session, self.names, sample, self.model) if self.names else []
        captured = dict(zip(self.names, results, strict=True))
        for request in requests:
            yield dequantize(request, {**self.constants, **captured} if request.scale else captured)


def dequantize(request: TensorRequest, values: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Return the real values of a tensor: ``(value - zero point) * scale`` if it is quantized."""
    array = values_of(values[request.tensor])
    if not request.scale:
        return array
    zero_point = np.asarray(values[request.zero_point], np.int64) if request.zero_point else np.int64(0)
    scale = np.asarray(values[request.scale], np.float64)
    return (array.astype(np.int64) - zero_point.reshape(-1)[:1]) * scale.reshape(-1)[:1]


def values_of(value: Any) -> np.ndarray[Any, Any]:
    """Return the numbers and texts of any result of ONNX Runtime; with texts, as objects.

    A tensor is itself. The values of a sequence or a map are those of its items in order, with the number of
    each item's values in front, as an array of shape (values, 1). An empty optional has none.
    """
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in "biufVOSU" else np.zeros(0)
    if isinstance(value, (str, bytes)):
        return np.array([value], object)
    if isinstance(value, (bool, int, float, np.generic)):
        return np.asarray(value)
    if isinstance(value, dict):
        # Keys that are numbers are values, too: a class that differs is a difference.
        value = [item for pair in value.items() for item in pair]
    if not isinstance(value, (list, tuple)):
        return np.zeros(0)
    parts = [values_of(item).reshape(-1) for item in value]
    # Of objects, the numbers stay numbers.
    kind = object if any(map(is_text, parts)) else np.float64
    counted = [item.astype(kind) for part in parts for item in (np.array([part.size]), part)]
    return np.concatenate(counted or [np.zeros(0)]).reshape(-1, 1)


def groups(sizes: Sequence[int], budget: int = GROUP_BYTES) -> Iterator[range]:
    """Split consecutive tensors into groups of at most ``budget`` bytes; a larger tensor is a group alone.

    ``sizes`` are the bytes of each tensor, 0 if unknown.
    """
    first = total = 0
    for index, size in enumerate(sizes):
        needed = size or UNKNOWN_BYTES
        if index > first and total + needed > budget:
            yield range(first, index)
            first, total = index, 0
        total += needed
    if first < len(sizes):
        yield range(first, len(sizes))
