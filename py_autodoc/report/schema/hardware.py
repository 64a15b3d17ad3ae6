"""Inputs of a latency estimate: devices, constants and the kernels of a model."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire


class DevicePrice(Wire, frozen=True, kw_only=True):
    """Hourly cost of a device on the cheapest cloud instance with it: approximate, on demand."""

    usd_per_hour: float
    instance: str
    region: str
    date: str


class DeviceColumns(Wire, frozen=True, kw_only=True):
    """The devices that latency can be estimated for, one entry per device, by vendor, then by name.

    A custom device comes last. Null is unknown, never 0.
    """

    id: list[str]
    """Id for ``--hardware``."""
    name: list[str]
    vendor: list[str]
    category: list[str]
    """``datacenter``, ``workstation``, ``consumer``, ``laptop``, ``edge``, ``apple``, ``cpu``,
    ``cloud-asic``; ``custom`` for a custom device."""
    memory_bytes: list[int | None]
    usable_memory_fraction: list[float | None]
    """Share of the memory that a model may use, if not all of it."""
    bandwidth_bytes_per_s: list[int]
    peaks: dict[str, list[int | None]]
    """Precision (``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8``, ``int8``) → FLOP/s by device, dense, with
    accumulation in fp32 (``int8``: operations per second)."""
    sustained: list[float]
    """Share of the peaks sustained under load; 1 if neither measured nor limited by power."""
    units: list[int | None]
    """Multiprocessors (compute units) across which the tiles of a product are distributed."""
    l2_bytes: list[int | None]
    clock_hz: list[int | None]
    band: list[int]
    """Index into ``LatencyModel.bands``, for the precisions in ``LatencyModel.compared``."""
    confidence: list[str]
    """``high``: figures confirmed by a source; ``medium``: widely published figures; ``custom``."""
    measured: dict[str, list[float]] = {}
    """Index of a device → measured values of a CPU that replace the constants of CPUs: the share of its peak
    that products, convolutions and depthwise convolutions reach, the share of its bandwidth, and the seconds
    per kernel."""
    watts: list[float | None] = []
    """Power of the board or module; empty in payloads of older versions."""
    prices: dict[str, DevicePrice] = {}
    """Index of a device → its hourly price, if it can be rented."""


class LatencyBand(Wire, frozen=True, kw_only=True):
    """Likely error of an estimate."""

    low: float
    """Factor on the estimate: most measured times are not lower."""
    high: float
    label: str
    """``estimate``, ``rough`` or ``order of magnitude``."""


class LatencyModel(Wire, frozen=True, kw_only=True):
    """The constants of the estimate; formula and sources are in ``docs/hardware.md``."""

    gemm_e: float
    """Share of the peak that a matrix product reaches, before ``tiles``."""
    gemm_k0: float
    """A sum over k terms reaches the share k / (k + gemm_k0)."""
    tiles: list[list[float]]
    """Rows and columns of a tile, and its share of the peak."""
    utilisation_floor: float
    split_k_min: int
    """Minimum number of terms per part if a sum is split because there are fewer tiles than units."""
    split_k_max: int
    """Maximum number of parts."""
    attention_e: float
    attention_rows: int
    """Query rows processed by one unit."""
    attention_precision: dict[str, str]
    """Precision → precision whose peak applies to attention, if different."""
    batched_e: float
    grouped_e: float
    grouped_k0: float
    grouped_step: int
    """Columns of a group are rounded up to a multiple of this."""
    depthwise_e: float
    """Share of the fp32 peak that depthwise convolutions reach."""
    memory_e: float
    l2_fraction: float
    """Activations of a kernel that take at most this share of the L2 cache move at its speed."""
    l2_bytes_per_clock: float
    """Per unit."""
    overhead_s: float
    """Per kernel, on devices with unknown clock."""
    overhead_cycles: float
    """Per kernel, in cycles of the device's clock."""
    issue_s: float
    """Seconds the host takes to launch a kernel, asynchronously: the longer of the sum of these and the sum
    of the kernel times counts. 0 if a plan is replayed. Not used for CPUs."""
    recurrent_kernels: int
    """Kernels per step of a recurrent layer, in addition to one for the inputs of all steps."""
    experts_kernels: int
    """Kernels of a mixture of experts: routing, two products, the sum."""
    experts_rows: int
    """Rows of an expert's product are rounded up to a multiple of this."""
    cpu_gemm_e: float
    """This and the next three replace the others on devices of category ``cpu``, without tiles and cache."""
    cpu_conv_e: float
    cpu_memory_e: float
    cpu_overhead_s: float
    widths: dict[str, int]
    """Precision → bytes per element of a float tensor (16, 32 or 64 bits wide as stored); other types keep
    theirs."""
    bands: list[LatencyBand]
    """Error bands, for the best-known devices first."""
    compared: list[str]
    """Precisions in which estimates were compared with measurements; in others the band of a device is at
    least the second."""
    uncompared_share: float
    """The same applies if kernels of kinds 7 and 8, which were not compared, exceed this share of time."""


