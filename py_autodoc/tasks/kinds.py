"""The kinds of tasks: one function each, from a request to text, numbers by node, and a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from py_autodoc.errors import InputError, OptionError
from py_autodoc.report.schema import (
    TaskAccuracy,
    TaskIntegerKernels,
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
    from py_autodoc.int8_kernels.document import IntegerKernels
    from py_autodoc.report.pipeline.analysis import Analysis
    from py_autodoc.runner.profile import NodeTimes
    from py_autodoc.verify.document import Verification, VerifiedLayer, VerifiedOutput

ReportProgress = Callable[[str, int, int], None]
"""Called with (step, done, total); a total of 0 is unknown."""
_RUNS, _WARMUP = 20, 3
_WITH_TARGET = ("sensitivity", "quantize")


class TaskFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Local files that a request refers to."""

    model: str
    data: str | None = None
    out: str = ""
    against: str = ""
    profiles: list[str] = []


def run_task(request: TaskRequest, files: TaskFiles, report_progress: ReportProgress) -> TaskResult:
    """Run the requested task.

    Raises: AutodocError: as the function for the kind.
    """
    check_request(request)
    return KINDS[request.kind](request, files, report_progress)


def check_request(request: TaskRequest) -> None:
    """Check what needs no file, and imports nothing heavy: the server does this.

    Raises: OptionError: the kind, its target or its method is unknown, or it has no target.
    """
    if request.kind not in KINDS:
        names = ", ".join(KINDS)
        raise OptionError("unknown-task", f"Unknown task {request.kind[:40]!r}.", f"Choose one of {names}.")
    if request.target and request.kind not in _WITH_TARGET:
        names = " and ".join(_WITH_TARGET)
        raise OptionError("bad-target", f"{request.kind} has no target, only {names} have.", "Omit target.")
    if request.target and request.kind == "sensitivity":
        from py_autodoc.sensitivity.float_layers import target

        target(request.target)
    if request.kind == "quantize":
        from py_autodoc.int8_kernels.computations import checked_target
        from py_autodoc.quantize.choices import checked_method

        checked_target(request.target)
        checked_method(request.method or "static")


def _numbers(heat: Mapping[str, object]) -> tuple[str, str, dict[str, float]]:
    values = heat["values"]
    assert isinstance(values, Mapping)
    return (
        str(heat["label"]),
        str(heat["unit"]),
        {str(node): float(number) for node, number in values.items()},
    )


def _measure(request: TaskRequest, files: TaskFiles, report_progress: ReportProgress) -> TaskResult:
    from py_autodoc.runner.profile import measure_nodes
    from py_autodoc.runner.session import InferenceRunner
    from py_autodoc.samples import analysis_at_sizes

    model, data = files.model, files.data
    report_progress("reading", 0, 0)
    analysis = analysis_at_sizes(model, data, request.bindings)
    samples, _, _ = InferenceRunner(model, data=data, bindings=request.bindings).samples(
        data, request.samples or None, 0
    )
    report_progress("running", 0, 0)
    return times_result(measure_nodes(model, analysis, samples, _RUNS, _WARMUP, 0))


def times_result(times: NodeTimes) -> TaskResult:
    """Return kernel times in wire format."""
    from py_autodoc.runner.lines import node_lines

    label, unit, values = _numbers(times.heat())
    task_times = TaskTimes(
        source=times.source,
        total_ms=times.total_ms,
        attributed_ms=times.attributed_ms,
        kernels=[
            TaskKernel(
                node=kernel.node,
                nodes=kernel.nodes,
                name=kernel.name,
                op=kernel.op,
                ms=kernel.ms,
                conversion_ms=kernel.conversion_ms,
            )
            for kernel in times.nodes
        ],
        lost=[TaskLost(name=name, ms=ms) for name, ms in times.lost.items()],
    )
    return TaskResult(
        lines=list(node_lines(times, False))[:1],
        label=label,
        unit=unit,
        values=values,
        layers=[],
        path="",
        times=task_times,
    )


def _profile(request: TaskRequest, files: TaskFiles, report_progress: ReportProgress) -> TaskResult:
    from py_autodoc.samples import analysis_at_sizes

    report_progress("reading", 0, 0)
    return profile_result(files.profiles, analysis_at_sizes(files.model, None, request.bindings))


def profile_result(files: list[str], analysis: Analysis) -> TaskResult:
    """Return the times in a profile, with or without TensorRT's layer information, in either order.

    Raises: InputError: none of the files is a profile, or it is for another model.
    """
    from py_autodoc.runner.profile import identify_profile_files, read_profile

    profile, layer_info = identify_profile_files(files)
    times = read_profile(profile, analysis, layer_info)
    if not times.nodes:
        names = ", ".join(f"{name[:40]!r}" for name in list(times.lost)[:3]) or "it has none"
        raise InputError(
            "profile-of-another-model",
            f"None of the kernels in {times.source[:100]} matches a node of this model ({names}).",
            "Pass a profile of this model, made with its current names.",
        )
    return times_result(times)


