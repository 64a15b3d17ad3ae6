"""The kinds of tasks: one function each, from a request to text, numbers by node, and a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from py_autodoc.errors import InputError, OptionError
from py_autodoc.report.schema import (
    TaskKernel,
    TaskLayer,
    TaskLost,
    TaskRequest,
    TaskResult,
    TaskTimes,
    TaskVerification,
    TaskVerifiedLayer,
)

if TYPE_CHECKING:
    from py_autodoc.report.pipeline.analysis import Analysis
    from py_autodoc.runner.profile import NodeTimes
    from py_autodoc.verify.document import Verification, VerifiedLayer

Tell = Callable[[str, int, int], None]
"""Called with (step, done, total); a total of 0 is unknown."""
_RUNS, _WARMUP = 20, 3


class TaskFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Local files that a request refers to."""

    model: str
    data: str | None = None
    out: str = ""
    against: str = ""
    profiles: list[str] = []


def run_task(request: TaskRequest, files: TaskFiles, tell: Tell) -> TaskResult:
    """Run the requested task.

    Raises: AutodocError: as the function for the kind.
    """
    kind = KINDS.get(request.kind)
    if kind is None:
        known = ", ".join(KINDS)
        raise OptionError("unknown-task", f"Unknown task {request.kind[:40]!r}.", f"Choose one of {known}.")
    return kind(request, files, tell)


def _numbers(held: Mapping[str, object]) -> tuple[str, str, dict[str, float]]:
    values = held["values"]
    assert isinstance(values, Mapping)
    return str(held["label"]), str(held["unit"]), {str(node): float(one) for node, one in values.items()}


def _measure(request: TaskRequest, files: TaskFiles, tell: Tell) -> TaskResult:
    from py_autodoc.runner.profile import measure_nodes
    from py_autodoc.runner.session import InferenceRunner
    from py_autodoc.samples import analysis_at_sizes

    model, data = files.model, files.data
    tell("reading", 0, 0)
    analysis = analysis_at_sizes(model, data, request.bindings)
    samples, _, _ = InferenceRunner(model, data=data, bindings=request.bindings).samples(
        data, request.samples or None, 0
    )
    tell("running", 0, 0)
    return times_result(measure_nodes(model, analysis, samples, _RUNS, _WARMUP, 0))


def times_result(found: NodeTimes) -> TaskResult:
    """Return kernel times in wire format."""
    from py_autodoc.runner.lines import node_lines

    label, unit, values = _numbers(found.heat())
    times = TaskTimes(
        source=found.source,
        total_ms=found.total_ms,
        attributed_ms=found.attributed_ms,
        kernels=[
            TaskKernel(
                node=one.node, nodes=one.nodes, name=one.name, op=one.op, ms=one.ms,
                conversion_ms=one.conversion_ms,
            )
            for one in found.nodes
        ],
        lost=[TaskLost(name=name, ms=ms) for name, ms in found.lost.items()],
    )  # fmt: skip
    return TaskResult(
        lines=list(node_lines(found, False))[:1], label=label, unit=unit, values=values, layers=[], path="",
        times=times,
    )  # fmt: skip


def _profile(request: TaskRequest, files: TaskFiles, tell: Tell) -> TaskResult:
    from py_autodoc.samples import analysis_at_sizes

    tell("reading", 0, 0)
    return profile_result(files.profiles, analysis_at_sizes(files.model, None, request.bindings))


def profile_result(files: list[str], analysis: Analysis) -> TaskResult:
    """Return the times in a profile, with or without TensorRT's layer information, in either order.

    Raises: InputError: none of the files is a profile, or it is for another model.
    """
    from py_autodoc.runner.profile import identify_profile_files, read_profile

    profile, layer_info = identify_profile_files(files)
    found = read_profile(profile, analysis, layer_info)
    if not found.nodes:
        names = ", ".join(f"{name[:40]!r}" for name in list(found.lost)[:3]) or "it has none"
        raise InputError(
            "profile-of-another-model",
            f"None of the kernels in {found.source[:100]} matches a node of this model ({names}).",
            "Pass a profile of this model, made with its current names.",
        )
    return times_result(found)


def _verify(request: TaskRequest, files: TaskFiles, tell: Tell) -> TaskResult:
    from py_autodoc.verify.api import verify_with_analysis
    from py_autodoc.verify.lines import verification_lines

    tell("reading", 0, 0)
    found, analysis = verify_with_analysis(
        files.model,
        files.against,
        files.data,
        tolerance=request.tolerance,
        samples=request.samples or None,
        bindings=request.bindings,
        progress=lambda done, total: tell("passes", done, total),
    )
    label, unit, values = _numbers(found.heat())
    return TaskResult(
        lines=[line.strip() for line in verification_lines(found, list_layers=False) if line],
        label=label, unit=unit, values=values, layers=[], path="",
        verification=_verification(found, analysis),
    )  # fmt: skip


def _verification(found: Verification, analysis: Analysis) -> TaskVerification:
    return TaskVerification(
        reference=found.reference,
        verdict=found.verdict,
        tolerance=found.tolerance,
        first=found.first,
        layers=[
            TaskVerifiedLayer(
                node=_anchor(one, analysis), name=one.name, op=one.op, tensor=one.tensor,
                reference_tensor=one.reference_tensor, error=one.error.relative_error,
                sqnr_db=one.error.sqnr_db, error_before=one.error_before, diverges=one.diverges,
            )
            for one in found.layers
        ],
    )  # fmt: skip


def _anchor(layer: VerifiedLayer, analysis: Analysis) -> int:
    """Return the node that a layer is named after, as opposed to fused, quantize or dequantize nodes."""
    nodes = analysis.model.nodes
    named = (one for one in layer.nodes if nodes[one].op_type == layer.op)
    return next(named, layer.nodes[-1])


def _sensitivity(request: TaskRequest, files: TaskFiles, tell: Tell) -> TaskResult:
    from py_autodoc.sensitivity import sensitivity

    tell("reading", 0, 0)
    found = sensitivity(
        files.model,
        files.data,
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


def _quantize(request: TaskRequest, files: TaskFiles, tell: Tell) -> TaskResult:
    from py_autodoc.quantize import Recipe, quantize
    from py_autodoc.quantize.lines import quantization_lines

    recipe = Recipe(method=request.method or "static", exclude=request.exclude)
    found = quantize(
        files.model,
        files.out,
        files.data,
        recipe,
        samples=request.samples or None,
        random_data=request.random_data,
        bindings=request.bindings,
        force=request.overwrite,
        progress=tell,
    )
    return TaskResult(
        lines=[line for line in quantization_lines(found) if line], label="", unit="", values={}, layers=[],
        path=os.path.basename(files.out),
    )  # fmt: skip


KINDS: Final[dict[str, Callable[[TaskRequest, TaskFiles, Tell], TaskResult]]] = {
    "measure": _measure,
    "profile": _profile,
    "verify": _verify,
    "sensitivity": _sensitivity,
    "quantize": _quantize,
}
"""Task kind → function; add new kinds here."""
