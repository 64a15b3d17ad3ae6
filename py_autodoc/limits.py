"""Limits on reading untrusted models, settings files and requests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits checked before and while a model is read.

    Units: bytes, counts, seconds. ``memory_bytes`` and ``seconds`` are enforced by the
    process that isolates a job (``py_autodoc.jobs``), not by the library itself.
    """

    file_bytes: int = 1 << 40
    structure_bytes: int = 1 << 29
    """Everything except weight data: the bytes that are read and parsed."""
    nodes: int = 500_000
    """Nodes in the file, including subgraphs and functions."""
    expanded_nodes: int = 500_000
    """Nodes after expanding local functions at every call."""
    depth: int = 32
    """Nesting depth of subgraphs, and of types."""
    messages: int = 20_000_000
    """Protobuf fields visited, with nodes, attributes and tensors counting eight times (about 40 per exported
    node): limits the cost of parsing."""
    memory_bytes: int = 8 << 30
    seconds: float = 600.0


LIBRARY = Limits()
SERVER = Limits(nodes=300_000, expanded_nodes=300_000, memory_bytes=4 << 30, seconds=300.0)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits for a text: number of values (including lists and objects) and nesting depth."""

    values: int
    depth: int = 64


SETTINGS = Bounds(values=200_000)
"""Configurations, profiles, thresholds."""
REQUEST = Bounds(values=500_000, depth=32)
"""Client requests: at most 1 MiB, most of which may be a list of nodes."""
DESCRIPTION = Bounds(values=1_000_000, depth=200)
"""A Keras model: about 300 values per layer."""
TABLE = Bounds(values=4_000_000)
"""Tables with one row per node."""
MAX_KEY_PARTS = 16
"""Maximum number of parts of a dotted TOML key."""
MAX_SIZES = 10_000
"""Maximum number of bindings and input shapes per analysis."""
