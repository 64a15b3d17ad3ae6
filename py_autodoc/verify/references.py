"""References to verify a model against: another ONNX file, or arrays of expected values."""

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
from py_autodoc.verify.capture import CapturedTensors, TensorRequest
from py_autodoc.verify.matched_tensors import match_tensors

Array = np.ndarray[Any, Any]
FLOAT16, BFLOAT16 = 10, 16
"""``onnx.TensorProto`` data types."""
TOLERANCES = {"float32": 1e-3, "float16": 2e-2, "bfloat16": 5e-2, "quantized": 1e-1}
"""Precision → accepted relative error."""


@dataclass(frozen=True, slots=True)
class ReferencePoint:
    """A tensor of the model whose value the reference has, too."""

    key: Any
    """Identifies the value for ``Reference.session``."""
    model: TensorRequest
    node: int
    """Node of the model that computes it."""
    nodes: tuple[int, ...]
    """All nodes of the layer in the model."""
    reference_nodes: tuple[int, ...] = ()
    permutation: tuple[int, ...] = ()
    """Axes of the model's tensor in the order of the reference's; empty if the order is the same."""
    bytes: int = 0
    """Bytes of both tensors; 0 if unknown."""
    reference_name: str = ""
    """Name of the reference's tensor, for display."""


@dataclass(slots=True)
class ReferencePoints:
    """Everything that can be compared with a reference."""

    layers: list[ReferencePoint] = field(default_factory=list)
    outputs: list[tuple[str, str, Any]] = field(default_factory=list)
    """Triples (output of the model, output of the reference, key)."""
    only_model: list[str] = field(default_factory=list)
    """Outputs of the model that the reference does not have."""
    only_reference: list[str] = field(default_factory=list)
    """Outputs of the reference that the model does not have."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Reason → number of layers that cannot be compared."""


class ReferenceRun(Protocol):
    """A reference that is ready to compute the values of some keys."""

    def values(self, sample: Sample, index: int) -> Iterator[Array]:
        """Yield the values of the keys, in order, for the sample with this index. Raises: AnalysisError."""


class Reference(Protocol):
    """The source of the expected values."""

    name: str
    """Name for messages."""

    def points(self, model: Analysis, captured: CapturedTensors) -> ReferencePoints:
        """Return the tensors of the model that can be compared."""

    def session(self, keys: Sequence[Any], fuse: bool = False) -> ReferenceRun:
        """Return a run for these keys; ``fuse`` lets ONNX Runtime optimize the reference."""

    def tolerance(self, model: Analysis) -> tuple[float, str]:
        """Return the relative error to expect and the precision that determines it."""


class OnnxReference:
    """Another ONNX file, aligned with the model by structure.

    Args:
        captured: runs the file.
        analysis: its analysis, with all dimensions known.
        alignment: of the reference (left) and the model (right).
    """

    def __init__(self, captured: CapturedTensors, analysis: Analysis, alignment: Alignment) -> None:
        self.name = captured.name
        self._captured, self._analysis, self._alignment = captured, analysis, alignment
        self._specs = input_specs(analysis)
        self._inputs: dict[str, str] = {}
        """Input of the reference → input of the model."""

    def points(self, model: Analysis, captured: CapturedTensors) -> ReferencePoints:
        """Return the last result of each pair. Raises: InputError: the inputs do not correspond."""
        self._inputs = _match_inputs(self._specs, input_specs(model), self.name, captured.name)
        points = ReferencePoints()
        matches = match_tensors(self._alignment)
        points.skipped.update(matches.reasons.values())
        for match in matches.tensors:
            if not (captured.has(match.right) and self._captured.has(match.left)):
                points.skipped["inside a function"] += 1
                continue
            pair = self._alignment.pairs[match.pair]
            points.layers.append(
                ReferencePoint(
                    match.left,
                    match.right,
                    match.node,
                    pair.right,
                    pair.left,
                    match.permutation,
                    match.bytes,
                    match.left.tensor,
                )
            )
        pairs = _match_outputs(captured.outputs, self._captured.outputs)
        points.outputs = [(output, other, TensorRequest(other)) for output, other in pairs]
        points.only_model = _without(captured.outputs, [output for output, _ in pairs])
        points.only_reference = _without(self._captured.outputs, [other for _, other in pairs])
        return points

    def session(self, keys: Sequence[Any], fuse: bool = False) -> ReferenceRun:
        """Return an ONNX Runtime session that captures the tensors."""
        self._captured.fuse = fuse
        return _OnnxRun(self._captured.session(keys), list(keys), self._inputs, self._specs)

    def tolerance(self, model: Analysis) -> tuple[float, str]:
        """Return the tolerance of the lowest precision in either model."""
        return expected_tolerance([model, self._analysis])


