"""Time series: forecasts and classes."""

from __future__ import annotations

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import COPY_OR_LAYOUT_OPS, RECURRENT
from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import PROBABLE, SURE, WEAK, ModelPort, RuleReading
from py_autodoc.identity.registry import task
from py_autodoc.identity.words import words
from py_autodoc.units import plural

_CHANNELS = 64
"""Maximum simultaneous measurements; hidden vectors are wider."""
_STEPS = 8
"""Minimum steps of a series."""
_POOLED = frozenset({"GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceMax"})
_FAR = 12
_PAST, _FUTURE = frozenset({"past", "history"}), frozenset({"future", "horizon"})
_NEXT = frozenset({"prediction", "predictions", "forecast", "forecasts"})
_SCORES = frozenset({"logits", "scores", "probabilities", "regression"})
_MEASURED = frozenset({"values", "value", "target", "time", "observed", "series"})


def _series(case: IdentityCase) -> tuple[ModelPort, int, int] | None:
    """Return the series input, the time axis and the number of measurements per step."""
    ports = [port for port in case.ports if port.role == "features"]
    if case.only != "features" or len(ports) != 1 or case.port("state") is not None:
        return None
    shape = ports[0].shape
    if shape is None or len(shape) != 3:
        return None
    for time, across in ((1, 2), (2, 1)):
        steps, channels = shape[time], shape[across]
        if not isinstance(channels, int) or channels > _CHANNELS:
            continue
        if not isinstance(steps, int) or (steps >= _STEPS and steps > channels):
            return ports[0], time, channels
    return None


@task("time-series-forecasting", "time series forecasting", ("time-series-forecasting",), ("ForPrediction",))
def forecasting(case: IdentityCase) -> RuleReading | None:
    """Match the next values of the measurements."""
    evidence = _by_name(case)
    if evidence is not None:
        return evidence
    series, end = _series(case), case.first
    if series is None or end is None or end.activation in ("Softmax", "Sigmoid", "ArgMax"):
        return None
    port, time, channels = series
    steps = port.shape[time] if port.shape is not None else None
    measured = f"time series input with {plural(channels, 'measurement')} per step"
    if end.rank == 3 and end.at(3 - time) == channels:
        after = end.at(time)
        if after is None or after == steps:
            return None
        return RuleReading(
            PROBABLE,
            (measured, f"{plural(after, 'other step')} with as many measurements as output"),
            "next values",
        )
    if end.rank == 2 and end.kind == "linear" and _read_steps(case.flow, end.node) == "last":
        told_last = "the output depends only on the state of the last step"
        return RuleReading(PROBABLE, (measured, told_last), "next values")
    return None


def _by_name(case: IdentityCase) -> RuleReading | None:
    """Match names that mean past and future values."""
    input_words = [set(words(port.name)) for port in case.ports]
    has_past = any(_PAST & parts and _MEASURED & parts for parts in input_words)
    future = any(_FUTURE & parts for parts in input_words)
    if not has_past or any(port.role in ("tokens", "image", "waveform") for port in case.ports):
        return None
    output_words = {part for end in case.ends for part in case.name(end)}
    if future or (_NEXT & output_words and not _SCORES & output_words):
        return RuleReading(SURE, ("inputs and outputs named as past and future values",), "next values")
    return None


@task("time-series-classification", "time series classification", ("time-series-classification",), ())
def classification(case: IdentityCase) -> RuleReading | None:
    """Match classes of a whole series."""
    series, end = _series(case), case.end
    if series is None or end is None or end.rank != 2 or (end.width or 0) < 2:
        return None
    if end.kind not in ("linear", "conv", "other") or case.named("regression"):
        return None
    evidence = (
        f"time series input with {plural(series[2], 'measurement')} per step, {end.width} scores as output"
    )
    if end.activation in ("Softmax", "ArgMax"):
        return RuleReading(PROBABLE + 0.1, (evidence, f"final {end.activation}"), "class scores")
    if _read_steps(case.flow, end.node) != "pooled":
        return None
    return RuleReading(PROBABLE if end.activation == "Sigmoid" else WEAK, (evidence,), "class scores")


def _read_steps(flow: DataflowGraph, node: int) -> str:
    """Return what a head reads of a series: ``last`` step, all steps ``pooled``, or empty."""
    data = flow.data_inputs[node]
    tensor = data[0] if data else -1
    for _ in range(_FAR):
        number = flow.producers[tensor]
        name = flow.op_types[number] if number >= 0 else ""
        if name in _POOLED:
            return "pooled"
        if name == "Gather" and len(flow.data_inputs[number]) == 1:
            index = flow.value(flow.nodes[number].inputs[1])
            if index is None or index.size != 1:
                return ""
            return "last" if int(index.reshape(-1)[0]) else "pooled"  # the first step has read all
        if name in RECURRENT and flow.nodes[number].outputs.index(tensor) == 1:
            return "last"
        if name == "Slice":
            shape = flow.shapes[flow.first_outputs[number]]
            return "last" if shape is not None and 1 in shape[1:] else ""
        if name not in COPY_OR_LAYOUT_OPS and name not in ("Relu", "Dropout", "Gelu", "Tanh"):
            return ""
        tensor = flow.data_inputs[number][0] if flow.data_inputs[number] else -1
    return ""
