"""Sub-models: one module, or some nodes, as a separate model that runs.

``extract_module_subgraph`` describes a module; ``extract`` writes it. Names are loaded on first use, because
the server only needs ``output_name``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py_autodoc.extract.write_sub_model import (
        Extraction,
        Subgraph,
        extract,
        extract_bytes,
        extract_module_subgraph,
    )

    extract_submodel = extract

__all__ = [
    "Extraction",
    "Subgraph",
    "extract",
    "extract_bytes",
    "extract_module_subgraph",
    "extract_submodel",
]


def __getattr__(name: str) -> Any:
    """Load a public name (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from py_autodoc.extract import write_sub_model

    # ``py_autodoc.extract`` is this package, so the function has another name there.
    return write_sub_model.extract if name == "extract_submodel" else getattr(write_sub_model, name)
