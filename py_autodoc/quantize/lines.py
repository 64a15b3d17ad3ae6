"""A quantization as text."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.int8_kernels.text import both_figures, decibels, machine_text, not_measured
from py_autodoc.quantize.document import Quantization
from py_autodoc.quantize.recipe import ALL
from py_autodoc.quantize.search_document import Search
from py_autodoc.quantize.speed import FASTER, SLOWER, CpuTime
from py_autodoc.quantize.written_form import WrittenForm
from py_autodoc.samples.sample_source import SYNTHETIC
from py_autodoc.units import plural, share, size
from py_autodoc.verify.lines import agreement_text, output_lines


def scales_text(form: WrittenForm) -> str:
    """Return which scales the weights of a file have."""
    channel, tensor = form.weights_per_channel, form.weights_per_tensor
    if channel and tensor:
        return f"one scale per channel for {channel} of {channel + tensor} weights"
    return "one scale per channel" if channel else "one scale per weight"


def _form_lines(result: Quantization) -> Iterator[str]:
    """Yield which products are quantized, and what was changed before."""
    form, ops = result.form, result.recipe.ops
    kinds = ", ".join(f"{count} {op}" for op, count in form.quantized.items())
    kept = ", ".join(f"{count} {op}" for op, count in form.float_products.items())
    if kinds:
        others = (
            ""
            if not ops or ALL in ops
            else "; operators other than " + ", ".join(ops) + " stay float (--ops)"
        )
        yield f"Quantized: {kinds}{others}{f'; products in float: {kept}' if kept else ''}."
    if form.outside:
        outside = ", ".join(f"{count} {place}" for place, count in form.outside.items())
        yield f"Outside the main graph, products stay float: {outside}."
    changes = result.changes
    if changes.lifted_weights:
        yield f"{plural(changes.lifted_weights, 'weight')} of nodes such as Constant became initializers."
    if changes.opset > changes.opset_before:
        yield f"Opset raised from {changes.opset_before} to {changes.opset}."


def _speed_line(times: CpuTime) -> str:
    speed = times.speed
    text = f"{speed:.2f} times faster" if speed > FASTER else f"{1 / speed:.2f} times slower"
    if SLOWER <= speed <= FASTER:
        text = "as fast"
    than = "as" if text == "as fast" else "than"
    return (
        f"CPU time here, one thread: {times.quantized_ms:.3g} ms, {text} {than} float "
        f"({times.float_ms:.3g} ms)."
    )


def _search_lines(found: Search) -> Iterator[str]:
    """Yield the table of recipes."""
    scored = f"{plural(found.held_back, 'sample')} held back" if found.held_back else "the same samples"
    yield ""
    yield f"Recipes tried, scored on {scored} (chosen for {found.goal}: {found.chosen})"
    width = max(len(trial.name) for trial in found.trials)
    for trial in found.trials:
        mark = "*" if trial.name == found.chosen else " "
        if trial.failed:
            yield f"{mark} {trial.name:<{width}}  not written: {trial.failed}"
            continue
        parts = [f"SQNR {decibels(trial.sqnr_db)}{agreement_text(trial.agreement)}", size(trial.bytes or 0)]
        parts += [] if trial.speed is None else [f"{trial.speed:.2f} times the speed of float"]
        parts += [] if trial.close else ["not close"]
        yield f"{mark} {trial.name:<{width}}  {', '.join(parts)}"


def _shown_figures(result: Quantization) -> set[str]:
    """Return the notes that only repeat the figures of outputs."""
    kernels = result.kernels
    if kernels is None:
        return set()
    notes = {f"{output.name}: {not_measured(kernels)}." for output in result.outputs}
    for output in result.outputs:
        here, target = output.error_fused, output.error_target
        if here is not None and target is not None:
            notes.add(f"{output.name}: {both_figures(kernels, here.sqnr_db, target.sqnr_db)}.")
    return notes


def quantization_lines(result: Quantization) -> Iterator[str]:
    """Yield lines about the result, the comparison with the float model, and notes."""
    recipe = result.recipe
    ratio = result.bytes_before / result.bytes_after if result.bytes_after else 0.0
    size_text = f"{ratio:.1f} times smaller" if ratio >= 1 or not ratio else f"{1 / ratio:.1f} times larger"
    yield f"{result.out}: {size(result.bytes_after)}, {size_text} than {result.model}."
    parts = [recipe.method]
    if recipe.method in ("static", "dynamic"):
        parts += [recipe.format] if recipe.method == "static" else []
        parts.append(f"{recipe.activations} activations, {recipe.weights} weights")
        parts.append(scales_text(result.form))
    if recipe.method == "static":
        samples = plural(
            result.samples, "synthetic sample" if result.data.startswith(SYNTHETIC) else "sample"
        )
        source = result.data.removeprefix(SYNTHETIC).strip().strip("()")
        parts.append(f"{recipe.calibration} ranges of {samples} ({source})")
    yield f"{', '.join(parts)}, for {recipe.target or 'any target'}."
    yield from _form_lines(result)
    if result.folded or result.excluded:
        kept_float = f"; {plural(len(result.excluded), 'node')} kept float" if result.excluded else ""
        yield f"{plural(result.folded, 'normalization')} folded into convolutions{kept_float}."
    if result.tagged is not None:
        yield f"{share(result.tagged, 1.0)} of its {result.nodes:,} nodes are tagged with their module."
    yield ""
    yield f"Compared with {result.model} ({result.cpu}{machine_text(result.kernels)})"
    for output in result.outputs:
        yield from (f"  {text}" for text in output_lines(output.name, output, result.kernels))
    if result.cpu_time is not None:
        yield _speed_line(result.cpu_time)
    if result.search is not None:
        yield from _search_lines(result.search)
    shown = _shown_figures(result)
    yield from (f"! {text}" for text in result.findings if text not in shown)
