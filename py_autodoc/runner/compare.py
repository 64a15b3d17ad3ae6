"""Run several models in turn on the same samples."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from py_autodoc.errors import AutodocError, InputError
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.int8_kernels.judge import judge
from py_autodoc.int8_kernels.model_run import NotMeasured
from py_autodoc.int8_kernels.targets import EXACT_TARGET, kernel_here
from py_autodoc.ort import read_model, usable_threads
from py_autodoc.runner.latency import LOW, Latency, Progress, clocked_in_turn, latency
from py_autodoc.runner.machine import Machine, machine
from py_autodoc.runner.memory import ProcessMemory
from py_autodoc.runner.metrics import AgreementMetric, DistanceMetric, MetricsCalculator, Results, figures_of
from py_autodoc.runner.session import RUNS, SAMPLES, WARMUP, InferenceRunner
from py_autodoc.runner.text_loader import text_loader
from py_autodoc.runner.texts import is_texts
from py_autodoc.samples import Sample

SCHEMA = "autodoc.run/1"


class RunVariant(msgspec.Struct, frozen=True, kw_only=True):
    """One of the compared models."""

    name: str
    model: str
    file_bytes: int
    """Size including external weights."""
    latency: Latency
    cpu_ms: float | None = None
    """CPU time of a run: a fifth of the runs take less. Null with several threads or another provider."""
    ratio: float
    """Time of the first model divided by this one's: 2 is twice as fast. The time is ``cpu_ms``, else
    ``latency.low_ms``: on a busy machine, most runs are interrupted."""
    memory: ProcessMemory | None
    metrics: dict[str, float]
    """Figures of the metrics, and the difference between the results and those of the first model."""
    saturating_operators: int | None = None
    """Operators whose integer sums this machine's kernels may saturate; null if it is unknown."""
    exact_metrics: dict[str, float] = {}
    """``metrics`` with exact integer sums, as with VNNI, if those of this machine saturate; else empty."""
    exact_not_measured: str = ""
    """Why ``exact_metrics`` is empty although sums of this machine saturate."""


class RunSeries(msgspec.Struct, frozen=True, kw_only=True):
    """All models on one machine."""

    schema: str = SCHEMA
    machine: Machine
    providers: list[str]
    threads: int
    """0: ONNX Runtime's default."""
    batch: int
    samples: int
    data: str
    warmup: int
    kernels: str = ""
    """Integer kernels: ``exact``, or ``pairs`` if sums of u8 and s8 saturate; empty for other providers."""
    variants: list[RunVariant]

    def to_json(self, pretty: bool = False) -> str:
        """Return the results as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"


def compare_precisions(
    models: Mapping[str, PathLike],
    test_data: Any = None,
    metrics_calculator: MetricsCalculator | Sequence[MetricsCalculator] | None = None,
    *,
    runs: int = RUNS,
    warmup: int = WARMUP,
    samples: int | None = None,
    seed: int = 0,
    providers: Sequence[str] = (),
    threads: int = 0,
    bindings: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    memory: bool = True,
    progress: Progress | None = None,
) -> RunSeries:
    """Measure latency, memory and results of models with the same inputs.

    The models run in turn, one run each, and ratios are those of CPU times (one thread) or of the fastest
    fifth of latencies, which other load on the machine hardly changes. Results are compared with those of the
    first model.

    Args:
        models: file by name, the reference first.
        test_data: a file of arrays or of text, a folder, a mapping of arrays or a ``DataLoader``; None uses
            generated values.
        metrics_calculator: figures of the results.
        runs: timed runs of each model.
        warmup: untimed runs of each model before.
        samples: maximum number of samples; None uses 64.
        seed: random seed for generated values.
        providers: ONNX Runtime's execution providers; empty uses the CPU.
        threads: number of threads per operator.
        bindings: values of symbolic dimensions.
        input_shapes: full shapes of inputs.
        memory: also run each model in a separate process to measure its memory.
        progress: called with the number of completed runs.

    Raises:
        InputError: a model or the data cannot be read, or the inputs differ.
        RequirementError: ONNX Runtime is missing.
        AnalysisError: it rejects a model.
    """
    before, threads = machine(), usable_threads(threads)
    if is_texts(test_data):
        # One tokenizer for all models: the one next to the first model.
        test_data = text_loader(
            next(iter(models.values())),
            test_data,
            samples=samples or SAMPLES,
            bindings=bindings,
            input_shapes=input_shapes,
        )
    runners = [
        InferenceRunner(
            path,
            providers=providers,
            threads=threads,
            bindings=bindings,
            input_shapes=input_shapes,
            data=test_data,
        )
        for path in models.values()
    ]
    inputs, labels, source = runners[0].samples(test_data, samples, seed)
    samples_by_model = [[_inputs_for(runner, runners[0], sample) for sample in inputs] for runner in runners]
    results = [
        [runner.once(sample) for sample in inputs_of_model]
        for runner, inputs_of_model in zip(runners, samples_by_model, strict=True)
    ]
    calls = [
        _call(runner, inputs_of_model)
        for runner, inputs_of_model in zip(runners, samples_by_model, strict=True)
    ]
    times, cpu = clocked_in_turn(calls, runs, warmup, (time.perf_counter, time.thread_time), progress)
    # With one thread, the caller computes everything.
    cpu_times = _low_ms(cpu) if threads == 1 and not providers else [None] * len(runners)
    calculators = metrics_calculator if isinstance(metrics_calculator, Sequence) else [metrics_calculator]
    chosen = [calculator for calculator in calculators if calculator is not None]
    variants: list[RunVariant] = []
    for index, (name, runner) in enumerate(zip(models, runners, strict=True)):
        reference = results[0] if index else None
        figures = _figures(chosen, results[index], labels, reference)
        count, exact, why = (None, None, "") if providers else _saturation(runner, samples_by_model[index])
        measured, cpu_ms = latency(times[index], runner.batch), cpu_times[index]
        first = variants[0] if variants else None
        begin = (measured.low_ms, cpu_ms) if first is None else (first.latency.low_ms, first.cpu_ms)
        file = runner.analysis.model.file
        variants.append(
            RunVariant(
                name=name,
                model=runner.name,
                file_bytes=file.bytes + file.external_bytes,
                latency=measured,
                cpu_ms=cpu_ms,
                ratio=begin[1] / cpu_ms if cpu_ms and begin[1] else begin[0] / measured.low_ms,
                memory=runner.memory(samples_by_model[index][0]) if memory and not providers else None,
                metrics=figures,
                saturating_operators=count,
                exact_metrics={} if exact is None else _figures(chosen, exact, labels, reference),
                exact_not_measured=why,
            )
        )
    return RunSeries(
        machine=before,
        providers=list(providers) or ["CPUExecutionProvider"],
        threads=threads,
        batch=runners[0].batch,
        samples=len(inputs),
        data=source,
        warmup=warmup,
        kernels="" if providers else kernel_here(),
        variants=variants,
    )


def _low_ms(seconds: Sequence[Sequence[float]]) -> list[float | None]:
    """Return ``LOW`` of each model's times in milliseconds; None if the clock is too coarse."""
    found = [float(np.quantile(one, LOW)) * 1e3 for one in seconds]
    return [*found] if all(one > 0 for one in found) else [None] * len(found)


