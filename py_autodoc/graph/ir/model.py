"""The frozen graph that every later stage works on.

Ids are ints: ``Model.nodes[i].id == i``, ``Model.tensors[i].id == i``, ``Model.graphs[i].id == i``.
Names are labels for people, already decoded to ``str`` and never used as keys.

Local functions are expanded while the model is built (each call's body appears as ordinary nodes
whose ``scope`` carries the call), unless the expansion is over the limit; then the call stays one
node, a diagnostic says so, and its costs are unknown.

What there is thousands of is a ``msgspec.Struct``: made ten times as fast as a dataclass. Nodes and tensors
name each other by id, so that no circle leads through one and the garbage collector need not know them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import msgspec

from py_autodoc.graph.ir.exporter_records import ModuleRecord

if TYPE_CHECKING:
    from py_autodoc.graph.ir.contradiction import Contradiction

Dim = int | str | None
"""A known size, a symbol (``"batch"`` or an expression such as ``"seq + 1"``), or unknown."""

Shape = tuple[Dim, ...]


class TensorKind(IntEnum):
    """Where a tensor's value comes from."""

    ACTIVATION = 0
    INPUT = 1
    INITIALIZER = 2
    CONSTANT = 3
    """Output of a Constant node."""
    OUTER = 4
    """A subgraph's own formal input (a loop-carried value, a scan slice)."""

    @property
    def is_constant(self) -> bool:
        """True for what the file stores: initializers and outputs of Constant nodes."""
        return self in _CONSTANT


_CONSTANT = (TensorKind.INITIALIZER, TensorKind.CONSTANT)


class Storage(msgspec.Struct, frozen=True):
    """Where the bytes of a constant tensor lie. Nothing here was read from a weight.

    ``bytes`` is the stored size in bytes (packed for 4-bit types), ``None`` when it cannot be
    known. ``location`` is empty for data inside the model file, else the external file's name
    as written in the model.
    """

    bytes: int | None
    location: str = ""
    offset: int | None = None
    length: int | None = None
    sparse_values: int | None = None
    """Number of stored values of a sparse tensor."""


class Tensor(msgspec.Struct, frozen=True, gc=False):
    """One value of one graph. Types found by inference live in ``TypeTable``, not here."""

    id: int
    name: str
    graph: int
    kind: TensorKind
    dtype: int = 0
    """Declared ONNX element type (``TensorProto.DataType``), 0 when not declared."""
    shape: Shape | None = None
    """Declared shape; ``None`` when the rank is unknown."""
    container: str = "tensor"
    """``tensor``, ``sparse``, ``sequence``, ``optional`` or ``map``."""
    producer: int = -1
    """Node id, -1 for inputs and initializers."""
    consumers: tuple[int, ...] = ()
    """Ids of the nodes that read it (nodes of inner graphs included), each once, ascending."""
    is_output: bool = False
    """True when the main graph returns it."""
    storage: Storage | None = None
    quantized_scale: bool = False
    """True when the tensor is used as a scale or zero point only."""

    @property
    def is_constant(self) -> bool:
        """True for an initializer and for the output of a Constant node: the file stores its values."""
        return self.kind in _CONSTANT


class Node(msgspec.Struct, frozen=True, gc=False):
    """One operator call."""

    id: int
    graph: int
    name: str
    op_type: str
    domain: str
    """Normalised: ``""`` for ai.onnx."""
    inputs: tuple[int, ...]
    """Tensor ids, -1 for an omitted optional input."""
    outputs: tuple[int, ...]
    attributes: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """int, float, str, list of those; tensors as ``ConstTensor``; graphs as their graph id."""
    subgraphs: tuple[tuple[str, int], ...] = ()
    """(attribute name, graph id) for If, Loop, Scan and the like."""
    scope: tuple[str, ...] = ()
    """Module path, outermost first, e.g. ``("encoder", "layer.0", "attention")``."""
    classes: tuple[str, ...] = ()
    """Class name of each scope level where the exporter recorded it, else empty."""
    tag: str = ""
    """Hierarchy tag, ``/BertModel/BertEncoder/BertLayer.0``."""
    opset: int = 0
    """Version of the node's domain, 0 when the model imports none."""
    origins: tuple[str, ...] = ()
    """Where each scope level comes from: ``scope`` (recorded by the exporter), ``name`` or ``function``."""
    record: ModuleRecord | None = None
    """What an exporter recorded about the node's module; None when it comes from names or not at all."""

    @property
    def is_constant(self) -> bool:
        """True for a Constant node of ai.onnx: it folds into its consumers and has no cost."""
        return self.op_type == "Constant" and not self.domain


