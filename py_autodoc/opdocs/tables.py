"""Numbers of an operation as rows of text, for Markdown and HTML."""

from __future__ import annotations

from collections import Counter

from py_autodoc.opdocs.document import Comparison, Operand, Operation, Operations
from py_autodoc.units import plural

OPERANDS = ("Operand", "Tensor", "From", "Type", "Shape", "Scale", "Zero point", "Real range", "Codes seen")
_KINDS = 8
"""Maximum number of types of float operators in the summary."""
_VARIANTS = {
    "gemmlowp": "gemmlowp, and TFLite by default",
    "tflite-single": "TFLite with single rounding",
    "cmsis-nn": "CMSIS-NN",
    "q31": "31-bit multiplier, ties up",
    "q15": "15-bit multiplier, ties up",
    "q7": "7-bit multiplier, ties up",
}


def operand_rows(operation: Operation) -> list[tuple[str, ...]]:
    """Return one row per operand; — marks a number that is unknown or does not apply."""
    return [_operand(operand) for operand in operation.operands]


def _operand(operand: Operand) -> tuple[str, ...]:
    return (
        operand.role + (" (constant)" if operand.constant else ""),
        operand.tensor or "—",
        "—" if operand.source is None else ", ".join([str(operand.source), *operand.through]),
        operand.type or "—",
        "—" if operand.shape is None else "×".join(str(size) for size in operand.shape) or "scalar",
        _span(operand.scale) + (f" ({operand.channels} channels)" if operand.channels > 1 else ""),
        _span(operand.zero_point),
        _between(operand.real),
        _between(operand.codes),
    )


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _span(ends: list[float] | list[int] | None) -> str:
    if ends is None:
        return "—"
    return _number(ends[0]) if ends[0] == ends[1] else f"{_number(ends[0])} … {_number(ends[1])}"


def _between(ends: list[float] | list[int] | None) -> str:
    return "—" if ends is None else f"{_number(ends[0])} … {_number(ends[1])}"


