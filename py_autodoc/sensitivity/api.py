"""``sensitivity``: open the model, read or generate samples, measure, rank and choose layers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import onnx

from py_autodoc.errors import InputError, OptionError
from py_autodoc.float_models import lift_weights, raise_opset
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.int8_kernels.targets import kernel_here
from py_autodoc.ort import read_model
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import analysis_at_sizes, check_memory, choose_samples, input_specs
from py_autodoc.sensitivity.document import (
    Advice,
    Choice,
    CurvePoint,
    SensitiveLayer,
    Sensitivity,
    quality,
)
from py_autodoc.sensitivity.float_layers import ScoreTarget, curve_points, fewest_float_layers, target
from py_autodoc.sensitivity.latency import MixedLatency
from py_autodoc.sensitivity.layers import MIN_OPSET, QuantizableLayer, Scheme, layers_of
from py_autodoc.sensitivity.measure import MEMORY, LayerBench, LayerScores, Progress
from py_autodoc.sensitivity.pieces import in_execution_order
from py_autodoc.sensitivity.scores import Score

DATA_SAMPLES, SYNTHETIC_SAMPLES = 64, 8
"""Default number of samples from data, enough for a stable ranking, and of generated ones."""
_CLASSES = frozenset(
    {"image-classification", "text-classification", "audio-classification", "keyword-spotting"}
)
_MAX_ADVICE = 3
"""Number of layers recommended to stay float without a target."""
_NOTABLE = 2.0
"""A layer is called sensitive from this multiple of the median error."""


def sensitivity(
    model: PathLike,
    data: Any = None,
    *,
    samples: int | None = None,
    seed: int = 0,
    activations: str = "u8",
    weights: str = "s8",
    per_channel: bool = True,
    output: str | None = None,
    auto: str | None = None,
    budget: float | None = None,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    hardware: str = "",
    memory: int = MEMORY,
    progress: Progress | None = None,
) -> Sensitivity:
    """Measure how much quantizing each layer alone changes the results of a model.

    A layer is a Conv, ConvTranspose, Gemm or MatMul with a stored float32 weight. When it is quantized, its
    input and its weight are rounded to integers, with ranges from the samples; all other layers stay float.
    One session with a switch for each layer measures all of them, and any mixture.

    Args:
        model: an ONNX file with its weights, in float32.
        data: as for ``verify``; None uses generated values, whose ranking may differ.
        samples: number of samples; None uses 64 of the data, or 8 generated ones.
        seed: random seed for generated values.
        activations: ``u8`` or ``s8``.
        weights: ``s8``, ``s7`` or ``s4``.
        per_channel: use one weight scale per output channel.
        output: the output to compare; None uses the first float output.
        auto: a target such as ``agreement>=0.99``; finds the fewest float layers that reach it.
        budget: seconds after which no further layer is measured.
        bindings: values of symbolic dimensions; others are taken from the data.
        input_shapes: full shapes of inputs.
        hardware: device for estimated latencies of mixtures.
        memory: maximum bytes of sessions; above, layers are measured in groups.
        progress: called with the number of layers measured and the total.

    Raises:
        InputError: the model is already quantized, has no such layers, or the data does not fit.
        OptionError: an option is unknown, or mixtures are requested and do not fit into memory.
        RequirementError: ONNX Runtime is missing.
        AnalysisError: it rejects the model.
    """
    return sensitivity_with_analysis(
        model,
        data,
        samples=samples,
        seed=seed,
        activations=activations,
        weights=weights,
        per_channel=per_channel,
        output=output,
        auto=auto,
        budget=budget,
        bindings=bindings,
        input_shapes=input_shapes,
        hardware=hardware,
        memory=memory,
        progress=progress,
    )[0]


def sensitivity_with_analysis(
    model: PathLike,
    data: Any = None,
    *,
    samples: int | None = None,
    seed: int = 0,
    activations: str = "u8",
    weights: str = "s8",
    per_channel: bool = True,
    output: str | None = None,
    auto: str | None = None,
    budget: float | None = None,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    hardware: str = "",
    memory: int = MEMORY,
    progress: Progress | None = None,
) -> tuple[Sensitivity, Analysis]:
    """Like ``sensitivity``, but also return the analysis of the model, for drawing it."""
    scheme = _scheme(activations, weights, per_channel)
    goal = None if auto is None else target(auto)
    name = base_name(model)
    analysis = analysis_at_sizes(model, data, bindings, input_shapes, hardware)
    check_memory(analysis)
    proto = read_model(model, weights=True)
    in_execution_order(proto)
    lift_weights(proto, name)
    raise_opset(proto, MIN_OPSET)
    layers = layers_of(proto, name)
    chosen, source = choose_samples(
        data, input_specs(analysis), samples, seed, (DATA_SAMPLES, SYNTHETIC_SAMPLES)
    )
    result = _output(proto, output, name)
    bench = LayerBench(
        model, proto, layers, chosen, scheme, result, _of_classes(analysis, proto, result), memory
    )
    scores = bench.alone(budget, progress or (lambda done, total: None))
    document = _document(analysis, bench, scores, scheme, goal, (len(chosen), source, result))
    return document, analysis


def _scheme(activations: str, weights: str, per_channel: bool) -> Scheme:
    for value, choices, option in (
        (activations, ("u8", "s8"), "activations"),
        (weights, ("s8", "s7", "s4"), "weights"),
    ):
        if value not in choices:
            raise OptionError(
                "bad-scheme",
                f"Unknown value for {option}: {value[:20]!r}.",
                f"Choose one of {', '.join(choices)}.",
            )
    return Scheme(activations, weights, per_channel)


def _output(proto: onnx.ModelProto, requested: str | None, name: str) -> str:
    floats: list[str] = [
        value.name
        for value in proto.graph.output
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    ]
    if requested is None and not floats:
        raise InputError("no-float-output", f"{name} has no float32 output to compare.")
    if requested is not None and requested not in floats:
        names = ", ".join(floats[:20])
        raise OptionError(
            "no-such-output", f"{name} has no float32 output {requested[:80]!r}.", f"Choose one of {names}."
        )
    return floats[0] if requested is None else requested


def _of_classes(analysis: Analysis, proto: onnx.ModelProto, output: str) -> bool:
    """True if rows of the output are class scores."""
    if analysis.identified.task.id in _CLASSES:
        return True
    shapes = {t.name: analysis.types.shapes[t.id] for t in analysis.model.tensors if t.graph == 0}
    shape = shapes.get(output)
    return shape is not None and len(shape) == 2 and isinstance(shape[-1], int) and shape[-1] > 1


def _document(
    analysis: Analysis,
    bench: LayerBench,
    scores: LayerScores,
    scheme: Scheme,
    goal: ScoreTarget | None,
    data: tuple[int, str, str],
) -> Sensitivity:
    metric = "kl" if bench.float_results.classes else "relative_error"
    ranking = _ranking(scores.alone, metric)
    nodes = _nodes(analysis, bench.layers)
    latency = MixedLatency(analysis, nodes)
    mixtures = bench.fits_memory() and len(ranking) == len(bench.layers)
    curve: list[CurvePoint] = []
    choice = None
    if mixtures:
        size = _sizes(analysis, bench.layers, scheme)

        def point(count: int, score: Score | None = None) -> CurvePoint:
            mixture = set(ranking[count:])
            measured = bench.mixture(mixture) if score is None else score
            return CurvePoint(
                float_layers=count,
                quality=quality(measured),
                weight_bytes=size(mixture),
                latency_ms=latency.ms(mixture),
            )

        curve = [point(count) for count in curve_points(len(ranking))]
        if goal is not None:
            count, reached = fewest_float_layers(
                len(ranking), goal, lambda count: bench.mixture(set(ranking[count:]))
            )
            outputs = [bench.layers[number].output for number in ranking[:count]]
            choice = Choice(target=goal.text, reached=reached, float_layers=outputs, point=point(count))
    elif goal is not None:
        raise OptionError(
            "no-mixtures",
            "A target needs the scores of all layers and memory for all of them at once.",
            "Raise --memory or --budget.",
        )
    order = [*ranking, *(number for number, score in enumerate(scores.alone) if score is None)]
    ranks = {number: rank for rank, number in enumerate(ranking, 1)}
    layers = [
        _layer(analysis, bench.layers[number], nodes.get(number), ranks.get(number), scores.alone[number])
        for number in order
    ]
    return Sensitivity(
        model=analysis.model.file.name,
        samples=data[0],
        data=data[1],
        output=data[2],
        activations=scheme.activations,
        weights=scheme.weights,
        per_channel=scheme.per_channel,
        metric=metric,
        float_error=scores.nothing.relative_error,
        all_quantized=None if scores.everything is None else quality(scores.everything),
        layers=layers,
        measured=len(ranking),
        sensitive_layers=_advice(layers, choice, scheme),
        curve=curve,
        choice=choice,
        device=latency.device,
        kernels_here=kernel_here(),
    )


def _ranking(scores: Sequence[Score | None], metric: str) -> list[int]:
    """Return the measured layers, most sensitive first; ties are in the file's order."""
    measured = [(number, score) for number, score in enumerate(scores) if score is not None]
    errors = {number: (getattr(score, metric) or 0.0, score.relative_error) for number, score in measured}
    return sorted(errors, key=lambda number: errors[number], reverse=True)


