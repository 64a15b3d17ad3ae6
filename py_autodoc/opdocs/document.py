"""The operation reference as data."""

from __future__ import annotations

import msgspec

SCHEMA = "autodoc.operations/1"


class Operand(msgspec.Struct, frozen=True, kw_only=True):
    """One operand of an operation; numbers are null where they are not known before a run."""

    role: str
    """Its name in the formula: x, w, a, b, bias or y."""
    tensor: str
    type: str | None
    shape: list[int] | None
    constant: bool
    scale: list[float] | None
    """The least and the greatest: different where each channel has its own."""
    channels: int
    """How many scales there are; 1: one for the whole tensor."""
    zero_point: list[int] | None
    real: list[float] | None
    """The least and the greatest real number that its codes stand for."""
    codes: list[int] | None
    """The least and the greatest code that was seen."""
    source: int | None = None
    """Number of the operation that gives these codes; null for constants and inputs of the model."""
    through: list[str] = msgspec.field(default_factory=list)
    """Operators between, which hand codes on: scale and zero point stay."""


class Accumulator(msgspec.Struct, frozen=True, kw_only=True):
    """The sum of products, before it becomes 8 bits; with bias and zero points."""

    worst: list[int] | None
    """Least and greatest for any data of the input's type; null where both operands are computed."""
    worst_bits: int | None
    """Of a signed integer that holds them."""
    measured: list[int] | None
    """Least and greatest over the samples."""
    measured_bits: int | None


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """A fixed-point requantization beside the float32 one of ONNX Runtime, on the samples."""

    name: str
    differing: int
    values: int
    largest: int
    """Difference, in units of the output."""


class Requantization(msgspec.Struct, frozen=True, kw_only=True):
    """The multiplier M from the accumulator to the output: x_scale·w_scale/y_scale."""

    real: list[float]
    """Least and greatest over the channels."""
    channels: int
    q31: list[list[int]]
    """By channel (at most 4,096): the 31-bit multiplier and the right shift; real ≈ multiplier·2^-shift."""
    variants: list[Variant]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The reference beside ONNX Runtime, on the same integers."""

    differing: int
    values: int
    largest: float


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One quantized operation."""

    number: int
    name: str
    op_type: str
    form: str
    """``operator``: is in the file; ``qdq``: a float operator between Q/DQ; ``integer``: gives int32."""
    module: str
    """Hierarchy tag of the module that it belongs to; empty where the model has none."""
    nodes: list[str]
    attributes: dict[str, int | float | str | list[int]]
    operands: list[Operand]
    products_per_output: int | None
    """Multiply-accumulates (MACs) for one output value."""
    accumulator: Accumulator | None
    requantization: Requantization | None
    dead_channels: int | None
    """Output channels whose weights are all 0."""
    formulas: list[str]
    """LaTeX."""
    pseudo_code: list[str]
    c: str | None
    """File with the operation in C; null with a note where there is none."""
    vectors: str | None
    """File with inputs and outputs of one run."""
    picture: str | None
    against_runtime: Comparison | None
    notes: list[str]


class FloatOperation(msgspec.Struct, frozen=True, kw_only=True):
    """An operator with weights, or with quantized inputs, that is computed in float."""

    node: str
    op_type: str
    reason: str


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """All quantized operations of a model."""

    schema: str = SCHEMA
    model: str
    samples: int
    data: str
    """Where the samples are from, or that they are made up."""
    kernel: str
    """``exact``, or ``pairs`` where this processor's sums of u8 and s8 saturate."""
    cpu: str
    versions: dict[str, str]
    picture: str | None
    """The graph of the model."""
    operations: list[Operation]
    floats: list[FloatOperation]

    def to_json(self, pretty: bool = False) -> str:
        """As JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"
