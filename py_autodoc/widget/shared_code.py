"""The viewer's code, once a kernel: every widget refers to it, so that twenty of them carry it once."""

from __future__ import annotations

import gzip
import hashlib
import re

import anywidget
import traitlets

from py_autodoc.render.html import static

_THEMED = re.compile(r"--jp-[a-z0-9-]+")


class ViewerCode(anywidget.AnyWidget):  # type: ignore[misc] # anywidget has no types
    """The viewer's module and style as text. Shows nothing by itself."""

    _esm = "export default {};"
    code = traitlets.Bytes().tag(sync=True)
    """Gzipped: a saved notebook keeps it."""
    style = traitlets.Unicode().tag(sync=True)
    version = traitlets.Unicode().tag(sync=True)
    """Hash of both: pages keep one copy a version."""


_shared: list[ViewerCode] = []


def shared_code() -> ViewerCode:
    """The one of this kernel; another when it was closed. Raises: RequirementError."""
    if not _shared or _shared[0].comm is None:
        code, style = static("widget.js"), static("viewer.css")
        style += _own_theme(style)
        digest = hashlib.sha256(f"{code}\0{style}".encode()).hexdigest()
        packed = gzip.compress(code.encode(), 9, mtime=0)
        _shared[:] = [ViewerCode(code=packed, style=style, version=digest[:16])]
    return _shared[0]


def _own_theme(style: str) -> str:
    """For a widget in a page of another theme, or not of Jupyter: the page's colours do not count."""
    # Not the fonts: boxes are as wide as their text is in the page's.
    names = sorted(name for name in set(_THEMED.findall(style)) if "color" in name or "background" in name)
    return f".oad-Widget[data-oad-own] {{ {' '.join(f'{name}: initial;' for name in names)} }}\n"
