"""What an estimated latency is made of: devices, constants and the kernels of a model."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire


class DevicePrice(Wire, frozen=True, kw_only=True):
    """What an hour of a device costs on the cheapest cloud instance with one: approximate, on demand."""

    usd_per_hour: float
    instance: str
    region: str
    date: str


class DeviceColumns(Wire, frozen=True, kw_only=True):
    """The devices that a latency can be estimated for, one entry a device: by vendor, then by name.

    A device of the caller's own comes last. Null is what nobody knows, never 0.
    """

    id: list[str]
    """As ``--hardware`` takes it."""
    name: list[str]
    vendor: list[str]
    category: list[str]
    """``datacenter``, ``workstation``, ``consumer``, ``laptop``, ``edge``, ``apple``, ``cpu``,
    ``cloud-asic``; ``custom`` for a device of the caller's own."""
    memory_bytes: list[int | None]
    usable_memory_fraction: list[float | None]
    """Share of the memory that a model may use, where it is less than all of it."""
    bandwidth_bytes_per_s: list[int]
    peaks: dict[str, list[int | None]]
    """Precision (``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8``, ``int8``) → FLOP/s by device, dense, sums
    in fp32 (``int8``: operations a second)."""
    sustained: list[float]
    """Share of the peaks that is held under load; 1 where neither measured nor limited by power."""
    units: list[int | None]
    """Multiprocessors (compute units) that tiles of a product are spread over."""
    l2_bytes: list[int | None]
    clock_hz: list[int | None]
    band: list[int]
    """Index into ``LatencyModel.bands``, in the precisions of ``LatencyModel.compared``."""
    confidence: list[str]
    """``high``: numbers confirmed by a source that was read; ``medium``: widely published; ``custom``."""
    measured: dict[str, list[float]] = {}
    """Index of a device → what was measured of a CPU in place of the constants of CPUs: the share of its peak
    that products, convolutions and convolutions by channel reach, the share of its bandwidth, and the seconds
    of one kernel."""
    watts: list[float | None] = []
    """Power of the board or module; empty in payloads of before."""
    prices: dict[str, DevicePrice] = {}
    """Index of a device → what an hour of it costs, where it can be rented."""


class LatencyBand(Wire, frozen=True, kw_only=True):
    """How far an estimate may be off."""

    low: float
    """Factor on the estimate: most measured times are not below."""
    high: float
    label: str
    """``estimate``, ``rough`` or ``order of magnitude``."""


class LatencyModel(Wire, frozen=True, kw_only=True):
    """The constants of the estimate; ``docs/hardware.md`` has the formula and where they come from."""

    gemm_e: float
    """Share of the peak that a product reaches, before ``tiles``."""
    gemm_k0: float
    """A sum over k terms reaches k / (k + gemm_k0)."""
    tiles: list[list[float]]
    """Rows and columns of a tile, its share of the peak."""
    utilisation_floor: float
    split_k_min: int
    """Fewest terms of a part when a sum is split because there are fewer tiles than units."""
    split_k_max: int
    """Most parts."""
    attention_e: float
    attention_rows: int
    """Rows of queries that one unit takes."""
    attention_precision: dict[str, str]
    """Precision → the one whose peak attention has, where that is another."""
    batched_e: float
    grouped_e: float
    grouped_k0: float
    grouped_step: int
    """Columns of a group are rounded up to a multiple of it."""
    depthwise_e: float
    """Of the fp32 peak."""
    memory_e: float
    l2_fraction: float
    """Activations of a kernel of at most this share of the L2 cache move at its speed."""
    l2_bytes_per_clock: float
    """By unit."""
    overhead_s: float
    """By kernel, on devices of unknown clock."""
    overhead_cycles: float
    """By kernel, in cycles of the device's clock."""
    issue_s: float
    """Seconds that the host takes to start a kernel, ahead of the device: the sum of these, or that of the
    kernels, counts, whichever is longer. 0: a plan is replayed. Not on CPUs."""
    recurrent_kernels: int
    """Kernels of each step of a recurrent layer, beside one for the inputs of all steps."""
    experts_kernels: int
    """Kernels of a mixture of experts: routing, two products, the sum."""
    experts_rows: int
    """Rows of an expert's product are rounded up to a multiple of it."""
    cpu_gemm_e: float
    """The next four stand in for the others on devices of category ``cpu``, without tiles and cache."""
    cpu_conv_e: float
    cpu_memory_e: float
    cpu_overhead_s: float
    widths: dict[str, int]
    """Precision → bytes of an element of a float tensor (16, 32 or 64 bits wide as stored); others keep
    their own."""
    bands: list[LatencyBand]
    """The better known the devices, the earlier."""
    compared: list[str]
    """Precisions in which estimates were compared with measured times: in others the band of a device is at
    least the second."""
    uncompared_share: float
    """So is it where more than this share of the time is in kernels of kinds 7 and 8, which were not."""


