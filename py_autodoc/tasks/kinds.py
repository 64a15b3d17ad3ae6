"""What a task can be: one function each, from a request to lines, numbers by node, and a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final

from py_autodoc.errors import OptionError
from py_autodoc.report.schema import TaskLayer, TaskRequest, TaskResult

Tell = Callable[[str, int, int], None]
"""Step, done, total; a total of 0 is not known."""
_RUNS, _WARMUP = 20, 3


def run_task(request: TaskRequest, model: str, data: str | None, out: str, tell: Tell) -> TaskResult:
    """Do what is asked for. ``model``, ``data`` and ``out`` are files of this machine.

    Raises: AutodocError: as the function behind the kind.
    """
    kind = KINDS.get(request.kind)
    if kind is None:
        known = ", ".join(KINDS)
        raise OptionError("unknown-task", f"There is no task {request.kind[:40]!r}.", f"One of {known}.")
    return kind(request, model, data, out, tell)


def _numbers(held: Mapping[str, object]) -> tuple[str, str, dict[str, float]]:
    values = held["values"]
    assert isinstance(values, Mapping)
    return str(held["label"]), str(held["unit"]), {str(node): float(one) for node, one in values.items()}


def _measure(request: TaskRequest, model: str, data: str | None, out: str, tell: Tell) -> TaskResult:
    from py_autodoc.runner.lines import node_lines
    from py_autodoc.runner.profile import measure_nodes
    from py_autodoc.runner.session import InferenceRunner
    from py_autodoc.samples import sized

    tell("reading", 0, 0)
    analysis = sized(model, data, request.bindings)
    samples, _, _ = InferenceRunner(model, data=data, bindings=request.bindings).samples(
        data, request.samples or None, 0
    )
    tell("running", 0, 0)
    found = measure_nodes(model, analysis, samples, _RUNS, _WARMUP, 0)
    label, unit, values = _numbers(found.heat())
    return TaskResult(
        lines=list(node_lines(found, False))[:1], label=label, unit=unit, values=values, layers=[], path=""
    )


def _sensitivity(request: TaskRequest, model: str, data: str | None, out: str, tell: Tell) -> TaskResult:
    from py_autodoc.sensitivity import sensitivity

    tell("reading", 0, 0)
    found = sensitivity(
        model,
        data,
        samples=request.samples or None,
        bindings=request.bindings,
        auto=request.target or None,
        progress=lambda done, total: tell("layers", done, total),
    )
    label, unit, values = _numbers(found.heat())
    keep = set(found.choice.float_layers) if found.choice is not None else set()
    layers = [
        TaskLayer(
            node=one.node,
            name=one.name,
            op=one.op,
            tensor=one.output,
            error=None if one.quality is None else one.quality.relative_error,
            sqnr_db=None if one.quality is None else one.quality.sqnr_db,
            agreement=None if one.quality is None else one.quality.agreement,
            keep=one.output in keep,
        )
        for one in found.layers
    ]
    lines = [f"{found.samples:,} samples, {found.data}."]
    whole = found.all_quantized
    if whole is not None and whole.sqnr_db is not None:
        lines.append(f"All layers in 8 bits: SQNR {whole.sqnr_db:.1f} dB.")
    if found.choice is not None:
        count = len(found.choice.float_layers)
        reached = "reaches" if found.choice.reached else "does not reach"
        lines.append(f"Keeping {count:,} of {len(layers):,} layers in float {reached} {found.choice.target}.")
    return TaskResult(lines=lines, label=label, unit=unit, values=values, layers=layers, path="")


def _quantize(request: TaskRequest, model: str, data: str | None, out: str, tell: Tell) -> TaskResult:
    from py_autodoc.quantize import Recipe, quantize
    from py_autodoc.quantize.lines import quantization_lines

    recipe = Recipe(method=request.method or "static", exclude=request.exclude)
    found = quantize(
        model,
        out,
        data,
        recipe,
        samples=request.samples or None,
        random_data=request.random_data,
        bindings=request.bindings,
        force=request.overwrite,
        progress=tell,
    )
    return TaskResult(
        lines=[line for line in quantization_lines(found) if line], label="", unit="", values={}, layers=[],
        path=os.path.basename(out),
    )  # fmt: skip


KINDS: Final[dict[str, Callable[[TaskRequest, str, str | None, str, Tell], TaskResult]]] = {
    "measure": _measure,
    "sensitivity": _sensitivity,
    "quantize": _quantize,
}
"""A new kind is an entry here."""
