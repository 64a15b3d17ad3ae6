"""Attribute a runtime's kernels to the nodes of a model.

A fused kernel produces a tensor of the model under the name it has there. The kernel computes the nodes
between this tensor and those of other kernels: every node belongs to the kernel that its result reaches
first. If several kernels name the same node, it belongs to the slowest, and the others add their time to it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import onnx

from py_autodoc.graph.ir.model import Model, TensorKind
from py_autodoc.runner.layer_info import TensorRTLayer

_LAYOUT = re.compile(r"_nchwc(_token_\d+)?$")
"""Suffix that ONNX Runtime adds to the tensor name for a convolution in another layout."""
_TOKEN = re.compile(r"_token_\d+$")
"""Suffix that it adds to make a name unique."""
_JOINED = re.compile(r"\s*(?:\+|,|\|\|)\s*")
"""Separators of the nodes that a TensorRT layer fuses."""
_WRAPPED = re.compile(r"^(?:fused\s+|PWN\(|\{ForeignNode\[)+|(?:\)|\]\})+$")
_REFORMAT = re.compile(r"^Reformatting CopyNode for (?:Input|Output) Tensor \d+ to ")
"""TensorRT's name of a layout change; the layer that needs it follows."""
_NAMELESS = "node_of_"
"""Prefix in TensorRT for a node without a name; the name of its first output follows."""
_CONVERSIONS = frozenset(
    {"ReorderInput", "ReorderOutput", "Cast", "Transpose", "MemcpyToHost", "MemcpyFromHost"}
)
"""Operators that a runtime inserts to change a layout, a type or the device."""
_MOVES = _CONVERSIONS | {"Reshape", "Squeeze", "Unsqueeze"}


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a profile."""

    name: str
    op: str
    ms: float


@dataclass(slots=True)
class Attribution:
    """Nodes with the times of the kernels that compute them."""

    groups: dict[tuple[int, ...], tuple[float, float]] = field(default_factory=dict)
    """Nodes → (milliseconds, those of conversions among them)."""
    lost: dict[str, float] = field(default_factory=dict)
    """Kernels that belong to no node → milliseconds."""


def attribute_kernels(
    model: Model,
    kernels: Iterable[Kernel],
    graph: onnx.ModelProto | None,
    layers: Mapping[str, TensorRTLayer] | None = None,
    named_only: bool = False,
) -> Attribution:
    """Attribute kernels to the nodes of a model. Runs in linear time.

    Args:
        model: the model.
        kernels: the kernels and their times.
        graph: the graph that the runtime executes; None if only names are known.
        layers: kernel → TensorRT layer with its source nodes; other kernels are matched by name.
        named_only: times belong only to the named nodes.
    """
    kernel_list = list(kernels)
    tensors = {tensor.name: tensor.id for tensor in model.tensors if tensor.kind == TensorKind.ACTIVATION}
    names = {node.name: node.id for node in model.nodes if node.name}
    targets = _targets(kernel_list, graph, tensors, names, model, layers or {})
    owners = _owners(model, {tensor for outputs, _ in targets.values() for tensor in outputs}, named_only)
    members: dict[int, list[int]] = {}
    for node, anchor in enumerate(owners):
        if anchor >= 0:
            members.setdefault(anchor, []).append(node)
    result = Attribution()
    leads, claimed = _assign_targets(kernel_list, targets)
    groups = {
        lead: tuple(sorted({node for tensor in tensors_of_kernel for node in members.get(tensor, ())}))
        for lead, tensors_of_kernel in claimed.items()
    }
    for index, kernel in enumerate(kernel_list):
        nodes = groups.get(leads.get(index, -1), ())
        if not nodes:
            result.lost[kernel.name] = result.lost.get(kernel.name, 0.0) + kernel.ms
            continue
        ms, conversion_ms = result.groups.get(nodes, (0.0, 0.0))
        conversion = targets[kernel.name][1]
        result.groups[nodes] = (ms + kernel.ms, conversion_ms + (kernel.ms if conversion else 0.0))
    return result


def _assign_targets(
    kernels: list[Kernel], targets: dict[str, tuple[tuple[int, ...], bool]]
) -> tuple[dict[int, int], dict[int, list[int]]]:
    """Map kernels to the kernels that they count towards, and these to the tensors that they produce.

    Kernels are given by their indices.
    """
    order = [index for index, kernel in enumerate(kernels) if targets.get(kernel.name, ((), False))[0]]
    # A conversion gets nodes only if no other kernel computes them.
    order.sort(key=lambda index: (targets[kernels[index].name][1], -kernels[index].ms))
    kernel_by_tensor: dict[int, int] = {}
    leads: dict[int, int] = {}
    claimed: dict[int, list[int]] = {}
    for index in order:
        target = targets[kernels[index].name][0]
        free = [tensor for tensor in target if tensor not in kernel_by_tensor]
        if free:
            kernel_by_tensor.update(dict.fromkeys(free, index))
            leads[index], claimed[index] = index, free
        else:
            leads[index] = Counter(kernel_by_tensor[tensor] for tensor in target).most_common(1)[0][0]
    return leads, claimed


def _targets(
    kernels: list[Kernel],
    graph: onnx.ModelProto | None,
    tensors: dict[str, int],
    names: dict[str, int],
    model: Model,
    layers: Mapping[str, TensorRTLayer],
) -> dict[str, tuple[tuple[int, ...], bool]]:
    """Map the name of each kernel to the model's tensors that it produces, and whether it only converts."""
    produced: dict[str, list[int]] = {}
    converts: dict[str, str] = {}
    readers: dict[str, list[str]] = {}
    nodes = {} if graph is None else {node.name: node for node in graph.graph.node if node.name}
    for name, node in nodes.items():
        outputs = [tensors[name] for name in node.output if name in tensors]
        if not outputs:
            # The name of such a kernel, which changes layout or type, contains the tensor's name.
            candidates = (_LAYOUT.sub("", name), _TOKEN.sub("", name), *node.output)
            outputs = [tensors[name] for name in candidates[:1] if name in tensors]
            outputs = outputs or [
                t
                for candidate in candidates
                if candidate in names
                for t in model.nodes[names[candidate]].outputs
                if t >= 0
            ]
        if outputs:
            produced[name] = outputs
        for tensor in node.input:
            readers.setdefault(tensor, []).append(name)
    # A kernel without a tensor of the model belongs to its reader, else to its input.
    for name in reversed(nodes):
        if name not in produced and name not in names:
            after = (reader for out in nodes[name].output for reader in readers.get(out, ()))
            first = next(
                (neighbour for neighbour in after if neighbour in produced or neighbour in converts), None
            )
            if first is not None:
                converts[name] = converts.get(first, first)
    producers = {out: name for name, node in nodes.items() for out in node.output}
    for name, node in nodes.items():
        if name not in produced and name not in names and name not in converts:
            before = (producers[tensor] for tensor in node.input if tensor in producers)
            first = next(
                (neighbour for neighbour in before if neighbour in produced or neighbour in converts), None
            )
            if first is not None:
                converts[name] = converts.get(first, first)
    targets: dict[str, tuple[tuple[int, ...], bool]] = {}
    for kernel in kernels:
        conversion = kernel.op in _CONVERSIONS and kernel.name not in names
        if kernel.name in produced:
            targets[kernel.name] = (tuple(produced[kernel.name]), conversion)
        elif kernel.name in converts:
            targets[kernel.name] = (tuple(produced[converts[kernel.name]]), kernel.op in _MOVES)
        else:
            unformatted = _REFORMAT.sub("", kernel.name)
            layer = next(
                (
                    layers[candidate]
                    for candidate in (kernel.name, unformatted)
                    if _has_nodes(layers.get(candidate))
                ),
                None,
            )
            if layer is None:
                tensors_of_kernel = _named(unformatted, tensors, names, model)
            else:
                tensors_of_kernel = _sources(layer, tensors, names, model)
            only = conversion or unformatted != kernel.name or (layer is not None and layer.conversion)
            targets[kernel.name] = (tensors_of_kernel, only)
    return targets


