"""``Playground``: a quantized model for experiments from Python, also used by the widget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import open_session, read_model, run_session
from py_autodoc.ort_kernels import saturates
from py_autodoc.outputs import scratch
from py_autodoc.playground.edits import Edits, History
from py_autodoc.playground.live import WHAT, Live
from py_autodoc.playground.points import EditPoints, clamps_in, points
from py_autodoc.playground.written import edited, write
from py_autodoc.quantize.api import quantize
from py_autodoc.quantize.prepare import load_float_model, modernize, prepare_model
from py_autodoc.quantize.recipe import Recipe
from py_autodoc.quantize.reference.arithmetic import Array, limits
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import Sample, analysis_at_sizes, choose_samples, input_specs
from py_autodoc.sensitivity.scores import FloatResults, Score
from py_autodoc.similar_names import similar_names

SAMPLES = 16
BINS = 64
_QUANTIZED = "_quantized"
"""Suffix that ONNX Runtime adds to the name of a weight."""
_FLOAT32 = np.finfo(np.float32)
FLOAT, INTEGER = "float", "int8"


@dataclass(frozen=True)
class QuantizationHistogram:
    """Values of a tensor before and after quantization, on the shown sample."""

    edges: Array
    """Edges of the bins, one more than bins."""
    before: Array
    after: Array
    clipped: float
    """Share of the values outside the range."""


class Playground:
    """A quantized model that can be edited while it runs.

    Args:
        model: a QDQ model, or a float model, which is quantized first (``recipe``).
        samples: values of the inputs, as for ``verify``; they also give the ranges of a float model.
        reference: the float model from which a QDQ ``model`` was made, for its weights.
        recipe: quantization recipe for a float model; None uses ``static`` for this machine.
        count: number of samples; None uses 16.

    Attributes:
        points: everything that can be changed, by name.
        shown: index of the sample for outputs, errors and histograms.

    Raises:
        InputError: a model or the samples cannot be used, or nothing in the model can be changed.
        OptionError: a float model without samples.
        RequirementError: ONNX Runtime is missing.
        ModelRefused: ONNX Runtime refuses the model.
    """

    def __init__(
        self,
        model: PathLike,
        samples: Any = None,
        *,
        reference: PathLike | None = None,
        recipe: Recipe | None = None,
        count: int | None = None,
    ) -> None:
        self.name = base_name(model)
        proto, source = _quantized(model, samples, recipe, count)
        self._proto, self.file = proto, model
        float_model = reference if reference is not None else source
        float_proto = None if float_model is None else _prepared(float_model)
        self.points: EditPoints = points(proto, None if float_proto is None else clamps_in(float_proto))
        if not self.points.data and not self.points.weights:
            raise InputError(
                "nothing-to-edit",
                f"{self.name} has no scales that can be changed.",
                "Pass a float model, or one with QuantizeLinear and DequantizeLinear.",
            )
        real = {} if float_proto is None else _real(float_proto, self.points)
        # Of the quantized graph, since edits refer to its nodes.
        self.analysis: Analysis = analysis_at_sizes(proto.SerializeToString(), samples)
        self.samples, self.data = choose_samples(samples, input_specs(self.analysis), count, 0, (SAMPLES, 1))
        self._live = Live(model, proto, self.points, real)
        self._history = History()
        self.shown = 0
        self._all_float = Edits().with_precision(
            set(self.points.data), set(self.points.weights), quantized=False
        )
        self._truth: FloatResults | None = None
        self._kernel_session: tuple[Edits, Any] | None = None
        self._float_values: tuple[int, list[Array]] | None = None

    @property
    def edits(self) -> Edits:
        """Differences from the file."""
        return self._history.current

    @property
    def proto(self) -> onnx.ModelProto:
        """The quantized model without edits."""
        return self._proto

    # ---- changes

    def set_scale(self, tensor: str, scale: float, *, instead: bool = False) -> None:
        """Set the scale of a tensor; for a weight, the factor of its scales.

        ``instead`` replaces the last change, for example while a slider moves. Raises: OptionError.
        """
        given = _finite(scale, "scale")
        weight = self.points.weights.get(tensor)
        zero_point = 0 if weight is not None else self.of(tensor)[1]
        scales = np.ones(1) if weight is None else weight.scale.astype(np.float64)
        low, high = limits(self.points.data[tensor].dtype if weight is None else weight.values.dtype)
        least, most = (float(end) * given for end in (scales.min(), scales.max()))
        # Smaller ones are subnormal, whose inverse is infinite; larger ones give infinite values.
        if not (least >= float(_FLOAT32.tiny) and most * (high - low) <= float(_FLOAT32.max)):
            raise OptionError(
                "bad-scale", f"A scale must be above 0 and within the range of float32, not {given:g}."
            )
        edits = self.edits.with_data(tensor, given, zero_point)
        self._history.push(edits if weight is None else self.edits.with_weight(tensor, given), instead)

    def set_zero_point(self, tensor: str, zero_point: int, *, instead: bool = False) -> None:
        """Set the zero point of a computed tensor. Raises: OptionError."""
        scale, _ = self.of(tensor)
        low, high = limits(self.points.data[tensor].dtype)
        given = _finite(zero_point, "zero point")
        if not (low <= given <= high and given.is_integer()):
            raise OptionError(
                "bad-zero-point", f"A zero point must be an integer from {low} to {high} here, not {given:g}."
            )
        self._history.push(self.edits.with_data(tensor, scale, int(given)), instead)

    def of(self, tensor: str) -> tuple[float, int]:
        """Return the current scale and zero point of a computed tensor. Raises: OptionError."""
        point = self.points.data.get(tensor)
        if point is None:
            similar = similar_names(tensor, self.points.data)
            hint = f"Did you mean {', '.join(similar)}?" if similar else "See points.data."
            raise OptionError("unknown-tensor", f"No quantized tensor is called {tensor[:80]!r}.", hint)
        return self.edits.data.get(tensor, (point.scale, point.zero_point))

    def set_precision(self, names: str | Iterable[str], precision: str) -> None:
        """Set ``float`` or ``int8`` for layers, tensors, or all layers of a module (by its tag).

        For a layer, its weight and its input change. Raises: OptionError for an unknown name or precision.
        """
        if precision not in (FLOAT, INTEGER):
            raise OptionError(
                "bad-precision", f"A precision must be {FLOAT} or {INTEGER}, not {precision[:40]!r}."
            )
        data: set[str] = set()
        weights: set[str] = set()
        for name in [names] if isinstance(names, str) else list(names):
            tensors, codes = self._selection(name)
            data |= tensors
            weights |= codes
        self._history.push(self.edits.with_precision(data, weights, precision == INTEGER))

    def layers_in(self, module: str) -> list[str]:
        """Return the layers of a module, by its tag, including nested modules."""
        inside = module.rstrip("/") + "/"
        return [
            node.name
            for node in self.analysis.model.nodes
            if node.name in self.points.layers and f"{node.tag}/".startswith(inside)
        ]

    def _selection(self, name: str) -> tuple[set[str], set[str]]:
        if name in self.points.data:
            return {name}, set()
        if name in self.points.weights:
            return set(), {name}
        layers = [name] if name in self.points.layers else self.layers_in(name)
        if not layers:
            raise OptionError(
                "unknown-layer", f"Nothing quantized is called {name[:80]!r}.", "See points.layers."
            )
        selected = [self.points.layers[layer] for layer in layers]
        return {layer.data for layer in selected if layer.data}, {layer.weight for layer in selected}

    def undo(self) -> bool:
        """Undo one step. False if there is none."""
        return self._history.undo()

    def redo(self) -> bool:
        """Redo one step. False if there is none."""
        return self._history.redo()

    def reset(self) -> None:
        """Restore the file's values; can be undone."""
        self._history.push(Edits())

    # ---- results

    @property
    def outputs(self) -> dict[str, Array]:
        """Return the outputs for the shown sample with all edits."""
        names = self._live.outputs
        return dict(zip(names, self._live.run(self._sample, self.edits, names), strict=True))

    @property
    def float_outputs(self) -> dict[str, Array]:
        """Return the outputs without quantization."""
        names = self._live.outputs
        return dict(zip(names, self._live.run(self._sample, self._all_float, names), strict=True))

    def score(self, every: bool = False) -> Score:
        """Compare the first output with the float model's, on the shown sample or, with ``every``, on all."""
        names = self._live.outputs[:1]
        if not every:
            truth = FloatResults([self._live.run(self._sample, self._all_float, names)[0]], classes=True)
            return truth.score([self._live.run(self._sample, self.edits, names)[0]])
        if self._truth is None:
            self._truth = FloatResults(
                [self._live.run(sample, self._all_float, names)[0] for sample in self.samples], True
            )
        return self._truth.score([self._live.run(sample, self.edits, names)[0] for sample in self.samples])

    def kernel_score(self) -> Score:
        """Compare the first output as this machine's integer kernels compute it, on the shown sample.

        ``score`` computes products in float, which does not saturate. Raises: AnalysisError.
        """
        names = self._live.outputs[:1]
        if self._kernel_session is None or self._kernel_session[0] != self.edits:
            real = {name: self._live.real(name) for name in self.points.weights}
            model = edited(self._proto, self.points, self.edits, real, summary(self.edits))
            self._kernel_session = (self.edits, open_session(self.file, WHAT, proto=model))
        truth = FloatResults([self._live.run(self._sample, self._all_float, names)[0]], classes=True)
        return truth.score(run_session(self._kernel_session[1], names, dict(self._sample), self.name))

    @property
    def kernels_saturate(self) -> bool:
        """True if integer sums of u8 and s8 saturate on this machine, so that ``kernel_score`` is lower."""
        return saturates()

    def errors(self) -> dict[str, float]:
        """Return the relative error (RMS of the difference / RMS) of quantized tensors before their own Q."""
        names = self._watched()
        if self._float_values is None or self._float_values[0] != self.shown:
            self._float_values = (self.shown, self._live.run(self._sample, self._all_float, names))
        edited_values = self._live.run(self._sample, self.edits, names)
        return {
            name: _relative(float_value, edited_value)
            for name, float_value, edited_value in zip(
                names, self._float_values[1], edited_values, strict=True
            )
        }

    def heat(self) -> dict[str, float]:
        """Return ``errors`` by the name of the node that produces the tensor, for an overlay."""
        makers = {name: node.name for node in self._proto.graph.node for name in node.output if node.name}
        return {makers[name]: error for name, error in self.errors().items() if name in makers}

    def histogram(self, tensor: str) -> QuantizationHistogram:
        """Return the values of a quantized tensor or weight before and after its Q, with the edits."""
        if tensor in self.points.weights:
            before, after = self._live.real(tensor), self._live.weight(tensor, self.edits)
            return _histogram(before, after, float((np.abs(after) < np.abs(before) * 0.5).mean()))
        scale, zero = self.of(tensor)
        before = self.values(tensor)
        low, high = limits(self.points.data[tensor].dtype)
        codes = np.rint(before / np.float32(scale)) + zero
        if tensor in self.edits.float_data:
            return _histogram(before, before, 0.0)
        after = (np.clip(codes, low, high) - zero) * np.float32(scale)
        return _histogram(before, after, float(((codes < low) | (codes > high)).mean()))

    def values(self, tensor: str) -> Array:
        """Return a quantized tensor before its Q, for the shown sample."""
        self.of(tensor)
        if tensor in self._sample:
            return np.asarray(self._sample[tensor])
        return self._live.run(self._sample, self.edits, [tensor])[0]

    def weight(self, codes: str) -> tuple[Array, Array]:
        """Return a weight: real, and as the model uses it. Raises: KeyError."""
        return self._live.real(codes), self._live.weight(codes, self.edits)

    @property
    def _sample(self) -> Sample:
        return self.samples[self.shown]

    def _watched(self) -> list[str]:
        """Return the quantized tensors that the model computes, and the outputs."""
        inputs = {value.name for value in self._proto.graph.input}
        return list(
            dict.fromkeys([*(name for name in self.points.data if name not in inputs), *self._live.outputs])
        )

    # ---- export

    def export(self, out: PathLike, *, force: bool = False) -> None:
        """Write the model with all edits: new scales, zero points and codes, float layers without Q and DQ.

        The edits are stored in the metadata. Raises: OutputError.
        """
        real = {name: self._live.real(name) for name in self.points.weights}
        model = edited(self._proto, self.points, self.edits, real, summary(self.edits))
        write(model, out, self.file, force)

    def __repr__(self) -> str:
        count = len(self.points.data) + len(self.points.weights)
        return f"Playground({self.name!r}, {count:,} tensors, {len(self.samples):,} samples)"