def _nodes(analysis: Analysis, layers: Sequence[QuantizableLayer]) -> dict[int, int]:
    """Return layer → node of the analysis, matched by output tensor."""
    producers = {t.name: t.producer for t in analysis.model.tensors if t.graph == 0 and t.producer >= 0}
    return {
        number: producers[layer.output] for number, layer in enumerate(layers) if layer.output in producers
    }


def _layer(
    analysis: Analysis, layer: QuantizableLayer, node: int | None, rank: int | None, score: Score | None
) -> SensitiveLayer:
    name, macs = layer.output, None
    if node is not None:
        graph_node, entry = analysis.model.nodes[node], analysis.costs[node]
        name = ".".join(graph_node.scope) or graph_node.name or layer.output
        macs = None if entry.cost is None else entry.cost.macs
    return SensitiveLayer(
        rank=rank,
        name=name,
        op=layer.op,
        node=node,
        output=layer.output,
        weight_values=layer.size,
        macs=macs,
        quality=None if score is None else quality(score),
    )


def _sizes(analysis: Analysis, layers: Sequence[QuantizableLayer], scheme: Scheme) -> Any:
    """Return a function from the set of quantized layers to the bytes of all weights."""
    stored = sum(t.storage.bytes or 0 for t in analysis.model.tensors if t.storage is not None and t.name)

    def size(quantized: Collection[int]) -> int:
        smaller = {layers[number].weight: layers[number].size for number in quantized}
        saved = sum(values * (32 - scheme.bits) // 8 for values in smaller.values())
        return stored - saved

    return size


def _advice(layers: Sequence[SensitiveLayer], choice: Choice | None, scheme: Scheme) -> list[Advice]:
    """Return the layers to keep float: those of the choice, else a few outliers."""
    measured = [layer for layer in layers if layer.quality is not None]
    if choice is not None:
        chosen = [layer for layer in measured if layer.output in set(choice.float_layers)]
        reason = f"Keep in float to reach {choice.target}." if choice.reached else "Keep in float."
    else:
        errors = sorted(layer.quality.relative_error for layer in measured if layer.quality is not None)
        median = errors[len(errors) // 2] if errors else 0.0
        chosen = [
            layer
            for layer in measured[:_MAX_ADVICE]
            if layer.quality is not None and layer.quality.relative_error > _NOTABLE * median
        ]
        reason = "Keep in float or in 16 bits first if the accuracy is too low."
    return [
        Advice(
            layer=layer.name,
            quantization=f"{scheme.activations} activations, {scheme.weights} weights",
            sqnr_db=layer.quality.sqnr_db,
            kl=layer.quality.kl,
            accuracy_drop=None if layer.quality.agreement is None else 1 - layer.quality.agreement,
            recommendation=reason,
        )
        for layer in chosen
        if layer.quality is not None
    ]
