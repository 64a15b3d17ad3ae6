"""Self-contained transformers models: everything needed to run them is in the metadata of the ONNX file.

Only the standard library is imported until a function is used; ``read_metadata`` does not need transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.hf.read import HfMetadata, read_metadata
    from py_autodoc.hf.serving.pipeline_entry import pipeline
    from py_autodoc.hf.tasks import TaskGuess, detect_task
    from py_autodoc.hf.write import metadata_of

__all__ = ["HfMetadata", "TaskGuess", "detect_task", "metadata_of", "pipeline", "read_metadata"]

_LAZY = {
    "HfMetadata": "py_autodoc.hf.read",
    "TaskGuess": "py_autodoc.hf.tasks",
    "detect_task": "py_autodoc.hf.tasks",
    "metadata_of": "py_autodoc.hf.write",
    "pipeline": "py_autodoc.hf.serving.pipeline_entry",
    "read_metadata": "py_autodoc.hf.read",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
