"""Quantization recipes: options, their defaults, and invalid combinations."""

from __future__ import annotations

import msgspec

from py_autodoc.errors import OptionError
from py_autodoc.findings.thresholds import read_file
from py_autodoc.float_models import PRODUCTS
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.int8_kernels.targets import COMPUTATIONS
from py_autodoc.limits import RECIPE_FILE
from py_autodoc.quantize.choices import ACTIVATIONS, CALIBRATIONS, FORMATS, METHODS, WEIGHTS
from py_autodoc.quantize.kernels import current_runtime

TARGETS = tuple(COMPUTATIONS)
STATIC_OPS = (*PRODUCTS, "Relu", "Clip", "MaxPool")
"""Operators that ``static`` quantizes by default: products, and what is fused into them or adds no error.

Quantizing others, such as Add, Softmax or HardSwish, costs up to 25 dB and rarely time.
"""
DEFAULT_OPS = {"static": STATIC_OPS, "dynamic": ("MatMul", "Gemm")}
ALL = "all"
"""In ``ops``: every operator that the tools can quantize."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings that determine the result apart from model and data.

    Empty settings depend on the target and the method.
    """

    method: str = "static"
    """Quantization method.

    ``static`` (ranges from samples), ``dynamic`` (ranges of each run), ``int8-weights`` and ``int4-weights``
    (products stay float), ``fp16``.
    """
    format: str = ""
    """``qdq`` or ``qoperator``."""
    calibration: str = "minmax"
    """``minmax``, ``percentile`` (99.999 %) or ``entropy``."""
    activations: str = ""
    """``u8``, ``s8`` or ``u16``."""
    weights: str = ""
    """``s8``, ``u8`` or ``s7`` (within ±64)."""
    per_channel: bool | None = None
    target: str = ""
    """``cpu-vnni``, ``cpu-avx2``, ``cpu-arm`` or ``tensorrt``; empty: this machine's processor."""
    block_size: int = 32
    """Number of weights with a common scale in ``int8-weights`` and ``int4-weights``."""
    ops: list[str] = []
    """Types of operators that ``static`` and ``dynamic`` quantize; ``all``: every type that can be; empty:
    products, and the activations and poolings that are fused with them."""
    exclude: list[str] = []
    """Nodes that stay in float: names, module paths, or queries such as ``op=Conv & macs>1e8``."""
    allow_saturation: bool = False
    """Allow signed 8-bit weights on a processor whose kernels saturate their sums."""


def read_recipe(path: PathLike) -> Recipe:
    """Read a recipe from a ``.toml`` or JSON file. Raises: PathError, OptionError, RequirementError."""
    try:
        return msgspec.convert(dict(read_file(path, RECIPE_FILE)), Recipe)
    except msgspec.ValidationError as error:
        line = str(error).strip().splitlines()[0][:200]
        name = base_name(path)[:200]
        raise OptionError(
            "bad-recipe", f"{name} is not a recipe: {line}.", "See docs/quantize.md."
        ) from error


def complete_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe with all empty settings filled in for its target.

    Raises: OptionError: a value is unknown, or values do not go together; the message gives the reason.
    """
    for field, choices in (
        ("method", METHODS),
        ("format", FORMATS),
        ("calibration", CALIBRATIONS),
        ("activations", ACTIVATIONS),
        ("weights", WEIGHTS),
        ("target", TARGETS),
    ):
        value = getattr(recipe, field)
        if value and value not in choices:
            listed = ", ".join(choices)
            raise OptionError(
                "bad-recipe", f"{field}: {value[:40]!r} is unknown.", f"Choose one of {listed}."
            )
    if not 16 <= recipe.block_size <= 256 or recipe.block_size & (recipe.block_size - 1):
        raise OptionError("bad-recipe", "block_size must be a power of two from 16 to 256.")
    target = recipe.target or current_runtime()
    tensorrt = target == "tensorrt"
    static = recipe.method == "static"
    pairs = COMPUTATIONS[target].kernel == "pairs"
    weights = recipe.weights or (("s7" if static else "u8") if pairs else "s8")
    ops = recipe.ops or list(DEFAULT_OPS.get(recipe.method, ()))
    if recipe.ops and recipe.method not in DEFAULT_OPS:
        raise OptionError("bad-recipe", f"{recipe.method} has no choice of operators.", "Omit --ops.")
    complete = msgspec.structs.replace(
        recipe,
        target=target,
        ops=[ALL] if ALL in ops else ops,
        format=recipe.format or "qdq",
        activations=recipe.activations or ("s8" if tensorrt else "u8"),
        weights=weights,
        per_channel=static if recipe.per_channel is None else recipe.per_channel,
    )
    _check_combinations(complete)
    return complete


def _check_combinations(recipe: Recipe) -> None:
    """Raise an OptionError for combinations that fail or have no benefit."""
    tensorrt, static = recipe.target == "tensorrt", recipe.method == "static"
    clips = recipe.target in COMPUTATIONS and COMPUTATIONS[recipe.target].kernel == "pairs"
    clips = clips and recipe.weights == "s8" and not recipe.allow_saturation
    rules = (
        (
            tensorrt
            and static
            and (recipe.format != "qdq" or recipe.activations != "s8" or recipe.weights == "u8"),
            "TensorRT reads QuantizeLinear and DequantizeLinear with symmetric s8 only.",
            "Omit --format, --activations and --weights; --target tensorrt sets them.",
        ),
        (
            tensorrt and recipe.method in ("dynamic", "int8-weights"),
            f"TensorRT does not support ONNX Runtime's {recipe.method} format.",
            "Use --method static or fp16.",
        ),
        (
            # Dynamic quantization always gives u8 activations.
            clips and (recipe.method == "dynamic" or (static and recipe.activations == "u8")),
            "Kernels for u8 activations and s8 weights saturate their sums on processors without VNNI.",
            "Use --weights u8 or s7, or accept it with --allow-saturation.",
        ),
        (
            clips and static and recipe.activations == "s8" and recipe.format == "qdq",
            "ONNX Runtime makes s8 activations between Q and DQ unsigned on x86, and sums of u8 and s8 "
            "saturate without VNNI.",
            "Use --activations u8 --weights u8, --weights s7 or --format qoperator, or accept it with "
            "--allow-saturation.",
        ),
        (
            static and recipe.format == "qoperator" and recipe.activations == "s8" and recipe.weights == "u8",
            "No operators exist for s8 activations and u8 weights.",
            "Use --format qdq, --weights s8, or --activations u8.",
        ),
        (
            recipe.activations == "u16" and recipe.format == "qoperator",
            "No operators exist for 16-bit activations.",
            "Use --format qdq.",
        ),
        (
            recipe.method == "dynamic" and recipe.format == "qoperator",
            "Dynamic quantization uses its own operators.",
            "Omit --format.",
        ),
    )
    for applies, reason, hint in rules:
        if applies:
            raise OptionError("recipe-refused", reason, hint)
