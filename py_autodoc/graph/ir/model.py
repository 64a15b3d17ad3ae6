"""The frozen graph used by all later stages.

Ids are ints: ``Model.nodes[i].id == i``, ``Model.tensors[i].id == i``, ``Model.graphs[i].id == i``.
Names are labels for users, already decoded to ``str``, and never used as keys.

Local functions are expanded while the model is built: the body of each call becomes ordinary nodes whose
``scope`` contains the call. If the expansion exceeds the limit, the call stays one node with unknown costs
and a diagnostic.

Classes with thousands of instances are ``msgspec.Struct``, which is created ten times as fast as a dataclass.
Nodes and tensors refer to each other by id, so they form no reference cycles for the garbage collector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import msgspec

from py_autodoc.graph.ir.exporter_records import ModuleRecord

Dim = int | str | None
"""A known dimension, a symbol (``"batch"`` or an expression such as ``"seq + 1"``), or unknown."""

Shape = tuple[Dim, ...]


class TensorKind(IntEnum):
    """Origin of a tensor's value."""

    ACTIVATION = 0
    INPUT = 1
    INITIALIZER = 2
    CONSTANT = 3
    """Output of a Constant node."""
    OUTER = 4
    """A formal input of a subgraph (a loop-carried value, a scan slice)."""

    @property
    def is_constant(self) -> bool:
        """True for tensors stored in the file: initializers and outputs of Constant nodes."""
        return self in _CONSTANT


_CONSTANT = (TensorKind.INITIALIZER, TensorKind.CONSTANT)


class Storage(msgspec.Struct, frozen=True):
    """Location of the bytes of a constant tensor; the weight itself is not read.

    ``bytes`` is the stored size in bytes (packed for 4-bit types), ``None`` if unknown. ``location`` is
    empty for data inside the model file, otherwise the name of the external file as written in the
    model.
    """

    bytes: int | None
    location: str = ""
    offset: int | None = None
    length: int | None = None
    sparse_values: int | None = None
    """Number of stored values in a sparse tensor."""


class Tensor(msgspec.Struct, frozen=True, gc=False):
    """A tensor of a graph. Inferred types are in ``TypeTable``, not here."""

    id: int
    name: str
    graph: int
    kind: TensorKind
    dtype: int = 0
    """Declared ONNX element type (``TensorProto.DataType``), 0 if not declared."""
    shape: Shape | None = None
    """Declared shape; ``None`` if the rank is unknown."""
    container: str = "tensor"
    """``tensor``, ``sparse``, ``sequence``, ``optional``, or ``map(int64, float)`` as a whole."""
    producer: int = -1
    """Producer node id, -1 for inputs and initializers."""
    consumers: tuple[int, ...] = ()
    """Ids of consumer nodes (including nodes of inner graphs), each once, ascending."""
    is_output: bool = False
    """True if it is an output of the main graph."""
    storage: Storage | None = None
    quantized_scale: bool = False
    """True if the tensor is only used as a scale or zero point."""
    item_shape: Shape | None = None
    """Declared shape of the items of a sequence or optional."""

    @property
    def is_constant(self) -> bool:
        """True for initializers and outputs of Constant nodes, whose values the file stores."""
        return self.kind in _CONSTANT


class Node(msgspec.Struct, frozen=True, gc=False):
    """An operator call."""

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
    """Module path, outermost first, such as ``("encoder", "layer.0", "attention")``."""
    classes: tuple[str, ...] = ()
    """Class name of each scope level, empty where the exporter did not record it."""
    tag: str = ""
    """Hierarchy tag, such as ``/BertModel/BertEncoder/BertLayer.0``."""
    opset: int = 0
    """Opset version of the node's domain, 0 if the model does not import it."""
    origins: tuple[str, ...] = ()
    """Origin of each scope level: ``scope`` (recorded by the exporter), ``name`` or ``function``."""
    record: ModuleRecord | None = None
    """Exporter's record of the node's module; None if the scope comes from names or is unknown."""

    @property
    def is_constant(self) -> bool:
        """True for a Constant node of ai.onnx, which is folded into its consumers and has no cost."""
        return self.op_type == "Constant" and not self.domain


