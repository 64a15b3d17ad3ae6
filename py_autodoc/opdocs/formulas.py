"""Formulas in LaTeX and pseudocode for each quantized operator, one entry per operator."""

from __future__ import annotations

from typing import Final, NamedTuple

from py_autodoc.quantize.reference.block_weights import MATMUL_NBITS


class FormulaSymbols(NamedTuple):
    """An operator as a sentence, formulas and steps."""

    description: str
    formulas: tuple[str, ...]
    steps: tuple[str, ...]


_PRODUCT = r"acc_{i,j} = \sum_{k} (a_{i,k} - z_a)(b_{k,j} - z_{b,j})"
_OUT = r"y = \operatorname{clamp}\left(\operatorname{round}(M \cdot acc) + z_y,\ y_{min},\ y_{max}\right)"
_TAIL = ("y = round_half_even(clamp(float32(acc) * M, y_min - z_y, y_max - z_y)) + z_y",)
_TABLE = (
    "for each of the 256 codes q, once:",
    "    table[q] = quantize(f(s_x * (q - z_x)), s_y, z_y)",
    "y = table[x]",
)
_QUANTIZE = r"\operatorname{quantize}(r) = \operatorname{clamp}\left(\operatorname{round}\left(\frac{r}{s_y}\right) + z_y\right)"


def _table(function: str) -> tuple[str, ...]:
    return (
        rf"y = \operatorname{{quantize}}\left(f(s_x (x - z_x))\right), \quad f(r) = {function}",
        _QUANTIZE,
    )


