"""An image of an operation: operands, accumulator, requantization."""

from __future__ import annotations

from html import escape

from py_autodoc.opdocs.document import Operand, Operation
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.version import NAME, version

_WIDTH, _GAP, _LINE, _PAD = 190, 46, 17, 10
_STYLE = """
.ground{fill:#ffffff}.box{fill:#f6f8fa;stroke:#8c959f}.sum{fill:#ddf4ff;stroke:#218bff}
text{font:12px Helvetica,Arial,'Liberation Sans',sans-serif;fill:#1f2328}.title{font-weight:bold}
.faint{fill:#59636e}path{stroke:#59636e;fill:none}.tip{fill:#59636e;stroke:none}
@media (prefers-color-scheme:dark){.ground{fill:#0d1117}.box{fill:#161b22;stroke:#6e7681}
.sum{fill:#0c2d6b;stroke:#388bfd}text{fill:#e6edf3}.faint{fill:#9aa4af}path{stroke:#9aa4af}.tip{fill:#9aa4af}}
"""


def picture(operation: Operation) -> str:
    """Return an SVG file that follows the light or dark theme of the page."""
    inputs = [_texts(operand) for operand in operation.operands if operand.role != "y"]
    output = next(_texts(operand) for operand in operation.operands if operand.role == "y")
    steps = _steps(operation)
    heights = [len(lines) * _LINE + 2 * _PAD for lines in inputs]
    inputs_height = sum(heights) + 14 * (len(heights) - 1)
    tallest = max(inputs_height, *(len(lines) * _LINE + 2 * _PAD for lines in [*steps, output]))
    columns = 2 + len(steps)
    width, height = columns * _WIDTH + (columns - 1) * _GAP + 24, tallest + 24
    middle = height / 2
    parts: list[str] = []
    y = middle - inputs_height / 2
    for lines, tall in zip(inputs, heights, strict=True):
        parts.append(_box(12, y, lines, "box"))
        parts.append(_wire(12 + _WIDTH, y + tall / 2, middle))
        y += tall + 14
    x = 12.0 + _WIDTH + _GAP
    for column, lines in enumerate([*steps, output]):
        tall = len(lines) * _LINE + 2 * _PAD
        parts.append(_box(x, middle - tall / 2, lines, "box" if column == len(steps) else "sum"))
        if column < len(steps):
            parts.append(_wire(x + _WIDTH, middle, middle))
        x += _WIDTH + _GAP
    title = escape(printable(shorten(f"{operation.op_type} {operation.name}", 120)))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height:.0f}" '
        f'viewBox="0 0 {width} {height:.0f}" role="img">\n<title>{title}</title>\n'
        f"<desc>{NAME} {version()}</desc>\n<style>{_STYLE}</style>\n"
        f'<rect class="ground" width="100%" height="100%"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _texts(operand: Operand) -> list[str]:
    """Return the lines of a box: role and type, shape, scale, zero point."""
    lines = [f"{operand.role}  {operand.type or 'unknown type'}"]
    if operand.shape is not None:
        lines.append("×".join(str(size) for size in operand.shape) or "scalar")
    if operand.scale is not None:
        same = operand.scale[0] == operand.scale[1]
        scale = f"{operand.scale[0]:.4g}" if same else f"{operand.scale[0]:.3g} … {operand.scale[1]:.3g}"
        lines.append(f"scale {scale}" + (f" ({operand.channels})" if operand.channels > 1 else ""))
    if operand.zero_point is not None:
        first, last = operand.zero_point
        lines.append(f"zero point {first}" + (f" … {last}" if last != first else ""))
    return lines


def _steps(operation: Operation) -> list[list[str]]:
    if operation.accumulator is None:
        return [[operation.op_type]]
    bits = operation.accumulator.worst_bits or operation.accumulator.measured_bits
    sums = [operation.op_type, "sum of products"]
    if operation.products_per_output:
        sums.append(f"{operation.products_per_output:,} MACs an output")
    if bits:
        sums.append(f"int32, {bits} bits needed")
    if operation.requantization is None:
        return [sums]
    first, last = operation.requantization.real
    scale = f"{first:.4g}" if first == last else f"{first:.3g} … {last:.3g}"
    return [sums, ["requantize", f"× {scale}", "round, + zero point", "clamp"]]


def _box(x: float, y: float, lines: list[str], kind: str) -> str:
    tall = len(lines) * _LINE + 2 * _PAD
    rows = [
        f'<text x="{x + 10:.1f}" y="{y + _PAD + 12 + row * _LINE:.1f}" class="{"faint" if row else "title"}">'
        f"{escape(printable(line))}</text>"
        for row, line in enumerate(lines)
    ]
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{_WIDTH}" height="{tall}" rx="6"/>'
        + "".join(rows)
    )


def _wire(x: float, y: float, to: float) -> str:
    end = x + _GAP
    middle = x + _GAP / 2
    line = f'<path d="M{x:.1f} {y:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {to:.1f} {end - 6:.1f} {to:.1f}"/>'
    return f'{line}<path class="tip" d="M{end:.1f} {to:.1f}l-8 -4v8z"/>'
