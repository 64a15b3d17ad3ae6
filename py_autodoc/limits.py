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


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file that an option names, and the most that is read of one."""

    name: str
    """As in messages, with its article: ``a policy file``."""
    code: str
    """Code of the errors about its content."""
    bytes: int
    too_large: str = ""
    """Code of the error about its size; empty: ``code``."""


THRESHOLDS_FILE = FileKind("a threshold file", "bad-threshold-file", 1 << 20)
CHECK_POLICY_FILE = FileKind("a policy file", "bad-policy-file", 1 << 20)
CARD_FILE = FileKind("a file with [card]", "bad-card", 1 << 20)
RECOMMENDATION_FILE = FileKind("a result of `recommend`", "bad-recommendation", 1 << 26)
RECIPE_FILE = FileKind("a recipe", "bad-recipe", 1 << 20)
EVALUATION_FILE = FileKind("an evaluation", "bad-evaluation", 1 << 20)
PREPROCESSING_FILE = FileKind("a preprocessing configuration", "bad-preprocessing", 1 << 20)
DEVICE_FILE = FileKind("a hardware profile", "bad-profile", 1 << 20)
CONFIG_FILE = FileKind("a config.json", "bad-config", 1 << 20)
DOCUMENT_FILE = FileKind("a document", "update-not-text", 1 << 24, "update-too-large")
SENSITIVITY_FILE = FileKind("a result of `sensitivity`", "bad-sensitivity", 1 << 26)
REPORT_FILE = FileKind("a report", "bad-baseline", 1 << 30)
TOKENIZER_FILE = FileKind("a tokenizer", "bad-tokenizer", 1 << 28)
"""The largest in use have about 20 MB."""
LAYER_INFO_FILE = FileKind("layer information", "bad-layer-info", 1 << 28, "layer-info-too-large")
"""A layer takes one to three kilobytes, so this allows 100,000 layers."""
PROFILE_FILE = FileKind("a profile", "bad-profile", 1 << 30, "profile-too-large")
TEXTS_FILE = FileKind("a file of texts", "bad-text", 1 << 30, "text-too-large")
ARRAYS_FILE = FileKind("a NumPy file", "sample-unreadable", 1 << 32, "sample-too-large")
IMAGE_FILE = FileKind("an image", "bad-image", 1 << 28, "image-too-large")
SIDECAR_FILE = FileKind("a sidecar", "bad-sidecar", 1 << 28)
PROGRAM_FILE = FileKind("a program of torch.export", "bad-program", 1 << 40)

MAX_KEY_PARTS = 16
"""Maximum number of parts of a dotted TOML key."""
MAX_SIZES = 10_000
"""Maximum number of bindings and input shapes per analysis."""
