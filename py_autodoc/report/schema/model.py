"""What the file says of itself: its graph's interface, dimensions and what reading it found."""

from __future__ import annotations

from py_autodoc.report.schema.wire import DimValue, Wire


class OpsetImport(Wire, frozen=True, kw_only=True):
    """A domain (``ai.onnx`` spelt out) and its version."""

    domain: str
    """Domain."""
    version: int
    """Version."""


class ModelInfo(Wire, frozen=True, kw_only=True):
    """What the file says of itself. ``name`` is the base name, never a path."""

    name: str
    """Base name of the file."""
    file_bytes: int
    """Size of the file."""
    structure_bytes: int
    """What was read of it: everything but weights."""
    external_files: list[str]
    """Names of the files with external data, as the model writes them."""
    external_bytes: int
    """Bytes the model keeps in them."""
    identity: str
    """Identity of the **structure**: SHA-256 over all but weights, and over the weights' places and sizes.
    Equal for two trainings of one network; ``sha256`` tells their files apart."""
    sha256: str | None = None
    """SHA-256 of the whole file in hexadecimal; null unless it was asked for (``--hash``)."""
    external_sha256: dict[str, str | None] = {}
    """With ``sha256``: that of each of ``external_files``, null where it is not in the model's folder."""
    onnx_ir_version: str
    """Version of the file format."""
    opset_imports: list[OpsetImport]
    """Operator sets the model is written for."""
    producer_name: str
    """The program that wrote the file."""
    producer_version: str
    """Its version."""
    domain: str
    """The model's own namespace."""
    model_version: int
    """The model's own version."""
    doc_string: str
    """Free text of the author, at most 4,096 characters."""
    metadata: dict[str, str]
    """Free key-value pairs of the author."""


class ValueInfo(Wire, frozen=True, kw_only=True):
    """A graph input or output. ``shape`` of None: rank unknown."""

    name: str
    """Name."""
    elem_type: str
    """``float32`` …"""
    shape: list[DimValue] | None
    """Null: rank unknown."""
    container: str = "tensor"
    """``tensor``, ``sparse``, ``sequence``, ``optional`` or ``map``."""


class GraphInfo(Wire, frozen=True, kw_only=True):
    """Counts and the interface of the main graph."""

    name: str
    """Name of the main graph."""
    num_nodes: int
    """Nodes of all graphs, Constant nodes excluded."""
    num_constant_nodes: int
    """Constant nodes, which fold into their consumers."""
    num_edges: int
    """Pairs of nodes joined by an activation."""
    num_initializers: int
    """Constants stored beside the nodes."""
    num_subgraphs: int
    """Bodies of control flow."""
    num_functions: int
    """Local functions defined in the file."""
    inputs: list[ValueInfo]
    """What a caller must feed; initializers that are listed as inputs are left out."""
    outputs: list[ValueInfo]
    """What the model returns."""
    op_counts: dict[str, int]
    """Operator type → nodes, most frequent first."""


class DimFollows(Wire, frozen=True, kw_only=True):
    """What a size has to be: ``plus`` and the sum of other dimensions' sizes times their factors."""

    factors: dict[str, int]
    """Name of another free dimension → factor; empty when the model decides the size alone."""
    plus: int = 0
    """A number that is added."""


class DimInfo(Wire, frozen=True, kw_only=True):
    """A free symbol of the inputs."""

    name: str
    """The symbol."""
    value: int | None
    """The value used, None when the symbol stayed a symbol."""
    assumed: bool
    """True when the value was not given by the user but assumed."""
    suggested: int | None
    """A usual size, checked against the model; None when no size was found that the model runs with."""
    where: list[str]
    """``input_ids[0]`` …"""
    symbol: str = ""
    """How expressions write it, where the name is none that they can hold; empty when it is the name."""
    follows: DimFollows | None = None
    """The sizes this one moves with; None when it is free by itself."""


class RebatchOutput(Wire, frozen=True, kw_only=True):
    """An output of a model whose batch was changed."""

    name: str
    """The output."""
    axis: int | None
    """The axis of the batch; None: the same for all items."""
    items: int | None
    """Entries of one item along the axis; None without an axis, or where the data decide it."""


class RebatchNote(Wire, frozen=True, kw_only=True):
    """Something to be known of a model whose batch or sizes were changed."""

    where: str
    """A node, an input or an output."""
    message: str
    """A clause about it."""


class RebatchInfo(Wire, frozen=True, kw_only=True):
    """How the batch was changed that the file has fixed. Costs and layers are those of the changed model."""

    batch: int
    """The batch of this report."""
    fixed: int
    """The batch of the file."""
    inputs: dict[str, int]
    """Input → axis of the batch; inputs that are not here are the same for all items."""
    outputs: list[RebatchOutput]
    """Where the batch is in the outputs."""
    edits: list[str]
    """What had to change, a line a node; at most 1,000."""
    edits_omitted: int
    """Edits that are not listed."""
    notes: list[RebatchNote]
    """What differs from running items one by one."""


class ResizeInfo(Wire, frozen=True, kw_only=True):
    """How sizes were changed that the file has fixed. Costs and layers are those of the changed model."""

    inputs: dict[str, list[int]]
    """Input → its shape in this report."""
    fixed: dict[str, list[int]]
    """Input → its shape in the file."""
    edits: list[str]
    """What had to change, a line an edit; at most 1,000."""
    edits_omitted: int
    """Edits that are not listed."""
    notes: list[RebatchNote]
    """How stored numbers were read."""


class Runnable(Wire, frozen=True, kw_only=True):
    """Whether the model runs with the sizes of this analysis. Where it does not there are no totals."""

    verdict: str
    """``yes``: every size is known and none contradicts another. ``no``: a node cannot run; what depends on
    it has no shape and no cost, and totals, peaks and latencies are null. ``unknown``: neither is known."""
    reason: str = ""
    """Why it is not ``yes``."""
    node: int | None = None
    """Id of the first layer that cannot run, or whose size is not known."""
    sizes: bool = False
    """True when other sizes may mend it."""


class DiagnosticInfo(Wire, frozen=True, kw_only=True):
    """Something the reader must know. ``node`` is a layer id or null."""

    code: str
    """Stable name, see ``docs/diagnostics.md``."""
    severity: str
    """``info``, ``warning`` or ``error``."""
    message: str
    """One line."""
    where: str = ""
    """Name of the node or tensor."""
    node: int | None = None
    """Id of the layer, null when it is about no node."""


class Generator(Wire, frozen=True, kw_only=True):
    """Who made the report."""

    name: str
    """The program."""
    version: str
    """Its version."""
