"""What a model is verified against: another ONNX file, or arrays of expected values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from py_autodoc.compare.align import Alignment
from py_autodoc.errors import InputError
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import InputSpec, Sample, input_specs
from py_autodoc.verify.capture import CapturedTensors, Scaled
from py_autodoc.verify.places import places

Array = np.ndarray[Any, Any]
HALF, BRAIN = 10, 16
FULL, HALVED, SHORT, QUANTIZED = 1e-3, 2e-2, 5e-2, 1e-1


@dataclass(frozen=True, slots=True)
class ReferencePoint:
    """A tensor of the model that the reference knows as well."""

    key: Any
    """The reference's own name for it."""
    model: Scaled
    node: int
    """Of the model: the one that does the work."""
    nodes: tuple[int, ...]
    reference_nodes: tuple[int, ...] = ()
    permuted: tuple[int, ...] = ()
    """Axes of the model's tensor in the order of the reference's; empty where they are the same."""
    bytes: int = 0
    """Of both; 0 where unknown."""
    shown: str = ""
    """The reference's tensor, for people."""


@dataclass(slots=True)
class ReferencePoints:
    """Everything that can be compared."""

    layers: list[ReferencePoint] = field(default_factory=list)
    outputs: list[tuple[str, str, Any]] = field(default_factory=list)
    """(output of the model, of the reference, key)."""
    missed: Counter[str] = field(default_factory=Counter)
    """Why pairs cannot be compared → how many."""


class ReferenceRun(Protocol):
    """The reference, ready to return some of its tensors."""

    def values(self, sample: Sample, at: int) -> Iterator[Array]:
        """The tensors asked for, in order, for the sample ``at``."""


class Reference(Protocol):
    """What a model is compared with."""

    name: str

    def points(self, model: Analysis, captured: CapturedTensors) -> ReferencePoints:
        """What can be compared."""

    def session(self, keys: Sequence[Any], fuse: bool = False) -> ReferenceRun:
        """Ready to return the tensors of these keys."""

    def tolerance(self, model: Analysis) -> tuple[float, str]:
        """Relative error that is to be expected, and why."""


class OnnxReference:
    """Another file, aligned with the model by structure."""

    def __init__(self, captured: CapturedTensors, analysis: Analysis, alignment: Alignment) -> None:
        self.name = captured.name
        self._captured, self._analysis, self._alignment = captured, analysis, alignment
        self._specs = input_specs(analysis)
        self._inputs: dict[str, str] = {}
        """Input of the reference → that of the model."""

    def points(self, model: Analysis, captured: CapturedTensors) -> ReferencePoints:
        """The last result of each pair. Raises: InputError: inputs that do not correspond."""
        self._inputs = _inputs(self._specs, input_specs(model), self.name, captured.name)
        found = ReferencePoints()
        known = places(self._alignment)
        found.missed.update(known.missed.values())
        for place in known.found:
            if not (captured.has(place.right) and self._captured.has(place.left)):
                found.missed["inside a function"] += 1
                continue
            pair = self._alignment.pairs[place.pair]
            found.layers.append(
                ReferencePoint(
                    place.left, place.right, place.node, pair.right, pair.left,
                    place.permuted, place.bytes, place.left.tensor,
                )
            )  # fmt: skip
        found.outputs = [
            (mine, theirs, Scaled(theirs))
            for mine, theirs in _outputs(captured.outputs, self._captured.outputs)
        ]
        return found

    def session(self, keys: Sequence[Any], fuse: bool = False) -> ReferenceRun:
        """A session of ONNX Runtime."""
        held = self._captured
        held.fuse = fuse
        return _OnnxRun(held.session(keys), list(keys), self._inputs, self._specs)

    def tolerance(self, model: Analysis) -> tuple[float, str]:
        """By the coarsest numbers of either side."""
        return expected([model, self._analysis])


