"""Arithmetic, comparisons, logic and functions of single elements."""

from __future__ import annotations

from py_autodoc.to_torch.code import CodeValue, NotCovered, without_parentheses
from py_autodoc.to_torch.dtypes import FLOATS
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule

_UNSIGNED = frozenset({4, 12, 13})
"""uint16, uint32 and uint64, for which torch has few kernels."""
_UINT64 = 13
"""Values in the upper half of uint64 do not fit int64, which torch code uses in its place."""
_SYMBOLS = {"Add": "+", "Sub": "-", "Mul": "*"}
_COMPARE = {
    "Equal": "==", "Less": "<", "LessOrEqual": "<=", "Greater": ">", "GreaterOrEqual": ">=",
}  # fmt: skip
_LOGIC = {"And": "logical_and", "Or": "logical_or", "Xor": "logical_xor"}
_BITS = {"BitwiseAnd": "&", "BitwiseOr": "|", "BitwiseXor": "^"}
_FUNCTIONS = {
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan",
    "Atanh": "atanh", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp",
    "Floor": "floor", "IsNaN": "isnan", "Log": "log", "Not": "logical_not", "Reciprocal": "reciprocal",
    "Round": "round", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt",
    "Tan": "tan", "Tanh": "tanh", "BitwiseNot": "bitwise_not", "Det": "linalg.det",
}  # fmt: skip


def operands(op: OpContext) -> tuple[str, str]:
    """Return both operands; one may be a Python number."""
    if op.opset < 7 and not op.node.domain and op.attr("broadcast", 0) and "axis" in op.node.attributes:
        rank, other_rank = op.rank(0), op.rank(1)
        if rank is None or other_rank is None or op.attr("axis", 0) % rank + other_rank != rank:
            raise NotCovered("broadcasting along an axis (before opset 7)")
    left, right = op.num(0, 1), op.num(1, 0)
    if not any(code[0] in "\x01\x03" or code.startswith("torch.") for code in (left, right)):
        right = op.t(1)
    return left, right


def signed(code: str) -> str:
    """Return code for the right operand; negative numbers are put in parentheses."""
    return f"({code})" if code.startswith("-") else code


@rule("Add", "Sub", "Mul")
def arithmetic(op: OpContext) -> None:
    """``a + b``."""
    if on_host(op):
        return
    if _wide(op, op.node.op_type):
        return
    left, right = operands(op)
    op.out(f"{left} {_SYMBOLS[op.node.op_type]} {right}")


def _wide(op: OpContext, name: str) -> bool:
    """Compute types without torch kernels in 64 bits. True if done."""
    if op.dtype(0) not in _UNSIGNED:
        return False
    if op.dtype(0) == _UINT64 and name == "Div":
        raise NotCovered("uint64")
    op.out(op.call("onnx_unsigned", f'"{name}"', op.t(0), op.t(1)))
    return True


@rule("Div")
def divide(op: OpContext) -> None:
    """Integer division rounds towards zero."""
    if on_host(op) or _wide(op, "Div"):
        return
    left, right = operands(op)
    if op.is_float(0):
        op.out(f"{left} / {right}")
    elif op.is_integer(0):
        op.out(f'torch.div({op.t(0)}, {right}, rounding_mode="trunc")')
    else:
        op.out(op.call("onnx_div", op.t(0), op.t(1)))


@rule("Pow")
def power(op: OpContext) -> None:
    """The result has the type of the base."""
    if op.is_float(0) and op.dtype(1) == op.dtype(0):
        left, right = operands(op)
        exponent = op.scalar(1)
        if (
            exponent is not None
            and float(exponent).is_integer()
            and abs(exponent) < 1e6
            and "\x01" not in right
        ):
            right = str(int(exponent))
        op.out(raised(left, right))
    elif op.is_float(0) and op.scalar(1) is not None and not op.rank(1):
        op.out(raised(op.v(0), op.num(1)))
    else:
        op.out(op.call("onnx_pow", op.t(0), op.t(1)))


def raised(base: str, exponent: str) -> str:
    """Return ``x**2``, with the spaces that formatters write."""
    short = all(code[0] == "\x01" or code.lstrip("-")[0].isdigit() for code in (base, exponent))
    return f"{signed(base)}**{exponent}" if short else f"{signed(base)} ** {exponent}"


