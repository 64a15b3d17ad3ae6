"""Parts of the playground as HTML: scores, outputs, a histogram, a weight as an image."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping
from html import escape

import numpy as np

from py_autodoc.int8_kernels.text import SATURATING_HERE
from py_autodoc.playground.playground import QuantizationHistogram
from py_autodoc.quantize.reference.arithmetic import Array
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.sensitivity.scores import Score

_TOP = 5
_WIDE, _HIGH = 320, 96
_BEFORE, _AFTER = "#8c959f", "#1f6fb4"
"""Grey and blue with contrast on white and dark pages."""
_SIDE = 96
"""Maximum width and height of a weight's image in pixels."""


def score_of(score: Score, edits: int, kernels: Score | None = None) -> str:
    """Return the distance of the first output from the float model's as HTML.

    ``kernels`` is the score with this machine's integer kernels, where their sums saturate.
    """
    parts = [f"<b>SQNR {_sqnr(score)}</b>", f"relative error {score.relative_error:.3g}"]
    if score.agreement is not None:
        parts.append("same class" if score.agreement == 1 else f"same class in {score.agreement:.0%} of rows")
    edit_count = "1 edit" if edits == 1 else f"{edits:,} edits"
    lines = [" · ".join(parts), edit_count if edits else "As in the file", "Products are computed in float."]
    if kernels is not None:
        lines[-1] += f" On this machine ({escape(SATURATING_HERE)}): SQNR {_sqnr(kernels)}."
    return f"<p aria-live='polite'>{'<br>'.join(lines)}</p>"


def _sqnr(score: Score) -> str:
    if score.sqnr_db is not None:
        return f"{score.sqnr_db:.1f} dB"
    return "not finite" if score.relative_error else "equal to float"


def bars_of(reference: Array, quantized: Array, labels: Mapping[int, str], name: str) -> str:
    """Return the largest values of an output in the float and the quantized model as HTML."""
    first, second = reference.astype(np.float64).reshape(-1), quantized.astype(np.float64).reshape(-1)
    order = np.argsort(-np.where(np.isfinite(first), first, -np.inf), kind="stable")[:_TOP]
    names = [escape(shorten(printable(labels.get(int(at), str(at))), 24)) for at in order]
    cell = "<td style='text-align:right'>"
    rows = "".join(
        f"<tr><th style='text-align:left;font-weight:400'>{text}</th>{cell}{first[at]:.4g}</td>"
        f"{cell}{second[at]:.4g}</td></tr>"
        for text, at in zip(names, order, strict=True)
    )
    title = escape(shorten(printable(name), 32))
    head = f"<tr><th style='text-align:left'>{title}</th><th>float</th><th>now</th></tr>"
    return f"<table style='width:96%;font-variant-numeric:tabular-nums'>{head}{rows}</table>"


def histogram_of(histogram: QuantizationHistogram, name: str) -> str:
    """Return a histogram: values before quantization as bars, after as a line, on a square-root scale."""
    before, after = np.sqrt(histogram.before.astype(np.float64)), np.sqrt(histogram.after.astype(np.float64))
    largest = max(float(before.max(initial=0)), float(after.max(initial=0)), 1.0)
    step = _WIDE / len(before)
    bars = "".join(
        f"<rect x='{at * step:.1f}' y='{_HIGH - value / largest * _HIGH:.1f}' width='{step:.2f}' "
        f"height='{value / largest * _HIGH:.1f}'/>"
        for at, value in enumerate(before)
        if value
    )
    points = "".join(
        f"{'L' if at else 'M'}{at * step:.1f} {_HIGH - value / largest * _HIGH:.1f}h{step:.2f}"
        for at, value in enumerate(after)
    )
    title = escape(printable(name))
    low, high = float(histogram.edges[0]), float(histogram.edges[-1])
    cut = f" · {histogram.clipped:.2%} cut off" if histogram.clipped else ""
    return (
        f"<svg viewBox='0 0 {_WIDE} {_HIGH + 18}' width='96%' role='img' aria-label='Histogram of {title}'>"
        f"<g fill='{_BEFORE}' opacity='0.55'>{bars}</g><path d='{points}' fill='none' stroke='{_AFTER}' "
        f"stroke-width='1.5'/><g font-size='11' fill='currentColor'>"
        f"<text x='0' y='{_HIGH + 14}'>{low:.3g}</text>"
        f"<text x='{_WIDE}' y='{_HIGH + 14}' text-anchor='end'>{high:.3g}</text></g></svg>"
        f"<p style='margin:0'><span style='color:{_BEFORE}'>■</span> before "
        f"<span style='color:{_AFTER}'>▬</span> after{cut}</p>"
    )


def pixels_of(real: Array, used: Array) -> str:
    """Return a weight and its rounding error as images, a row per channel; blue is negative, red positive."""
    images = [(real, "weight"), (used - real, "error")]
    parts = []
    for values, title in images:
        rows = _shrunk(values.reshape(values.shape[0] if values.ndim else 1, -1))
        peak = float(np.abs(rows).max(initial=0)) or 1.0
        address = "data:image/png;base64," + base64.b64encode(_png(_coloured(rows / peak))).decode()
        parts.append(
            f"<figure style='display:inline-block;width:47%;margin:1%'><img src='{address}' "
            f"alt='{title} of each channel' style='width:100%;height:96px;image-rendering:pixelated'>"
            f"<figcaption>{title}, ±{peak:.3g}</figcaption></figure>"
        )
    return "".join(parts)


def _shrunk(rows: Array) -> Array:
    """Reduce to ``_SIDE`` rows and columns, keeping the value of each group farthest from 0."""
    for axis in (0, 1):
        if rows.shape[axis] > _SIDE:
            edges = np.linspace(0, rows.shape[axis], _SIDE + 1).astype(int)[:-1]
            high, low = np.maximum.reduceat(rows, edges, axis), np.minimum.reduceat(rows, edges, axis)
            rows = np.where(high >= -low, high, low)
    return rows


def _coloured(values: Array) -> Array:
    """Convert numbers from -1 to 1 to RGB."""
    share = np.clip(np.nan_to_num(values), -1, 1)[..., None]
    white, blue, red = (np.array(one, np.float64) for one in ((247, 247, 247), (33, 102, 172), (178, 24, 43)))
    return np.asarray(
        np.where(share < 0, white + (blue - white) * -share, white + (red - white) * share)
    ).astype(np.uint8)


def _png(rgb: Array) -> bytes:
    height, width = rgb.shape[:2]
    lines = b"".join(b"\0" + row.tobytes() for row in rgb)
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines)),
        (b"IEND", b""),
    ]
    chunks = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
