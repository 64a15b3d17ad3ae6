"""Parts of C code: types, constants, loops, indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from py_autodoc.quantize.reference.arithmetic import Array, limits

TYPES = {
    "uint8": "uint8_t", "int8": "int8_t", "uint16": "uint16_t", "int16": "int16_t", "int32": "int32_t",
    "float32": "float",
}  # fmt: skip
SPATIAL = ("row", "col", "slab")
"""Names of the spatial axes."""
_PER_LINE = 12
HEAD = """#include <float.h>
#include <math.h>
#include <stdint.h>
"""


def number(value: float | np.floating[Any]) -> str:
    """Return an exact float32 literal."""
    return f"{float(np.float32(value)).hex()}f"


def array(name: str, values: Array) -> str:
    """Return a constant array, or a constant if there is only one value."""
    flat = np.asarray(values).reshape(-1)
    kind = TYPES[flat.dtype.name]
    texts = [number(value) if flat.dtype.kind == "f" else str(int(value)) for value in flat]
    if len(texts) == 1:
        return f"static const {kind} {name} = {texts[0]};"
    rows = [", ".join(texts[start : start + _PER_LINE]) for start in range(0, len(texts), _PER_LINE)]
    inside = ",\n    ".join(rows)
    return f"static const {kind} {name}[{len(texts)}] = {{\n    {inside}\n}};"


def entry(name: str, values: Array, index: str) -> str:
    """Return code for an entry declared by ``array``."""
    return name if np.asarray(values).size == 1 else f"{name}[{index}]"


def index(names: Sequence[str], sizes: Sequence[int]) -> str:
    """Return the index of an element in a dense tensor, last axis fastest."""
    text = ""
    for name, size in zip(names, sizes, strict=True):
        text = f"({text}) * {size} + {name}" if text else name
    return text or "0"


def strided(names: Sequence[str], shape: Sequence[int]) -> str:
    """Return the index of an element in a tensor broadcast to more axes; axes of size 1 stay at 0."""
    own_axes = list(names)[len(names) - len(shape) :]
    varying = [(name, size) for name, size in zip(own_axes, shape, strict=True) if size != 1]
    return index([name for name, _ in varying], [size for _, size in varying])


def nested(loops: Sequence[tuple[str, int]], body: Sequence[str], depth: int = 1) -> list[str]:
    """Return ``for`` loops around lines, indented by depth."""
    lines = []
    for name, size in loops:
        lines.append(f"{'    ' * depth}for (int {name} = 0; {name} < {size}; {name}++) {{")
        depth += 1
    lines += [f"{'    ' * depth}{line}" for line in body]
    for _ in loops:
        depth -= 1
        lines.append(f"{'    ' * depth}}}")
    return lines


def requantize(zero: int, kind: np.dtype[np.generic]) -> str:
    """Return code from an accumulator to 8 bits, as ``arithmetic.requantize``."""
    low, high = limits(kind)
    target = TYPES[kind.name]
    return f"""static {target} requantize(int32_t sum, float multiplier) {{
    float value = (float)sum * multiplier;
    value = value < {low - zero}.0f ? {low - zero}.0f : value > {high - zero}.0f ? {high - zero}.0f : value;
    return ({target})((int32_t)nearbyintf(value) + {zero});
}}"""


def saturate(kind: np.dtype[np.generic]) -> str:
    """Return code from a float that includes the zero point to 8 bits."""
    low, high = limits(kind)
    target = TYPES[kind.name]
    return f"""static {target} saturate(float value) {{
    value = nearbyintf(value);
    return ({target})(value < {low}.0f ? {low}.0f : value > {high}.0f ? {high}.0f : value);
}}"""


def function(name: str, parameters: Sequence[str], body: Sequence[str]) -> str:
    """Return a void function."""
    return "\n".join([f"void {name}({', '.join(parameters)}) {{", *body, "}"])
