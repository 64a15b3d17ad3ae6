"""The viewer's code, sent once per kernel and referenced by every widget."""

from __future__ import annotations

import gzip
import hashlib
import re

import anywidget
import traitlets

from py_autodoc.render.html import static

_THEMED = re.compile(r"--jp-[a-z0-9-]+")


class ViewerCode(anywidget.AnyWidget):  # type: ignore[misc] # anywidget has no types
    """The viewer's module and style as text. It has no view of its own."""

    _esm = "export default {};"
    code = traitlets.Bytes().tag(sync=True)
    """Compressed with gzip, because it is stored in notebooks."""
    style = traitlets.Unicode().tag(sync=True)
    version = traitlets.Unicode().tag(sync=True)
    """Hash of both; pages keep one copy per version."""


_shared: list[ViewerCode] = []


def shared_code() -> ViewerCode:
    """Return the instance of this kernel, or a new one if it was closed. Raises: RequirementError."""
    if not _shared or _shared[0].comm is None:
        code, style = static("widget.js"), static("viewer.css")
        style += _own_theme(style)
        digest = hashlib.sha256(f"{code}\0{style}".encode()).hexdigest()
        packed = gzip.compress(code.encode(), 9, mtime=0)
        _shared[:] = [ViewerCode(code=packed, style=style, version=digest[:16])]
    return _shared[0]


def _own_theme(style: str) -> str:
    """Return a rule that resets colours to the viewer's own, for pages with another theme than Jupyter's."""
    # Fonts are kept, since boxes are sized for text in the page's fonts.
    names = sorted(name for name in set(_THEMED.findall(style)) if "color" in name or "background" in name)
    return f".oad-Widget[data-oad-own] {{ {' '.join(f'{name}: initial;' for name in names)} }}\n"
