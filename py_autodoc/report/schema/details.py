"""Details of one node or one constant, requested individually."""

from __future__ import annotations

import builtins
from typing import Any

import msgspec

from py_autodoc.report.schema.generation import Plans
from py_autodoc.report.schema.payload import GraphPayload
from py_autodoc.report.schema.sections import ReportDocument
from py_autodoc.report.schema.wire import DimValue, Wire


class AttributeInfo(Wire, frozen=True, kw_only=True):
    """An attribute as text with its kind; ``default`` if the file omits it."""

    name: str
    type: str
    value: Any
    default: bool = False
    description: str = ""


class ConstantInfo(Wire, frozen=True, kw_only=True):
    """A constant input of the node; ``values`` are its first values if the structure contains them."""

    tensor: int
    name: str
    elem_type: str
    shape: list[DimValue] | None
    bytes: int | None
    location: str
    values: list[Any] | None


class OperatorDoc(Wire, frozen=True, kw_only=True):
    """The operator's documentation from the ONNX schema (Markdown source)."""

    type: str
    domain: str
    since_version: int
    deprecated: bool
    doc: str
    inputs: list[dict[str, str]]
    outputs: list[dict[str, str]]
    url: str


class ModuleOrigin(Wire, frozen=True, kw_only=True):
    """The module of the original model that a node comes from, as recorded by its exporter."""

    scope: str
    """Full path, ``encoder.layer.0.attention``; empty at the top."""
    via: str
    """How it is known: ``trace``, ``fused``, ``param``, ``context``, ``root``; empty if not recorded."""
    scopes: list[str]
    """All modules of a node that was merged from several, at most 64; empty if ``scope`` is the only one."""
    calls: dict[str, int]
    """Call number, from 0, of modules that are called several times; at most 64 are listed."""
    stack: list[str]
    """Modules on the call stack, outermost first, if a module calls another that it does not contain."""


class NodeDetails(Wire, frozen=True, kw_only=True):
    """Details for the inspector in addition to the payload's columns."""

    id: int
    name: str
    type: str
    domain: str
    opset: int
    tag: str
    scope: list[str]
    classes: list[str]
    doc_string: str
    metadata: dict[str, str]
    attributes: list[AttributeInfo]
    constants: list[ConstantInfo]
    operator: OperatorDoc | None
    stack_trace: str
    module: ModuleOrigin | None = None
    """Null if nothing is recorded, or only names are."""


class WeightHistogram(Wire, frozen=True, kw_only=True):
    """``counts[i]`` finite values lie from ``edges[i]`` to before ``edges[i + 1]``; nothing is sampled.

    The last bin of real numbers includes its upper edge.
    """

    edges: list[float | int | str]
    """Bin edges, ascending: one more than ``counts``. Integers beyond 2^53 are text."""
    counts: list[int]
    """Values in each bin."""
    whole: bool
    """True if the values, and so the edges, are integers."""


class WeightValues(Wire, frozen=True, kw_only=True):
    """The values of one initializer or Constant, read on request.

    Statistics cover the finite stored values unless stated otherwise.
    """

    tensor: int
    """Id of the tensor, as in the payload."""
    name: str
    """Name of the tensor."""
    graph: str
    """The subgraph it belongs to (``If_3.then_branch``); empty for the main graph."""
    kind: str
    """``initializer`` or ``constant`` (output of a Constant node)."""
    elem_type: str
    """Element type."""
    shape: list[int]
    """Shape."""
    elements: int
    """Number of elements according to the shape."""
    stored: int
    """Number of elements in the file: all, or those listed in a sparse tensor."""
    sparse: bool
    """True if stored as values and indices; all other elements are 0."""
    bytes: int | None
    """Stored size; for a sparse tensor including its indices."""
    storage: str
    """``inline`` (in the model file) or ``external``."""
    location: str
    """Base name of the external file; empty for data in the model file."""
    offset: int | None
    """Offset of its bytes in that file; null if there is none (few values, several pieces)."""
    zeros: int | None
    """Stored elements that are 0 or false. Null for text, as all following numbers."""
    nan: int | None
    """Stored elements that are not a number."""
    inf: int | None
    """Stored elements that are infinite."""
    min: float | int | str | None
    """Smallest value; integers beyond 2^53 as text. Null for complex numbers and if no value is finite."""
    max: float | int | str | None
    """Largest value, likewise."""
    mean: float | None
    """Arithmetic mean; null also on overflow."""
    std: float | None
    """Population standard deviation; null also on overflow."""
    distinct: int | None
    """Number of distinct values; null above 1,024 for types wider than 16 bits."""
    quantiles: dict[str, float | int | str] | None
    """Share (``0.5`` …) → the smallest value that this share of the elements does not exceed. Null above 64
    MiB for types wider than 16 bits."""
    histogram: WeightHistogram | None
    """Null if there is no smallest and largest value."""
    values: list[Any]
    """The first stored values, at most 200: numbers, booleans, text. NaN, infinite and complex numbers and
    integers beyond 2^53 are text. Empty for text of 4 KiB and more, which is not read."""
    indices: list[int] | None
    """Index of each of ``values`` in row-major order, from 0; null if they are simply the first."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts and lists, as in the JSON."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    def to_json(self, indent: int = 0) -> str:
        """Return the JSON text, ``indent`` spaces per level (0: one line)."""
        data = msgspec.json.encode(self)
        return (msgspec.json.format(data, indent=indent) if indent else data).decode()


NPY = "npy"
"""The format of a ``WeightFile``."""


class WeightFile(Wire, frozen=True, kw_only=True):
    """All values of one initializer or Constant as a ``.npy`` file."""

    tensor: int
    """Id of the tensor, as in the payload."""
    name: str
    """Name of the tensor."""
    graph: str
    """The subgraph it belongs to (``If_3.then_branch``); empty for the main graph."""
    elem_type: str
    """Element type in the model."""
    dtype: str
    """Element type in the file, as named by numpy."""
    converted: bool
    """True if numpy lacks ``elem_type``; ``dtype`` then represents all its values exactly."""
    shape: list[int]
    """Shape."""
    bytes: int
    """Size of the file."""
    data: builtins.bytes
    """Content of the file, as base64."""


class BundleNode(Wire, frozen=True, kw_only=True):
    """A node's details without those in the payload and in the bundle's operators."""

    operator: int | None
    """Index into ``operators``."""
    attributes: list[AttributeInfo]
    """Without descriptions, which are in ``descriptions`` of the operator."""
    constants: list[ConstantInfo]
    tag: str
    doc_string: str
    metadata: dict[str, str]
    module: ModuleOrigin | None = None


class Bundle(Wire, frozen=True, kw_only=True):
    """Everything the viewer shows of one analysed model, in one document."""

    version: int
    payload: GraphPayload
    operators: list[OperatorDoc]
    descriptions: list[dict[str, str]]
    """By index into ``operators``: attribute name → description."""
    nodes: dict[str, BundleNode]
    """Node id → details; empty if the model is too large to include them."""
    document: ReportDocument | None = None
    """The report as texts; null if a server or kernel provides it on request."""
    serving: Plans | None = None
    """Text generation on the device of the analysis; null without a device, or if provided on request."""