@dataclass(frozen=True, slots=True)
class _OnnxRun:
    session: Any
    keys: list[Scaled]
    inputs: dict[str, str]
    specs: list[InputSpec]

    def values(self, sample: Sample, at: int) -> Iterator[Array]:
        feeds = {one.name: sample[self.inputs[one.name]].astype(one.dtype, copy=False) for one in self.specs}
        return self.session.values(feeds, self.keys)  # type: ignore[no-any-return]


class ExpectedValues:
    """Arrays of expected values by the names of the model's tensors.

    Args:
        name: of the file, for messages.
        arrays: of each name the value for every sample.
    """

    def __init__(self, name: str, arrays: dict[str, list[Array]]) -> None:
        self.name, self._arrays = name, arrays

    def points(self, model: Analysis, captured: CapturedTensors) -> ReferencePoints:
        """Tensors of those names. Raises: InputError: not one name is a result of the model."""
        found = ReferencePoints()
        held = {t.name: t for t in model.model.tensors if t.graph == 0 and t.kind == TensorKind.ACTIVATION}
        for name in self._arrays:
            tensor = held.get(name)
            if tensor is None or not captured.has(Scaled(name)):
                found.missed[f"{name[:80]} is not a result of the model"] += 1
            elif name in captured.outputs:
                found.outputs.append((name, name, name))
            else:
                found.layers.append(
                    ReferencePoint(name, Scaled(name), tensor.producer, (tensor.producer,), shown=name)
                )
        if not found.layers and not found.outputs:
            raise InputError(
                "nothing-expected", f"{self.name} holds no result of {captured.name}.",
                f"Name its arrays after the model's tensors: {', '.join(captured.outputs[:10])} …",
            )  # fmt: skip
        return found

    def session(self, keys: Sequence[Any], fuse: bool = False) -> ReferenceRun:
        """Nothing runs."""
        return _ExpectedRun(self._arrays, list(keys))

    def tolerance(self, model: Analysis) -> tuple[float, str]:
        """By the model's numbers."""
        return expected([model])


@dataclass(frozen=True, slots=True)
class _ExpectedRun:
    arrays: dict[str, list[Array]]
    keys: list[str]

    def values(self, sample: Sample, at: int) -> Iterator[Array]:
        return iter([self.arrays[key][at] for key in self.keys])


def expected(analyses: list[Analysis]) -> tuple[float, str]:
    """The relative error to expect of the coarsest numbers that any of the models computes with."""
    if any(q.scheme for one in analyses for q in one.structure.quantized):
        return QUANTIZED, "quantized"
    kinds = {
        dtype
        for one in analyses
        for dtype, tensor in zip(one.types.dtypes, one.model.tensors, strict=True)
        if tensor.kind == TensorKind.ACTIVATION
    }
    if BRAIN in kinds:
        return SHORT, "bfloat16"
    return (HALVED, "float16") if HALF in kinds else (FULL, "float32")


def _outputs(mine: list[str], theirs: list[str]) -> list[tuple[str, str]]:
    """By name where both have the same names, by place where both have as many, else those in common."""
    if set(mine) != set(theirs) and len(mine) == len(theirs):
        return list(zip(mine, theirs, strict=True))
    return [(name, name) for name in mine if name in theirs]


def _inputs(theirs: list[InputSpec], mine: list[InputSpec], reference: str, model: str) -> dict[str, str]:
    """Input of the reference → of the model: by name, else by place. Raises: InputError."""
    names = {one.name: one for one in mine}
    if all(one.name in names for one in theirs):
        pairs = [(one, names[one.name]) for one in theirs]
    else:
        pairs = list(zip(theirs, mine, strict=False)) if len(theirs) == len(mine) else []
    if len(pairs) != len(theirs) or any(a.shape != b.shape for a, b in pairs):
        shown = [", ".join(one.shown for one in side) for side in (mine, theirs)]
        raise InputError(
            "inputs-differ",
            f"The inputs do not correspond: {model} takes {shown[0]}; {reference} takes {shown[1]}.",
        )
    return {a.name: b.name for a, b in pairs}
