"""PNG images, rendered from SVG by resvg at any scale, without a browser."""

from __future__ import annotations

import re
import struct
import zlib
from functools import cache
from types import ModuleType

from py_autodoc.errors import AnalysisError, LimitError, RequirementError
from py_autodoc.optional_packages import optional_module
from py_autodoc.version import NAME

MAX_PIXELS = 400_000_000
"""Maximum number of pixels; each takes four bytes of memory."""
_HEADER = 33
"""Bytes of the signature and the first chunk."""
_SIZE = re.compile(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"')
_FAMILY = re.compile(r'<svg[^>]*? font-family="([^"]*)"')
_OTHER_FONTS = (
    "DejaVu Sans", "Noto Sans", "Open Sans", "Roboto", "Ubuntu", "Cantarell", "FreeSans", "Lato", "Verdana",
    "Segoe UI", "Source Sans 3", "Inter",
)  # fmt: skip
"""Fallback font families if none of the image's own is installed."""


def png_picture(svg: str, scale: float = 1.0) -> bytes:
    """Render an SVG file as PNG; ``scale`` is the number of pixels per SVG unit.

    Raises:
        RequirementError: resvg is not installed, or no usable font is installed.
        LimitError: the image would have more than ``MAX_PIXELS`` pixels.
        AnalysisError: rendering failed.
    """
    library = resvg()
    size = _SIZE.search(svg)
    width, height = (float(size[1]), float(size[2])) if size else (0.0, 0.0)
    pixels = round(width * scale) * round(height * scale)
    if pixels > MAX_PIXELS:
        raise LimitError(
            "png-pixels",
            pixels,
            MAX_PIXELS,
            f"The image would have {pixels:,} pixels; the limit is {MAX_PIXELS:,}.",
            "Use a smaller --scale or --depth, or use SVG.",
        )
    family = _FAMILY.search(svg)
    fonts = _fonts(family[1] if family else "sans-serif")
    try:
        drawn = bytes(library.svg_to_bytes(svg_string=svg, zoom=scale, **fonts))
    except ValueError as fault:
        raise AnalysisError("png-failed", f"The image could not be drawn: {fault}.", "Use SVG.") from None
    return add_program_name(drawn)


def add_program_name(png: bytes) -> bytes:
    """Insert the name of this program after the PNG header."""
    text = b"tEXtSoftware\0" + NAME.encode()
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    return png[:_HEADER] + chunk + png[_HEADER:]


def resvg() -> ModuleType:
    """Return the resvg module. Raises: RequirementError with the pip command as hint."""
    return optional_module(
        "resvg_py", "resvg-py", "needs-resvg", "PNG needs", "pip install 'onnx-autodoc[pictures]'"
    )


@cache
def _fonts(family: str) -> dict[str, str]:
    """Return font options for an installed font: resvg omits text without a matching font."""
    if _writes(family, {}):
        return {}
    for name in _OTHER_FONTS:
        fonts = {"sans_serif_family": name}
        if _writes(family, fonts):
            return fonts
    raise RequirementError(
        "no-font",
        "PNG needs a font, but no usable font is installed.",
        "Install one, for example the package fonts-dejavu-core, or use SVG.",
    )


def _writes(family: str, fonts: dict[str, str]) -> bool:
    """Return whether a letter changes the rendered image."""

    def render(text: str) -> bytes:
        svg = (
            '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24">'
            f'<text x="2" y="20" font-size="20" font-family="{family}">{text}</text></svg>'
        )
        return bytes(resvg().svg_to_bytes(svg_string=svg, **fonts))

    return render("M") != render("")
