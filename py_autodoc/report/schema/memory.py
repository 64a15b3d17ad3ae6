"""Memory: curve, peak, weights, activations and KV cache. Bytes throughout."""

from __future__ import annotations

from py_autodoc.report.schema.wire import DimValue, Wire


class MemoryTensor(Wire, frozen=True, kw_only=True):
    """A piece of memory in use at the peak, and the tensor it holds.

    A step is the execution of one node, in execution order, without Constant nodes; a tensor of a subgraph
    counts the steps of that subgraph.
    """

    name: str
    """Name of the tensor; if several share the memory, the last one produced."""
    elem_type: str
    """``float32`` …"""
    shape: list[DimValue] | None
    """Its shape."""
    bytes: int
    """Size of the memory."""
    node: int | None
    """Id of the layer that produces it, null for an input."""
    first_step: int
    """Step that produces it, -1 for an input."""
    last_step: int
    """Last step that uses it; the last step of all for tensors that stay live to the end."""
    sharing: int = 1
    """Live tensors in this memory: views, and tensors whose buffer was reused."""
    constant: bool = False
    """Computed from constants alone; a runtime may compute it once, before the first inference."""
    subgraph: str = ""
    """Its subgraph, if it is not in the main graph: ``If_3.then_branch``."""


class MemoryPeak(Wire, frozen=True, kw_only=True):
    """The moment with the most live bytes."""

    bytes: int
    """Live bytes."""
    step: int
    """Step of the main graph; -1 if the inputs alone are the peak."""
    nodes: list[int]
    """Id of the layer that runs at the peak, followed by layers in its subgraph if the peak is there."""
    tensors: list[MemoryTensor]
    """Live tensors, largest first, at most 20."""
    others: int
    """Number of other live tensors."""
    others_bytes: int
    """Their bytes."""


class MemoryCurve(Wire, frozen=True, kw_only=True):
    """Live bytes over time, one entry per point.

    At most 256 points: a longer run is divided into 128 spans of equal length, each of which keeps the
    first step with its largest simple value and the first with its largest in-place value. Maxima are kept.
    """

    step: list[int]
    """Step of the point."""
    node: list[int]
    """Id of the layer that runs."""
    simple_bytes: list[int]
    """Live bytes without buffer reuse."""
    inplace_bytes: list[int]
    """Live bytes with buffer reuse (views and in-place operators)."""
    body_bytes: list[int]
    """Share of `inplace_bytes` held at most by the most expensive subgraph of the layer, 0 without one."""


class WeightTypeBytes(Wire, frozen=True, kw_only=True):
    """Constants of one element type."""

    elem_type: str
    """Element type as stored."""
    bits_per_weight: int | None
    """Set if several weights share a stored element: 4 for a MatMulNBits matrix in bytes."""
    tensors: int
    """Number of tensors; shared ones are counted once."""
    params: int | None
    """Parameters in them; null if the shape of one is impossible."""
    bytes: int | None
    """Stored bytes, 4-bit types packed; null if the size of one is unknown."""


class WeightOpBytes(Wire, frozen=True, kw_only=True):
    """Constants by the operator of the first layer that uses them, skipping those that prepare them."""

    type: str
    """Operator, empty for unused constants."""
    tensors: int
    """Number of tensors; shared ones are counted once."""
    params: int | None
    """Parameters in them; null if the shape of one is impossible."""
    bytes: int | None
    """Stored bytes; null if the size of one is unknown."""


class SharedWeight(Wire, frozen=True, kw_only=True):
    """A weight that several layers use. It counts once, at the first of them."""

    name: str
    """Name of the tensor."""
    elem_type: str
    """``float32`` …"""
    shape: list[DimValue] | None
    params: int
    """Its parameters."""
    bytes: int | None
    """Stored bytes; null if unknown."""
    layers: list[int]
    """Ids of the layers that use it, past those that only prepare it (transpose, reshape, dequantize)."""
    layer_names: list[str]
    """Their names, in the same order."""


class LargeTensor(Wire, frozen=True, kw_only=True):
    """One of the largest tensors."""

    name: str
    """Name."""
    elem_type: str
    """Element type."""
    shape: list[DimValue] | None
    """Shape."""
    bytes: int
    """Size in bytes; for a weight as stored."""
    node: int | None
    """Id of the layer: the first that uses the weight, or the one that produces the activation; null if
    there is none."""