def _verify(request: TaskRequest, files: TaskFiles, report_progress: ReportProgress) -> TaskResult:
    from py_autodoc.verify.api import verify_with_analysis
    from py_autodoc.verify.lines import verification_lines

    report_progress("reading", 0, 0)
    verification, analysis = verify_with_analysis(
        files.model,
        files.against,
        files.data,
        tolerance=request.tolerance,
        samples=request.samples or None,
        bindings=request.bindings,
        progress=lambda done, total: report_progress("passes", done, total),
    )
    label, unit, values = _numbers(verification.heat())
    return TaskResult(
        lines=[line.strip() for line in verification_lines(verification, list_layers=False) if line],
        label=label,
        unit=unit,
        values=values,
        layers=[],
        path="",
        verification=_verification(verification, analysis),
        kernels=_kernels(verification.kernels),
        accuracies=_accuracies(verification.outputs),
    )


def _kernels(kernels: IntegerKernels | None) -> TaskIntegerKernels | None:
    return None if kernels is None else TaskIntegerKernels(**msgspec.structs.asdict(kernels))


def _accuracies(outputs: Sequence[VerifiedOutput]) -> list[TaskAccuracy]:
    return [
        TaskAccuracy(
            output=output.name,
            file_db=output.error.sqnr_db,
            here_db=None if output.error_fused is None else output.error_fused.sqnr_db,
            target_db=None if output.error_target is None else output.error_target.sqnr_db,
        )
        for output in outputs
    ]


def _verification(verification: Verification, analysis: Analysis) -> TaskVerification:
    return TaskVerification(
        reference=verification.reference,
        verdict=verification.verdict,
        tolerance=verification.tolerance,
        first=verification.first,
        layers=[
            TaskVerifiedLayer(
                node=_anchor(layer, analysis),
                name=layer.name,
                op=layer.op,
                tensor=layer.tensor,
                reference_tensor=layer.reference_tensor,
                error=layer.error.relative_error,
                sqnr_db=layer.error.sqnr_db,
                error_before=layer.error_before,
                diverges=layer.diverges,
            )
            for layer in verification.layers
        ],
    )


def _anchor(layer: VerifiedLayer, analysis: Analysis) -> int:
    """Return the node that a layer is named after, as opposed to fused, quantize or dequantize nodes."""
    nodes = analysis.model.nodes
    candidates = (node for node in layer.nodes if nodes[node].op_type == layer.op)
    return next(candidates, layer.nodes[-1])


def _sensitivity(request: TaskRequest, files: TaskFiles, report_progress: ReportProgress) -> TaskResult:
    from py_autodoc.mixtures import with_checked_choice, with_written
    from py_autodoc.sensitivity import sensitivity
    from py_autodoc.sensitivity.lines import kernel_lines

    report_progress("reading", 0, 0)
    result = sensitivity(
        files.model,
        files.data,
        samples=request.samples or None,
        bindings=request.bindings,
        auto=request.target or None,
        progress=lambda done, total: report_progress("layers", done, total),
    )
    result = with_written(files.model, result, files.data, bindings=request.bindings)
    result = with_checked_choice(files.model, result, files.data, bindings=request.bindings)
    label, unit, values = _numbers(result.heat())
    kept_in_float = set(result.choice.float_layers) if result.choice is not None else set()
    layers = [
        TaskLayer(
            node=layer.node,
            name=layer.name,
            op=layer.op,
            tensor=layer.output,
            error=None if layer.quality is None else layer.quality.relative_error,
            sqnr_db=None if layer.quality is None else layer.quality.sqnr_db,
            agreement=None if layer.quality is None else layer.quality.agreement,
            keep=layer.output in kept_in_float,
        )
        for layer in result.layers
    ]
    lines = [f"{result.samples:,} samples, {result.data}."]
    all_quantized = result.all_quantized
    if all_quantized is not None and all_quantized.sqnr_db is not None:
        lines.append(f"All layers in 8 bits: SQNR {all_quantized.sqnr_db:.1f} dB.")
    lines += kernel_lines(result)
    if result.choice is not None:
        count = len(result.choice.float_layers)
        reached = "reaches" if result.choice.reached else "does not reach"
        lines.append(
            f"Keeping {count:,} of {len(layers):,} layers in float {reached} {result.choice.target}."
        )
    return TaskResult(lines=lines, label=label, unit=unit, values=values, layers=layers, path="")


def _quantize(request: TaskRequest, files: TaskFiles, report_progress: ReportProgress) -> TaskResult:
    from py_autodoc.quantize import Recipe, quantize
    from py_autodoc.quantize.lines import quantization_lines

    recipe = Recipe(method=request.method or "static", exclude=request.exclude, target=request.target)
    quantization = quantize(
        files.model,
        files.out,
        files.data,
        recipe,
        samples=request.samples or None,
        random_data=request.random_data,
        bindings=request.bindings,
        force=request.overwrite,
        progress=report_progress,
    )
    return TaskResult(
        lines=[line for line in quantization_lines(quantization) if line],
        label="",
        unit="",
        values={},
        layers=[],
        path=os.path.basename(files.out),
        kernels=_kernels(quantization.kernels),
        accuracies=_accuracies(quantization.outputs),
    )


KINDS: Final[dict[str, Callable[[TaskRequest, TaskFiles, ReportProgress], TaskResult]]] = {
    "measure": _measure,
    "profile": _profile,
    "verify": _verify,
    "sensitivity": _sensitivity,
    "quantize": _quantize,
}
"""Task kind → function; add new kinds here."""