def _figures(
    calculators: Sequence[MetricsCalculator], results: Results, labels: list[Any], reference: Results | None
) -> dict[str, float]:
    figures: dict[str, float] = {}
    for calculator in calculators:
        figures.update(figures_of(calculator, results, labels, reference))
    if reference is not None:
        for metric in (AgreementMetric(), DistanceMetric()):
            figures.update(metric.calculate(results, labels, reference))
    return figures


def _saturation(
    runner: InferenceRunner, samples: Sequence[Sample]
) -> tuple[int | None, list[list[Any]] | None, str]:
    """Return how many operators may saturate here, the results with exact sums, and why there are none."""
    if kernel_here() == "exact":
        return 0, None, ""
    proto = read_model(runner.path, weights=False)
    judgement = judge(runner.path, proto, len(samples), EXACT_TARGET)
    if judgement is None:
        return 0, None, ""
    count = judgement.kernels.saturating_operators
    if judgement.run is None:
        return count, None, judgement.kernels.not_measured
    names = [output.name for output in proto.graph.output]
    try:
        return count, [list(judgement.run.values(sample, names)) for sample in samples], ""
    except NotMeasured as why:
        return count, None, str(why)
    except AutodocError as error:
        return count, None, f"ONNX Runtime fails: {error}"


def _call(runner: InferenceRunner, samples: list[Sample]) -> Any:
    return lambda number: runner.once(samples[number % len(samples)])


def _inputs_for(runner: InferenceRunner, first: InferenceRunner, sample: Sample) -> Sample:
    """Convert the sample for another model: inputs by name, else by position, cast to its types.

    Raises: InputError.
    """
    if runner is first:
        return sample
    names = [spec.name for spec in runner.specs]
    values = sample if set(names) <= sample.keys() else dict(zip(names, sample.values(), strict=False))
    fits = all(spec.name in values and values[spec.name].shape == spec.shape for spec in runner.specs)
    if not fits:
        labels = [
            ", ".join(spec.label for spec in runner_of_model.specs) for runner_of_model in (first, runner)
        ]
        raise InputError(
            "inputs-differ",
            f"The inputs differ: {first.name} takes {labels[0]}; {runner.name} takes {labels[1]}.",
            "Compare models with the same inputs.",
        )
    return {spec.name: values[spec.name].astype(spec.dtype, copy=False) for spec in runner.specs}