class ConstTensor(msgspec.Struct, frozen=True):
    """A tensor attribute: its type, and its values if there are few (else ``None``)."""

    dtype: int
    shape: tuple[int, ...]
    storage: Storage
    values: Any = None
    """numpy array of at most 1,024 elements, or None."""


class SubGraph(msgspec.Struct, frozen=True):
    """The main graph (id 0) or a subgraph of a control-flow node."""

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
    """Smallest node id; the nodes are numbered from here in file order."""


class Diagnostic(msgspec.Struct, frozen=True):
    """A note about the file for the user. Codes are listed in ``docs/diagnostics.md``."""

    code: str
    severity: str
    """``info``, ``warning`` or ``error``."""
    message: str
    where: str = ""
    node: int = -1
    tensor: int = -1


class FileFacts(msgspec.Struct, frozen=True):
    """Facts about the file. ``name`` is the base name, never a path."""

    name: str
    bytes: int
    structure_bytes: int
    """Bytes read: everything except weights."""
    identity: str
    """Identity of the structure: sha256 over its bytes and the sizes and offsets, not values, of weights."""
    external_files: tuple[str, ...] = ()
    external_bytes: int = 0
    sha256: str | None = None
    """Hash of the whole file, hexadecimal; None if not requested."""
    external_sha256: dict[str, str | None] = {}
    """Hash of each of ``external_files``; None for missing files."""


class LocalPaths(msgspec.Struct, frozen=True):
    """Paths of the exporting machine in one kind of text, without the user name."""

    place: str
    """``doc_string``, ``metadata <key>``, ``graph doc_string``, ``node metadata <key>`` …"""
    form: str
    """Start of the path with the user name replaced: ``/home/<user>/``."""
    count: int
    """Number of texts with such a path (only the first path of each text counts)."""
    person: bool
    """False for user names that are not a person's (``ubuntu``, ``runner``)."""


class TextFacts(msgspec.Struct, frozen=True):
    """Private details in the free text of a model. Counted while loading; the texts are not kept."""

    stack_traces: int = 0
    """Number of nodes with an exporter stack trace."""
    stack_trace_bytes: int = 0
    paths: tuple[LocalPaths, ...] = ()


NO_TEXTS = TextFacts()


@dataclass(frozen=True, slots=True)
class Description:
    """Free text of a part of the model."""

    kind: str
    """``graph``, ``subgraph``, ``input``, ``output``, ``initializer``, ``value`` or ``function``."""
    name: str
    doc_string: str
    metadata: Mapping[str, str]


class Model(msgspec.Struct, frozen=True):
    """A whole model, without its weights."""

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
    """Number of local functions defined in the file."""
    unexpanded_calls: int = 0
    """Calls kept as one node because the expansion exceeded the limit."""
    texts: TextFacts = NO_TEXTS
    descriptions: tuple[Description, ...] = ()
    """The first texts of graphs, inputs, outputs, initializers, values and functions."""
    num_descriptions: int = 0


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The first node that cannot run, and the nodes (including it) whose results are therefore unknown."""

    node: int
    code: str
    message: str
    """Starts with the node's name."""
    reached: frozenset[int]

    @property
    def reason(self) -> str:
        """Reason shown for unknown numbers."""
        return f"the model cannot run: {self.message}"


@dataclass(frozen=True, slots=True)
class TypeTable:
    """Types of all tensors after shape inference for one binding, indexed by tensor id."""

    dtypes: list[int]
    shapes: list[Shape | None]
    values: Mapping[int, Any]
    """Tensor id → numpy array for small tensors with known values (including constants)."""
    diagnostics: tuple[Diagnostic, ...] = ()
    symbols: tuple[str, ...] = ()
    """Free symbols of the graph inputs before binding, in order of appearance."""
    bindings: Mapping[str, int] = field(default_factory=dict)
    """Symbol → bound value."""
    contradiction: Contradiction | None = None
    """The reason the model cannot run with these dimensions; tensors it reaches have no shape."""