def tables(operation: Operation) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (title, rows of name and value) of the other facts."""
    sections = [
        ("Accumulator", _accumulator(operation)),
        ("Weights", _float_product(operation)),
        ("Requantization", _requantization(operation)),
        ("Attributes", [(name, _value_text(value)) for name, value in operation.attributes.items()]),
        ("Compared with ONNX Runtime", _compared(operation)),
    ]
    return [(title, rows) for title, rows in sections if rows]


def _value_text(value: object) -> str:
    return ", ".join(str(item) for item in value) if isinstance(value, list) else str(value)


def _accumulator(operation: Operation) -> list[tuple[str, str]]:
    accumulator = operation.accumulator
    if accumulator is None:
        return []
    rows = []
    if operation.products_per_output is not None:
        rows.append(("MACs for one output", f"{operation.products_per_output:,}"))
    if accumulator.worst is not None:
        rows.append(
            ("Worst case, any data", f"{_between(accumulator.worst)} ({accumulator.worst_bits} bits)")
        )
    if accumulator.measured is not None:
        rows.append(
            ("Seen on the samples", f"{_between(accumulator.measured)} ({accumulator.measured_bits} bits)")
        )
    if operation.dead_channels:
        rows.append(("Output channels with all weights 0", f"{operation.dead_channels:,}"))
    return rows


def _float_product(operation: Operation) -> list[tuple[str, str]]:
    if operation.form != "weights" or operation.products_per_output is None:
        return []
    rows = [("MACs for one output", f"{operation.products_per_output:,}")]
    if operation.dead_channels:
        rows.append(("Output channels with all weights 0", f"{operation.dead_channels:,}"))
    return rows


def _requantization(operation: Operation) -> list[tuple[str, str]]:
    requantization = operation.requantization
    if requantization is None:
        return []
    rows = [
        (
            "Multiplier M",
            _span(requantization.real)
            + (f" ({requantization.channels} channels)" if requantization.channels > 1 else ""),
        )
    ]
    first = requantization.q31[0]
    rows.append(
        (
            "In 31 bits" + (", first channel" if requantization.channels > 1 else ""),
            f"{first[0]:,} · 2^-{first[1]}",
        )
    )
    for variant in requantization.variants:
        share = variant.differing / variant.values if variant.values else 0.0
        rows.append((_VARIANTS.get(variant.name, variant.name), _mismatch(share, variant.largest)))
    return rows


def _mismatch(share: float, largest: int) -> str:
    if not share:
        return "equal to float32"
    steps = "1 step" if largest == 1 else f"{largest:,} steps"
    return f"{share:.3%} of outputs differ from float32, by at most {steps}"


def _compared(operation: Operation) -> list[tuple[str, str]]:
    comparison = operation.against_runtime
    if comparison is None:
        return []
    equal = "equal within rounding" if operation.form == "weights" else "equal"
    rows = [("Outputs", f"all {comparison.values:,} {equal}")]
    if comparison.differing:
        rows = [("Outputs that differ", _differing(comparison))]
    if operation.saturated is not None:
        where = " in an optimized session, which rewrites s8 to u8" if operation.rewritten else ""
        rows.append((f"Outputs changed by saturation{where}", _differing(operation.saturated)))
    return rows


def _differing(comparison: Comparison) -> str:
    if not comparison.differing:
        return f"none of {comparison.values:,}"
    return f"{comparison.differing:,} of {comparison.values:,}, by at most {comparison.largest:g}"


def summary(reference: Operations) -> list[str]:
    """Return a summary of all operations, one sentence per item."""
    count = len(reference.operations)
    compared = [
        operation.against_runtime
        for operation in reference.operations
        if operation.against_runtime is not None
    ]
    values, differing = (
        sum(operation.values for operation in compared),
        sum(operation.differing for operation in compared),
    )
    runtime = f"ONNX Runtime {reference.versions.get('onnxruntime', '')}".strip()
    lines = [f"{count:,} quantized {'operation' if count == 1 else 'operations'}; {_float_text(reference)}."]
    lines.append(
        f"Samples: {reference.samples:,}, {reference.data}. Processor: {reference.cpu or 'unknown'}."
    )
    if compared:
        same = "All" if not differing else f"{values - differing:,} of"
        forms = {operation.form for operation in reference.operations}
        on = "on the same inputs, within rounding" if forms == {"weights"} else "on the same integers"
        lines.append(f"{same} {values:,} outputs of the reference equal those of {runtime} {on}.")
    lines += _saturation(reference)
    lines.append("round is to the nearest, ties to even; clamp is to the type of y.")
    return lines


def _float_text(reference: Operations) -> str:
    """Return how many operators compute in float, by type."""
    if not reference.floats:
        return "no operator computes in float"
    kinds = Counter(operation.op_type for operation in reference.floats).most_common()
    listed = ", ".join(f"{number:,} {kind}" for kind, number in kinds[:_KINDS])
    more = f" and {plural(len(kinds) - _KINDS, 'other type')}" if len(kinds) > _KINDS else ""
    verb = "computes" if len(reference.floats) == 1 else "compute"
    return f"{plural(len(reference.floats), 'operator')} {verb} in float: {listed}{more}"


def _saturation(reference: Operations) -> list[str]:
    """Return what saturating sums of this processor change; empty if no operation has such sums."""
    lines = []
    for rewritten in (False, True):
        found = [
            operation.saturated
            for operation in reference.operations
            if operation.saturated is not None and operation.rewritten == rewritten
        ]
        if not found:
            continue
        differing, values = sum(one.differing for one in found), sum(one.values for one in found)
        counted = "1 operation" if len(found) == 1 else f"{len(found):,} operations"
        changed = f"which changes {differing:,} of {values:,} outputs" if differing else "without effect here"
        if rewritten:
            lines.append(
                f"An optimized session rewrites the signed activations of {counted} to unsigned ones, whose "
                f"sums with signed weights saturate at 16 bits on this processor, {changed}; the comparison "
                "reads the signed codes, so it does not include that."
            )
        else:
            lines.append(
                f"On this processor sums of u8 and s8 saturate at 16 bits in {counted}, {changed}; the "
                "comparison includes that, the formulas, the C code and the test vectors do not."
            )
    return lines
