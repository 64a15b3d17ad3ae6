"""Packages that a pipeline needs."""

from __future__ import annotations

from importlib import import_module

from py_autodoc.errors import RequirementError

PIP = 'pip install "onnx-autodoc[pipeline]"'
"""Command that installs them."""


def require_packages() -> None:
    """Raise a RequirementError if onnxruntime, torch or transformers 5 is missing."""
    for name in ("onnxruntime", "torch", "transformers"):
        try:
            module = import_module(name)
        except ImportError as fault:
            raise RequirementError("pipeline-needs", f"A pipeline needs {name}: {fault}.", PIP) from None
        if name == "transformers" and int(module.__version__.partition(".")[0]) < 5:
            raise RequirementError(
                "pipeline-needs",
                f"A pipeline needs transformers 5; version {module.__version__} is installed.",
                PIP,
            )
