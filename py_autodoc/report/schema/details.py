"""What is asked for one node or one constant at a time."""

from __future__ import annotations

import builtins
from typing import Any

import msgspec

from py_autodoc.report.schema.generation import Plans
from py_autodoc.report.schema.payload import GraphPayload
from py_autodoc.report.schema.sections import ReportDocument
from py_autodoc.report.schema.wire import DimValue, Wire


class AttributeInfo(Wire, frozen=True, kw_only=True):
    """An attribute as text plus its kind; ``default`` when the file leaves it out."""

    name: str
    type: str
    value: Any
    default: bool = False
    description: str = ""


class ConstantInfo(Wire, frozen=True, kw_only=True):
    """A constant input of the node; ``values`` are its first numbers when they are in the structure."""

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
    """Which module of the original model a node comes from, as its exporter wrote it."""

    scope: str
    """Full path, ``encoder.layer.0.attention``; empty at the top."""
    via: str
    """How it is known: ``trace``, ``fused``, ``param``, ``context``, ``root``; empty: not said."""
    scopes: list[str]
    """All modules of a node made from several, at most 64; empty when ``scope`` is the only one."""
    calls: dict[str, int]
    """Which call, from 0, of modules that are called several times; at most 64 are listed."""
    stack: list[str]
    """Modules being called, outermost first, where one calls another that does not lie in it."""


class NodeDetails(Wire, frozen=True, kw_only=True):
    """What the inspector shows beyond the payload's columns."""

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
    """Null when only names tell, or nothing."""


class WeightHistogram(Wire, frozen=True, kw_only=True):
    """``counts[i]`` finite values lie from ``edges[i]`` to before ``edges[i + 1]``; nothing is sampled.

    The last bin of real numbers has its upper edge too.
    """

    edges: list[float | int | str]
    """One more than counts, ascending. Integers beyond 2^53 are text."""
    counts: list[int]
    """Values in each bin."""
    whole: bool
    """The values are integers, and so are the edges."""


class WeightValues(Wire, frozen=True, kw_only=True):
    """What one initializer or Constant holds, read on request.

    Statistics are over the finite stored values unless they say otherwise.
    """

    tensor: int
    """Id of the tensor, as in the payload."""
    name: str
    """Name of the tensor."""
    graph: str
    """The body it belongs to (``If_3.then_branch``); empty for the main graph."""
    kind: str
    """``initializer`` or ``constant`` (output of a Constant node)."""
    elem_type: str
    """Element type."""
    shape: list[int]
    """Shape."""
    elements: int
    """Elements by the shape."""
    stored: int
    """Elements that are in the file: all, or those that a sparse tensor names."""
    sparse: bool
    """Stored as values and places; what is not stored is 0."""
    bytes: int | None
    """Stored size; of a sparse tensor with its places."""
    storage: str
    """``inline`` (in the model file) or ``external``."""
    location: str
    """Base name of the external file; empty for data in the model file."""
    offset: int | None
    """Where its bytes begin in that file; null when it says nothing (few values, several pieces)."""
    zeros: int | None
    """Stored elements that are 0 or false. Null for text, as all below."""
    nan: int | None
    """Stored elements that are not a number."""
    inf: int | None
    """Stored elements that are infinite."""
    min: float | int | str | None
    """Smallest value; integers beyond 2^53 as text. Null for complex numbers and where no value is finite."""
    max: float | int | str | None
    """Largest value, likewise."""
    mean: float | None
    """Arithmetic mean; null on overflow, too."""
    std: float | None
    """Population standard deviation; null on overflow, too."""
    distinct: int | None
    """Different values; null when there are more than 1,024 of a type wider than 16 bits."""
    quantiles: dict[str, float | int | str] | None
    """Share (``0.5`` …) → the smallest value that so large a share does not exceed. Null for more than
    64 MiB of a type wider than 16 bits."""
    histogram: WeightHistogram | None
    """Null where there is no smallest and largest value."""
    values: list[Any]
    """The first stored values, at most 200: numbers, booleans, text. NaN, infinite and complex numbers and
    integers beyond 2^53 are text. Empty for text of 4 KiB and more, which is not read."""
    indices: list[int] | None
    """Place of each of ``values``, counted row by row from 0; null when they are simply the first."""

    def to_dict(self) -> dict[str, Any]:
        """Plain dicts and lists, as the JSON has them."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    def to_json(self, indent: int = 0) -> str:
        """JSON text, ``indent`` spaces a level (0: one line)."""
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
    """The body it belongs to (``If_3.then_branch``); empty for the main graph."""
    elem_type: str
    """Element type in the model."""
    dtype: str
    """Element type in the file, as numpy calls it."""
    converted: bool
    """numpy lacks ``elem_type``; ``dtype`` holds each of its values."""
    shape: list[int]
    """Shape."""
    bytes: int
    """Size of the file."""
    data: builtins.bytes
    """What is in the file, as base64."""


class BundleNode(Wire, frozen=True, kw_only=True):
    """A node's details without what the payload and the operators of the bundle tell."""

    operator: int | None
    """Index into ``operators``."""
    attributes: list[AttributeInfo]
    """Without their descriptions: those are in ``descriptions`` of the operator."""
    constants: list[ConstantInfo]
    tag: str
    doc_string: str
    metadata: dict[str, str]
    module: ModuleOrigin | None = None


class Bundle(Wire, frozen=True, kw_only=True):
    """Everything the viewer shows of one analysed model, in one piece."""

    version: int
    payload: GraphPayload
    operators: list[OperatorDoc]
    descriptions: list[dict[str, str]]
    """Index as ``operators``: attribute name → description."""
    nodes: dict[str, BundleNode]
    """Node id → details; empty for a model too large to carry them."""
    document: ReportDocument | None = None
    """The report as texts; null where a server or a kernel is asked for it."""
    serving: Plans | None = None
    """Text generation on the device of the analysis; null without one, and where somebody is asked."""
