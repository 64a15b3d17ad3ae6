"""What the server's routes take and answer."""

from __future__ import annotations

from typing import Any

from py_autodoc.report.schema.wire import Wire


class JobRequest(Wire, frozen=True, kw_only=True):
    """Start (or find) the analysis of a file under the server's root."""

    path: str
    bindings: dict[str, int] = {}
    input_shapes: dict[str, list[int]] = {}
    assume: bool = False
    """Give every unbound symbol its suggested value; ``dims[].assumed`` says which."""
    thresholds: dict[str, Any] | str | None = None
    """What a threshold file of the rules holds, or the path of one under the server's root."""
    read_weights: bool = False
    """Read every weight, for the rules about their values."""


class Job(Wire, frozen=True, kw_only=True):
    """State of one analysis. ``state``: queued, running, done, failed, cancelled."""

    id: str
    state: str
    phase: str
    done: int
    total: int
    seq: int
    identity: str | None
    problem: Problem | None


class Problem(Wire, frozen=True, kw_only=True):
    """problem+json (RFC 9457) with our code and hint."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str


class FileStamp(Wire, frozen=True, kw_only=True):
    """A cheap look at a file under the server's root, to notice that it changed on disk."""

    path: str
    bytes: int
    mtime_ns: str
    """Modification time in nanoseconds, as text: it is beyond the integers a browser keeps exact."""
    kind: str
    """``onnx`` or ``other``, by the name."""


class ExtractRequest(Wire, frozen=True, kw_only=True):
    """Which nodes of an analysed model to write as a model of their own, beside it."""

    path: str
    """The model's path under the server's root."""
    nodes: list[int]
    """Ids of nodes, as in the payload."""
    part: str = ""
    """What the part is called; the file's name tells it."""
    name: str = ""
    """Name of the file; empty: a free one, ``<model>.<part>.onnx``."""
    overwrite: bool = False
    """Replace a file of that name; never the model itself."""


class SavedFile(Wire, frozen=True, kw_only=True):
    """A file for the reader to keep."""

    text: str
    """What is in it."""
    media_type: str
    """As ``text/html``."""
    extension: str
    """With its dot."""
    unnamed: int = 0
    """Nodes that the file could not refer to, for want of a name of their own."""


class Extracted(Wire, frozen=True, kw_only=True):
    """What was cut out and where it is."""

    path: str
    """Path of the new model."""
    nodes: int
    """Nodes of the sub-model, copied constants included."""
    inputs: list[str]
    """Tensors that go in, the first 100 of them."""
    input_count: int
    """How many go in."""
    outputs: list[str]
    """Tensors that come out, the first 100 of them."""
    output_count: int
    """How many come out."""
    widened: int
    """Control-flow nodes that were taken whole although only a part of them was asked for."""
    convex: bool
    """False when an input depends on an output: the rest cannot run around the part in one step."""
    bytes: int
    """Size of what was written."""


class TaskRequest(Wire, frozen=True, kw_only=True):
    """Work on a model: ``measure``, ``profile``, ``verify``, ``sensitivity`` or ``quantize``."""

    kind: str
    path: str
    """The model's path under the server's root."""
    data: str = ""
    """Path of samples under the server's root; empty: made up."""
    samples: int = 0
    """How many are taken; 0: as usual."""
    bindings: dict[str, int] = {}
    out: str = ""
    """Of ``quantize``: the name of the file, in the model's folder."""
    overwrite: bool = False
    """Replace a file of that name; never the model itself."""
    method: str = ""
    """Of ``quantize``; empty: ``static``."""
    exclude: list[str] = []
    """Of ``quantize``: layers that stay float, by their tensors."""
    random_data: bool = False
    """Of ``quantize``: take made-up values for ranges."""
    target: str = ""
    """Of ``sensitivity``: as ``agreement>=0.99``; the fewest float layers that reach it are found."""
    against: str = ""
    """Of ``verify``: path of an ONNX file or of expected values (``.npz``) under the server's root."""
    tolerance: float | None = None
    """Of ``verify``: the relative error that is accepted; null: by the precision of both."""
    profiles: list[str] = []
    """Of ``profile``: path of the profile under the server's root, and of TensorRT's layer information."""
    uploads: list[str] = []
    """The same as ids of files that were sent to ``/uploads``."""


class Upload(Wire, frozen=True, kw_only=True):
    """A file that was sent for a task. It is deleted when that ends."""

    id: str
    name: str
    size: int


class TaskLayer(Wire, frozen=True, kw_only=True):
    """A layer, quantized alone."""

    node: int | None
    name: str
    op: str
    tensor: str
    """What it gives; names it among those to exclude."""
    error: float | None
    """Relative error of the result; null where it was not measured."""
    sqnr_db: float | None
    agreement: float | None
    keep: bool
    """True where it has to stay float for the target."""


class TaskKernel(Wire, frozen=True, kw_only=True):
    """A kernel's time, and the nodes that it does the work of."""

    node: int
    """The one with the most work of ``nodes``."""
    nodes: list[int]
    name: str
    op: str
    ms: float
    """Of one run, in the mean."""
    conversion_ms: float
    """Of ``ms``: layouts and types changed for it."""


class TaskLost(Wire, frozen=True, kw_only=True):
    """A kernel that belongs to no node."""

    name: str
    ms: float


class TaskTimes(Wire, frozen=True, kw_only=True):
    """Times of a model's kernels: measured on the server, or out of a profile."""

    source: str
    """``ONNX Runtime`` or the profile's file."""
    total_ms: float
    """Of all kernels, in one run."""
    attributed_ms: float
    kernels: list[TaskKernel]
    """The slowest first."""
    lost: list[TaskLost]
    """The slowest 50 that belong to no node."""


class TaskVerifiedLayer(Wire, frozen=True, kw_only=True):
    """A result that model and reference both have."""

    node: int
    name: str
    op: str
    tensor: str
    reference_tensor: str
    error: float | None
    """Relative error; null where it is infinite."""
    sqnr_db: float | None
    """Null where nothing differs."""
    error_before: float
    """Largest relative error of what it was computed from."""
    diverges: bool
    """Beyond the tolerance."""


class TaskVerification(Wire, frozen=True, kw_only=True):
    """A model beside a reference."""

    reference: str
    verdict: str
    """``agrees`` or ``diverges``."""
    tolerance: float
    first: int | None
    """In ``layers``: the first that diverges though all it reads does not; null where none does."""
    layers: list[TaskVerifiedLayer]
    """In the order in which the model runs."""


class TaskResult(Wire, frozen=True, kw_only=True):
    """What a task found or wrote."""

    lines: list[str]
    """In words."""
    label: str
    """Of ``values``."""
    unit: str
    values: dict[str, float]
    """Numbers by node id, to paint the graph."""
    layers: list[TaskLayer]
    """The most sensitive first."""
    path: str
    """Name of the file that was written, in the model's folder."""
    times: TaskTimes | None = None
    """Of ``measure`` and ``profile``."""
    verification: TaskVerification | None = None
    """Of ``verify``."""


class Task(Wire, frozen=True, kw_only=True):
    """State of a task. ``state``: queued, running, done, failed, cancelled."""

    id: str
    kind: str
    state: str
    step: str
    done: int
    total: int
    """0 where it is not known."""
    problem: Problem | None
    result: TaskResult | None