@dataclass(frozen=True, slots=True)
class _OnnxRun:
    session: Any
    keys: list[TensorRequest]
    inputs: dict[str, str]
    specs: list[InputSpec]

    def values(self, sample: Sample, index: int) -> Iterator[Array]:
        feeds = {
            spec.name: sample[self.inputs[spec.name]].astype(spec.dtype, copy=False) for spec in self.specs
        }
        return self.session.values(feeds, self.keys)  # type: ignore[no-any-return]


class ExpectedValues:
    """Arrays of expected values, by name of a tensor of the model.

    Args:
        name: file name for messages.
        arrays: per tensor, the value for each sample.
    """

    def __init__(self, name: str, arrays: dict[str, list[Array]]) -> None:
        self.name, self._arrays = name, arrays

    def points(self, model: Analysis, captured: CapturedTensors) -> ReferencePoints:
        """Return the tensors with these names. Raises: InputError: the model computes none of them."""
        points = ReferencePoints()
        activations = {
            tensor.name: tensor
            for tensor in model.model.tensors
            if tensor.graph == 0 and tensor.kind == TensorKind.ACTIVATION
        }
        for name in self._arrays:
            tensor = activations.get(name)
            if tensor is None or not captured.has(TensorRequest(name)):
                points.skipped[f"the model does not compute {name[:80]}"] += 1
            elif name in captured.outputs:
                points.outputs.append((name, name, name))
            else:
                points.layers.append(
                    ReferencePoint(
                        name, TensorRequest(name), tensor.producer, (tensor.producer,), reference_name=name
                    )
                )
        if not points.layers and not points.outputs:
            raise InputError(
                "nothing-expected",
                f"No array of {self.name} has the name of a tensor that {captured.name} computes.",
                f"Name the arrays after outputs or other tensors: {', '.join(captured.outputs[:10])} …",
            )
        points.only_model = _without(captured.outputs, list(self._arrays))
        return points

    def session(self, keys: Sequence[Any], fuse: bool = False) -> ReferenceRun:
        """Return the stored arrays; nothing is computed."""
        return _ExpectedRun(self._arrays, list(keys))

    def tolerance(self, model: Analysis) -> tuple[float, str]:
        """Return the tolerance of the model's lowest precision."""
        return expected_tolerance([model])


@dataclass(frozen=True, slots=True)
class _ExpectedRun:
    arrays: dict[str, list[Array]]
    keys: list[str]

    def values(self, sample: Sample, index: int) -> Iterator[Array]:
        return iter([self.arrays[key][index] for key in self.keys])


def expected_tolerance(analyses: list[Analysis]) -> tuple[float, str]:
    """Return the relative error to expect, by the lowest precision in any of the models, and its name."""
    precision = "float32"
    dtypes = {
        dtype
        for analysis in analyses
        for dtype, tensor in zip(analysis.types.dtypes, analysis.model.tensors, strict=True)
        if tensor.kind == TensorKind.ACTIVATION
    }
    if any(operator.scheme for analysis in analyses for operator in analysis.structure.quantized):
        precision = "quantized"
    elif BFLOAT16 in dtypes:
        precision = "bfloat16"
    elif FLOAT16 in dtypes:
        precision = "float16"
    return TOLERANCES[precision], precision


def _match_outputs(outputs: list[str], others: list[str]) -> list[tuple[str, str]]:
    """Pair the outputs of the model and the reference.

    By name; the others by their order if both have equally many of them.
    """
    left, right = _without(outputs, others), _without(others, outputs)
    partners = dict(zip(left, right, strict=True)) if len(left) == len(right) else {}
    partners.update((name, name) for name in outputs if name in others)
    return [(name, partners[name]) for name in outputs if name in partners]


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in names if name not in others]


def _match_inputs(
    reference_specs: list[InputSpec], model_specs: list[InputSpec], reference: str, model: str
) -> dict[str, str]:
    """Map inputs of the reference to inputs of the model: by name, else by position. Raises: InputError."""
    by_name = {spec.name: spec for spec in model_specs}
    if all(spec.name in by_name for spec in reference_specs):
        pairs = [(spec, by_name[spec.name]) for spec in reference_specs]
    elif len(reference_specs) == len(model_specs):
        pairs = list(zip(reference_specs, model_specs, strict=False))
    else:
        pairs = []
    if len(pairs) != len(reference_specs) or any(a.shape != b.shape for a, b in pairs):
        shown = [", ".join(spec.label for spec in side) for side in (model_specs, reference_specs)]
        raise InputError(
            "inputs-differ",
            f"The inputs do not correspond: {model} takes {shown[0]}; {reference} takes {shown[1]}.",
        )
    return {a.name: b.name for a, b in pairs}
