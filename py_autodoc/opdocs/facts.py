"""Facts about an operation: operands, ranges, accumulator, multipliers, comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from py_autodoc.opdocs import document
from py_autodoc.opdocs.formulas import MEANINGS
from py_autodoc.opdocs.integer_operations import QuantizedOperation
from py_autodoc.opdocs.replay import VARIANT_VALUES, ReplayResult
from py_autodoc.opdocs.roles import WEIGHTS, InputRole, roles
from py_autodoc.quantize.reference.arithmetic import F32, Array, limits, scalar
from py_autodoc.quantize.reference.block_weights import (
    MATMUL_NBITS,
    BlockWeights,
    block_weights,
    tolerance,
)
from py_autodoc.quantize.reference.fixed_point import VARIANTS, mismatch, multiplier
from py_autodoc.quantize.reference.operators import channel_axis

CHANNELS = 4096
"""Maximum number of multipliers listed."""
_QUANTIZED = {"uint8", "int8", "uint16", "int16"}


def facts(
    number: int, operation: QuantizedOperation, replay: ReplayResult, module: str
) -> document.Operation:
    """Return the record of an operation, without its files."""
    operands = [
        operand
        for role in roles(operation.op_type, len(operation.operands))
        if (operand := _operand(role, operation, replay)) is not None
    ]
    blocks = _block_weights(operation)
    if blocks is not None:
        operands = [_with_blocks(operand, blocks, operation) for operand in operands]
    weights = _weights(operation) if blocks is None else blocks.centred()
    notes = [replay.fault] if replay.fault else []
    if blocks is not None:
        notes.append(_float_sums(operation, replay))
    if operation.clamp:
        notes.append(f"{operation.clamp} costs nothing: the least code of y is the real 0.")
    meaning = MEANINGS[operation.op_type]
    return document.Operation(
        number=number,
        name=operation.name,
        op_type=operation.op_type,
        form=operation.form,
        module=module,
        nodes=list(operation.nodes),
        attributes={name: _json_value(value) for name, value in operation.attributes.items()},
        operands=operands,
        products_per_output=None if weights is None else int(weights.shape[1]),
        accumulator=_accumulator(operation, replay, weights),
        requantization=_requantization(operation, replay),
        dead_channels=None if weights is None else int((weights == 0).all(1).sum()),
        formulas=list(meaning.formulas),
        pseudo_code=list(meaning.steps),
        c=None,
        vectors=None,
        picture=None,
        against_runtime=None
        if replay.fault or not replay.values
        else document.Comparison(differing=replay.differing, values=replay.values, largest=replay.largest),
        saturated=None
        if replay.fault or replay.saturating is None
        else document.Comparison(
            differing=replay.saturating[0], values=replay.values, largest=replay.saturating[1]
        ),
        rewritten=bool(operation.unsigned),
        notes=notes,
    )


def _block_weights(operation: QuantizedOperation) -> BlockWeights | None:
    """Return the weights of a product in blocks; None for other operators, and if they do not fit."""
    if operation.op_type != MATMUL_NBITS:
        return None
    values = [None if operand is None else operand.value for operand in operation.operands]
    try:
        return block_weights(values, operation.attributes)
    except (ValueError, KeyError):
        return None


def _with_blocks(
    operand: document.Operand, blocks: BlockWeights, operation: QuantizedOperation
) -> document.Operand:
    """Return the packed weights as codes with their scales and zero points."""
    if operand.role != "w":
        return operand
    real = blocks.real()
    whole = not (blocks.zeros % 1).any()
    return replace(
        operand,
        type=f"uint{int(operation.attributes.get('bits', 4))}, packed",
        shape=[int(size) for size in blocks.codes.shape],
        scale=[float(blocks.scales.min()), float(blocks.scales.max())],
        channels=int(blocks.scales.size),
        zero_point=[int(blocks.zeros.min()), int(blocks.zeros.max())] if whole else None,
        real=[float(real.min()), float(real.max())],
        codes=[int(blocks.codes.min()), int(blocks.codes.max())],
    )


def _float_sums(operation: QuantizedOperation, replay: ReplayResult) -> str:
    share = tolerance(replay.inputs or [None], operation.attributes)
    level = int(operation.attributes.get("accuracy_level", 0))
    data = " Its accuracy_level lets ONNX Runtime compute with data of fewer bits." if level >= 2 else ""
    return f"Sums are in float: outputs within {share:g} of the largest one count as equal.{data}"


def _json_value(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return [int(item) for item in value] if isinstance(value, (list, tuple)) else value


def _input(operation: QuantizedOperation, replay: ReplayResult, index: int | None) -> Array | None:
    """Return a constant, or the value in the first sample."""
    if index is None or index >= len(operation.operands):
        return None
    operand = operation.operands[index]
    if operand is None:
        return None
    if operand.value is not None:
        return operand.value
    return replay.inputs[index] if index < len(replay.inputs) else None


def _operand(role: InputRole, operation: QuantizedOperation, replay: ReplayResult) -> document.Operand | None:
    index = len(operation.operands) if role.position is None else role.position
    if role.position is None:
        tensor, constant, value = operation.outputs[0], False, None
    else:
        source = operation.operands[role.position] if role.position < len(operation.operands) else None
        if source is None:
            return None
        tensor, constant, value = source.tensor, source.value is not None, source.value
    kind = value.dtype.name if value is not None else _entry(replay.types, index)
    shape = value.shape if value is not None else _entry(replay.shapes, index)
    ends = (
        (float(value.min()), float(value.max()))
        if value is not None and value.size
        else _entry(replay.codes, index)
    )
    scale, zero = _input(operation, replay, role.scale), _input(operation, replay, role.zero)
    if operation.op_type == "DynamicQuantizeLinear" and role.position is None:
        scale, zero = None, None
    is_quantized = kind in _QUANTIZED
    return document.Operand(
        role=role.name,
        tensor=tensor,
        type=kind,
        shape=None if shape is None else [int(size) for size in shape],
        constant=constant,
        scale=None if scale is None else [float(scale.min()), float(scale.max())],
        channels=1 if scale is None else int(scale.size),
        zero_point=None if zero is None else [int(zero.min()), int(zero.max())],
        real=_real(kind, scale, zero) if is_quantized and scale is not None else None,
        codes=[int(end) for end in ends] if is_quantized and ends is not None else None,
    )


def _entry(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else None


def _real(kind: str | None, scale: Array, zero: Array | None) -> list[float]:
    low, high = limits(np.dtype(str(kind)))
    zeros = np.zeros(1) if zero is None else np.asarray(zero, np.float64).reshape(-1)
    scales = np.asarray(scale, np.float64).reshape(-1)
    return [float(((low - zeros) * scales).min()), float(((high - zeros) * scales).max())]


def _weights(operation: QuantizedOperation) -> Array | None:
    """Return constant weights minus their zero point, [outputs, products]."""
    name = WEIGHTS.get(operation.op_type)
    role = next(
        (role for role in roles(operation.op_type, len(operation.operands)) if role.name == name), None
    )
    if (
        role is None
        or role.position is None
        or (operand := operation.operands[role.position]) is None
        or operand.value is None
    ):
        return None
    value = operand.value.astype(np.int64)
    zero = (
        operation.operands[role.zero]
        if role.zero is not None and role.zero < len(operation.operands)
        else None
    )
    zeros = np.zeros(1, np.int64) if zero is None or zero.value is None else zero.value.astype(np.int64)
    if role.name == "w":
        return np.asarray(value.reshape(value.shape[0], -1) - zeros.reshape(-1, 1))
    if value.ndim != 2:
        return None
    columns = value if operation.attributes.get("transB") else value.T
    return np.asarray(columns - zeros.reshape(-1, 1))


def _bits(least: int, most: int) -> int:
    """Return the bits of a signed integer that holds both."""
    return max((-least - 1).bit_length() if least < 0 else 0, most.bit_length() if most > 0 else 0) + 1


def _accumulator(
    operation: QuantizedOperation, replay: ReplayResult, weights: Array | None
) -> document.Accumulator | None:
    if operation.op_type not in WEIGHTS:
        return None
    worst = None
    kind = _entry(replay.types, 0)
    if weights is not None and kind in _QUANTIZED:
        zero = _input(operation, replay, roles(operation.op_type, len(operation.operands))[0].zero)
        low, high = (end - scalar(zero) for end in limits(np.dtype(kind)))
        above, below = np.where(weights > 0, weights, 0).sum(1), np.where(weights < 0, weights, 0).sum(1)
        bias = _bias(operation, replay)
        most, least = above * high + below * low + bias, above * low + below * high + bias
        worst = [int(least.min()), int(most.max())]
    measured = None if replay.accumulator is None else list(replay.accumulator)
    if worst is None and measured is None:
        return None
    return document.Accumulator(
        worst=worst,
        worst_bits=None if worst is None else _bits(*worst),
        measured=measured,
        measured_bits=None if measured is None else _bits(*measured),
    )


def _bias(operation: QuantizedOperation, replay: ReplayResult) -> Array | int:
    role = next(
        (role for role in roles(operation.op_type, len(operation.operands)) if role.name == "bias"), None
    )
    bias = None if role is None else _input(operation, replay, role.position)
    return 0 if bias is None else bias.astype(np.int64).reshape(-1)


def multipliers(operation: QuantizedOperation, replay: ReplayResult) -> Array | None:
    """Return M per channel, or one; None if nothing is requantized or a scale is unknown."""
    scale_inputs = {"QLinearConv": (1, 4, 6), "QLinearMatMul": (1, 4, 6), "QGemm": (1, 4, 7)}.get(
        operation.op_type
    )
    if scale_inputs is None:
        return None
    x, w, y = (_input(operation, replay, i) for i in scale_inputs)
    if x is None or w is None or y is None:
        return None
    real = x.astype(F32).reshape(()) * w.astype(F32).reshape(-1) / y.astype(F32).reshape(())
    return np.asarray(F32(operation.attributes.get("alpha", 1.0)) * real)


def _requantization(operation: QuantizedOperation, replay: ReplayResult) -> document.Requantization | None:
    real = multipliers(operation, replay)
    if real is None or not np.isfinite(real).all() or (real < 0).any():
        return None
    pairs = multiplier(real, 31)
    listed = zip(pairs.value[:CHANNELS].tolist(), pairs.shift[:CHANNELS].tolist(), strict=True)
    return document.Requantization(
        real=[float(real.min()), float(real.max())],
        channels=int(real.size),
        q31=[[value, shift] for value, shift in listed],
        variants=_variants(operation, replay, real),
    )


def _variants(operation: QuantizedOperation, replay: ReplayResult, real: Array) -> list[document.Variant]:
    sums, zero = replay.sums, _input(operation, replay, {"QGemm": 8}.get(operation.op_type, 7))
    if sums is None or zero is None or not replay.outputs:
        return []
    axis = channel_axis(operation.op_type, operation.attributes, sums.ndim)
    rows = np.moveaxis(sums, axis, -1).reshape(-1, sums.shape[axis])
    rows = rows[: max(1, VARIANT_VALUES // max(rows.shape[1], 1))]
    mismatches = [mismatch(rows, real, scalar(zero), replay.outputs[0].dtype, name) for name in VARIANTS]
    return [
        document.Variant(
            name=operation.variant,
            differing=operation.differing,
            values=operation.values,
            largest=operation.largest,
        )
        for operation in mismatches
    ]
