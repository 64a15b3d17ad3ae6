"""The viewer's code, once a kernel: every widget refers to it, so that twenty of them carry it once."""

from __future__ import annotations

import hashlib

import anywidget
import traitlets

from py_autodoc.render.html import static

_STYLE = """
.oad-Widget { border: 1px solid var(--jp-border-color2, #c8ccd2); border-radius: 4px; overflow: hidden; }
.oad-Widget > .oad-Viewer { height: 100%; }
.oad-Widget[role='alert'] { padding: 1rem; }
.oad-Widget-rest { display: flex; height: 100%; align-items: center; justify-content: center; opacity: 0.6; }
"""


class Code(anywidget.AnyWidget):  # type: ignore[misc] # anywidget has no types
    """The viewer's module and style as text. Shows nothing by itself."""

    _esm = "export default {};"
    code = traitlets.Unicode().tag(sync=True)
    style = traitlets.Unicode().tag(sync=True)
    version = traitlets.Unicode().tag(sync=True)
    """Hash of both: pages keep one copy a version."""


_shared: list[Code] = []


def shared_code() -> Code:
    """The one of this kernel; another when it was closed. Raises: RequirementError."""
    if not _shared or _shared[0].comm is None:
        code, style = static("widget.js"), static("viewer.css") + _STYLE
        digest = hashlib.sha256(f"{code}\0{style}".encode()).hexdigest()
        _shared[:] = [Code(code=code, style=style, version=digest[:16])]
    return _shared[0]
