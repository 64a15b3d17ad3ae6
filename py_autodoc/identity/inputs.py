"""Roles of graph inputs: from their first consumers, types and shapes, then from their names."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import CONV, COPY_OR_LAYOUT_OPS, NORMS, RECURRENT, is_linear
from py_autodoc.blocks.results import Structure
from py_autodoc.graph.ir.model import Dim, Shape, TensorKind
from py_autodoc.identity import words as w
from py_autodoc.identity.model import ModelPort

_ARITHMETIC = frozenset({
    "Sub", "Mul", "Div", "Add", "Pad", "Resize", "Upsample", "Slice", "Split", "Clip", "Concat", "Neg",
    "Sqrt", "Log", "Pow", "Abs", "Max", "Min", "Reciprocal", "SpaceToDepth", "ConstantPad", "Where", "Tanh",
    "DynamicQuantizeLinear", "Mod", "AveragePool",
})  # fmt: skip
_EMBEDDING = frozenset({"EmbedLayerNormalization", "QEmbedLayerNormalization"})
_PREPARING = (COPY_OR_LAYOUT_OPS | _ARITHMETIC | frozenset(NORMS)) - _EMBEDDING
"""Operators allowed between an input and the operator that determines its role."""
_TABLES = frozenset({"Gather", "GatherBlockQuantized", "GatherElements"})
_SPECTRAL = frozenset({"STFT", "DFT", "MelWeightMatrix"})
_BYTE = 2
_INTS = frozenset({2, 3, 4, 5, 6, 7, 12, 13})
_FLOATS = frozenset({1, 10, 11, 16})
_CHANNELS = (3, 1, 4)
_ASIDE = frozenset({"Shape", "ReduceMean", "ReduceMax", "Size"})
"""Consumers that do not pass the values on."""
_SMALLEST = 12
"""Minimum rows and columns of an image."""
_SURE_FROM = 16
"""Rows and columns from which an image is the only likely role."""
_BANDS = frozenset({40, 64, 80, 96, 120, 128})
"""Common numbers of mel bands."""
_FEW_BANDS = frozenset({40, 80, 128})
"""Common numbers of bands for rows of vectors, where 64 or 96 could be anything."""
_BINS = frozenset({129, 161, 201, 241, 257, 321, 481, 513, 769, 961, 1025, 2049})
"""Half of a common frame length, plus one."""
_MAX_TYPE_ROWS = 16
"""Maximum rows of a segment type table."""
_SIGNAL = 400
"""Minimum samples of a signal: 25 ms at 16 kHz."""
_RECORDING = 8000
"""Minimum samples of an unnamed signal that counts as audio; other sensors are slower."""
_MAX = 64
_MAX_READERS = 96
_STRIDED = 160
"""Minimum samples per frame of the convolutions over a waveform: 10 ms at 16 kHz."""


class _Use(NamedTuple):
    """A first operator that reads an input."""

    op: str
    node: int
    input_index: int
    tensor: int


def input_ports(flow: DataflowGraph, structure: Structure) -> list[ModelPort]:
    """Return the inputs that a caller provides, in file order, with their roles."""
    past = {tensor for layer in structure.attention for tensor in layer.past}
    graph_inputs = [t for t in flow.model.graphs[0].inputs if flow.model.tensors[t].kind == TensorKind.INPUT]
    return [_port(flow, tensor, past) for tensor in graph_inputs[: 4 * _MAX]]


def _port(flow: DataflowGraph, tensor: int, past: set[int]) -> ModelPort:
    info = flow.model.tensors[tensor]
    shape = flow.shapes[tensor]
    port = ModelPort(tensor, info.name, flow.types.dtypes[tensor] or info.dtype, shape, "")
    if not flow.readers[tensor]:
        return port  # unused
    if tensor in past or _is_cache(port):
        return replace(port, role="key/value cache")
    uses = first_uses(flow, tensor)
    for role_of in (_state, _by_name, _tokens, _image, _signal, _spectrum, _scalar, _mask, _other):
        role = role_of(flow, port, uses)
        if role is not None:
            return role
    return port


def _is_cache(port: ModelPort) -> bool:
    """True for cached keys and values by name; past values of a time series have no heads axis."""
    parts = w.words(port.name)
    return "past" in parts and (port.rank < 0 or port.rank > 3 or bool(w.CACHED.intersection(parts)))


def first_uses(flow: DataflowGraph, tensor: int) -> list[_Use]:
    """Return the first operators that do more than prepare a tensor, nearest first. Bounded."""
    uses: list[_Use] = []
    queue, seen = [tensor], {tensor}
    for source in queue:
        if len(queue) > _MAX:
            break
        for reader in flow.readers[source][:_MAX_READERS]:
            name = flow.op_types[reader]
            inputs = flow.nodes[reader].inputs
            if name in _PREPARING and not (name in ("Add", "Mul") and len(flow.data_inputs[reader]) > 2):
                if name == "Where" and inputs and inputs[0] == source:
                    uses.append(_Use(name, reader, 0, source))
                    continue
                _follow(flow, reader, queue, seen)
            elif name == "Gather" and inputs[0] == source and len(inputs) > 1 and flow.constants[inputs[1]]:
                _follow(flow, reader, queue, seen)  # selects some of its rows
            else:
                uses.append(_Use(name, reader, inputs.index(source) if source in inputs else -1, source))
    return uses


def _follow(flow: DataflowGraph, reader: int, queue: list[int], seen: set[int]) -> None:
    for output in flow.nodes[reader].outputs:
        if output >= 0 and output not in seen:
            seen.add(output)
            queue.append(output)


def _state(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Match the initial state of a recurrent layer, or an input returned as an output of equal size."""
    if port.dtype not in _FLOATS:
        return None
    begins = any(use.op in RECURRENT and use.input_index >= 5 for use in uses)
    inner = w.words(port.name)[-2:] == ("hidden", "states")  # hidden states of another model or step
    if begins or (w.contains_word(port.name, w.STATE) and not inner and _returned(flow, port)):
        return replace(port, role="state")
    return None


