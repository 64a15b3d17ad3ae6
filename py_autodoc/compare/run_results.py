"""Measurements that ``run --out-json`` wrote, as evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.compare.evaluation import BOUNDS, Evaluation, evaluation_of, invalid_evaluation
from py_autodoc.errors import OptionError
from py_autodoc.limits import EVALUATION_FILE
from py_autodoc.option_files import read_bytes, shown_name

_SCHEMA = "autodoc.run/"
_TIMES = ("p50", "p90", "p99", "mean")


class _Latency(msgspec.Struct, frozen=True):
    p50_ms: float | None = None
    p90_ms: float | None = None
    p99_ms: float | None = None
    mean_ms: float | None = None
    throughput_per_s: float | None = None


class _Memory(msgspec.Struct, frozen=True):
    peak_bytes: float | None = None


class _Variant(msgspec.Struct, frozen=True):
    model: str
    latency: _Latency = _Latency()
    memory: _Memory | None = None
    metrics: dict[str, float | None] = {}


class _Run(msgspec.Struct, frozen=True):
    variants: list[_Variant]


class _Head(msgspec.Struct, frozen=True):
    schema: str = ""
    eval: Any = None
    perf: Any = None


def is_evaluation(path: str) -> bool:
    """Return whether a file is an evaluation or the result of ``run``, and no model or report."""
    if not path.lower().endswith(".json"):
        return False
    try:
        data = read_bytes(path, EVALUATION_FILE)
        check_json(data, BOUNDS)
        head = msgspec.json.decode(data, type=_Head)
    except (OptionError, TooMuch, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return head.schema.startswith(_SCHEMA) or head.eval is not None or head.perf is not None


def evaluations_of_models(paths: Sequence[str], models: Sequence[str]) -> list[Evaluation]:
    """Read the evaluations of models, given by their file names; empty without files.

    Files are one per model in their order. Results of ``run`` name their models and belong to these.
    Raises: OptionError, PathError.
    """
    if not paths:
        return []
    files = [_read(path) for path in paths]
    named: dict[str, list[Evaluation]] = {}
    for evaluations, names_models in files:
        for evaluation in evaluations if names_models else ():
            named.setdefault(evaluation.model_id, []).append(evaluation)
    in_order = len(files) == len(models)
    found: list[Evaluation] = []
    for index, model in enumerate(models):
        evaluations, names_models = files[index] if in_order else ((), True)
        if names_models and named.get(model):
            found.append(named[model].pop(0))
        elif len(evaluations) == 1:
            found.append(evaluations[0])
        else:
            raise _missing(len(files), model, models, sorted(named))
    return found


def _read(path: str) -> tuple[tuple[Evaluation, ...], bool]:
    """Return the evaluations in a file, and whether it names their models."""
    name, data = shown_name(path), read_bytes(path, EVALUATION_FILE)
    try:
        check_json(data, BOUNDS)
        head = msgspec.json.decode(data, type=_Head)
        if not head.schema.startswith(_SCHEMA):
            return (evaluation_of(data, name),), False
        variants = msgspec.json.decode(data, type=_Run).variants
    except (TooMuch, msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise invalid_evaluation(name, fault) from None
    return tuple(_evaluation(variant, name) for variant in variants), True


def _evaluation(variant: _Variant, file: str) -> Evaluation:
    latency = variant.latency
    perf = {f"latency_ms_{time}": getattr(latency, f"{time}_ms") for time in _TIMES}
    perf["throughput_qps"] = latency.throughput_per_s
    perf["memory_peak_bytes"] = None if variant.memory is None else variant.memory.peak_bytes
    perf = {name: value for name, value in perf.items() if value is not None}
    return Evaluation(
        file, variant.model, primary=next(iter(variant.metrics), None), metrics=variant.metrics, perf=perf
    )


def _missing(files: int, model: str, models: Sequence[str], named: Sequence[str]) -> OptionError:
    if not named:
        count = f"{files} evaluation" + ("" if files == 1 else "s")
        return OptionError(
            "evaluations-differ",
            f"{len(models)} models are compared, with {count}.",
            "Pass --eval-metrics once for each model, in their order.",
        )
    ran = ", ".join(name[:60] for name in named[:8])
    return OptionError(
        "evaluations-differ",
        f"No evaluation is of {model[:100]}; `run` measured {ran}.",
        "Run all compared models together, or pass one file for each model, in their order.",
    )