class ConstTensor(msgspec.Struct, frozen=True):
    """A tensor attribute: its type, and its values when they are few (``None`` otherwise)."""

    dtype: int
    shape: tuple[int, ...]
    storage: Storage
    values: Any = None
    """numpy array of at most 1,024 elements, or None."""


class SubGraph(msgspec.Struct, frozen=True):
    """The main graph (id 0) or the body of a control-flow node."""

    id: int
    name: str
    parent_node: int = -1
    attribute: str = ""
    """``then_branch``, ``body`` …"""
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()
    """Node ids in execution (topological) order."""
    initializers: tuple[int, ...] = ()
    first: int = 0
    """Smallest id of its nodes; in file order they are numbered from there."""


class Diagnostic(msgspec.Struct, frozen=True):
    """Something about the file the reader must know. Codes are those of ``docs/diagnostics.md``."""

    code: str
    severity: str
    """``info``, ``warning`` or ``error``."""
    message: str
    where: str = ""
    node: int = -1
    tensor: int = -1


class FileFacts(msgspec.Struct, frozen=True):
    """What is known of the file itself. ``name`` is the base name, never a path."""

    name: str
    bytes: int
    structure_bytes: int
    """Bytes read: everything but weights."""
    identity: str
    """Identity of the structure: sha256 over its bytes, and sizes and offsets of weights, not values."""
    external_files: tuple[str, ...] = ()
    external_bytes: int = 0
    sha256: str | None = None
    """Of the whole file, in hexadecimal; None where nobody asked."""
    external_sha256: dict[str, str | None] = {}
    """Of each of ``external_files``; None where it is not there."""


class LocalPaths(msgspec.Struct, frozen=True):
    """Paths of somebody's machine in one kind of text. The user's name is not kept."""

    place: str
    """``doc_string``, ``metadata <key>``, ``graph doc_string``, ``node metadata <key>`` …"""
    form: str
    """How the path begins, the user replaced: ``/home/<user>/``."""
    count: int
    """Texts in which such a path was found (the first path of each text is looked at)."""
    person: bool
    """False for users that name no person (``ubuntu``, ``runner``)."""


class TextFacts(msgspec.Struct, frozen=True):
    """What the free text of a model gives away. Counted while loading; the texts are not kept."""

    stack_traces: int = 0
    """Nodes that carry the exporter's stack trace."""
    stack_trace_bytes: int = 0
    paths: tuple[LocalPaths, ...] = ()


NO_TEXTS = TextFacts()


class Model(msgspec.Struct, frozen=True):
    """A whole model, weights left where they are."""

    file: FileFacts
    ir_version: int
    opsets: Mapping[str, int]
    producer_name: str
    producer_version: str
    domain: str
    model_version: int
    doc_string: str
    metadata: Mapping[str, str]
    graphs: tuple[SubGraph, ...]
    nodes: tuple[Node, ...]
    tensors: tuple[Tensor, ...]
    constants: Mapping[int, Any]
    """Tensor id → numpy array for constants of at most 1,024 elements whose values are in the file."""
    diagnostics: tuple[Diagnostic, ...]
    functions: int = 0
    """Local functions defined in the file."""
    unexpanded_calls: int = 0
    """Calls left as one node because the expansion was over the limit."""
    texts: TextFacts = NO_TEXTS


@dataclass(frozen=True, slots=True)
class TypeTable:
    """Types of every tensor after shape inference under one binding, indexed by tensor id."""

    dtypes: list[int]
    shapes: list[Shape | None]
    values: Mapping[int, Any]
    """Tensor id → numpy array for small tensors whose value is known (constants included)."""
    diagnostics: tuple[Diagnostic, ...] = ()
    symbols: tuple[str, ...] = ()
    """Free symbols of the graph inputs, in order of appearance, before binding."""
    bindings: Mapping[str, int] = field(default_factory=dict)
    """Symbol → value that was applied."""
    contradiction: Contradiction | None = None
    """What keeps the model from running with these sizes; what it reaches has no shape."""
