"""Memory: curve, peak, weights, activations and KV cache. Bytes throughout."""

from __future__ import annotations

from py_autodoc.report.schema.wire import DimValue, Wire


class MemoryTensor(Wire, frozen=True, kw_only=True):
    """A piece of memory in use at the peak, and what it holds then.

    A step is the execution of one node, in execution order, Constant nodes left out; a tensor of a body
    counts the steps of its body.
    """

    name: str
    """Name of the tensor; of several in the same memory the one made last."""
    elem_type: str
    """``float32`` …"""
    shape: list[DimValue] | None
    """Its shape."""
    bytes: int
    """Size of the memory."""
    node: int | None
    """Id of the layer that makes it, null for an input."""
    first_step: int
    """Step that makes it, -1 for an input."""
    last_step: int
    """Last step that needs it; the last of all for what lives to the end."""
    sharing: int = 1
    """Living tensors in this memory: views and what was written over."""
    constant: bool = False
    """Computed from constants alone, which a runtime may do once, before the first inference."""
    subgraph: str = ""
    """Where it lives when that is not the main graph: ``If_3.then_branch``."""


class MemoryPeak(Wire, frozen=True, kw_only=True):
    """The moment with the most bytes alive."""

    bytes: int
    """Bytes alive."""
    step: int
    """Step of the main graph, -1: the inputs alone are the most."""
    nodes: list[int]
    """Id of the layer that runs then; followed by layers in its body, where the peak stands there."""
    tensors: list[MemoryTensor]
    """What is alive, largest first, at most 20."""
    others: int
    """How many more there are."""
    others_bytes: int
    """Their bytes."""


class MemoryCurve(Wire, frozen=True, kw_only=True):
    """Bytes alive over time, one entry a point.

    At most 256 points: a longer run is cut into 128 spans of equal length, each of which keeps the first
    step with its largest simple value and the first with its largest in-place value. Maxima are kept.
    """

    step: list[int]
    """Step of the point."""
    node: list[int]
    """Id of the layer that runs."""
    simple_bytes: list[int]
    """Bytes alive when every output has its own memory."""
    inplace_bytes: list[int]
    """Bytes alive with views and in-place reuse understood."""
    body_bytes: list[int]
    """Of these in place, what the costliest body of the layer holds at most, 0 without one."""


class WeightTypeBytes(Wire, frozen=True, kw_only=True):
    """Constants of one element type."""

    elem_type: str
    """Element type as stored."""
    bits_per_weight: int | None
    """Set where several weights share a stored element: 4 for a MatMulNBits matrix in bytes."""
    tensors: int
    """How many, shared ones counted once."""
    params: int | None
    """Parameters in them; null when the shape of one cannot be."""
    bytes: int | None
    """Stored bytes, 4-bit types packed; null when one has no known size."""


class WeightOpBytes(Wire, frozen=True, kw_only=True):
    """Constants by the operator of the first layer that uses them, past those that only prepare them."""

    type: str
    """Operator, empty for constants nobody uses."""
    tensors: int
    """How many, shared ones counted once."""
    params: int | None
    """Parameters in them; null when the shape of one cannot be."""
    bytes: int | None
    """Stored bytes; null when one has no known size."""


class LargeTensor(Wire, frozen=True, kw_only=True):
    """One of the largest tensors."""

    name: str
    """Name."""
    elem_type: str
    """Element type."""
    shape: list[DimValue] | None
    """Shape."""
    bytes: int
    """Size; of a weight as stored."""
    node: int | None
    """Id of the layer: the first that uses a weight, the one that makes an activation; null for none."""


class WeightMemory(Wire, frozen=True, kw_only=True):
    """What all constants weigh. Those that share storage count once."""

    bytes: int | None
    """All of them; null when one has no known size."""
    inline_bytes: int | None
    """Inside the model file."""
    external_bytes: int | None
    """In external data files."""
    generated_bytes: int | None
    """Weights that the graph makes itself (ConstantOfShape), at their full size."""
    by_dtype: list[WeightTypeBytes]
    """By element type, heaviest first."""
    by_op: list[WeightOpBytes]
    """By operator, heaviest first."""
    largest: list[LargeTensor]
    """The 10 largest."""


class ActivationOpBytes(Wire, frozen=True, kw_only=True):
    """What the layers of one operator produce in one inference."""

    type: str
    """Operator."""
    count: int
    """Layers that run."""
    bytes: int | None
    """Bytes of their outputs, as often as they run; null when none is known."""
    unknown: int
    """Layers left out because an output has no known size."""


class ActivationMemory(Wire, frozen=True, kw_only=True):
    """Bytes that pass through the model in one inference. Not all of them live at the same time."""

    bytes: int | None
    """Bytes of all outputs; null when none is known."""
    unknown: int
    """Layers left out because an output has no known size."""
    by_op: list[ActivationOpBytes]
    """By operator, heaviest first. A control-flow layer counts what it hands on from its body once more."""
    largest: list[LargeTensor]
    """The 10 largest activations, graph inputs included, views of another one left out."""


class KVCacheLayer(Wire, frozen=True, kw_only=True):
    """Cached keys and values of one attention layer. Null where unknown."""

    inputs: list[str]
    """Graph inputs that hold them, one where both are in it; none in an estimate."""
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
    """Positions it holds when full, where the file fixes them."""


class KVCacheInfo(Wire, frozen=True, kw_only=True):
    """Keys and values that a generating model keeps from token to token, for one sequence (batch 1).

    A size that differs among layers is null here and told by the layers.
    """

    source: str
    """``inputs`` (measured on the graph's past inputs), ``estimated`` (from causal attention) or ``none``."""
    confidence: float | None
    """Between 0 and 1; null without a cache."""
    num_layers: int
    """Layers with a cache of their own."""
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
    """Memory of one inference: the activations' peak over time, weights, KV cache.

    The peak belongs to the execution order of the file; another order of the same nodes may need more
    or less. A runtime's allocator takes about 0.7 to 2.5 times as much.
    """

    peak: MemoryPeak | None
    """With views and in-place reuse understood; null with a ``reason``."""
    peak_simple: MemoryPeak | None
    """When every output has its own memory."""
    reason: str
    """Why the peak is null."""
    steps: int
    """Steps of the main graph."""
    input_bytes: int | None
    """Bytes of the graph inputs, alive before the first step."""
    curve: MemoryCurve | None
    """Bytes alive over time; null like the peak."""
    weights: WeightMemory | None
    """Where the bytes of the weights are; null when the stage failed."""
    activations: ActivationMemory | None
    """Where the bytes of the activations are; null when the stage failed."""
    kv_cache: KVCacheInfo | None
    """Cached keys and values; null when the stage failed."""
