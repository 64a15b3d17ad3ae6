"""Facts about an operation: operands, ranges, accumulator, multipliers, comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from py_autodoc.opdocs import document
from py_autodoc.opdocs.formulas import MEANINGS
from py_autodoc.opdocs.integer_operations import QuantizedOperation
from py_autodoc.opdocs.replay import VARIANT_VALUES, ReplayResult
from py_autodoc.opdocs.roles import WEIGHTS, InputRole, roles
from py_autodoc.quantize.reference.arithmetic import F32, Array, limits, scalar
from py_autodoc.quantize.reference.fixed_point import VARIANTS, mismatch, multiplier

CHANNELS = 4096
"""Maximum number of multipliers listed."""
_QUANTIZED = {"uint8", "int8", "uint16", "int16"}


def facts(number: int, one: QuantizedOperation, seen: ReplayResult, module: str) -> document.Operation:
    """Return the record of an operation, without its files."""
    operands = [
        made
        for role in roles(one.op_type, len(one.operands))
        if (made := _operand(role, one, seen)) is not None
    ]
    weights = _weights(one)
    notes = [seen.fault] if seen.fault else []
    if one.clamp:
        notes.append(f"{one.clamp} costs nothing: the least code of y is the real 0.")
    meaning = MEANINGS[one.op_type]
    return document.Operation(
        number=number,
        name=one.name,
        op_type=one.op_type,
        form=one.form,
        module=module,
        nodes=list(one.nodes),
        attributes={name: _plain(value) for name, value in one.attributes.items()},
        operands=operands,
        products_per_output=None if weights is None else int(weights.shape[1]),
        accumulator=_accumulator(one, seen, weights),
        requantization=_requantization(one, seen),
        dead_channels=None if weights is None else int((weights == 0).all(1).sum()),
        formulas=list(meaning.formulas),
        pseudo_code=list(meaning.steps),
        c=None,
        vectors=None,
        picture=None,
        against_runtime=None
        if seen.fault or not seen.values
        else document.Comparison(differing=seen.differing, values=seen.values, largest=seen.largest),
        notes=notes,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [int(one) for one in value] if isinstance(value, (list, tuple)) else value


def _input(one: QuantizedOperation, seen: ReplayResult, at: int | None) -> Array | None:
    """Return a constant, or the value in the first sample."""
    if at is None or at >= len(one.operands):
        return None
    operand = one.operands[at]
    if operand is None:
        return None
    if operand.value is not None:
        return operand.value
    return seen.inputs[at] if at < len(seen.inputs) else None


def _operand(role: InputRole, one: QuantizedOperation, seen: ReplayResult) -> document.Operand | None:
    place = len(one.operands) if role.at is None else role.at
    if role.at is None:
        tensor, constant, value = one.outputs[0], False, None
    else:
        held = one.operands[role.at] if role.at < len(one.operands) else None
        if held is None:
            return None
        tensor, constant, value = held.tensor, held.value is not None, held.value
    kind = value.dtype.name if value is not None else _seen(seen.types, place)
    shape = value.shape if value is not None else _seen(seen.shapes, place)
    ends = (
        (float(value.min()), float(value.max()))
        if value is not None and value.size
        else _seen(seen.codes, place)
    )
    scale, zero = _input(one, seen, role.scale), _input(one, seen, role.zero)
    if one.op_type == "DynamicQuantizeLinear" and role.at is None:
        scale, zero = None, None
    whole = kind in _QUANTIZED
    return document.Operand(
        role=role.name,
        tensor=tensor,
        type=kind,
        shape=None if shape is None else [int(size) for size in shape],
        constant=constant,
        scale=None if scale is None else [float(scale.min()), float(scale.max())],
        channels=1 if scale is None else int(scale.size),
        zero_point=None if zero is None else [int(zero.min()), int(zero.max())],
        real=_real(kind, scale, zero) if whole and scale is not None else None,
        codes=[int(end) for end in ends] if whole and ends is not None else None,
    )


def _seen(values: list[Any], at: int) -> Any:
    return values[at] if at < len(values) else None


def _real(kind: str | None, scale: Array, zero: Array | None) -> list[float]:
    low, high = limits(np.dtype(str(kind)))
    zeros = np.zeros(1) if zero is None else np.asarray(zero, np.float64).reshape(-1)
    scales = np.asarray(scale, np.float64).reshape(-1)
    return [float(((low - zeros) * scales).min()), float(((high - zeros) * scales).max())]


def _weights(one: QuantizedOperation) -> Array | None:
    """Return constant weights minus their zero point, [outputs, products]."""
    name = WEIGHTS.get(one.op_type)
    role = next((role for role in roles(one.op_type, len(one.operands)) if role.name == name), None)
    if role is None or role.at is None or (held := one.operands[role.at]) is None or held.value is None:
        return None
    value = held.value.astype(np.int64)
    zero = one.operands[role.zero] if role.zero is not None and role.zero < len(one.operands) else None
    zeros = np.zeros(1, np.int64) if zero is None or zero.value is None else zero.value.astype(np.int64)
    if role.name == "w":
        return np.asarray(value.reshape(value.shape[0], -1) - zeros.reshape(-1, 1))
    if value.ndim != 2:
        return None
    columns = value if one.attributes.get("transB") else value.T
    return np.asarray(columns - zeros.reshape(-1, 1))


def _bits(least: int, most: int) -> int:
    """Return the bits of a signed integer that holds both."""
    return max((-least - 1).bit_length() if least < 0 else 0, most.bit_length() if most > 0 else 0) + 1


def _accumulator(
    one: QuantizedOperation, seen: ReplayResult, weights: Array | None
) -> document.Accumulator | None:
    if one.op_type not in WEIGHTS:
        return None
    worst = None
    kind = _seen(seen.types, 0)
    if weights is not None and kind in _QUANTIZED:
        low, high = (end - scalar(_input(one, seen, 2)) for end in limits(np.dtype(kind)))
        above, below = np.where(weights > 0, weights, 0).sum(1), np.where(weights < 0, weights, 0).sum(1)
        bias = _bias(one, seen)
        most, least = above * high + below * low + bias, above * low + below * high + bias
        worst = [int(least.min()), int(most.max())]
    measured = None if seen.accumulator is None else list(seen.accumulator)
    if worst is None and measured is None:
        return None
    return document.Accumulator(
        worst=worst,
        worst_bits=None if worst is None else _bits(*worst),
        measured=measured,
        measured_bits=None if measured is None else _bits(*measured),
    )


def _bias(one: QuantizedOperation, seen: ReplayResult) -> Array | int:
    role = next((role for role in roles(one.op_type, len(one.operands)) if role.name == "bias"), None)
    found = None if role is None else _input(one, seen, role.at)
    return 0 if found is None else found.astype(np.int64).reshape(-1)


def multipliers(one: QuantizedOperation, seen: ReplayResult) -> Array | None:
    """Return M per channel, or one; None if nothing is requantized or a scale is unknown."""
    places = {"QLinearConv": (1, 4, 6), "QLinearMatMul": (1, 4, 6), "QGemm": (1, 4, 7)}.get(one.op_type)
    if places is None:
        return None
    x, w, y = (_input(one, seen, place) for place in places)
    if x is None or w is None or y is None:
        return None
    made = x.astype(F32).reshape(()) * w.astype(F32).reshape(-1) / y.astype(F32).reshape(())
    return np.asarray(F32(one.attributes.get("alpha", 1.0)) * made)


def _requantization(one: QuantizedOperation, seen: ReplayResult) -> document.Requantization | None:
    real = multipliers(one, seen)
    if real is None or not np.isfinite(real).all() or (real < 0).any():
        return None
    pairs = multiplier(real, 31)
    listed = zip(pairs.value[:CHANNELS].tolist(), pairs.shift[:CHANNELS].tolist(), strict=True)
    return document.Requantization(
        real=[float(real.min()), float(real.max())],
        channels=int(real.size),
        q31=[[value, shift] for value, shift in listed],
        variants=_variants(one, seen, real),
    )


def _variants(one: QuantizedOperation, seen: ReplayResult, real: Array) -> list[document.Variant]:
    sums, zero = seen.sums, _input(one, seen, {"QGemm": 8}.get(one.op_type, 7))
    if sums is None or zero is None or not seen.outputs:
        return []
    axis = 1 if one.op_type == "QLinearConv" else sums.ndim - 1
    rows = np.moveaxis(sums, axis, -1).reshape(-1, sums.shape[axis])
    rows = rows[: max(1, VARIANT_VALUES // max(rows.shape[1], 1))]
    found = [mismatch(rows, real, scalar(zero), seen.outputs[0].dtype, name) for name in VARIANTS]
    return [
        document.Variant(name=one.variant, differing=one.differing, values=one.values, largest=one.largest)
        for one in found
    ]
