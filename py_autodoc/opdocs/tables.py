"""Numbers of an operation as rows of text, for Markdown and HTML."""

from __future__ import annotations

from py_autodoc.opdocs.document import Operand, Operation, Operations

OPERANDS = ("Operand", "Tensor", "From", "Type", "Shape", "Scale", "Zero point", "Real range", "Codes seen")
_VARIANTS = {
    "gemmlowp": "gemmlowp, and TFLite by default",
    "tflite-single": "TFLite with single rounding",
    "cmsis-nn": "CMSIS-NN",
    "q31": "31-bit multiplier, ties up",
    "q15": "15-bit multiplier, ties up",
    "q7": "7-bit multiplier, ties up",
}


def operand_rows(one: Operation) -> list[tuple[str, ...]]:
    """Return one row per operand; — marks a number that is unknown or does not apply."""
    return [_operand(operand) for operand in one.operands]


def _operand(one: Operand) -> tuple[str, ...]:
    return (
        one.role + (" (constant)" if one.constant else ""),
        one.tensor or "—",
        "—" if one.source is None else ", ".join([str(one.source), *one.through]),
        one.type or "—",
        "—" if one.shape is None else "×".join(str(size) for size in one.shape) or "scalar",
        _span(one.scale) + (f" ({one.channels} channels)" if one.channels > 1 else ""),
        _span(one.zero_point),
        _between(one.real),
        _between(one.codes),
    )


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _span(ends: list[float] | list[int] | None) -> str:
    if ends is None:
        return "—"
    return _number(ends[0]) if ends[0] == ends[1] else f"{_number(ends[0])} … {_number(ends[1])}"


def _between(ends: list[float] | list[int] | None) -> str:
    return "—" if ends is None else f"{_number(ends[0])} … {_number(ends[1])}"


def tables(one: Operation) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (title, rows of name and value) of the other facts."""
    made = [
        ("Accumulator", _accumulator(one)),
        ("Requantization", _requantization(one)),
        ("Attributes", [(name, _plain(value)) for name, value in one.attributes.items()]),
        ("Beside ONNX Runtime", _compared(one)),
    ]
    return [(title, rows) for title, rows in made if rows]


def _plain(value: object) -> str:
    return ", ".join(str(one) for one in value) if isinstance(value, list) else str(value)


def _accumulator(one: Operation) -> list[tuple[str, str]]:
    found = one.accumulator
    if found is None:
        return []
    rows = []
    if one.products_per_output is not None:
        rows.append(("MACs for one output", f"{one.products_per_output:,}"))
    if found.worst is not None:
        rows.append(("Worst case, any data", f"{_between(found.worst)} ({found.worst_bits} bits)"))
    if found.measured is not None:
        rows.append(("Seen on the samples", f"{_between(found.measured)} ({found.measured_bits} bits)"))
    if one.dead_channels:
        rows.append(("Output channels with all weights 0", f"{one.dead_channels:,}"))
    return rows


def _requantization(one: Operation) -> list[tuple[str, str]]:
    found = one.requantization
    if found is None:
        return []
    rows = [
        ("Multiplier M", _span(found.real) + (f" ({found.channels} channels)" if found.channels > 1 else ""))
    ]
    first = found.q31[0]
    rows.append(
        ("In 31 bits" + (", first channel" if found.channels > 1 else ""), f"{first[0]:,} · 2^-{first[1]}")
    )
    for variant in found.variants:
        share = variant.differing / variant.values if variant.values else 0.0
        rows.append((_VARIANTS.get(variant.name, variant.name), _mismatch(share, variant.largest)))
    return rows


def _mismatch(share: float, largest: int) -> str:
    if not share:
        return "equal to float32"
    steps = "1 step" if largest == 1 else f"{largest:,} steps"
    return f"{share:.3%} of outputs differ from float32, by at most {steps}"


def _compared(one: Operation) -> list[tuple[str, str]]:
    found = one.against_runtime
    if found is None:
        return []
    if not found.differing:
        return [("Outputs", f"all {found.values:,} equal")]
    return [("Outputs that differ", f"{found.differing:,} of {found.values:,}, by at most {found.largest:g}")]


def summary(found: Operations) -> list[str]:
    """Return a summary of all operations, one sentence per item."""
    count, floats = len(found.operations), len(found.floats)
    compared = [one.against_runtime for one in found.operations if one.against_runtime is not None]
    values, differing = sum(one.values for one in compared), sum(one.differing for one in compared)
    runtime = f"ONNX Runtime {found.versions.get('onnxruntime', '')}".strip()
    plural = "operation" if count == 1 else "operations"
    lines = [f"{count:,} quantized {plural}; {floats:,} operators are computed in float."]
    lines.append(f"Samples: {found.samples:,}, {found.data}. Processor: {found.cpu or 'unknown'}.")
    if compared:
        same = "All" if not differing else f"{values - differing:,} of"
        lines.append(
            f"{same} {values:,} outputs of the reference equal those of {runtime} on the same integers."
        )
    if found.kernel == "pairs":
        lines.append(
            "On this processor sums of unsigned data and signed weights saturate at 16 bits; the comparison "
            "includes that, the formulas, the C code and the test vectors do not."
        )
    lines.append("round is to the nearest, ties to even; clamp is to the type of y.")
    return lines
