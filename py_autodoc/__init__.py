"""ONNX Autodoc: explains ONNX models: their architecture, costs and problems.

Importing this package is cheap: only the standard library is loaded until a function is used.
"""

import sys

# `python -m py_autodoc`: Python put the working folder first on the path, and a folder of untrusted models
# may hold a ``typing.py`` or a ``click.py``. Nothing is imported before this, not even ``__future__``.
if (
    sys.argv[:1] == ["-m"]
    and any("py_autodoc" in word for word in sys.orig_argv)
    and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False))
):
    del sys.path[:1]

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.errors import AutodocError
    from py_autodoc.extract import extract_module_subgraph, extract_submodel
    from py_autodoc.extract.rebatch import rebatch
    from py_autodoc.extract.resize import resize
    from py_autodoc.hardware.listing import devices
    from py_autodoc.hf.serving.pipeline_entry import pipeline
    from py_autodoc.limits import Limits
    from py_autodoc.render.api import plots, to_markdown, to_pdf
    from py_autodoc.report.api import analyze
    from py_autodoc.report.document.report import Report
    from py_autodoc.report.document.validation import validate_report
    from py_autodoc.report.document.weight_arrays import read_array
    from py_autodoc.report.document.weights import read_weights
    from py_autodoc.widget import Autodoc, QuantPlayground, side_by_side

    __version__: str

__all__ = [
    "Autodoc",
    "AutodocError",
    "Limits",
    "QuantPlayground",
    "Report",
    "__version__",
    "analyze",
    "devices",
    "extract_module_subgraph",
    "extract_submodel",
    "pipeline",
    "plots",
    "read_array",
    "read_weights",
    "rebatch",
    "resize",
    "side_by_side",
    "to_markdown",
    "to_pdf",
    "validate_report",
]

_LAZY = {
    "Autodoc": "py_autodoc.widget",
    "AutodocError": "py_autodoc.errors",
    "Limits": "py_autodoc.limits",
    "QuantPlayground": "py_autodoc.widget",
    "Report": "py_autodoc.report.document.report",
    "analyze": "py_autodoc.report.api",
    "devices": "py_autodoc.hardware.listing",
    "extract_module_subgraph": "py_autodoc.extract",
    "extract_submodel": "py_autodoc.extract",
    "pipeline": "py_autodoc.hf.serving.pipeline_entry",
    "plots": "py_autodoc.render.api",
    "read_array": "py_autodoc.report.document.weight_arrays",
    "read_weights": "py_autodoc.report.document.weights",
    "rebatch": "py_autodoc.extract.rebatch",
    "resize": "py_autodoc.extract.resize",
    "side_by_side": "py_autodoc.widget",
    "to_markdown": "py_autodoc.render.api",
    "to_pdf": "py_autodoc.render.api",
    "validate_report": "py_autodoc.report.document.validation",
}
_PACKAGES = ("hf", "keras", "tags", "to_torch", "torch")
"""Subpackages available after ``import py_autodoc``; importing one does not load torch."""


def __getattr__(name: str) -> Any:
    """Load a public name on first use (PEP 562)."""
    if name == "__version__":
        from py_autodoc.version import version

        return version()
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    if name in _PACKAGES:
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Return the location of the prebuilt extension, for JupyterLab in development installs."""
    return [{"src": "labextension", "dest": "onnx-autodoc"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """Return the server extension, for jupyter_server."""
    from py_autodoc.server.app import AutodocApp

    return [{"module": "py_autodoc.server", "app": AutodocApp}]
