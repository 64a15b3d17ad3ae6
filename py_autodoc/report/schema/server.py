"""Requests and responses of the server's routes."""

from __future__ import annotations

from typing import Any

from py_autodoc.report.schema.wire import Wire


class JobRequest(Wire, frozen=True, kw_only=True):
    """Start (or find) the analysis of a file under the server's root."""

    path: str
    bindings: dict[str, int] = {}
    input_shapes: dict[str, list[int]] = {}
    assume: bool = False
    """Give all symbolic dimensions without a value their suggested one; see ``dims[].assumed``."""
    thresholds: dict[str, Any] | str | None = None
    """Content of a threshold file, or the path of one under the server's root."""
    read_weights: bool = False
    """Read all weights, for the rules about their values."""


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
    """problem+json (RFC 9457) with a stable code and a hint."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str


class FileStamp(Wire, frozen=True, kw_only=True):
    """Size and modification time of a file under the server's root, to detect changes on disk."""

    path: str
    bytes: int
    mtime_ns: str
    """Modification time in nanoseconds, as text: JavaScript integers are not exact at this size."""
    kind: str
    """``onnx`` or ``other``, by file extension."""


class ExtractRequest(Wire, frozen=True, kw_only=True):
    """The nodes of an analysed model to write as a separate model next to it."""

    path: str
    """The model's path under the server's root."""
    nodes: list[int]
    """Ids of nodes, as in the payload."""
    part: str = ""
    """Name of the part, used in the file name."""
    name: str = ""
    """File name; empty for an unused name ``<model>.<part>.onnx``."""
    overwrite: bool = False
    """Replace an existing file; the model itself is never replaced."""


class SavedFile(Wire, frozen=True, kw_only=True):
    """A file to download."""

    text: str
    """Content of the file."""
    media_type: str
    """Media type, such as ``text/html``."""
    extension: str
    """File extension with its dot."""
    unnamed: int = 0
    """Number of nodes that the file cannot refer to because they have no unique name."""


class Extracted(Wire, frozen=True, kw_only=True):
    """The extracted model and its location."""

    path: str
    """Path of the new model."""
    nodes: int
    """Nodes of the sub-model, copied constants included."""
    inputs: list[str]
    """Names of the input tensors, at most 100."""
    input_count: int
    """Number of inputs."""
    outputs: list[str]
    """Names of the output tensors, at most 100."""
    output_count: int
    """Number of outputs."""
    widened: int
    """Control-flow nodes included as a whole although only a part was requested."""
    convex: bool
    """False if an input depends on an output: the rest cannot run around the part in one step."""
    bytes: int
    """Size of the written files."""


class TaskRequest(Wire, frozen=True, kw_only=True):
    """A task on a model: ``measure``, ``profile``, ``verify``, ``sensitivity`` or ``quantize``."""

    kind: str
    path: str
    """The model's path under the server's root."""
    data: str = ""
    """Path of samples under the server's root; empty: synthetic data."""
    samples: int = 0
    """Number of samples to use; 0: the default."""
    bindings: dict[str, int] = {}
    out: str = ""
    """For ``quantize``: name of the file, in the model's folder."""
    overwrite: bool = False
    """Replace an existing file; the model itself is never replaced."""
    method: str = ""
    """For ``quantize``; empty: ``static``."""
    exclude: list[str] = []
    """For ``quantize``: layers that stay in float, by their tensors."""
    random_data: bool = False
    """For ``quantize``: calibrate with synthetic values."""
    target: str = ""
    """For ``sensitivity``: quality such as ``agreement>=0.99``; finds the fewest float layers for it. For
    ``quantize``: where the model will run, as ``quantize --target``; empty: this machine."""
    against: str = ""
    """For ``verify``: path of an ONNX file or of expected values (``.npz``) under the server's root."""
    tolerance: float | None = None
    """For ``verify``: accepted relative error; null: depends on the precision of both."""
    profiles: list[str] = []
    """For ``profile``: paths of the profile and of TensorRT's layer information under the server's root."""
    uploads: list[str] = []
    """The same, as ids of files sent to ``/uploads``."""


class Upload(Wire, frozen=True, kw_only=True):
    """A file sent for a task. It is deleted when the task ends."""

    id: str
    name: str
    size: int