@rule("Mod")
def modulo(op: OpContext) -> None:
    """The sign follows the divisor, or the dividend with ``fmod``."""
    name = "fmod" if op.attr("fmod", 0) else "remainder"
    if op.dtype(0) == _UINT64:
        raise NotCovered("uint64")
    if op.dtype(0) in _UNSIGNED:
        op.out(op.call("onnx_unsigned", '"Mod"', op.t(0), op.t(1)))
        return
    op.out(f"torch.{name}({op.t(0)}, {op.t(1)})")


@rule(*_COMPARE)
def compare(op: OpContext) -> None:
    """``a < b``."""
    if op.dtype(0) == _UINT64 and op.node.op_type != "Equal":
        raise NotCovered("uint64")
    if op.dtype(0) in _UNSIGNED:
        op.out(f"{op.v(0)}.to(torch.int64) {_COMPARE[op.node.op_type]} {op.v(1)}.to(torch.int64)")
        return
    left, right = operands(op)
    op.out(f"{left} {_COMPARE[op.node.op_type]} {right}")


@rule(*_LOGIC)
def logic(op: OpContext) -> None:
    """``torch.logical_and(a, b)``."""
    op.out(f"torch.{_LOGIC[op.node.op_type]}({op.t(0)}, {op.t(1)})")


@rule(*_BITS)
def bits(op: OpContext) -> None:
    """``a & b``."""
    op.out(f"{op.t(0)} {_BITS[op.node.op_type]} {op.t(1)}")


@rule("BitShift")
def shift(op: OpContext) -> None:
    """Bit shifts of unsigned integers."""
    op.out(
        op.call(
            "onnx_bit_shift", op.t(0), op.t(1), left=op.choice("direction", "", ("LEFT", "RIGHT")) == "LEFT"
        )
    )


@rule(*_FUNCTIONS)
def function(op: OpContext) -> None:
    """``torch.exp(x)``."""
    if op.dtype(0) in _UNSIGNED:
        if op.node.op_type != "BitwiseNot":
            raise NotCovered("unsigned integers with more than 8 bits")
        op.out(f"torch.bitwise_not({op.v(0)}.to(torch.int64)).to({op.torch_dtype(op.dtype(0))})")
        return
    op.out(f"torch.{_FUNCTIONS[op.node.op_type]}({op.t(0)})")


@rule("Neg")
def negative(op: OpContext) -> None:
    """``-x``."""
    op.out(f"-{op.v(0)}")


@rule("IsInf")
def infinite(op: OpContext) -> None:
    """Infinities of one or both signs."""
    down, up = op.attr("detect_negative", 1), op.attr("detect_positive", 1)
    if down and up:
        op.out(f"torch.isinf({op.t(0)})")
    elif down or up:
        op.out(f"torch.{'isneginf' if down else 'isposinf'}({op.t(0)})")
    else:
        op.out(f"torch.zeros_like({op.t(0)}, dtype=torch.bool)")


@rule("Min", "Max")
def extreme(op: OpContext) -> None:
    """Minimum or maximum of any number of tensors."""
    name = "minimum" if op.node.op_type == "Min" else "maximum"
    if op.dtype(0) in _UNSIGNED:
        raise NotCovered("unsigned integers with more than 8 bits")
    if op.count == 1:
        op.same()
    elif not on_host(op):
        code = op.t(0)
        for index in range(1, op.count - 1):
            code = op.keep(f"torch.{name}({code}, {op.t(index)})")
        op.out(f"torch.{name}({code}, {op.t(op.count - 1)})")


@rule("Sum", "Mean")
def total(op: OpContext) -> None:
    """Sum or mean of any number of tensors."""
    if op.count == 1:
        op.same()
        return
    code = op.t(0)
    for index in range(1, op.count - 1):
        code = op.keep(f"{code} + {op.t(index)}")
    code += f" + {op.t(op.count - 1)}"
    op.out(code if op.node.op_type == "Sum" else f"({code}) / {op.count}")


