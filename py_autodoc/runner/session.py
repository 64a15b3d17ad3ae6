"""``InferenceRunner``: a model prepared to run on data, with times, figures and memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
import numpy as np

from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import open_session, run_session, usable_threads
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.runner.latency import Latency, Progress, latency, time_in_turn
from py_autodoc.runner.loaders import ArrayLoader, DataLoader, ImageFolderLoader
from py_autodoc.runner.memory import ProcessMemory, process_memory
from py_autodoc.runner.metrics import MetricsCalculator, Results, figures_of
from py_autodoc.runner.text_loader import TextLoader, text_loader
from py_autodoc.runner.texts import is_texts
from py_autodoc.runner.tokens import find_tokenizer
from py_autodoc.samples import (
    Sample,
    analysis_at_sizes,
    check_memory,
    choose_samples,
    image_input,
    images_in,
    input_specs,
)

FEATURE = "A run"
RUNS, WARMUP = 100, 10
"""Default numbers of timed runs, and of untimed runs before."""
SAMPLES, SYNTHETIC_SAMPLES = 64, 1
"""Default maximum number of samples from data, and number of generated ones."""


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of running a model. Figures of the latency are also attributes, such as ``latency_p50_ms``."""

    model: str
    latency: Latency
    batch: int
    metrics: dict[str, float]
    outputs: list[list[np.ndarray[Any, Any]]]
    """For each sample, the outputs in the file's order."""

    def __getattr__(self, name: str) -> Any:
        """Return ``latency_p50_ms``, ``latency_p99_ms``, …, ``throughput_per_sec``."""
        if name == "throughput_per_sec":
            return self.latency.throughput_per_s
        if name.startswith("latency_") and hasattr(self.latency, name.removeprefix("latency_")):
            return getattr(self.latency, name.removeprefix("latency_"))
        raise AttributeError(name)


class InferenceRunner:
    """A model in an ONNX Runtime session.

    Args:
        model: an ONNX file with its weights.
        providers: ONNX Runtime's execution providers; empty uses the CPU.
        threads: number of threads per operator; 0 uses ONNX Runtime's default.
        bindings: values of symbolic dimensions; others are taken from the data, and the batch is 1.
        input_shapes: full shapes of inputs.
        data: gives the dimensions of the inputs: a file, a mapping, a loader.

    Raises:
        InputError: the model cannot be read, or a dimension is unknown.
        RequirementError: ONNX Runtime is missing.
        AnalysisError: it rejects the model.
    """

    def __init__(
        self,
        model: PathLike,
        *,
        providers: Sequence[str] = (),
        threads: int = 0,
        bindings: Mapping[str, int] | None = None,
        input_shapes: Mapping[str, Sequence[int]] | None = None,
        data: Any = None,
    ) -> None:
        self.path, self.name, self.threads = model, base_name(model), usable_threads(threads)
        self.providers = list(providers)
        if is_texts(data):
            data = text_loader(model, data, samples=SAMPLES, bindings=bindings, input_shapes=input_shapes)
        shapes = data.sizes() if isinstance(data, DataLoader) else data
        self.analysis: Analysis = analysis_at_sizes(model, shapes, bindings, input_shapes)
        self.specs = input_specs(self.analysis)
        check_memory(self.analysis)
        self.session = open_session(model, FEATURE, threads=threads, providers=providers)
        self.metrics: list[MetricsCalculator] = []

    @property
    def batch(self) -> int:
        """Items per run: the first dimension of the first input that has one."""
        return next((spec.shape[0] for spec in self.specs if spec.shape), 1)

    def register_metrics(self, calculator: MetricsCalculator) -> None:
        """Add a calculator of figures."""
        self.metrics.append(calculator)

    def samples(self, data: Any, count: int | None, seed: int = 0) -> tuple[list[Sample], list[Any], str]:
        """Return inputs, labels and their source. Raises: InputError."""
        if is_texts(data):
            data = TextLoader(data, self.specs, find_tokenizer(self.path), most=count or SAMPLES)
        images = images_in(data)
        if images is not None:
            spec = image_input(self.specs)
            loader: DataLoader = ImageFolderLoader(
                images.path, spec, preprocessing=images.preprocessing_for(spec)
            )
            source = loader.source
        elif isinstance(data, (str, os.PathLike, Mapping)):
            loader = ArrayLoader(data, self.specs, most=count or SAMPLES)
            source = "given" if isinstance(data, Mapping) else base_name(data)
        elif isinstance(data, DataLoader):
            loader, source = data, data.source
        else:
            samples, source = choose_samples(data, self.specs, count, seed, (SAMPLES, SYNTHETIC_SAMPLES))
            return samples, [None] * len(samples), source
        labels: list[Any] = []

        def inputs_of(pairs: Iterable[tuple[Mapping[str, Any], Any]]) -> Iterator[Mapping[str, Any]]:
            for sample, label in pairs:
                labels.append(label)
                yield sample

        # Taken one by one, so that their total size is limited while they are read.
        pairs = islice(loader, count or SAMPLES)
        inputs, _ = choose_samples(
            inputs_of(pairs), self.specs, count or SAMPLES, seed, (SAMPLES, SYNTHETIC_SAMPLES)
        )
        return inputs, labels, source

    def once(self, sample: Sample) -> list[np.ndarray[Any, Any]]:
        """Return all outputs for a sample. Raises: AnalysisError."""
        return [_array(output) for output in run_session(self.session, None, sample, self.name)]

    def run(
        self,
        data: Any = None,
        warmup: int = WARMUP,
        iterations: int = RUNS,
        samples: int | None = None,
        reference: Results | None = None,
        progress: Progress | None = None,
    ) -> RunResult:
        """Run the samples once for their results, then repeatedly for times.

        Args:
            data: a file of arrays or of text, a folder, a mapping of arrays, a ``DataLoader``; None uses
                generated values.
            warmup: number of untimed runs.
            iterations: number of timed runs, over the samples in turn.
            samples: maximum number of samples; None uses 64.
            reference: results to compare with.
            progress: called with the number of completed runs.
        """
        inputs, labels, _ = self.samples(data, samples)
        outputs = [self.once(sample) for sample in inputs]
        seconds = time_in_turn(
            [lambda number: self.once(inputs[number % len(inputs)])], iterations, warmup, progress=progress
        )[0]
        figures: dict[str, float] = {}
        for calculator in self.metrics:
            figures.update(figures_of(calculator, outputs, labels, reference))
        return RunResult(
            model=self.name,
            latency=latency(seconds, self.batch),
            batch=self.batch,
            metrics=figures,
            outputs=outputs,
        )

    def memory(self, sample: Sample) -> ProcessMemory | None:
        """Return the memory of a separate process; None if unknown."""
        return process_memory(self.path, sample, self.threads)


def _array(value: Any) -> np.ndarray[Any, Any]:
    """Return an output as an array; a sequence, whose tensors may differ in shape, as an object array."""
    if not isinstance(value, list):
        return np.asarray(value)
    array = np.empty(len(value), object)
    for index, item in enumerate(value):
        array[index] = item
    return array
