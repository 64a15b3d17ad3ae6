"""Self-contained models: what a transformers model needs to run lies in the ONNX file's own metadata.

Nothing but the standard library is loaded until a function is used; ``read_metadata`` needs no transformers.
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
    """Load a public name when it is first used (PEP 562)."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Public names."""
    return sorted(__all__)