class RoutedKernels(Wire, frozen=True, kw_only=True):
    """Kernels of a mixture of experts whose sizes depend on where the router sends the tokens.

    T tokens (elements of ``router`` / its last axis E) go to c = ``chosen`` of E experts, spread evenly: of
    these a share of 1 − (1 − c / E)^T gets any, T · c / (E · share) each. That, rounded up, is the size of
    ``dims`` in kernels with MACs, which run ``share`` times; in the others it is T · c / E, rounded up.
    """

    router: int
    """Tensor of the routing: tokens × experts."""
    chosen: int
    """Experts that a token goes to."""
    dims: list[str]
    """Dimensions that are the tokens of one expert."""
    kernels: list[int]
    macs: list[int]
    """MACs a token, parallel to ``kernels``; 0: it moves memory."""
    depth: list[int]
    """k of a product: n = macs / depth, m are the tokens; else 0."""


class KernelColumns(Wire, frozen=True, kw_only=True):
    """What a fusing runtime runs as one: kernels of the main graph and of bodies, index = kernel id.

    ``read_offsets``/``reads`` and ``write_offsets``/``writes`` are tensor ids in CSR form.

    FLOPs of a kernel (kinds 1 to 8) are twice the MACs of all its nodes: an attention core has two products,
    and products of one tensor with several weights (queries, keys, values) run side by side in one kernel. Of
    these, ``product`` is the first; with ``macs`` those of the node that makes it:
    k = macs / elements of product, n = size of n_axis / groups · MACs of the kernel / macs,
    m = elements of product / size of n_axis (kinds 1 and 2).

    A kernel runs as often as its anchor (``nodes.runs``); where that is unknown, so is its time.
    """

    node: list[int]
    """By node: its kernel; -1: it runs nothing (a constant, a view, a branch that does not count)."""
    kind: list[int]
    """0 moves memory, 1 product (weights, or two dimensions), 2 convolution, 3 convolution in groups,
    4 convolution by channel, 5 product of batches, 6 attention core, 7 recurrent layer, 8 mixture of experts,
    -1 cannot be estimated."""
    anchor: list[int]
    """Node that carries the kernel's time; the others of the kernel run in it."""
    read_offsets: list[int]
    reads: list[int]
    """Tensors read from memory. Where only a part of a tensor is read (Gather, Slice), the output stands
    for the part."""
    write_offsets: list[int]
    writes: list[int]
    """Tensors written to memory: those that others read."""
    product: list[int]
    """Kinds 1 to 5: the tensor that the product writes, of batch × m × n elements. Kind 6: a tensor whose
    last axis but one runs over queries, and those before it over batch and heads. Kind 7: the input of the
    layer. Kind 8: the routing, tokens × experts. Else -1."""
    n_axis: list[int]
    """Axis of ``product`` that is n, from the front; of kind 7 that of the steps; -1 without a product."""
    groups: list[int]
    """Groups of a convolution: n is the size of ``n_axis`` over the groups. Kind 6: heads that are not an
    axis of ``product``. Kind 7: the hidden size. Kind 8: experts that a token goes to. Else 1."""
    routed: list[RoutedKernels] = []
    """Kernels whose sizes only a run can tell, and the spread of tokens that is assumed for them."""


class RuntimeKernels(Wire, frozen=True, kw_only=True):
    """What another runtime makes of the model: its kernels, and the constants that differ."""

    id: str
    """As ``--runtime`` takes it."""
    label: str
    overhead_s: float
    """This and the next three are as in ``LatencyModel``."""
    overhead_cycles: float
    issue_s: float
    compared: list[str]
    kernels: KernelColumns


class HardwarePart(Wire, frozen=True, kw_only=True):
    """All that an estimated latency is made of, for any device, precision and sizes."""

    devices: DeviceColumns
    model: LatencyModel
    kernels: KernelColumns
    stored: list[str]
    """Precisions to take when none is chosen, best first: that of the weights and activations as they are
    stored. The first one that the device has is taken; none: there is no estimate."""
    chosen: str
    """Id of a device, empty: none is chosen."""
    precision: str
    """Empty: as the model is stored."""
    runtime: str = "tensorrt"
    """What runs the model: ``kernels`` and ``model`` are its."""
    runtime_label: str = "TensorRT"
    runtimes: list[RuntimeKernels] = []
    """The other runtimes; empty where the model is so large that only one is told."""
