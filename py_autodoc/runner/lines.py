"""Runs and node times as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from py_autodoc.int8_kernels.text import SATURATING_HERE, kind_text
from py_autodoc.runner.compare import RunSeries
from py_autodoc.runner.machine import Machine
from py_autodoc.runner.profile import NodeTimes
from py_autodoc.units import plural, size

MAX_SHOWN = 20
"""Number of kernels listed by default."""
_MAX_LOST = 3
"""Maximum number of kernels without a node that are listed."""
_WIDTH = 44
"""Maximum width of the column of names."""


def run_lines(series: RunSeries) -> Iterator[str]:
    """Yield a line about the machine, then each model's latency, memory and figures."""
    kernels = f", {kind_text(series.kernels)}" if series.kernels else ""
    yield f"{machine_line(series.machine)}{kernels}"
    if series.machine.busy:
        effect = "times are too long. Ratios compare the fastest runs; --threads 1 compares CPU times."
        if series.variants[0].cpu_ms is not None:
            effect = "times are too long, CPU times and their ratios are not."
        yield f"The machine is busy (load {series.machine.load:.1f}): {effect}"
    threads = "" if not series.threads else f", {plural(series.threads, 'thread')}"
    runs = series.variants[0].latency.runs
    yield (
        f"{', '.join(series.providers)}{threads}. {plural(runs, 'run')} per model, in turn, after "
        f"{plural(series.warmup, 'warm-up run')}. Batch {series.batch}, {plural(series.samples, 'sample')}, "
        f"{series.data}."
    )
    yield ""
    for index, variant in enumerate(series.variants):
        latency = variant.latency
        cpu = "" if variant.cpu_ms is None else f", CPU time {variant.cpu_ms:.3g} ms"
        ratio = f"{cpu}, {variant.ratio:.2f} times as fast as {series.variants[0].name}" if index else cpu
        tails = f"p90 {latency.p90_ms:.3g}, p99 {latency.p99_ms:.3g}"
        yield f"{variant.name}: {latency.p50_ms:.3g} ms ({tails}){ratio}"
        memory = (
            ""
            if variant.memory is None
            else f", memory {size(variant.memory.peak_bytes)} beyond that of the runtime"
        )
        yield f"  {latency.throughput_per_s:,.4g} items/s, file {size(variant.file_bytes)}{memory}"
        if variant.metrics:
            yield f"  {_figures(variant.metrics)}"
        if variant.saturating_operators:
            exact = f"with exact sums: {_figures(variant.exact_metrics)}"
            if not variant.exact_metrics:
                exact = f"with exact sums: not measured ({variant.exact_not_measured or 'no metrics'})"
            operators = plural(variant.saturating_operators, "operator")
            yield f"  {SATURATING_HERE[:1].upper()}{SATURATING_HERE[1:]} sums of up to {operators}; {exact}"


def _figures(metrics: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())


def machine_line(machine: Machine) -> str:
    """Return processor, instruction sets and version."""
    flags = f" ({' '.join(machine.flags)})" if machine.flags else ""
    return (
        f"{machine.cpu}, {machine.processors} logical processors{flags}, ONNX Runtime {machine.onnxruntime}"
    )


def node_lines(times: NodeTimes, every_layer: bool = False) -> Iterator[str]:
    """Yield the kernel time, the slowest kernels (or all), and kernels that belong to no node."""
    share = "" if times.share is None else f", {times.share:.1%} of it attributed to nodes"
    yield f"Kernel time: {times.total_ms:.3g} ms per run ({times.source}){share}."
    listed = times.nodes if every_layer else times.nodes[:MAX_SHOWN]
    names = [_shorten(f"{kernel.name} ({kernel.op})") for kernel in listed]
    lost = [(_shorten(name), ms) for name, ms in list(times.lost.items())[:_MAX_LOST]]
    width = max(map(len, [*names, *(name for name, _ in lost)]), default=0)
    for name, kernel in zip(names, listed, strict=True):
        kernel_share = f"{kernel.ms / times.total_ms:6.1%}" if times.total_ms else "     –"
        fused = f"{plural(len(kernel.nodes), 'node')} fused" if len(kernel.nodes) > 1 else ""
        yield f"{kernel_share}  {kernel.ms:9.4f} ms  {name:<{width}}  {fused}".rstrip()
    if len(times.nodes) > len(listed):
        rest_ms = sum(kernel.ms for kernel in times.nodes[len(listed) :])
        yield f"        {rest_ms:9.4f} ms  {len(times.nodes) - len(listed)} more (--all)"
    for name, ms in lost:
        yield f"        {ms:9.4f} ms  {name:<{width}}  not attributed to a node"


def _shorten(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH // 2 - 1]}…{text[-_WIDTH // 2 :]}"
