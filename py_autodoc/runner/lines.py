"""Runs and node times as text."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.runner.compare import RunSeries
from py_autodoc.runner.machine import Machine
from py_autodoc.runner.profile import NodeTimes
from py_autodoc.units import plural, size

SHOWN = 20
"""Number of kernels listed by default."""
_MAX_LOST = 3
"""Maximum number of kernels without a node that are listed."""
_WIDTH = 44
"""Maximum width of the column of names."""


def run_lines(found: RunSeries) -> Iterator[str]:
    """Yield a line about the machine, then each model's latency, memory and figures."""
    yield machine_line(found.machine)
    if found.machine.busy:
        effect = "times are too long; ratios are less affected."
        yield f"The machine is busy (load {found.machine.load:.1f}): {effect}"
    threads = "" if not found.threads else f", {plural(found.threads, 'thread')}"
    runs = found.variants[0].latency.runs
    yield (
        f"{', '.join(found.providers)}{threads}. {plural(runs, 'run')} per model, in turn, after "
        f"{plural(found.warmup, 'warm-up run')}. Batch {found.batch}, {plural(found.samples, 'sample')}, "
        f"{found.data}."
    )
    yield ""
    for at, one in enumerate(found.variants):
        latency = one.latency
        ratio = f", {one.ratio:.2f} times as fast as {found.variants[0].name}" if at else ""
        tails = f"p90 {latency.p90_ms:.3g}, p99 {latency.p99_ms:.3g}"
        yield f"{one.name}: {latency.p50_ms:.3g} ms ({tails}){ratio}"
        memory = (
            "" if one.memory is None else f", memory {size(one.memory.peak_bytes)} beyond that of the runtime"
        )
        yield f"  {latency.throughput_per_s:,.4g} items/s, file {size(one.file_bytes)}{memory}"
        if one.metrics:
            yield "  " + ", ".join(f"{name} {value:.4g}" for name, value in one.metrics.items())


def machine_line(one: Machine) -> str:
    """Return processor, instruction sets and version."""
    flags = f" ({' '.join(one.flags)})" if one.flags else ""
    return f"{one.cpu}, {one.processors} logical processors{flags}, ONNX Runtime {one.onnxruntime}"


def node_lines(found: NodeTimes, every_layer: bool = False) -> Iterator[str]:
    """Yield the kernel time, the slowest kernels (or all), and kernels that belong to no node."""
    share = "" if found.share is None else f", {found.share:.1%} of it attributed to nodes"
    yield f"Kernel time: {found.total_ms:.3g} ms per run ({found.source}){share}."
    listed = found.nodes if every_layer else found.nodes[:SHOWN]
    names = [_shorten(f"{kernel.name} ({kernel.op})") for kernel in listed]
    lost = [(_shorten(name), ms) for name, ms in list(found.lost.items())[:_MAX_LOST]]
    width = max(map(len, [*names, *(name for name, _ in lost)]), default=0)
    for name, kernel in zip(names, listed, strict=True):
        part = f"{kernel.ms / found.total_ms:6.1%}" if found.total_ms else "     –"
        fused = f"{plural(len(kernel.nodes), 'node')} fused" if len(kernel.nodes) > 1 else ""
        yield f"{part}  {kernel.ms:9.4f} ms  {name:<{width}}  {fused}".rstrip()
    if len(found.nodes) > len(listed):
        rest = sum(kernel.ms for kernel in found.nodes[len(listed) :])
        yield f"        {rest:9.4f} ms  {len(found.nodes) - len(listed)} more (--all)"
    for name, ms in lost:
        yield f"        {ms:9.4f} ms  {name:<{width}}  not attributed to a node"


def _shorten(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH // 2 - 1]}…{text[-_WIDTH // 2 :]}"
