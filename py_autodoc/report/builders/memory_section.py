"""Analysis → ``MemoryInfo`` and the viewer's ``TimelineColumns``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from py_autodoc.costs.breakdown import ActivationShare, MemoryBreakdown, WeightShare
from py_autodoc.costs.kv_cache import KVCache
from py_autodoc.costs.params import Constant
from py_autodoc.costs.timeline import LiveBlock, PeakSnapshot, Timeline
from py_autodoc.report.builders.shared_parts import op_label
from py_autodoc.report.encode.labels import dtype_name, graph_label, shorten_middle, wire_shape
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import (
    ActivationMemory,
    ActivationOpBytes,
    KVCacheInfo,
    KVCacheLayer,
    LargeTensor,
    MemoryCurve,
    MemoryInfo,
    MemoryPeak,
    MemoryTensor,
    TimelineColumns,
    WeightMemory,
    WeightOpBytes,
    WeightTypeBytes,
)

K = TypeVar("K")
R = TypeVar("R", WeightShare, ActivationShare)
MAX_LIVE = 20
"""Maximum number of live tensors listed at the peak."""
MAX_CACHES = 200
"""Maximum number of layers listed of the KV cache."""


def memory_info(analysis: Analysis) -> MemoryInfo:
    """Return the memory section."""
    time, split, cache = analysis.timeline, analysis.breakdown, analysis.kv_cache
    return MemoryInfo(
        peak=_peak(analysis, time.at_peak) if time and time.at_peak else None,
        peak_simple=_peak(analysis, time.at_simple_peak) if time and time.at_simple_peak else None,
        reason=shorten_middle(time.peak.reason) if time else "the memory stage failed",
        steps=time.steps if time else 0,
        input_bytes=time.start if time and time.at_peak else None,
        curve=_curve(time) if time and time.at_peak else None,
        weights=_weights(analysis, split) if split else None,
        activations=_activations(analysis, split) if split and analysis.contradiction is None else None,
        kv_cache=_cache(analysis, cache) if cache else None,
    )


def timeline_columns(time: Timeline | None) -> TimelineColumns | None:
    """Return the full curve and all lifetimes, for the viewer."""
    if time is None:
        return None
    steps = sorted(time.bodies)
    return TimelineColumns(
        node=time.nodes,
        simple_bytes=time.simple,
        inplace_bytes=time.inplace,
        body_step=steps,
        body_simple_bytes=[time.bodies[step][0] for step in steps],
        body_inplace_bytes=[time.bodies[step][1] for step in steps],
        tensor_last=time.last,
        tensor_memory={str(tensor): reused for tensor, reused in time.memory.items()},
    )


def _peak(analysis: Analysis, snapshot: PeakSnapshot) -> MemoryPeak:
    omitted = snapshot.live[MAX_LIVE:]
    return MemoryPeak(
        bytes=snapshot.bytes,
        step=snapshot.step,
        nodes=list(snapshot.nodes),
        tensors=[_live_tensor(analysis, item) for item in snapshot.live[:MAX_LIVE]],
        others=len(omitted),
        others_bytes=sum(item.bytes for item in omitted),
    )


def _live_tensor(analysis: Analysis, item: LiveBlock) -> MemoryTensor:
    name, elem_type, shape = _tensor(analysis, item.tensor)
    return MemoryTensor(
        name=name,
        elem_type=elem_type,
        shape=shape,
        bytes=item.bytes,
        node=_id(item.producer),
        first_step=item.first,
        last_step=item.last,
        sharing=item.sharing,
        constant=item.folded,
        subgraph=graph_label(analysis.model, item.graph),
    )


def _tensor(analysis: Analysis, tensor: int) -> tuple[str, str, list[int | str | None] | None]:
    """Return name, element type and shape."""
    types, entry = analysis.types, analysis.model.tensors[tensor]
    dtype = types.dtypes[tensor] or entry.dtype
    return shorten_middle(entry.name), dtype_name(dtype), wire_shape(types.shapes[tensor])


def _id(node: int) -> int | None:
    return node if node >= 0 else None


def _curve(time: Timeline) -> MemoryCurve:
    points = time.points()
    return MemoryCurve(
        step=points,
        node=[time.nodes[step] for step in points],
        simple_bytes=[time.simple[step] for step in points],
        inplace_bytes=[time.inplace[step] for step in points],
        body_bytes=[time.bodies.get(step, (0, 0))[1] for step in points],
    )


def _weights(analysis: Analysis, split: MemoryBreakdown) -> WeightMemory:
    origin = split.by_origin
    return WeightMemory(
        bytes=analysis.params.weight_bytes,
        inline_bytes=origin["inline"].bytes,
        external_bytes=origin["external"].bytes,
        generated_bytes=origin["generated"].bytes,
        by_dtype=[
            WeightTypeBytes(
                elem_type=dtype_name(dtype),
                bits_per_weight=bits or None,
                tensors=share.tensors,
                params=share.params,
                bytes=share.bytes,
            )
            for (dtype, bits), share in _heaviest(split.by_dtype)
        ],
        by_op=[
            WeightOpBytes(type=op_label(*key), tensors=share.tensors, params=share.params, bytes=share.bytes)
            for key, share in _heaviest(split.by_op)
        ],
        largest=[_large_weight(analysis, constant) for constant in split.largest_weights],
    )


def _activations(analysis: Analysis, split: MemoryBreakdown) -> ActivationMemory:
    model = analysis.model
    return ActivationMemory(
        bytes=_total_or_zero(split.produced_total),
        unknown=split.produced_total.unknown,
        by_op=[
            ActivationOpBytes(type=op_label(*key), count=row.nodes, bytes=row.bytes, unknown=row.unknown)
            for key, row in _heaviest(split.produced)
        ],
        largest=[
            _large(analysis, tensor, analysis.sizes.bytes[tensor] or 0, model.tensors[tensor].producer)
            for tensor in split.largest_activations
        ],
    )


def _total_or_zero(total: ActivationShare) -> int | None:
    """Return the total; 0 for a model without nodes, which produces nothing."""
    return total.bytes if total.nodes else 0


def _heaviest(rows: Mapping[K, R]) -> list[tuple[K, R]]:
    """Sort by bytes, descending: unknown ones last, ties in their original order."""
    return sorted(rows.items(), key=lambda row: -1 if row[1].bytes is None else row[1].bytes, reverse=True)


def _large_weight(analysis: Analysis, constant: Constant) -> LargeTensor:
    return _large(analysis, constant.tensor, constant.bytes or 0, constant.node)


def _large(analysis: Analysis, tensor: int, size: int, node: int) -> LargeTensor:
    name, elem_type, shape = _tensor(analysis, tensor)
    return LargeTensor(name=name, elem_type=elem_type, shape=shape, bytes=size, node=_id(node))


def _cache(analysis: Analysis, cache: KVCache) -> KVCacheInfo:
    names = analysis.model.tensors
    return KVCacheInfo(
        source=cache.source,
        confidence=cache.confidence,
        num_layers=len(cache.layers),
        kv_heads=cache.kv_heads,
        head_dim=cache.head_dim,
        value_dim=cache.value_dim,
        elem_type=dtype_name(cache.dtype) if cache.dtype else "",
        sequence_axis=cache.axis,
        bytes_per_token=cache.bytes_per_token,
        context_length=cache.context,
        context_bytes=cache.context_bytes,
        reason=shorten_middle(cache.reason),
        context_reason=shorten_middle(cache.context_reason),
        layers=[
            KVCacheLayer(
                inputs=[shorten_middle(names[tensor].name) for tensor in layer.inputs],
                node=_id(layer.attention),
                kv_heads=layer.kv_heads,
                head_dim=layer.head_dim,
                value_dim=layer.value_dim,
                bytes_per_token=layer.bytes_per_token,
                positions=layer.positions,
            )
            for layer in cache.layers[:MAX_CACHES]
        ],
    )
