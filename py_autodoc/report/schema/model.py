"""Facts stored in the file: the interface of its graph, dimensions, and diagnostics of loading."""

from __future__ import annotations

from py_autodoc.report.schema.wire import DimValue, Wire


class OpsetImport(Wire, frozen=True, kw_only=True):
    """A domain (``ai.onnx`` spelt out) and its version."""

    domain: str
    """Domain."""
    version: int
    """Version."""


class Description(Wire, frozen=True, kw_only=True):
    """Free text of a part of the model, without records of exporters."""

    kind: str
    """``graph``, ``subgraph``, ``input``, ``output``, ``initializer``, ``value`` or ``function``."""
    name: str
    """Name of the part."""
    doc_string: str
    """At most 1,024 characters."""
    metadata: dict[str, str]
    """At most 16 entries."""


class ModelInfo(Wire, frozen=True, kw_only=True):
    """Facts stored in the file. ``name`` is the base name, never a path."""

    name: str
    """Base name of the file."""
    file_bytes: int
    """Size of the file."""
    structure_bytes: int
    """Bytes read: everything except weights."""
    external_files: list[str]
    """Names of the external data files, as stored in the model."""
    external_bytes: int
    """Bytes of the model in these files."""
    identity: str
    """Identity of the **structure**: SHA-256 of everything except the values of weights. Equal for two
    trainings of the same network; ``sha256`` distinguishes their files."""
    sha256: str | None = None
    """SHA-256 of the whole file in hexadecimal; null without ``--hash``."""
    external_sha256: dict[str, str | None] = {}
    """With ``sha256``: the SHA-256 of each of ``external_files``, null for files outside the folder of the
    model."""
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
    descriptions: list[Description] = []
    """Doc strings and metadata of graphs, inputs, outputs, initializers, values and functions that have some;
    at most 100."""
    num_descriptions: int = 0
    """Number of all of them."""


class ValueInfo(Wire, frozen=True, kw_only=True):
    """A graph input or output. ``shape`` of None: rank unknown."""

    name: str
    """Name."""
    elem_type: str
    """``float32`` …; of a map the whole type, as in ``sequence(map(int64, float))``."""
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
    """Constants stored outside the nodes."""
    num_subgraphs: int
    """Subgraphs of control-flow nodes."""
    num_functions: int
    """Local functions defined in the file."""
    inputs: list[ValueInfo]
    """Inputs that a caller must provide; initializers that are listed as inputs are not included."""
    outputs: list[ValueInfo]
    """Results of the model."""
    op_counts: dict[str, int]
    """Operator type → nodes, most frequent first."""


class DimFollows(Wire, frozen=True, kw_only=True):
    """Required value of a dimension: ``plus`` and the sum of other dimensions times their factors."""

    factors: dict[str, int]
    """Name of another symbolic dimension → factor; empty if the model alone determines the value."""
    plus: int = 0
    """Constant that is added."""


class DimInfo(Wire, frozen=True, kw_only=True):
    """A symbolic dimension of the inputs."""

    name: str
    """The symbol."""
    value: int | None
    """The value used; null without one."""
    assumed: bool
    """True if the value is assumed and not given by the user."""
    suggested: int | None
    """A typical value, checked against the model; null if no value was found that the model runs with."""
    where: list[str]
    """``input_ids[0]`` …"""
    symbol: str = ""
    """The name in expressions, if they cannot contain `name`; empty if it is the same."""
    follows: DimFollows | None = None
    """The dimensions it depends on; null if it is independent."""


class RebatchOutput(Wire, frozen=True, kw_only=True):
    """An output of a model whose batch was changed."""

    name: str
    """The output."""
    axis: int | None
    """The batch axis; null if it is the same for all items."""
    items: int | None
    """Entries of one item along the axis; null without an axis, or if it depends on the data."""


class RebatchNote(Wire, frozen=True, kw_only=True):
    """A note about a model whose batch or dimensions were changed."""

    where: str
    """A node, an input or an output."""
    message: str
    """A clause about it."""


class RebatchInfo(Wire, frozen=True, kw_only=True):
    """How the fixed batch of the file was changed. Costs and layers are those of the changed model."""

    batch: int
    """The batch of this report."""
    fixed: int
    """The batch of the file."""
    inputs: dict[str, int]
    """Input → batch axis; other inputs are the same for all items."""
    outputs: list[RebatchOutput]
    """Position of the batch in the outputs."""
    edits: list[str]
    """Changes, one line per node; at most 1,000."""
    edits_omitted: int
    """Number of edits that are not listed."""
    notes: list[RebatchNote]
    """Differences from running items one by one."""


class ResizeInfo(Wire, frozen=True, kw_only=True):
    """How fixed dimensions of the file were changed. Costs and layers are those of the changed model."""

    inputs: dict[str, list[int]]
    """Input → its shape in this report."""
    fixed: dict[str, list[int]]
    """Input → its shape in the file."""
    edits: list[str]
    """Changes, one line per edit; at most 1,000."""
    edits_omitted: int
    """Number of edits that are not listed."""
    notes: list[RebatchNote]
    """How stored numbers were interpreted."""


class Runnable(Wire, frozen=True, kw_only=True):
    """Whether the model runs with the dimensions of this analysis."""

    verdict: str
    """``yes``: all shapes are known and consistent, and no diagnostic says that runtimes refuse the file.
    ``no``: a node cannot run, or no runtime accepts the file. ``unknown``: neither is known."""
    reason: str = ""
    """Why it is not ``yes``."""
    node: int | None = None
    """Id of the first layer that cannot run, or whose shape is unknown."""
    sizes: bool = False
    """True if other dimensions may solve it."""
    file: bool = False
    """True if the file itself is at fault, such as damaged weights: shapes, costs and totals are known all
    the same. With ``no`` and without it, nodes that depend on ``node`` have no shape and no cost, and
    totals, peaks and latencies are null."""


class DiagnosticInfo(Wire, frozen=True, kw_only=True):
    """A diagnostic about the file or the analysis. ``node`` is a layer id or null."""

    code: str
    """Stable name, see ``docs/diagnostics.md``."""
    severity: str
    """``info``, ``warning`` or ``error``."""
    message: str
    """One line."""
    where: str = ""
    """Name of the node or tensor."""
    node: int | None = None
    """Id of the layer, null if it does not concern a node."""


class Generator(Wire, frozen=True, kw_only=True):
    """The program that made the report."""

    name: str
    """The program."""
    version: str
    """Its version."""
