"""A quantization as text."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.int8_kernels.text import machine_text
from py_autodoc.quantize.document import Quantization
from py_autodoc.samples.sample_source import SYNTHETIC
from py_autodoc.units import plural, share, size
from py_autodoc.verify.lines import agreement_text, error_text, kernel_figures


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
        parts.append("one scale per channel" if recipe.per_channel else "one scale per weight")
    if recipe.method == "static":
        samples = plural(
            result.samples, "synthetic sample" if result.data.startswith(SYNTHETIC) else "sample"
        )
        source = result.data.removeprefix(SYNTHETIC).strip().strip("()")
        parts.append(f"{recipe.calibration} ranges of {samples} ({source})")
    yield f"{', '.join(parts)}, for {recipe.target or 'any target'}."
    if result.folded or result.excluded:
        kept_float = f"; {plural(len(result.excluded), 'node')} kept float" if result.excluded else ""
        yield f"{plural(result.folded, 'normalization')} folded into convolutions{kept_float}."
    if result.tagged is not None:
        yield f"{share(result.tagged, 1.0)} of its {result.nodes:,} nodes are tagged with their module."
    yield ""
    yield f"Compared with {result.model} ({result.cpu}{machine_text(result.kernels)})"
    for output in result.outputs:
        yield f"  {output.name}: {error_text(output.error)}{agreement_text(output.agreement)}"
        figures = list(kernel_figures(output, result.kernels))
        yield from (f"    {text}" for text in figures)
        if not figures and output.error_fused is not None:
            yield f"    in ONNX Runtime on this machine: {error_text(output.error_fused)}"
    for text in result.findings:
        yield f"! {text}"