def _finite(value: Any, what: str) -> float:
    """Return a number. Raises: OptionError: it is none, or not finite."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not np.isfinite(number) or isinstance(value, (bool, str)):
        raise OptionError(
            f"bad-{what.replace(' ', '-')}", f"A {what} must be a number, not {str(value)[:40]}."
        )
    return number


def _quantized(
    model: PathLike, samples: Any, recipe: Recipe | None, count: int | None
) -> tuple[onnx.ModelProto, PathLike | None]:
    """Return the QDQ model, and the float model if it was quantized here."""
    proto = read_model(model, weights=True)
    if any(node.op_type in ("QuantizeLinear", "DequantizeLinear") for node in proto.graph.node):
        return proto, None
    with scratch() as folder:
        path = folder / "quantized.onnx"
        quantize(model, path, samples, recipe or Recipe(), samples=count)
        return onnx.load(path), model


def _prepared(model: PathLike) -> onnx.ModelProto:
    """Return the float model as prepared for quantization."""
    proto = load_float_model(model)
    modernize(proto, base_name(model), "static")
    prepare_model(proto, base_name(model), fold=True)
    return proto


def _real(proto: onnx.ModelProto, edit_points: EditPoints) -> dict[str, Array]:
    """Return float weights by the names of their codes, as far as the float model has them."""
    stored = {initializer.name: initializer for initializer in proto.graph.initializer}
    real: dict[str, Array] = {}
    for codes, point in edit_points.weights.items():
        weight = stored.get(codes.removesuffix(_QUANTIZED))
        if (
            weight is None
            or weight.data_type != onnx.TensorProto.FLOAT
            or tuple(weight.dims) != point.values.shape
        ):
            continue
        real[codes] = onnx.numpy_helper.to_array(weight)
    return real


def _relative(expected: Array, actual: Array) -> float:
    a, b = expected.astype(np.float64).reshape(-1), actual.astype(np.float64).reshape(-1)
    size = float(np.sqrt(a @ a))
    difference = float(np.linalg.norm(b - a))
    return difference / size if size else float(difference > 0)


def _histogram(before: Array, after: Array, clipped: float) -> QuantizationHistogram:
    finite = before[np.isfinite(before)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, BINS + 1)
    return QuantizationHistogram(
        edges, np.histogram(before, edges)[0], np.histogram(after, edges)[0], clipped
    )


def summary(edits: Edits) -> str:
    """Return the edits as JSON for metadata."""
    content: Mapping[str, Any] = {
        "data": {name: {"scale": scale, "zero_point": zero} for name, (scale, zero) in edits.data.items()},
        "float_data": sorted(edits.float_data),
        "weights": dict(edits.weights),
        "float_weights": sorted(edits.float_weights),
    }
    return json.dumps(content, sort_keys=True)