class TaskLayer(Wire, frozen=True, kw_only=True):
    """A layer quantized on its own."""

    node: int | None
    name: str
    op: str
    tensor: str
    """Its output tensor, which identifies it in ``exclude``."""
    error: float | None
    """Relative error of the result; null if not measured."""
    sqnr_db: float | None
    agreement: float | None
    keep: bool
    """True if it must stay in float to reach the target."""


class TaskKernel(Wire, frozen=True, kw_only=True):
    """Time of a kernel, and the nodes it implements."""

    node: int
    """The most expensive of ``nodes``."""
    nodes: list[int]
    name: str
    op: str
    ms: float
    """Mean time per run."""
    conversion_ms: float
    """Part of ``ms`` spent converting layouts and types for it."""


class TaskLost(Wire, frozen=True, kw_only=True):
    """A kernel that matches no node."""

    name: str
    ms: float


class TaskTimes(Wire, frozen=True, kw_only=True):
    """Times of a model's kernels: measured on the server, or read from a profile."""

    source: str
    """``ONNX Runtime``, or the file name of the profile."""
    total_ms: float
    """All kernels, per run."""
    attributed_ms: float
    kernels: list[TaskKernel]
    """Slowest first."""
    lost: list[TaskLost]
    """The slowest 50 kernels that match no node."""


class TaskVerifiedLayer(Wire, frozen=True, kw_only=True):
    """A result that both model and reference have."""

    node: int
    name: str
    op: str
    tensor: str
    reference_tensor: str
    error: float | None
    """Relative error; null if infinite."""
    sqnr_db: float | None
    """Null if nothing differs."""
    error_before: float
    """Largest relative error among its inputs."""
    diverges: bool
    """True if the error exceeds the tolerance."""


class TaskVerification(Wire, frozen=True, kw_only=True):
    """Comparison of a model with a reference."""

    reference: str
    verdict: str
    """``agrees``, ``diverges``, or ``not compared`` without a common output."""
    tolerance: float
    first: int | None
    """Index in ``layers`` of the first that diverges although all its inputs agree; null if there is none."""
    layers: list[TaskVerifiedLayer]
    """In execution order."""


class TaskAccuracy(Wire, frozen=True, kw_only=True):
    """Signal-to-quantization-noise ratios of an output in decibels; null if nothing differs or if unknown."""

    output: str
    file_db: float | None
    """With every operator as in the file."""
    here_db: float | None
    """With the kernels of this machine."""
    target_db: float | None
    """As the target computes."""


class TaskIntegerKernels(Wire, frozen=True, kw_only=True):
    """The integer kernels of a measurement, and those of the target that it is judged for."""

    here: str
    """This machine's: ``exact``, or ``pairs`` if sums of pairs of u8 and s8 products saturate at 16 bits."""
    target: str
    """Empty if no target is known."""
    target_computes: str
    """``exact`` or ``pairs``."""
    saturating_operators: int | None
    """Operators that ``pairs`` kernels may saturate; null if unknown."""
    differs: bool
    """Results differ between this machine and the target."""
    not_measured: str
    """Why there are no results as the target computes; empty if there are, or if they do not differ."""


class TaskResult(Wire, frozen=True, kw_only=True):
    """Result of a task, or the file it wrote."""

    lines: list[str]
    """Summary as text."""
    label: str
    """Label of ``values``."""
    unit: str
    values: dict[str, float]
    """Numbers by node id, for the heatmap."""
    layers: list[TaskLayer]
    """Most sensitive first."""
    path: str
    """Name of the written file, in the model's folder."""
    times: TaskTimes | None = None
    """For ``measure`` and ``profile``."""
    verification: TaskVerification | None = None
    """For ``verify``."""
    kernels: TaskIntegerKernels | None = None
    """For ``verify`` and ``quantize``; null without integer products."""
    accuracies: list[TaskAccuracy] = []
    """For ``verify`` and ``quantize``: the outputs."""


class Task(Wire, frozen=True, kw_only=True):
    """State of a task. ``state``: queued, running, done, failed, cancelled."""

    id: str
    kind: str
    state: str
    step: str
    done: int
    total: int
    """0 if unknown."""
    problem: Problem | None
    result: TaskResult | None
