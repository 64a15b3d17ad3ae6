"""Recommendations from a sensitivity measurement, for the report."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from py_autodoc.bounded import check_json
from py_autodoc.errors import InputError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.limits import SENSITIVITY_FILE, TABLE
from py_autodoc.option_files import read_bytes, shown_name
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import EngineSummary, QuantizationAdvice, SensitiveLayerInfo
from py_autodoc.samples.sample_source import SYNTHETIC
from py_autodoc.sensitivity.document import SCHEMA, CurvePoint, Sensitivity
from py_autodoc.units import plural, size

ENOUGH = 128
"""Minimum number of samples for calibration ranges."""
_CLOSE_DB, _CLOSE_SHARE = 30.0, 0.99
"""Thresholds from which a model with all layers quantized counts as close to the float model."""


def read_sensitivity(path: PathLike) -> Sensitivity:
    """Read a file of ``sensitivity --out-json``. Raises: PathError, InputError."""
    name = shown_name(path)
    data = read_bytes(path, SENSITIVITY_FILE)
    try:
        check_json(data, TABLE)
        result = msgspec.convert(_finite(msgspec.json.decode(data)), Sensitivity)
    except (ValueError, msgspec.MsgspecError) as fault:
        line = str(fault).strip().splitlines()[0][:200]
        raise InputError(
            "bad-sensitivity",
            f"{name} is not a result of `sensitivity`: {line}",
            "Write it with `sensitivity MODEL --out-json`.",
        ) from fault
    if result.schema != SCHEMA:
        raise InputError(
            "bad-sensitivity", f"{name} has the schema {result.schema[:40]!r} instead of {SCHEMA}."
        )
    return result


def _finite(document: Any) -> Any:
    """Return the document with infinite relative errors, which JSON stores as null."""
    if isinstance(document, list):
        return [_finite(item) for item in document]
    if isinstance(document, dict):
        converted = {key: _finite(item) for key, item in document.items()}
        return (
            {**converted, "relative_error": math.inf}
            if converted.get("relative_error", 0) is None
            else converted
        )
    return document


def with_advice(analysis: Analysis, result: Sensitivity) -> Analysis:
    """Return the analysis with the recommendations. Raises: InputError if it is of another model."""
    from dataclasses import replace

    names = {tensor.name for tensor in analysis.model.tensors}
    missing = next((layer.output for layer in result.layers if layer.output not in names), None)
    if missing is not None:
        raise InputError(
            "other-sensitivity",
            f"The sensitivity of {result.model[:80]} has a layer {missing[:80]}, which "
            f"{analysis.model.file.name} does not have.",
            "Measure this model with `sensitivity`.",
        )
    return replace(analysis, quantization=advice(result))


def advice(result: Sensitivity) -> QuantizationAdvice:
    """Return the sensitive layers, the recommended mixture and sentences about both."""
    by_name = {layer.name: layer for layer in result.layers}
    point = result.choice.point if result.choice is not None else next(iter(result.curve), None)
    layers = [
        SensitiveLayerInfo(
            layer=sensitive.layer,
            node=by_name[sensitive.layer].node if sensitive.layer in by_name else None,
            quantization=sensitive.quantization,
            sqnr_db=sensitive.sqnr_db,
            kl=sensitive.kl,
            accuracy_drop=sensitive.accuracy_drop,
            recommendation=sensitive.recommendation,
        )
        for sensitive in result.sensitive_layers
    ]
    engine = None if point is None else _engine(result, point)
    return QuantizationAdvice(
        samples=result.samples,
        data=result.data,
        output=result.output,
        activations=result.activations,
        weights=result.weights,
        layers_measured=result.measured,
        layers_total=len(result.layers),
        sensitive_layers=layers,
        engine=engine,
        recommendations=[*_strategy(result), *_calibration(result), *_tradeoff(engine)],
    )


def _engine(result: Sensitivity, point: CurvePoint) -> EngineSummary:
    """Compare the mixture with the float model, which is the last point of the curve."""
    floating, count = result.curve[-1], len(result.layers)
    measured = point.measured_ms is not None and result.measured_float_ms is not None
    times = (
        (point.measured_ms, result.measured_float_ms) if measured else (point.latency_ms, floating.latency_ms)
    )
    comparable = times[0] is not None and times[1] is not None
    return EngineSummary(
        layers=count,
        float_layers=point.float_layers,
        quantized_layers=count - point.float_layers,
        weight_bytes=point.weight_bytes,
        float_weight_bytes=floating.weight_bytes,
        latency_ms=times[0] if comparable else None,
        float_latency_ms=times[1] if comparable else None,
        speedup=times[1] / times[0] if times[0] and times[1] else None,
        latency_source=("measured" if measured else "estimated") if comparable else "",
        device=(result.measured_on if measured else result.device) if comparable else "",
        sqnr_db=point.quality.sqnr_db,
        agreement=point.quality.agreement,
    )


def _strategy(result: Sensitivity) -> list[str]:
    kinds = f"{result.activations} activations and {result.weights} weights"
    count, names = len(result.layers), [layer.layer for layer in result.sensitive_layers]
    listed = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    if result.measured < count:
        return [
            f"Strategy: undecided, because only {result.measured} of {plural(count, 'layer')} were measured. "
            "Measure all layers."
        ]
    if result.choice is not None and not result.choice.reached:
        return [f"Strategy: {result.choice.target} is not reached with any number of float layers."]
    if result.choice is not None and result.choice.point.float_layers:
        float_layers = result.choice.point.float_layers
        return [
            f"Strategy: mixed precision. Quantize {count - float_layers} of {plural(count, 'layer')} to "
            f"{kinds} to reach {result.choice.target}.",
            f"Sensitive layers: keep {listed} in float or in 16 bits.",
        ]
    if result.choice is not None:
        return [
            f"Strategy: quantize all {plural(count, 'layer')} to {kinds} to reach {result.choice.target}."
        ]
    if _close(result):
        strategy = f"Strategy: quantize all {plural(count, 'layer')} to {kinds}."
    else:
        strategy = f"Strategy: mixed precision of {kinds} and float. Set a target with --auto."
    return [
        strategy,
        *([f"Sensitive layers: keep {listed} in float first if the accuracy is too low."] if names else []),
    ]


def _close(result: Sensitivity) -> bool:
    """True if the model with all layers quantized is close to the float model."""
    quantized = result.all_quantized
    if quantized is None:
        return False
    if quantized.agreement is not None:
        return quantized.agreement >= _CLOSE_SHARE
    return quantized.sqnr_db is None or quantized.sqnr_db >= _CLOSE_DB


def _calibration(result: Sensitivity) -> list[str]:
    # Files written by earlier versions say "made up".
    if result.data.startswith((SYNTHETIC, "made up")):
        return [
            "Calibration: the samples are synthetic; ranges and ranking differ from those of real inputs. "
            f"Measure again with at least {ENOUGH} real samples."
        ]
    if result.samples < ENOUGH:
        return [
            f"Calibration: use at least {ENOUGH} samples of real inputs for the ranges; "
            f"this measurement used {result.samples}."
        ]
    return [
        f"Calibration: {result.samples} samples were used. Use minmax ranges first, then percentile or "
        "entropy."
    ]


def _tradeoff(engine: EngineSummary | None) -> list[str]:
    if engine is None:
        return []
    parts = [f"weights of {size(engine.weight_bytes)} instead of {size(engine.float_weight_bytes)}"]
    if engine.speedup is not None:
        parts.append(f"{engine.speedup:.2f} times as fast ({engine.latency_source}, {engine.device})")
    if engine.agreement is not None:
        parts.append(f"top-1 agreement {engine.agreement:.1%}")
    parts.append("no difference" if engine.sqnr_db is None else f"SQNR {engine.sqnr_db:.1f} dB")
    sentences = [f"Trade-off: {', '.join(parts)}."]
    if engine.speedup is not None and engine.speedup < 1:
        sentences.append(
            f"The mixture is slower than float on {engine.device}: quantize only to reduce the size."
        )
    return sentences