class RoutedKernels(Wire, frozen=True, kw_only=True):
    """Kernels of a mixture of experts whose sizes depend on the routing of tokens.

    T tokens (elements of ``router`` / its last axis E) go to c = ``chosen`` of E experts, distributed evenly:
    a share of 1 − (1 − c / E)^T of the experts gets any, T · c / (E · share) each. Rounded up, that is the
    value of ``dims`` in kernels with MACs, which run ``share`` times; in the others it is T · c / E, rounded
    up.
    """

    router: int
    """Tensor with the routing: tokens × experts."""
    chosen: int
    """Number of experts per token."""
    dims: list[str]
    """Dimensions that count the tokens of one expert."""
    kernels: list[int]
    macs: list[int]
    """MACs per token, parallel to ``kernels``; 0 for kernels that only move memory."""
    depth: list[int]
    """k of a product: n = macs / depth, m is the number of tokens; else 0."""


class ElementKernel(Wire, frozen=True, kw_only=True):
    """What a CPU computes element by element: a time for each element of ``tensor``; once if that is -1."""

    kernel: int
    tensor: int
    picoseconds: int


class KernelColumns(Wire, frozen=True, kw_only=True):
    """The fused kernels of the main graph and of subgraphs, index = kernel id.

    ``read_offsets``/``reads`` and ``write_offsets``/``writes`` are tensor ids in CSR form.

    FLOPs of a kernel (kinds 1 to 8) are twice the MACs of all its nodes: an attention core has two products,
    and products of one tensor with several weights (queries, keys, values) run side by side in one kernel.
    ``product`` is the first of these; with the ``macs`` of its node:
    k = macs / elements of product, n = size of n_axis / groups · MACs of the kernel / macs,
    m = elements of product / size of n_axis (kinds 1 and 2).

    A kernel runs as often as its anchor (``nodes.runs``); if that is unknown, so is its time.
    """

    node: list[int]
    """By node: its kernel; -1 if it runs nothing (a constant, a view, an uncounted branch)."""
    kind: list[int]
    """0 memory movement, 1 product (weights, or two dimensions), 2 convolution, 3 grouped convolution,
    4 depthwise convolution, 5 batched product, 6 attention core, 7 recurrent layer, 8 mixture of experts,
    -1 cannot be estimated."""
    anchor: list[int]
    """Node that carries the kernel's time; the others of the kernel are fused into it."""
    read_offsets: list[int]
    reads: list[int]
    """Tensors read from memory. If only a part of a tensor is read (Gather, Slice), the output is listed
    instead of it."""
    write_offsets: list[int]
    writes: list[int]
    """Tensors written to memory: those used outside the kernel."""
    product: list[int]
    """Kinds 1 to 5: the tensor that the product writes, with batch × m × n elements. Kind 6: a tensor whose
    second-to-last axis is the queries, and the axes before it batch and heads. Kind 7: the input of the
    layer. Kind 8: the routing, tokens × experts. Else -1."""
    n_axis: list[int]
    """Axis of ``product`` that is n, from the front; for kind 7 the axis of the steps; -1 without one."""
    groups: list[int]
    """Groups of a convolution: n is the size of ``n_axis`` over the groups. Kind 6: heads that are not an
    axis of ``product``. Kind 7: the hidden size. Kind 8: experts per token. Else 1."""
    routed: list[RoutedKernels] = []
    """Kernels whose sizes depend on the data, with the assumed distribution of tokens."""
    by_element: list[ElementKernel] = []
    """What CPUs compute element by element, in addition to the FLOPs of the kernel; a kernel may be listed
    several times. Empty if it is not known for the runtime."""


class RuntimeKernels(Wire, frozen=True, kw_only=True):
    """Another runtime: its kernels for the model, and the constants that differ."""

    id: str
    """Id for ``--runtime``."""
    label: str
    overhead_s: float
    """This and the next three are as in ``LatencyModel``."""
    overhead_cycles: float
    issue_s: float
    compared: list[str]
    kernels: KernelColumns


class HardwarePart(Wire, frozen=True, kw_only=True):
    """Everything needed to estimate latency for any device, precision and dimensions."""

    devices: DeviceColumns
    model: LatencyModel
    kernels: KernelColumns
    stored: list[str]
    """Precisions to use if none is chosen, best first: those of the weights and activations as stored. The
    first one that the device has is used; without one there is no estimate."""
    chosen: str
    """Id of a device; empty if none is chosen."""
    precision: str
    """Empty: the stored precision."""
    runtime: str = "tensorrt"
    """Runtime of ``kernels`` and ``model``."""
    runtime_label: str = "TensorRT"
    runtimes: list[RuntimeKernels] = []
    """The other runtimes; empty if the model is too large to include them."""
