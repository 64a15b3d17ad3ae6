"""How much of an untrusted model, file of settings or request we agree to read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds checked before and while a model is read.

    Units: bytes, counts, seconds. ``memory_bytes`` and ``seconds`` are enforced by the
    process that isolates a job (``py_autodoc.jobs``), not by the library itself.
    """

    file_bytes: int = 1 << 40
    structure_bytes: int = 1 << 29
    """Everything that is not weight payload: what we really read and parse."""
    nodes: int = 500_000
    """Nodes in the file, subgraphs and functions included."""
    expanded_nodes: int = 500_000
    """Nodes after local functions are expanded at every call."""
    depth: int = 32
    """Nesting of subgraphs, and of types."""
    messages: int = 20_000_000
    """Protobuf fields looked at, nodes, attributes and tensors counting eight times (a node of an
    exporter comes to about 40): bounds what parsing can take."""
    memory_bytes: int = 8 << 30
    seconds: float = 600.0


LIBRARY = Limits()
SERVER = Limits(nodes=300_000, expanded_nodes=300_000, memory_bytes=4 << 30, seconds=300.0)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a text may hold: values (of lists and objects, and these themselves), and levels of them."""

    values: int
    depth: int = 64


SETTINGS = Bounds(values=200_000)
"""A configuration, a profile, thresholds."""
REQUEST = Bounds(values=500_000, depth=32)
"""What a client sends: at most 1 MiB, of which most may be a list of nodes."""
DESCRIPTION = Bounds(values=1_000_000, depth=200)
"""A model of Keras: some 300 values a layer."""
TABLE = Bounds(values=4_000_000)
"""A row for each node."""
MAX_KEY_PARTS = 16
"""Of a dotted key of TOML."""
MAX_SIZES = 10_000
"""Bindings, and shapes of inputs, of one analysis."""