MEANINGS: Final[dict[str, FormulaSymbols]] = {
    "QLinearConv": FormulaSymbols(
        "Convolution of integers; padding is the code of the real 0.",
        (
            r"acc_{n,m,p} = bias_m + \sum_{c,k} (x_{n,c,p \cdot stride + k \cdot dilation - pad} - z_x)(w_{m,c,k} - z_{w,m})",
            r"M_m = \frac{s_x \cdot s_{w,m}}{s_y}, \quad s_{bias,m} = s_x \cdot s_{w,m}",
            _OUT,
        ),
        (
            "for each output n, m, p:",
            "    acc = bias[m]  # int32, scale s_x * s_w[m]",
            "    for each channel c and kernel place k:",
            "        acc += (x[n, c, p * stride + k * dilation - pad] - z_x) * (w[m, c, k] - z_w[m])",
            *(f"    {line}" for line in _TAIL),
        ),
    ),
    "QLinearMatMul": FormulaSymbols(
        "Matrix product of integers.",
        (
            r"acc_{i,j} = \sum_{k} (a_{i,k} - z_a)(b_{k,j} - z_{b,j})",
            r"M_j = \frac{s_a \cdot s_{b,j}}{s_y}",
            _OUT,
        ),
        (
            "for each output i, j:",
            "    acc = sum over k of (a[i, k] - z_a) * (b[k, j] - z_b[j])  # int32",
            *(f"    {line}" for line in _TAIL),
        ),
    ),
    "QGemm": FormulaSymbols(
        "Matrix product of integers with a bias; without a scale of y the result is float32.",
        (
            r"acc_{i,j} = bias_j + \sum_{k} (a_{i,k} - z_a)(b_{k,j} - z_{b,j})",
            r"M_j = \alpha \cdot \frac{s_a \cdot s_{b,j}}{s_y}, \quad s_{bias,j} = s_a \cdot s_{b,j}",
            _OUT,
        ),
        (
            "for each output i, j:",
            "    acc = bias[j] + sum over k of (a[i, k] - z_a) * (b[k, j] - z_b[j])  # int32",
            *(f"    {line}" for line in _TAIL),
        ),
    ),
    "ConvInteger": FormulaSymbols(
        "Convolution of integers; the result is the accumulator itself.",
        (r"y_{n,m,p} = \sum_{c,k} (x_{n,c,p \cdot stride + k \cdot dilation - pad} - z_x)(w_{m,c,k} - z_w)",),
        (
            "for each output n, m, p:",
            "    y = sum over c, k of (x[n, c, p * stride + k * dilation - pad] - z_x) * (w[m, c, k] - z_w)  # int32",
        ),
    ),
    "MatMulInteger": FormulaSymbols(
        "Matrix product of integers; the result is the accumulator itself.",
        (r"y_{i,j} = \sum_{k} (a_{i,k} - z_a)(b_{k,j} - z_{b,j})",),
        ("for each output i, j:", "    y = sum over k of (a[i, k] - z_a) * (b[k, j] - z_b[j])  # int32"),
    ),
    "MatMulIntegerToFloat": FormulaSymbols(
        "Matrix product of integers, scaled to float32.",
        (_PRODUCT, r"y_{i,j} = s_a s_{b,j} \cdot acc_{i,j} + bias_j"),
        (
            "for each output i, j:",
            "    acc = sum over k of (a[i, k] - z_a) * (b[k, j] - z_b[j])  # int32",
            "    y = float32(acc) * (s_a * s_b[j]) + bias[j]",
        ),
    ),
    "DynamicQuantizeMatMul": FormulaSymbols(
        "Matrix product of a float32 operand, quantized to uint8 by its own range, and integers.",
        (
            r"s_a = \frac{\max(0, \max a) - \min(0, \min a)}{255}, \quad z_a = \operatorname{round}\left(\operatorname{clamp}\left(-\frac{\min(0, \min a)}{s_a}\right)\right)",
            r"q_{i,k} = \operatorname{clamp}\left(\operatorname{round}\left(\frac{a_{i,k}}{s_a}\right) + z_a\right)",
            r"acc_{i,j} = \sum_{k} (q_{i,k} - z_a)(b_{k,j} - z_{b,j})",
            r"y_{i,j} = s_a s_{b,j} \cdot acc_{i,j} + bias_j",
        ),
        (
            "s_a = (max(a, 0) - min(a, 0)) / 255, or 1 where all is 0",
            "z_a = round_half_even(clamp(0 - min(a, 0) / s_a))",
            "q = clamp(round_half_even(a / s_a) + z_a)  # uint8",
            "for each output i, j:",
            "    acc = sum over k of (q[i, k] - z_a) * (b[k, j] - z_b[j])  # int32",
            "    y = float32(acc) * (s_a * s_b[j]) + bias[j]",
        ),
    ),
    "QLinearAdd": FormulaSymbols(
        "Sum of two tensors with scales of their own.",
        (
            r"y = \operatorname{clamp}\left(\operatorname{round}\left(\frac{s_a}{s_y}(a - z_a) + \frac{s_b}{s_y}(b - z_b) + z_y\right)\right)",
        ),
        (
            "constant = z_y - (s_a / s_y * z_a + s_b / s_y * z_b)  # float32, once",
            "y = clamp(round_half_even(fma(a, s_a / s_y, fma(b, s_b / s_y, constant))))",
        ),
    ),
    "QLinearMul": FormulaSymbols(
        "Product of two tensors.",
        (
            r"y = \operatorname{clamp}\left(\operatorname{round}\left(M (a - z_a)(b - z_b) + z_y\right)\right), \quad M = \frac{s_a \cdot s_b}{s_y}",
        ),
        ("y = clamp(round_half_even(float32((a - z_a) * (b - z_b)) * M + z_y))",),
    ),
    "QLinearGlobalAveragePool": FormulaSymbols(
        "Mean over all places of a channel, summed in int32.",
        (r"acc_{n,c} = \sum_{p=1}^{P} (x_{n,c,p} - z_x), \quad M = \frac{s_x}{s_y \cdot P}", _OUT),
        ("acc = sum over all places of (x - z_x)  # int32", *_TAIL),
    ),
    "QLinearAveragePool": FormulaSymbols(
        "Mean of each window, summed in float32.",
        (
            r"r = \frac{1}{P} \sum_{p \in window} s_x (x_p - z_x)",
            r"y = \operatorname{clamp}\left(\operatorname{round}\left(\frac{r}{s_y} + z_y\right)\right)",
        ),
        (
            "r = sum over the window, row by row, of float32(s_x * (x - z_x))",
            "y = clamp(round_half_even(r / P / s_y + z_y))",
        ),
    ),
    "QLinearSigmoid": FormulaSymbols(
        "Logistic function, by a table of 256 codes.", _table(r"\frac{1}{1 + e^{-r}}"), _TABLE
    ),
    "QLinearLeakyRelu": FormulaSymbols(
        "Leaky ReLU, by a table of 256 codes.", _table(r"\max(r, 0) + \alpha \min(r, 0)"), _TABLE
    ),
    "QLinearConcat": FormulaSymbols(
        "Parts one after the other; those with another scale than y go through a table.",
        (r"y = \operatorname{quantize}(s_{x_i} (x_i - z_{x_i}))", _QUANTIZE),
        ("for each part: y = x if it has y's scale and zero point, else table[x]",),
    ),
    "QLinearSoftmax": FormulaSymbols(
        "Softmax along an axis, by a table of exponentials.",
        (
            r"y_k = \operatorname{clamp}\left(\operatorname{round}\left(\lfloor 1 / s_y \rfloor \cdot \frac{e^{s_x (x_k - x_{max})}}{\sum_j e^{s_x (x_j - x_{max})}}\right) + z_y\right)",
        ),
        (
            "for each row: e[k] = table[255 + x[k] - max(x)]  # float32, larger than exp by a constant factor",
            "y[k] = clamp(round_half_even(e[k] * floor(1 / s_y) / sum(e)) + z_y)",
        ),
    ),
    MATMUL_NBITS: FormulaSymbols(
        "Float product with weights in blocks along the summed axis, each with one scale and zero point.",
        (
            r"w_{j,k} = s_{j,b} (q_{j,k} - z_{j,b}), \quad b = \lfloor k / block\_size \rfloor",
            r"y_{i,j} = bias_j + \sum_{k} x_{i,k} \cdot w_{j,k}",
        ),
        (
            "for each output i, j:",
            "    acc = bias[j]  # float",
            "    for each k:",
            "        b = k / block_size",
            "        q = bits of w from place k of row j, lowest first",
            "        acc += x[i, k] * (q - z[j, b]) * s[j, b]  # z: 2^(bits - 1) if there is none",
            "    y[i, j] = acc",
        ),
    ),
    "QuantizeLinear": FormulaSymbols(
        "From float32 to codes.",
        (r"y = \operatorname{clamp}\left(\operatorname{round}\left(\frac{x}{s_y}\right) + z_y\right)",),
        ("y = clamp(round_half_even(x / s_y) + z_y)",),
    ),
    "DequantizeLinear": FormulaSymbols(
        "From codes to float32.", (r"y = s_x (x - z_x)",), ("y = float32(x - z_x) * s_x",)
    ),
    "DynamicQuantizeLinear": FormulaSymbols(
        "From float32 to uint8, with a scale and zero point from the data.",
        (
            r"s_y = \frac{\max(0, \max x) - \min(0, \min x)}{255}, \quad z_y = \operatorname{round}\left(\operatorname{clamp}\left(-\frac{\min(0, \min x)}{s_y}\right)\right)",
            r"y = \operatorname{clamp}\left(\operatorname{round}\left(\frac{x}{s_y}\right) + z_y\right)",
        ),
        (
            "s_y = (max(x, 0) - min(x, 0)) / 255, or 1 where all is 0",
            "z_y = round_half_even(clamp(0 - min(x, 0) / s_y))",
            "y = clamp(round_half_even(x / s_y) + z_y)",
        ),
    ),
}
"""By reference operator. ``round`` rounds to nearest, ties to even; ``clamp`` limits to the type of y."""
