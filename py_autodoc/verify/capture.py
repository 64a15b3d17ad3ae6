"""What a model computes on the way: any tensors of its main graph, as float numbers, a group at a time."""

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

WHAT = "The comparison of tensors"
GROUP_BYTES = 1 << 28
"""Of the tensors that are kept at once."""
UNKNOWN_BYTES = 1 << 24
"""What a tensor of unknown size counts as."""
_BFLOAT16 = 16


@dataclass(frozen=True, slots=True)
class Scaled:
    """A tensor with what makes numbers of it: names of its scale and zero point, empty for a float tensor."""

    tensor: str
    scale: str = ""
    zero_point: str = ""


class CapturedTensors:
    """Runs a file, operator by operator as it stands there, and returns tensors from inside it.

    Raises:
        InputError: the file cannot be read whole.
        RequirementError, AnalysisError: as ``ort.open_session``.
    """

    def __init__(self, path: PathLike, analysis: Analysis, fuse: bool = False) -> None:
        self.path, self.name, self.fuse = path, base_name(path), fuse
        self.proto = read_model(path, weights=False)
        self.outputs = [one.name for one in self.proto.graph.output]
        self.made = {name for node in self.proto.graph.node for name in node.output if name}
        """Tensors that can be had; those of function bodies and inner graphs cannot."""
        named = {tensor.name: tensor.id for tensor in analysis.model.tensors if tensor.graph == 0}
        known = {**analysis.types.values, **analysis.model.constants}
        self.constants = {name: known[number] for name, number in named.items() if number in known}

    def has(self, one: Scaled) -> bool:
        """True when the tensor can be returned as numbers."""
        return one.tensor in self.made and all(
            not name or name in self.made or name in self.constants for name in (one.scale, one.zero_point)
        )

    def session(self, wanted: Sequence[Scaled]) -> _Session:
        """A session for some tensors."""
        scales = (name for one in wanted for name in (one.scale, one.zero_point) if name)
        names = dict.fromkeys([one.tensor for one in wanted])
        names.update(dict.fromkeys(name for name in scales if name not in self.constants))
        proto = onnx.ModelProto()
        proto.CopyFrom(self.proto)
        have = set(self.outputs)
        proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in have)
        runs = open_session(self.path, WHAT, proto=proto, fuse=self.fuse)
        return _Session(runs, list(names), self.constants, self.name)


@dataclass(frozen=True, slots=True)
class _Session:
    runs: Any
    names: list[str]
    constants: dict[str, Any]
    name: str

    def values(self, sample: Sample, wanted: Iterable[Scaled]) -> Iterator[np.ndarray[Any, Any]]:
        """The tensors for one sample, as numbers."""
        made = run_session(self.runs, self.names, sample, self.name) if self.names else []
        got = dict(zip(self.names, made, strict=True))
        for one in wanted:
            yield _numbers(one, {**self.constants, **got} if one.scale else got)


def _numbers(one: Scaled, values: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Real numbers of a tensor: ``(value - zero point) * scale`` of a quantized one."""
    array = np.asarray(values[one.tensor])
    if array.dtype == object:
        return np.zeros(0)
    if not one.scale:
        return array
    zero = np.asarray(values[one.zero_point], np.int64) if one.zero_point else np.int64(0)
    scale = np.asarray(values[one.scale], np.float64)
    return (array.astype(np.int64) - zero.reshape(-1)[:1]) * scale.reshape(-1)[:1]


def groups(sizes: Sequence[int], budget: int = GROUP_BYTES) -> Iterator[range]:
    """Runs of neighbours that take at most ``budget`` bytes, or one alone. 0: unknown."""
    first = held = 0
    for at, size in enumerate(sizes):
        more = size or UNKNOWN_BYTES
        if at > first and held + more > budget:
            yield range(first, at)
            first, held = at, 0
        held += more
    if first < len(sizes):
        yield range(first, len(sizes))
