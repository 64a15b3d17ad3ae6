"""A quantization as text."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.quantize.document import Quantization
from py_autodoc.samples.sample_source import SYNTHETIC
from py_autodoc.units import plural, share, size
from py_autodoc.verify.lines import agreement_text, error_text


def quantization_lines(found: Quantization) -> Iterator[str]:
    """Yield lines about the result, the comparison with the float model, and notes."""
    one = found.recipe
    ratio = found.bytes_before / found.bytes_after if found.bytes_after else 0.0
    said = f"{ratio:.1f} times smaller" if ratio >= 1 or not ratio else f"{1 / ratio:.1f} times larger"
    yield f"{found.out}: {size(found.bytes_after)}, {said} than {found.model}."
    parts = [one.method]
    if one.method in ("static", "dynamic"):
        parts += [one.format] if one.method == "static" else []
        parts.append(f"{one.activations} activations, {one.weights} weights")
        parts.append("one scale per channel" if one.per_channel else "one scale per weight")
    if one.method == "static":
        of = plural(found.samples, "synthetic sample" if found.data.startswith(SYNTHETIC) else "sample")
        source = found.data.removeprefix(SYNTHETIC).strip().strip("()")
        parts.append(f"{one.calibration} ranges of {of} ({source})")
    yield f"{', '.join(parts)}, for {one.target or 'any target'}."
    if found.folded or found.excluded:
        kept = f"; {plural(len(found.excluded), 'node')} kept float" if found.excluded else ""
        yield f"{plural(found.folded, 'normalization')} folded into convolutions{kept}."
    if found.tagged is not None:
        yield f"{share(found.tagged, 1.0)} of its {found.nodes:,} nodes are tagged with their module."
    yield ""
    yield f"Compared with {found.model} ({found.cpu})"
    for output in found.outputs:
        yield f"  {output.name}: {error_text(output.error)}{agreement_text(output.agreement)}"
        if output.error_fused is not None:
            yield f"    in ONNX Runtime on this machine: {error_text(output.error_fused)}"
    for text in found.findings:
        yield f"! {text}"