@rule("Where")
def where(op: OpContext) -> None:
    """``torch.where``."""
    first, second = op.num(1, 2), op.num(2, 1)
    if "\x01" not in first + second and "\x03" not in first + second:
        first, second = op.t(1), op.t(2)
    op.out(f"torch.where({op.t(0)}, {first}, {second})")


@rule("Cast")
def cast(op: OpContext) -> None:
    """Converts the type; fractions are truncated, and 8-bit floats saturate."""
    target, source = op.attr("to"), op.dtype(0)
    value = op.value(0)
    if value.kind == "host" and target in (6, 7):
        op.set(CodeValue("host", "", value.items, value.scalar, target))
        return
    _convert(op, source, target)


@rule("CastLike")
def cast_like(op: OpContext) -> None:
    """Like Cast, to the type of another tensor."""
    if op.dtype(1):
        _convert(op, op.dtype(0), op.dtype(1))
    else:
        op.out(f"{op.v(0)}.to({op.v(1)}.dtype)")


def _convert(op: OpContext, source: int, target: int) -> None:
    dtype = op.torch_dtype(target)
    if target in (21, 22) or source in (8, 23) or target in (8, 23):
        raise NotCovered("casts from or to text or 4-bit numbers")
    if target in (17, 18, 19, 20):
        op.out(op.call("onnx_cast_float8", op.t(0), dtype, saturate=bool(op.attr("saturate", 1))))
    elif source == target and source:
        op.same()
    elif target == 9 and source not in FLOATS:
        op.out(f"{op.v(0)} != 0")
    else:
        op.out(f"{op.v(0)}.to({dtype})")


@rule("BitCast")
def bit_cast(op: OpContext) -> None:
    """Reinterprets the bits as another type of the same width."""
    op.out(f"{op.v(0)}.view({op.torch_dtype(op.attr('to'))})")


@rule("Identity")
def identity(op: OpContext) -> None:
    """Returns its input."""
    op.same()


@rule("Dropout")
def dropout(op: OpContext) -> None:
    """Returns its input, since it is only active in training."""
    if op.has(2) and not _false(op):
        raise NotCovered("training mode")
    if op.has_out(1):
        op.out(f"torch.ones_like({op.t(0)}, dtype=torch.bool)", 1)
    op.same()


def _false(op: OpContext) -> bool:
    flag = op.scalar(2)
    return flag is not None and not bool(flag)


def on_host(op: OpContext) -> bool:
    """Do arithmetic on dimensions in Python. True if done."""
    if op.count != 2 or op.dtype(0) not in (0, 7):
        return False
    if "host" not in (op.value(0).kind, op.value(1).kind):
        return False
    left, right = op.host(0), op.host(1)
    if left is None or right is None:
        return False
    count = max(len(left.items), len(right.items))
    if {len(left.items), len(right.items)} - {1, count} or (count and not (left.items and right.items)):
        return False
    pairs = zip(
        left.items * (count if len(left.items) == 1 else 1),
        right.items * (count if len(right.items) == 1 else 1),
        strict=True,
    )
    items = [_combined(op.node.op_type, a, b) for a, b in pairs]
    if any(item is None for item in items):
        return False
    op.integers([item for item in items if item is not None], left.scalar and right.scalar)
    return True


def _combined(name: str, a: int | str, b: int | str) -> int | str | None:
    if isinstance(a, int) and isinstance(b, int):
        if name == "Div":
            return None if not b else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        if name in ("Min", "Max"):
            return min(a, b) if name == "Min" else max(a, b)
        return a + b if name == "Add" else a - b if name == "Sub" else a * b
    if len(f"{a}{b}") > 300:
        return None
    if name == "Div":
        known_size = isinstance(a, str) and "-" not in a and isinstance(b, int) and b > 0
        return f"({a} // {b})" if known_size and ".shape[" in str(a) else None
    if name in ("Min", "Max"):
        return f"{name.lower()}({without_parentheses(a)}, {without_parentheses(b)})"
    if (name == "Add" and 0 in (a, b)) or (name == "Mul" and 1 in (a, b)):
        return a if isinstance(a, str) else b
    symbol = _SYMBOLS[name]
    right = f"({b})" if isinstance(b, int) and b < 0 else b
    return f"({a} {symbol} {right})"
