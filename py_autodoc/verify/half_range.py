"""Values of a float16 model outside the range of float16.

ONNX Runtime's CPU kernels keep float32 between operators, so that a value beyond 65,504 passes unseen on a
CPU and is infinite on a GPU. A copy of the model in float32, with the weights of the float16 file, shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, numpy_helper

from py_autodoc.errors import AutodocError
from py_autodoc.graph.ir.model import TensorKind
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.ort import LARGEST, open_session, read_model, run_session, weight_bytes
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.samples import Sample
from py_autodoc.verify.capture import groups

LARGEST_HALF = float(np.finfo(np.float16).max)
VANISHES = 2.0**-25
"""Magnitudes up to half of the smallest subnormal, 2^-24, become 0."""
_SAMPLES = 8
"""Maximum number of samples that are run."""
_LISTED = 50
_TYPE_ATTRIBUTES = frozenset({"to", "dtype", "output_dtype", "stash_type"})
_DIVISORS = {"Div": 1, "Reciprocal": 0, "Log": 0}
"""Operator → input for which a value that becomes 0 gives infinity."""


class OutOfRange(msgspec.Struct, frozen=True, kw_only=True):
    """A float16 tensor with values outside the range."""

    node: str
    """Node that computes it, or its output if the node has no name."""
    op: str
    readers: list[str]
    """Nodes that read it."""
    tensor: str
    magnitude: float
    """The largest in float32; of a divisor with values that become 0, the smallest."""


class HalfRange(msgspec.Struct, frozen=True, kw_only=True):
    """Float16 tensors of the main graph, measured in float32 on some samples."""

    tensors: int
    """Number of measured tensors."""
    samples: int
    overflows: list[OutOfRange] = []
    """Tensors with values beyond 65,504, in execution order; at most 50."""
    vanishing: list[OutOfRange] = []
    """Tensors whose values all become 0, or with some that do before a division; at most 50."""
    not_measured: str = ""
    """Why nothing was measured; else empty."""


@dataclass(slots=True)
class _Seen:
    largest: float = 0.0
    smallest: float = field(default=np.inf)

    def add(self, values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> None:
        magnitudes = np.abs(values)
        finite = magnitudes[np.isfinite(magnitudes)]
        if finite.size:
            self.largest = max(self.largest, float(finite.max()))
            positive = finite[finite > 0]
            self.smallest = min(self.smallest, float(positive.min()) if positive.size else np.inf)


def half_range(path: PathLike, analysis: Analysis, samples: Sequence[Sample]) -> HalfRange | None:
    """Measure the float16 tensors of a model. None: it has none.

    Args:
        path: the model with its weights.
        analysis: its analysis with all dimensions known.
        samples: values of the inputs; the first 8 are run.
    """
    model, types = analysis.model, analysis.types
    half = {
        tensor.name: tensor.id
        for tensor in model.tensors
        if tensor.graph == 0
        and tensor.kind == TensorKind.ACTIVATION
        and types.dtypes[tensor.id] == TensorProto.FLOAT16
    }
    if not half:
        return None
    try:
        proto = read_model(path, weights=True)
        if 2 * weight_bytes(proto.graph) > LARGEST - (64 << 20):
            return HalfRange(tensors=0, samples=0, not_measured="a copy in float32 has more than 2 GB")
        widen(proto)
        produced = [name for node in proto.graph.node for name in node.output if name in half]
        seen = _measured(path, proto, produced, [_bytes(analysis, half[name]) for name in produced], samples)
    except AutodocError as error:
        return HalfRange(tensors=0, samples=0, not_measured=f"a copy in float32 does not run: {error}")
    divisors = {
        node.input[_DIVISORS[node.op_type]]
        for node in proto.graph.node
        if node.op_type in _DIVISORS and len(node.input) > _DIVISORS[node.op_type]
    }
    readers: dict[str, list[str]] = {}
    for node in proto.graph.node:
        for name in dict.fromkeys(node.input):
            readers.setdefault(name, []).append(node.name or node.output[0])
    overflows, vanishing = list[OutOfRange](), list[OutOfRange]()
    for node in proto.graph.node:
        for name in node.output:
            if name not in seen:
                continue
            one = seen[name]
            found = OutOfRange(
                node=node.name or name,
                op=node.op_type,
                readers=readers.get(name, []),
                tensor=name,
                magnitude=one.largest,
            )
            if one.largest > LARGEST_HALF:
                overflows.append(found)
            elif 0 < one.largest <= VANISHES:
                vanishing.append(found)
            elif name in divisors and one.smallest <= VANISHES:
                vanishing.append(msgspec.structs.replace(found, magnitude=one.smallest))
    return HalfRange(
        tensors=len(seen),
        samples=min(len(samples), _SAMPLES),
        overflows=overflows[:_LISTED],
        vanishing=vanishing[:_LISTED],
    )


def half_notes(found: HalfRange | None, way_out: str) -> Iterator[str]:
    """Yield a sentence for each kind of values out of range. ``way_out`` is what to do."""
    if found is None:
        return
    if found.not_measured:
        yield f"The range of float16 was not checked: {found.not_measured}."
    for tensors, text in (
        (found.overflows, "exceed the range of float16 (65,504) and become infinite on a GPU"),
        (found.vanishing, "are too small for float16 and become 0"),
    ):
        if tensors:
            names = ", ".join(f"{one.node[:80]} ({one.magnitude:.3g})" for one in tensors[:3])
            more = f" and {len(tensors) - 3} more" if len(tensors) > 3 else ""
            yield f"Values of {names}{more} {text}. {way_out}"


def widen(model: onnx.ModelProto) -> None:
    """Turn all float16 types and weights of a model in memory into float32."""
    _widen_graph(model.graph)
    for function in model.functions:
        _widen_nodes(function.node)


def _widen_graph(graph: onnx.GraphProto) -> None:
    for values in (graph.input, graph.output, graph.value_info):
        for value in values:
            _widen_type(value.type)
    for tensor in graph.initializer:
        _widen_tensor(tensor)
    for sparse in graph.sparse_initializer:
        _widen_tensor(sparse.values)
    _widen_nodes(graph.node)


def _widen_nodes(nodes: Sequence[onnx.NodeProto]) -> None:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.INT:
                if attribute.name in _TYPE_ATTRIBUTES and attribute.i == TensorProto.FLOAT16:
                    attribute.i = TensorProto.FLOAT
            elif attribute.type == AttributeProto.TENSOR:
                _widen_tensor(attribute.t)
            elif attribute.type == AttributeProto.GRAPH:
                _widen_graph(attribute.g)
            elif attribute.type == AttributeProto.GRAPHS:
                for graph in attribute.graphs:
                    _widen_graph(graph)


def _widen_type(declared: onnx.TypeProto) -> None:
    kind = declared.WhichOneof("value")
    if kind == "tensor_type" and declared.tensor_type.elem_type == TensorProto.FLOAT16:
        declared.tensor_type.elem_type = TensorProto.FLOAT
    elif kind in ("sequence_type", "optional_type"):
        _widen_type(getattr(declared, kind).elem_type)


def _widen_tensor(tensor: onnx.TensorProto) -> None:
    if tensor.data_type == TensorProto.FLOAT16:
        values = numpy_helper.to_array(tensor).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


def _bytes(analysis: Analysis, tensor: int) -> int:
    """Return the bytes of a tensor in float32; 0 if a dimension is unknown."""
    size = 4
    for extent in analysis.types.shapes[tensor] or (0,):
        size *= extent if isinstance(extent, int) else 0
    return size


def _measured(
    path: PathLike,
    proto: onnx.ModelProto,
    names: Sequence[str],
    sizes: Sequence[int],
    samples: Sequence[Sample],
) -> dict[str, _Seen]:
    """Return the magnitudes of tensors over the samples. Raises: AnalysisError."""
    float_inputs = {
        value.name for value in proto.graph.input if value.type.tensor_type.elem_type == TensorProto.FLOAT
    }
    seen = {name: _Seen() for name in names}
    outputs = list(proto.graph.output)
    for group in groups(sizes):
        wanted = [names[index] for index in group]
        del proto.graph.output[:]
        proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
        session = open_session(path, "The range of float16", proto=proto, fuse=False)
        for sample in samples[:_SAMPLES]:
            feeds = {
                name: value.astype(np.float32) if name in float_inputs else value
                for name, value in sample.items()
            }
            results = run_session(session, wanted, feeds, base_name(path))
            for name, values in zip(wanted, results, strict=True):
                seen[name].add(values)
    del proto.graph.output[:]
    proto.graph.output.extend(outputs)
    return seen
