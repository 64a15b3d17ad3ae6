"""The operation reference as data."""

from __future__ import annotations

import msgspec

SCHEMA = "autodoc.operations/1"


class Operand(msgspec.Struct, frozen=True, kw_only=True):
    """One operand of an operation; numbers are null if they are not known before a run."""

    role: str
    """Its name in the formula: x, w, a, b, bias or y."""
    tensor: str
    type: str | None
    shape: list[int] | None
    constant: bool
    scale: list[float] | None
    """Minimum and maximum; they differ if each channel has its own scale."""
    channels: int
    """Number of scales; 1: one for the whole tensor."""
    zero_point: list[int] | None
    real: list[float] | None
    """Minimum and maximum real number that its codes represent."""
    codes: list[int] | None
    """Minimum and maximum observed code."""
    source: int | None = None
    """Number of the operation that produces these codes; null for constants and model inputs."""
    through: list[str] = msgspec.field(default_factory=list)
    """Operators in between that pass codes on unchanged, with the same scale and zero point."""


class Accumulator(msgspec.Struct, frozen=True, kw_only=True):
    """The sum of products before requantization, including bias and zero points."""

    worst: list[int] | None
    """Minimum and maximum for any data of the input's type; null if both operands are computed."""
    worst_bits: int | None
    """Bits of a signed integer that holds both."""
    measured: list[int] | None
    """Minimum and maximum over the samples."""
    measured_bits: int | None


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """A fixed-point requantization compared with ONNX Runtime's float32 one, on the samples."""

    name: str
    differing: int
    values: int
    largest: int
    """Largest difference, in units of the output."""


class Requantization(msgspec.Struct, frozen=True, kw_only=True):
    """The multiplier M from the accumulator to the output: x_scale·w_scale/y_scale."""

    real: list[float]
    """Minimum and maximum over the channels."""
    channels: int
    q31: list[list[int]]
    """For each channel (at most 4,096): the 31-bit multiplier and right shift; real ≈ multiplier·2^-shift."""
    variants: list[Variant]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The reference compared with ONNX Runtime, on the same integers."""

    differing: int
    values: int
    largest: float


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One quantized operation."""

    number: int
    name: str
    op_type: str
    form: str
    """``operator``: in the file; ``qdq``: a float operator between Q/DQ; ``integer``: returns int32;
    ``weights``: a float product with quantized weights."""
    module: str
    """Hierarchy tag of its module; empty if the model has none."""
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
    """Formulas in LaTeX."""
    pseudo_code: list[str]
    c: str | None
    """File with the operation in C; null with a note if there is none."""
    vectors: str | None
    """File with inputs and outputs of one run."""
    picture: str | None
    against_runtime: Comparison | None
    saturated: Comparison | None
    """The formula compared with saturating kernels of this processor; null if it has none for these types."""
    rewritten: bool
    """True if an optimized session on x86 multiplies u8 where the file has s8."""
    notes: list[str]


class FloatOperation(msgspec.Struct, frozen=True, kw_only=True):
    """An operator that computes in float."""

    node: str
    op_type: str
    reason: str


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """All quantized operations of a model."""

    schema: str = SCHEMA
    model: str
    samples: int
    data: str
    """Source of the samples; says so if they were generated."""
    kernel: str
    """``exact``, or ``pairs`` if sums of u8 and s8 saturate on this processor."""
    cpu: str
    versions: dict[str, str]
    picture: str | None
    """File with an image of the model's graph."""
    operations: list[Operation]
    floats: list[FloatOperation]

    def to_json(self, pretty: bool = False) -> str:
        """Return the reference as JSON."""
        text = msgspec.json.encode(self)
        return (msgspec.json.format(text, indent=2) if pretty else text).decode() + "\n"