def _has_nodes(layer: TensorRTLayer | None) -> bool:
    return layer is not None and bool(layer.nodes)


def _sources(
    layer: TensorRTLayer, tensors: dict[str, int], names: dict[str, int], model: Model
) -> tuple[int, ...]:
    """Return the output tensors of the source nodes of a layer."""
    outputs = []
    for name in layer.nodes:
        if name in names:
            outputs += [t for t in model.nodes[names[name]].outputs if t >= 0]
        elif name.startswith(_NAMELESS) and name.removeprefix(_NAMELESS) in tensors:
            outputs.append(tensors[name.removeprefix(_NAMELESS)])
    return tuple(dict.fromkeys(outputs))


def _named(text: str, tensors: dict[str, int], names: dict[str, int], model: Model) -> tuple[int, ...]:
    """Return the tensors named by a kernel: nodes or tensors, with separators."""
    outputs = []
    for fragment in (text, *_JOINED.split(text)):
        name = _LAYOUT.sub("", _WRAPPED.sub("", fragment.strip()))
        if name in names:
            outputs += [t for t in model.nodes[names[name]].outputs if t >= 0]
        elif name in tensors:
            outputs.append(tensors[name])
    return tuple(dict.fromkeys(outputs))


def _owners(model: Model, targets: set[int], named_only: bool) -> list[int]:
    """Return for each node the target that its results reach first; -1 if they reach none.

    Nodes of subgraphs and nodes with constant results are not attributed to others.
    """
    owners = [-1] * len(model.nodes)
    for graph in model.graphs:
        for number in reversed(graph.nodes):
            node = model.nodes[number]
            target = next((t for t in node.outputs if t in targets), -1)
            if target < 0 and not named_only:
                reached = {
                    owners[reader] for t in node.outputs if t >= 0 for reader in model.tensors[t].consumers
                }
                target = min((candidate for candidate in reached if candidate >= 0), default=-1)
            owners[number] = target
    return owners
