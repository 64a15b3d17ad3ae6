"""Roles of the graph's inputs: by who reads them first, their types and shapes, then by their names."""

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
"""What may stand between an input and the operator that tells what it is."""
_TABLES = frozenset({"Gather", "GatherBlockQuantized", "GatherElements"})
_SPECTRAL = frozenset({"STFT", "DFT", "MelWeightMatrix"})
_BYTE = 2
_INTS = frozenset({2, 3, 4, 5, 6, 7, 12, 13})
_FLOATS = frozenset({1, 10, 11, 16})
_CHANNELS = (3, 1, 4)
_ASIDE = frozenset({"Shape", "ReduceMean", "ReduceMax", "Size"})
"""Readers that do not hand the values on."""
_SMALLEST = 12
"""Rows and columns of an image, at least."""
_SURE_FROM = 16
"""Rows and columns from which nothing but an image is likely."""
_BANDS = frozenset({40, 64, 80, 96, 120, 128})
"""Usual numbers of mel bands."""
_FEW_BANDS = frozenset({40, 80, 128})
"""Those of rows of vectors, which may be anything of 64 or 96 numbers."""
_BINS = frozenset({129, 161, 201, 241, 257, 321, 481, 513, 769, 961, 1025, 2049})
"""Half of the usual frame lengths, and one."""
_FEW = 16
"""Tables of segment types have no more rows."""
_SIGNAL = 400
"""Samples of a signal, at least: 25 ms at 16 kHz."""
_RECORDING = 8000
"""Samples from which a signal that nothing names is taken for sound: other sensors are slower."""
_MAX = 64
_MAX_READERS = 96
_STRIDED = 160
"""Samples that the convolutions over a waveform make one frame of, at least: 10 ms at 16 kHz."""


class _Use(NamedTuple):
    """An operator that reads an input first."""

    op: str
    node: int
    place: int
    tensor: int


def input_ports(flow: DataflowGraph, structure: Structure) -> list[ModelPort]:
    """The inputs that a caller feeds, in the file's order, each with its role."""
    past = {tensor for layer in structure.attention for tensor in layer.past}
    fed = [t for t in flow.model.graphs[0].inputs if flow.model.tensors[t].kind == TensorKind.INPUT]
    return [_port(flow, tensor, past) for tensor in fed[: 4 * _MAX]]


def _port(flow: DataflowGraph, tensor: int, past: set[int]) -> ModelPort:
    about = flow.model.tensors[tensor]
    shape = flow.shapes[tensor]
    port = ModelPort(tensor, about.name, flow.types.dtypes[tensor] or about.dtype, shape, "")
    if not flow.readers[tensor]:
        return port  # nothing is made of it
    if tensor in past or _held(port):
        return replace(port, role="key/value cache")
    uses = first_uses(flow, tensor)
    for look in (_state, _called, _tokens, _image, _signal, _spectrum, _small, _mask, _other):
        found = look(flow, port, uses)
        if found is not None:
            return found
    return port


def _held(port: ModelPort) -> bool:
    """Keys and values of earlier positions by their name: the past values of a series have no heads."""
    parts = w.words(port.name)
    return "past" in parts and (port.rank < 0 or port.rank > 3 or bool(w.CACHED.intersection(parts)))


def first_uses(flow: DataflowGraph, tensor: int) -> list[_Use]:
    """The first operators that do more than prepare a tensor, nearest first. Bounded."""
    found: list[_Use] = []
    queue, seen = [tensor], {tensor}
    for held in queue:
        if len(queue) > _MAX:
            break
        for reader in flow.readers[held][:_MAX_READERS]:
            name = flow.op_types[reader]
            inputs = flow.nodes[reader].inputs
            if name in _PREPARING and not (name in ("Add", "Mul") and len(flow.data_inputs[reader]) > 2):
                if name == "Where" and inputs and inputs[0] == held:
                    found.append(_Use(name, reader, 0, held))
                    continue
                _follow(flow, reader, queue, seen)
            elif name == "Gather" and inputs[0] == held and len(inputs) > 1 and flow.constants[inputs[1]]:
                _follow(flow, reader, queue, seen)  # some of its rows are picked
            else:
                found.append(_Use(name, reader, inputs.index(held) if held in inputs else -1, held))
    return found