class WeightMemory(Wire, frozen=True, kw_only=True):
    """Bytes of all constants. Those that share storage count once."""

    bytes: int | None
    """All constants; null if the size of one is unknown."""
    inline_bytes: int | None
    """Inside the model file."""
    external_bytes: int | None
    """In external data files."""
    generated_bytes: int | None
    """Weights that the graph generates (ConstantOfShape), at their full size."""
    by_dtype: list[WeightTypeBytes]
    """By element type, heaviest first."""
    by_op: list[WeightOpBytes]
    """By operator, heaviest first."""
    largest: list[LargeTensor]
    """The 10 largest."""


class ActivationOpBytes(Wire, frozen=True, kw_only=True):
    """Outputs of the layers of one operator in one inference."""

    type: str
    """Operator."""
    count: int
    """Layers that run."""
    bytes: int | None
    """Bytes of their outputs over all runs; null if none is known."""
    unknown: int
    """Layers not included because the size of an output is unknown."""


class ActivationMemory(Wire, frozen=True, kw_only=True):
    """Bytes of all activations in one inference. They are not all live at the same time."""

    bytes: int | None
    """Bytes of all outputs; null if none is known."""
    unknown: int
    """Layers not included because the size of an output is unknown."""
    by_op: list[ActivationOpBytes]
    """By operator, heaviest first. A control-flow layer counts the outputs of its subgraph once more."""
    largest: list[LargeTensor]
    """The 10 largest activations, including graph inputs, without views."""


class KVCacheLayer(Wire, frozen=True, kw_only=True):
    """Cached keys and values of one attention layer. Null where unknown."""

    inputs: list[str]
    """Graph inputs that hold them; one if it holds both; none in an estimate."""
    node: int | None
    """Id of the layer that attends to them: the Softmax or the fused operator; null in an estimate."""
    kv_heads: int | None
    """Heads of keys and values."""
    head_dim: int | None
    """Size of a head of keys."""
    value_dim: int | None
    """Size of a head of values."""
    bytes_per_token: int | None
    """Bytes of one position."""
    positions: int | None
    """Positions of the full cache, if the file fixes them."""


class KVCacheInfo(Wire, frozen=True, kw_only=True):
    """Keys and values that a generative model keeps from token to token, for one sequence (batch 1).

    A value that differs between layers is null here and given in `layers`.
    """

    source: str
    """``inputs`` (measured on the graph's past inputs), ``estimated`` (from causal attention) or ``none``."""
    confidence: float | None
    """Between 0 and 1; null without a cache."""
    num_layers: int
    """Layers with their own cache."""
    kv_heads: int | None
    """Heads of keys and values."""
    head_dim: int | None
    """Size of a head of keys."""
    value_dim: int | None
    """Size of a head of values."""
    elem_type: str
    """Element type of the cache, empty when unknown."""
    sequence_axis: int | None
    """Axis of the positions in the graph inputs."""
    bytes_per_token: int | None
    """Bytes of one position over all layers."""
    context_length: int | None
    """Positions of the full cache."""
    context_bytes: int | None
    """Bytes of the full cache."""
    reason: str
    """Why there is no cache, or why bytes are null."""
    context_reason: str
    """Why the full size is null."""
    layers: list[KVCacheLayer]
    """Layer by layer, at most 200."""


class MemoryInfo(Wire, frozen=True, kw_only=True):
    """Memory of one inference: peak of the activations over time, weights, KV cache.

    The peak applies to the execution order of the file; another order of the same nodes may need more or
    less. The allocator of a runtime takes about 0.7 to 2.5 times as much.
    """

    peak: MemoryPeak | None
    """Peak with buffer reuse (views and in-place operators); null with a ``reason``."""
    peak_simple: MemoryPeak | None
    """Peak without buffer reuse."""
    reason: str
    """Why the peak is null."""
    steps: int
    """Steps of the main graph."""
    input_bytes: int | None
    """Bytes of the graph inputs, which are live before the first step."""
    curve: MemoryCurve | None
    """Live bytes over time; null if the peak is."""
    weights: WeightMemory | None
    """Bytes of the weights by kind; null if the stage failed."""
    activations: ActivationMemory | None
    """Bytes of the activations by kind; null if the stage failed."""
    kv_cache: KVCacheInfo | None
    """Cached keys and values; null if the stage failed."""
