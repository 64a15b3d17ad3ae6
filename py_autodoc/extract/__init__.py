"""Sub-models: one module, or some nodes, as a model of its own that runs.

``extract_module_subgraph`` tells what a module consists of (requirement R13); ``extract`` writes it.
"""

from __future__ import annotations

from py_autodoc.extract.model import Extraction, Subgraph, extract, extract_bytes, extract_module_subgraph

extract_submodel = extract
"""The name in ``py_autodoc`` itself, where ``extract`` is this package."""

__all__ = [
    "Extraction",
    "Subgraph",
    "extract",
    "extract_bytes",
    "extract_module_subgraph",
    "extract_submodel",
]