def _returned(flow: DataflowGraph, port: ModelPort) -> bool:
    """True if an output has the same size, or is a state by its name."""
    results = flow.model.graphs[0].outputs[:_MAX]
    return port.shape is not None and any(
        flow.shapes[t] == port.shape or w.contains_word(flow.model.tensors[t].name, w.STATE) for t in results
    )


def _by_name(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Match names that transformers uses for one kind of input only."""
    shape = port.shape
    if shape is None or port.dtype not in _FLOATS or not uses:
        return None
    parts = w.words(port.name)
    if parts[-2:] == ("hidden", "states"):
        return replace(port, role="hidden states")
    if parts == ("input", "features") and len(shape) in (3, 4):
        return replace(port, role="spectrogram")
    if parts == ("input", "values") and len(shape) in (2, 3):
        sound = len(shape) == 2 or shape[1] in (1, 2)
        return replace(port, role="waveform" if sound else "spectrogram", size=shape[-1:])
    return None


def _tokens(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Match integers that index a table of learned rows."""
    if port.dtype not in _INTS or port.shape is None or len(port.shape) > 3:
        return None
    rows: list[int] = []
    for use in uses:
        inputs = flow.nodes[use.node].inputs
        table = -1
        if use.op in _TABLES and use.input_index == 1:
            table = inputs[0]
        elif use.op in _EMBEDDING and use.input_index in (0, 1):
            table = inputs[2 + 2 * use.input_index] if len(inputs) > 2 + 2 * use.input_index else -1
        shape = flow.shapes[table] if table >= 0 else None
        if shape is not None and len(shape) == 2 and flow.constants[table] and isinstance(shape[0], int):
            rows.append(shape[0])
        elif use.op == "OneHot" and use.input_index == 0:
            depth = flow.value(inputs[1])
            rows.append(int(depth.reshape(-1)[0]) if depth is not None and depth.size else 0)
        elif use.op == "Equal" and len(flow.data_inputs[use.node]) == 1:
            # One-hot rows by comparison with 0 … n-1.
            compared = [flow.shapes[t] for t in inputs if t >= 0 and flow.constants[t]]
            sizes = [
                d for s in compared if s is not None for d in s if isinstance(d, int) and d > _MAX_TYPE_ROWS
            ]
            rows += sizes[:1]
    if not rows:
        return None
    if len(port.shape) == 3 and port.shape[-1] == 4 and len(rows) > 1:
        return replace(port, role="page positions")
    parts = w.words(port.name)
    if "bytes" in parts:
        return replace(port, role="bytes")
    if "position" in parts or "positions" in parts:
        return replace(port, role="positions")
    max_rows = max(rows)
    if 0 < max_rows <= _MAX_TYPE_ROWS and (len(flow.model.graphs[0].inputs) > 1 or "type" in parts):
        return replace(port, role="token types")
    return replace(port, role="tokens", rows=max_rows or None)


def _image(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Match rows and columns of 1, 3 or 4 channels, read by a convolution or cut into patches."""
    shape = port.shape
    if shape is None or len(shape) not in (3, 4) or port.dtype not in _FLOATS | {2, 4}:
        return None
    kernels = _kernels(flow, uses)
    flat = [k for k in kernels if len(k) == 4]
    named = w.contains_word(port.name, w.IMAGE)
    if len(shape) == 3:
        # A single image without a batch, as from a camera.
        if shape[-1] not in (3, 4) or not (flat or named) or (port.dtype != 2 and not named):
            return None
        return replace(port, role="image", channels=_count(shape[-1]), size=shape[:2])
    if kernels and not flat:
        return None
    sides = ((1, shape[2:]), (3, shape[1:3]))
    channels, size = next(
        (
            (c, spatial)
            for c in _CHANNELS
            for axis, spatial in sides
            if shape[axis] == c and _is_wide(spatial)
        ),
        (None, ()),
    )
    if channels is None and all(not isinstance(d, int) for d in shape[1:]) and flat:
        # All dimensions are symbolic: the kernels determine the number of channels.
        inner = flat[0][1]
        channels, size = (inner, shape[2:]) if inner in _CHANNELS else (None, ())
    if channels is None or not (
        flat or named or port.dtype == _BYTE or _cut_up(uses) or _is_greyscale(channels, uses)
    ):
        return None
    if (
        channels == 1
        and not named
        and (w.contains_word(port.name, w.SPECTRUM | w.AUDIO) or _frames_first(shape))
    ):
        return None
    small = any(isinstance(d, int) and d < _SURE_FROM for d in size)
    is_sure = named or port.dtype == 2 or (channels == 3 and bool(flat or uses) and not small)
    return replace(port, role="image", channels=channels, size=tuple(size), sure=is_sure)


def _frames_first(shape: Shape) -> bool:
    """True for (B, 1, frames, bands) with a common number of bands that differs from the rows."""
    return shape[3] in _BANDS and shape[2] != shape[3]


def _cut_up(uses: list[_Use]) -> bool:
    """True if patches, cut by data movement, feed a product."""
    return any(use.input_index == 0 and use.op in ("MatMul", "Gemm") for use in uses)


def _is_greyscale(channels: int, uses: list[_Use]) -> bool:
    """True if the three colours are averaged first."""
    return channels == 3 and any(use.op == "ReduceMean" for use in uses)


def _is_wide(size: tuple[Dim, ...]) -> bool:
    return all(not isinstance(d, int) or d >= _SMALLEST for d in size)


def _count(dim: Dim) -> int | None:
    return dim if isinstance(dim, int) else None


def _kernels(flow: DataflowGraph, uses: list[_Use]) -> list[Shape]:
    """Return the shapes of the kernels that read an input first."""
    kernels = []
    for use in uses:
        inputs = flow.nodes[use.node].inputs
        at = 3 if use.op == "QLinearConv" else 1
        if use.op in CONV and use.input_index == 0 and len(inputs) > at:
            shape = flow.shapes[inputs[at]]
            group = flow.nodes[use.node].attributes.get("group", 1)
            if shape is not None and len(shape) > 2 and isinstance(shape[1], int) and isinstance(group, int):
                kernels.append((shape[0], shape[1] * group, *shape[2:]))
    return kernels


def _signal(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Match a long row of samples, by name, or read by a 1-channel convolution or a Fourier transform."""
    shape = port.shape
    if shape is None or port.dtype not in _FLOATS | {5} or not 1 <= len(shape) <= 3:
        return None
    wide_dims = [d for d in shape[1:] if d != 1] if len(shape) > 1 else list(shape)
    if len(wide_dims) > 1:
        wide_dims = [d for d in wide_dims if d != 2]  # stereo
    length = wide_dims[0] if len(wide_dims) == 1 else None
    if len(wide_dims) != 1 or (isinstance(length, int) and length < _SIGNAL // 4):
        return None
    named = w.contains_word(port.name, w.AUDIO) or _has_rate(flow)
    spectral = any(use.op in _SPECTRAL for use in uses)
    kernels = _kernels(flow, uses)
    line = any(k[1] == 1 and (len(k) == 3 or (len(k) == 4 and 1 in k[2:])) for k in kernels)
    framed = len(shape) <= 2 and not any(is_linear(flow, use.node) for use in uses[:4])
    long = not isinstance(length, int) or length >= _SIGNAL
    recorded = framed and isinstance(length, int) and length >= _RECORDING
    if not (spectral or line or recorded or (named and long)):
        return None
    is_sure = bool(named or spectral or (line and _frames(flow, uses) >= _STRIDED))
    role = "waveform" if is_sure or not isinstance(length, int) or length >= _RECORDING else "signal"
    return replace(port, role=role, channels=1, size=(length,), sure=is_sure)


def _has_rate(flow: DataflowGraph) -> bool:
    """True if the file states a sampling rate or has an input for it."""
    names = [flow.model.tensors[t].name for t in flow.model.graphs[0].inputs[:_MAX]]
    keys = list(flow.model.metadata)[:_MAX]
    return any("".join(w.words(name)) in ("sr", "samplerate", "samplingrate") for name in (*names, *keys))


def _frames(flow: DataflowGraph, uses: list[_Use]) -> int:
    """Return the product of the strides in the chain of convolutions after the input."""
    node = next((use.node for use in uses if use.op in CONV), -1)
    total = 1
    for _ in range(4 * _MAX):
        if node < 0:
            break
        if flow.op_types[node] in CONV:
            strides = flow.nodes[node].attributes.get("strides")
            if isinstance(strides, (list, tuple)):
                total *= max((s for s in strides if isinstance(s, int)), default=1)
        elif flow.op_types[node] in ("MatMul", "Gemm", "Softmax"):
            break
        readers = flow.readers[flow.first_outputs[node]] if flow.first_outputs[node] >= 0 else ()
        node = next((reader for reader in readers if flow.op_types[reader] not in _ASIDE), -1)
    return total


def bins(shape: Shape | None) -> int:
    """Return the Fourier bins of a common frame length if only time and parts are other axes; else 0."""
    wide_dims = [d for d in (shape or ())[1:] if not isinstance(d, int) or d > 2]
    bin_counts = [d for d in wide_dims if isinstance(d, int) and d in _BINS]
    return (
        bin_counts[0] if len(bin_counts) == 1 and len(wide_dims) <= 2 and len(shape or ()) in (2, 3, 4) else 0
    )


def _spectrum(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Match frames of frequency bands."""
    shape = port.shape
    if shape is None or port.dtype not in _FLOATS or len(shape) not in (3, 4):
        return None
    named = w.contains_word(port.name, w.SPECTRUM | w.AUDIO)
    bands = _bands(flow, shape, uses)
    whisper = len(shape) == 3 and shape[1] in (80, 128) and shape[2] == 3000
    features = "features" in w.words(port.name) and len(shape) == 3
    if not (named or whisper or (bands is not None and (len(shape) == 3 or shape[1] == 1)) or features):
        return None
    read = any(use.op in CONV or use.op in RECURRENT or is_linear(flow, use.node) for use in uses)
    if not read and not named:
        return None
    return replace(port, role="spectrogram" if named or bands else "features", sure=named or whisper)


def _bands(flow: DataflowGraph, shape: Shape, uses: list[_Use]) -> Dim:
    """Return a common number of bands: channels of a convolution over time, or the last axis."""
    if len(shape) == 4:
        return next((d for d in shape[:1:-1] if d in _BANDS), None)
    line = [k for k in _kernels(flow, uses) if len(k) == 3]
    if line:
        return next((d for d in shape[1:] if d in _FEW_BANDS and d == line[0][1]), None)
    return shape[-1] if shape[-1] in _FEW_BANDS else None


def _scalar(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Match a scalar, or one number per batch item."""
    shape = port.shape
    if shape is None or len(shape) > 1:
        return None
    if w.contains_word(port.name, w.STEP) or waves(uses):
        return replace(port, role="time step")
    if any(d != 1 for d in shape):
        return None
    if "".join(w.words(port.name)) in ("sr", "samplerate", "samplingrate"):
        return replace(port, role="sample rate")
    return replace(port, role="number")


def waves(uses: list[_Use]) -> bool:
    """True if sines and cosines are computed, as for a time step (positions in Vaswani et al., 2017)."""
    return {"Sin", "Cos"} <= {use.op for use in uses}


def _mask(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    if w.contains_word(port.name, w.MASK):
        return replace(port, role="attention mask" if "attention" in w.words(port.name) else "mask")
    if w.contains_word(port.name, w.LENGTH) and port.dtype in _INTS:
        return replace(port, role="lengths")
    if port.dtype not in _INTS or port.shape is None or len(port.shape) not in (2, 3, 4):
        return None
    computed = any(use.op in CONV or is_linear(flow, use.node) for use in uses)
    return None if computed else replace(port, role="mask", sure=False)


def _other(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Match hidden states of another model, or rows of features."""
    shape = port.shape
    parts = w.words(port.name)
    if shape is None or port.dtype not in _FLOATS:
        return None
    if "hidden" in parts and "states" in parts:
        return replace(port, role="hidden states")
    if w.contains_word(port.name, w.STEP):
        return replace(port, role="time step")
    if len(shape) == 5:
        return replace(port, role=_five_axes(shape), sure=False)
    if len(shape) in (1, 2, 3):
        return replace(port, role="features", sure=len(shape) == 2)
    return None


def _five_axes(shape: Shape) -> str:
    """Return the content of five axes: frames in three colours, or one value per voxel."""
    if 3 in (shape[1], shape[2], shape[4]):
        return "video"
    return "volume" if 1 in (shape[1], shape[4]) else "volume or video"