def _follow(flow: DataflowGraph, reader: int, queue: list[int], seen: set[int]) -> None:
    for made in flow.nodes[reader].outputs:
        if made >= 0 and made not in seen:
            seen.add(made)
            queue.append(made)


def _state(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """What a recurrent layer begins with, or what comes back as an output of the same size."""
    if port.dtype not in _FLOATS:
        return None
    begins = any(use.op in RECURRENT and use.place >= 5 for use in uses)
    inner = w.words(port.name)[-2:] == ("hidden", "states")  # of another model, or of another step
    if begins or (w.said(port.name, w.STATE) and not inner and _returned(flow, port)):
        return replace(port, role="state")
    return None


def _returned(flow: DataflowGraph, port: ModelPort) -> bool:
    """An output is of its size, or is a state by its name."""
    results = flow.model.graphs[0].outputs[:_MAX]
    return port.shape is not None and any(
        flow.shapes[t] == port.shape or w.said(flow.model.tensors[t].name, w.STATE) for t in results
    )


def _called(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Names that transformers gives inputs of one kind only."""
    shape = port.shape
    if shape is None or port.dtype not in _FLOATS or not uses:
        return None
    parts = w.words(port.name)
    if parts[-2:] == ("hidden", "states"):
        return replace(port, role="hidden states")
    if parts == ("input", "features") and len(shape) == 3:
        return replace(port, role="spectrogram")
    if parts == ("input", "values") and len(shape) in (2, 3):
        sound = len(shape) == 2 or shape[1] in (1, 2)
        return replace(port, role="waveform" if sound else "spectrogram", size=shape[-1:])
    return None


def _tokens(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Integers that are looked up in a table of learned rows."""
    if port.dtype not in _INTS or port.shape is None or len(port.shape) > 3:
        return None
    rows: list[int] = []
    for use in uses:
        inputs = flow.nodes[use.node].inputs
        table = -1
        if use.op in _TABLES and use.place == 1:
            table = inputs[0]
        elif use.op in _EMBEDDING and use.place in (0, 1):
            table = inputs[2 + 2 * use.place] if len(inputs) > 2 + 2 * use.place else -1
        shape = flow.shapes[table] if table >= 0 else None
        if shape is not None and len(shape) == 2 and flow.constants[table] and isinstance(shape[0], int):
            rows.append(shape[0])
        elif use.op == "OneHot" and use.place == 0:
            depth = flow.value(inputs[1])
            rows.append(int(depth.reshape(-1)[0]) if depth is not None and depth.size else 0)
        elif use.op == "Equal" and len(flow.data_inputs[use.node]) == 1:
            # One-hot rows by comparison with 0 … n-1.
            compared = [flow.shapes[t] for t in inputs if t >= 0 and flow.constants[t]]
            sizes = [d for s in compared if s is not None for d in s if isinstance(d, int) and d > _FEW]
            rows += sizes[:1]
    if not rows:
        return None
    if len(port.shape) == 3 and port.shape[-1] == 4 and len(rows) > 1:
        return replace(port, role="places on a page")
    parts = w.words(port.name)
    if "bytes" in parts:
        return replace(port, role="bytes")
    if "position" in parts or "positions" in parts:
        return replace(port, role="positions")
    most = max(rows)
    if 0 < most <= _FEW and (len(flow.model.graphs[0].inputs) > 1 or "type" in parts):
        return replace(port, role="token types")
    return replace(port, role="tokens", rows=most or None)


def _image(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Rows and columns of 1, 3 or 4 numbers, read by a convolution or cut into patches."""
    shape = port.shape
    if shape is None or len(shape) not in (3, 4) or port.dtype not in _FLOATS | {2, 4}:
        return None
    kernels = _kernels(flow, uses)
    flat = [k for k in kernels if len(k) == 4]
    named = w.said(port.name, w.IMAGE)
    if len(shape) == 3:
        # One image without a batch, as cameras give it.
        if shape[-1] not in (3, 4) or not (flat or named) or (port.dtype != 2 and not named):
            return None
        return replace(port, role="image", channels=_count(shape[-1]), size=shape[:2])
    if kernels and not flat:
        return None
    sides = ((1, shape[2:]), (3, shape[1:3]))
    channels, size = next(
        ((c, rest) for c in _CHANNELS for axis, rest in sides if shape[axis] == c and _wide(rest)), (None, ())
    )
    if channels is None and all(not isinstance(d, int) for d in shape[1:]) and flat:
        # All sizes are free: the kernels say how many channels there are.
        inner = flat[0][1]
        channels, size = (inner, shape[2:]) if inner in _CHANNELS else (None, ())
    if channels is None or not (
        flat or named or port.dtype == _BYTE or _cut_up(uses) or _greyed(channels, uses)
    ):
        return None
    if channels == 1 and not named and (w.said(port.name, w.SPECTRUM | w.AUDIO) or _frames_first(shape)):
        return None
    small = any(isinstance(d, int) and d < _SURE_FROM for d in size)
    sure = named or port.dtype == 2 or (channels == 3 and bool(flat or uses) and not small)
    return replace(port, role="image", channels=channels, size=tuple(size), sure=sure)


def _frames_first(shape: Shape) -> bool:
    """(B, 1, frames, bands): columns are a usual number of bands, and not as many as rows."""
    return shape[3] in _BANDS and shape[2] != shape[3]


def _cut_up(uses: list[_Use]) -> bool:
    """Patches that were cut by moving values about go into a product."""
    return any(use.place == 0 and use.op in ("MatMul", "Gemm") for use in uses)


def _greyed(channels: int, uses: list[_Use]) -> bool:
    """Its three colours are averaged first."""
    return channels == 3 and any(use.op == "ReduceMean" for use in uses)


def _wide(size: tuple[Dim, ...]) -> bool:
    return all(not isinstance(d, int) or d >= _SMALLEST for d in size)


def _count(dim: Dim) -> int | None:
    return dim if isinstance(dim, int) else None


def _kernels(flow: DataflowGraph, uses: list[_Use]) -> list[Shape]:
    """Shapes of the kernels that read an input first."""
    found = []
    for use in uses:
        inputs = flow.nodes[use.node].inputs
        at = 3 if use.op == "QLinearConv" else 1
        if use.op in CONV and use.place == 0 and len(inputs) > at:
            shape = flow.shapes[inputs[at]]
            group = flow.nodes[use.node].attributes.get("group", 1)
            if shape is not None and len(shape) > 2 and isinstance(shape[1], int) and isinstance(group, int):
                found.append((shape[0], shape[1] * group, *shape[2:]))
    return found


def _signal(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """A long row of samples: read by a convolution over one channel, a Fourier transform, or so named."""
    shape = port.shape
    if shape is None or port.dtype not in _FLOATS | {5} or not 1 <= len(shape) <= 3:
        return None
    rest = [d for d in shape[1:] if d != 1] if len(shape) > 1 else list(shape)
    if len(rest) > 1:
        rest = [d for d in rest if d != 2]  # stereo
    length = rest[0] if len(rest) == 1 else None
    if len(rest) != 1 or (isinstance(length, int) and length < _SIGNAL // 4):
        return None
    named = w.said(port.name, w.AUDIO) or _rated(flow)
    spectral = any(use.op in _SPECTRAL for use in uses)
    kernels = _kernels(flow, uses)
    line = any(k[1] == 1 and (len(k) == 3 or (len(k) == 4 and 1 in k[2:])) for k in kernels)
    framed = len(shape) <= 2 and not any(is_linear(flow, use.node) for use in uses[:4])
    long = not isinstance(length, int) or length >= _SIGNAL
    recorded = framed and isinstance(length, int) and length >= _RECORDING
    if not (spectral or line or recorded or (named and long)):
        return None
    sure = bool(named or spectral or (line and _frames(flow, uses) >= _STRIDED))
    role = "waveform" if sure or not isinstance(length, int) or length >= _RECORDING else "signal"
    return replace(port, role=role, channels=1, size=(length,), sure=sure)


def _rated(flow: DataflowGraph) -> bool:
    """The file says at which rate it is sampled, or asks for it."""
    names = [flow.model.tensors[t].name for t in flow.model.graphs[0].inputs[:_MAX]]
    keys = list(flow.model.metadata)[:_MAX]
    return any("".join(w.words(name)) in ("sr", "samplerate", "samplingrate") for name in (*names, *keys))


def _frames(flow: DataflowGraph, uses: list[_Use]) -> int:
    """Product of the strides of the chain of convolutions that begins with the first one."""
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
    """Bins of the Fourier transform of a usual frame, where only time and parts are beside them; 0 else."""
    rest = [d for d in (shape or ())[1:] if not isinstance(d, int) or d > 2]
    found = [d for d in rest if isinstance(d, int) and d in _BINS]
    return found[0] if len(found) == 1 and len(rest) <= 2 and len(shape or ()) in (2, 3, 4) else 0


def _spectrum(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Frames of frequency bands."""
    shape = port.shape
    if shape is None or port.dtype not in _FLOATS or len(shape) not in (3, 4):
        return None
    named = w.said(port.name, w.SPECTRUM | w.AUDIO)
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
    """The number of bands where it is a usual one: channels of a convolution over time, or the last axis."""
    if len(shape) == 4:
        return next((d for d in shape[:1:-1] if d in _BANDS), None)
    line = [k for k in _kernels(flow, uses) if len(k) == 3]
    if line:
        return next((d for d in shape[1:] if d in _FEW_BANDS and d == line[0][1]), None)
    return shape[-1] if shape[-1] in _FEW_BANDS else None


def _small(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """A number, or one for each item of the batch."""
    shape = port.shape
    if shape is None or len(shape) > 1:
        return None
    if w.said(port.name, w.STEP) or waves(uses):
        return replace(port, role="time step")
    if any(d != 1 for d in shape):
        return None
    if "".join(w.words(port.name)) in ("sr", "samplerate", "samplingrate"):
        return replace(port, role="sample rate")
    return replace(port, role="number")


def waves(uses: list[_Use]) -> bool:
    """Sines and cosines are taken of it, as of a time step (Vaswani et al., 2017, for positions)."""
    return {"Sin", "Cos"} <= {use.op for use in uses}


def _mask(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    if w.said(port.name, w.MASK):
        return replace(port, role="attention mask" if "attention" in w.words(port.name) else "mask")
    if w.said(port.name, w.LENGTH) and port.dtype in _INTS:
        return replace(port, role="lengths")
    if port.dtype not in _INTS or port.shape is None or len(port.shape) not in (2, 3, 4):
        return None
    computed = any(use.op in CONV or is_linear(flow, use.node) for use in uses)
    return None if computed else replace(port, role="mask", sure=False)


def _other(flow: DataflowGraph, port: ModelPort, uses: list[_Use]) -> ModelPort | None:
    """Hidden states of another model, rows of features."""
    shape = port.shape
    parts = w.words(port.name)
    if shape is None or port.dtype not in _FLOATS:
        return None
    if "hidden" in parts and "states" in parts:
        return replace(port, role="hidden states")
    if w.said(port.name, w.STEP):
        return replace(port, role="time step")
    if len(shape) == 5:
        return replace(port, role=_fifth(shape), sure=False)
    if len(shape) in (1, 2, 3):
        return replace(port, role="features", sure=len(shape) == 2)
    return None


def _fifth(shape: Shape) -> str:
    """What five axes hold: frames in three colours, one value for each place of a volume."""
    if 3 in (shape[1], shape[2], shape[4]):
        return "video"
    return "volume" if 1 in (shape[1], shape[4]) else "volume or video"
