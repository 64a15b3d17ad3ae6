"""Convolution blocks: Conv with normalization, bias and activation; depthwise-separable; squeeze-excite."""

from __future__ import annotations

from dataclasses import dataclass, field

from py_autodoc.blocks.dataflow.dataflow_graph import DataflowGraph
from py_autodoc.blocks.dataflow.operator_queries import (
    CONV,
    COPY_OPS,
    QUANTIZE,
    dim,
    input_at,
    make_block,
    next_node,
    per_channel,
    reader_of,
    weight,
)
from py_autodoc.blocks.layer_blocks.activations import activation_of
from py_autodoc.blocks.layer_blocks.squeeze_excite import find_squeeze_excites
from py_autodoc.blocks.results import Fact, RecognisedBlock
from py_autodoc.graph.ir.model import Shape

_WEIGHT = {"QLinearConv": 3, "QLinearConvTranspose": 3}
"""Input index of the kernel; 1 for other operators."""
_MAX_AFFINE = 6
"""Normalization, scale, shift, activation, scale, shift."""


def find_conv_blocks(flow: DataflowGraph) -> list[RecognisedBlock]:
    """Return every convolution with the nodes that belong to it, then blocks of several convolutions.

    Kinds: ``conv`` (variant such as ``Conv+BN+Relu``), ``depthwise-separable`` (variant: the pointwise
    activation or empty), ``squeeze-excite``. Facts: in_channels, out_channels, kernel, strides, group,
    depthwise, transposed, activation, batch_norm, bias; None where unknown.
    """
    units = {number: unit for number in flow.of(CONV) if (unit := conv_unit(flow, number)) is not None}
    gates = find_squeeze_excites(flow)
    blocks = [unit.to_block(flow) for unit in units.values()]
    blocks += _separables(flow, units, gates)
    return blocks + gates


@dataclass(slots=True)
class ConvUnit:
    """A convolution and the nodes that consume only its result."""

    anchor: int
    nodes: list[int]
    parts: list[str]
    output: int
    facts: dict[str, Fact] = field(default_factory=dict)

    def to_block(self, flow: DataflowGraph) -> RecognisedBlock:
        """Convert to a block."""
        variant = "+".join(self.parts)
        return make_block(flow, "conv", self.nodes, self.anchor, variant=variant, facts=self.facts)


def kernel_shape(flow: DataflowGraph, number: int) -> Shape | None:
    """Return a convolution's kernel shape, output channels first (input channels first if transposed)."""
    node = flow.nodes[number]
    index = _WEIGHT.get(flow.op_types[number], 1)
    return flow.shapes[node.inputs[index]] if len(node.inputs) > index else None


def conv_unit(flow: DataflowGraph, number: int) -> ConvUnit | None:
    """Return the unit around a convolution; None for other nodes."""
    name, node = flow.op_types[number], flow.nodes[number]
    if name not in CONV or not node.inputs or node.inputs[0] < 0 or flow.first_outputs[number] < 0:
        return None
    if not flow.data_inputs[number]:
        return None
    unit = ConvUnit(
        number, [number], ["ConvTranspose" if "Transpose" in name else "Conv"], flow.first_outputs[number]
    )
    unit.facts = _facts(flow, number)
    before = flow.producers[node.inputs[0]]
    if flow.op_types[before] in QUANTIZE and reader_of(flow, node.inputs[0]) == number:
        unit.nodes.append(before)
    fused = node.attributes.get("activation")
    if isinstance(fused, str) and fused:
        unit.parts.append(fused)
        unit.facts["activation"] = fused
    else:
        _follow(flow, unit)
    after = reader_of(flow, unit.output)
    if flow.op_types[after] == "QuantizeLinear" and input_at(flow, after, 0) == unit.output:
        unit.nodes.append(after)
    return unit


def _follow(flow: DataflowGraph, unit: ConvUnit) -> None:
    """Add the normalization, scale, bias and activation that follow, in order."""
    active = False
    for _ in range(_MAX_AFFINE):
        activation = None if active else activation_of(flow, unit.output)
        if activation is not None:
            active = True
            unit.nodes += activation.nodes
            unit.parts.append(activation.name)
            unit.facts["activation"] = activation.name
            unit.output = activation.output
            continue
        number, passed = next_node(flow, unit.output)
        output = flow.first_outputs[number] if number >= 0 else -1
        kind = (
            _affine(flow, number, flow.first_outputs[passed[-1]] if passed else unit.output)
            if output >= 0
            else ""
        )
        if not kind or (active and kind != "Scale" and unit.parts[-1] != "Scale"):
            return
        if kind == "BN":
            unit.facts["batch_norm"] = True
        if kind == "Bias" and not active:
            unit.facts["bias"] = True
        if kind != "Bias" or "Scale" not in unit.parts:
            unit.parts.append(kind)
        unit.nodes += [*passed, number]
        unit.output = output


def _affine(flow: DataflowGraph, number: int, tensor: int) -> str:
    """Return ``BN``, ``Scale`` or ``Bias`` for a node that maps each channel linearly, else empty."""
    name, node = flow.op_types[number], flow.nodes[number]
    if name == "BatchNormalization":
        return "BN" if node.inputs[0] == tensor else ""
    if name not in ("Mul", "Add") or len(node.inputs) != 2 or flow.data_inputs[number] != (tensor,):
        return ""
    if not per_channel(flow, weight(flow, number), tensor):
        return ""
    if name == "Add":
        return "Bias"
    # A scale alone is ambiguous; followed by a shift it is a normalization in inference form.
    after, passed = next_node(flow, flow.first_outputs[number])
    shifted = flow.first_outputs[passed[-1]] if passed else flow.first_outputs[number]
    if flow.op_types[after] == "Add" and flow.data_inputs[after] == (shifted,):
        return "Scale" if per_channel(flow, weight(flow, after), shifted) else ""
    return ""


def _facts(flow: DataflowGraph, number: int) -> dict[str, Fact]:
    node, shape = flow.nodes[number], kernel_shape(flow, number)
    transposed = "Transpose" in node.op_type
    last = flow.op_types[number] == "NhwcConv"
    channels = dim(flow, node.inputs[0], -1 if last else 1)
    channels_out = dim(flow, flow.first_outputs[number], -1 if last else 1)
    group = node.attributes.get("group", 1)
    spatial = shape[2:] if shape is not None and len(shape) > 2 else None
    kernel_attribute = node.attributes.get("kernel_shape")
    kernel = kernel_attribute if isinstance(kernel_attribute, (list, tuple)) and kernel_attribute else spatial
    strides = node.attributes.get("strides") or ([1] * len(kernel) if kernel else None)
    depthwise = is_depthwise(flow, number)
    return {
        "in_channels": channels,
        "out_channels": channels_out,
        "kernel": _by(kernel),
        "strides": _by(strides),
        "group": group if isinstance(group, int) else None,
        "depthwise": depthwise,
        "transposed": transposed,
        "activation": None,
        "batch_norm": False,
        "bias": len(node.inputs) > (8 if "QLinear" in node.op_type else 2)
        and node.inputs[8 if "QLinear" in node.op_type else 2] >= 0,
    }


def _by(sizes: object) -> str | None:
    """Format sizes as ``3x3``."""
    if not isinstance(sizes, (list, tuple)) or not sizes:
        return None
    return "x".join(["?" if size is None else str(size) for size in sizes])


def is_depthwise(flow: DataflowGraph, number: int) -> bool | None:
    """True if each of several groups has one input channel; None if unknown."""
    node = flow.nodes[number]
    group = node.attributes.get("group", 1)
    if group == 1:
        return False
    channels = dim(flow, input_at(flow, number, 0), 1)
    if channels is None:
        shape = kernel_shape(flow, number)
        if shape is None or len(shape) < 2 or not isinstance(shape[1], int) or "Transpose" in node.op_type:
            return None
        return shape[1] == 1
    return bool(channels == group)


def is_pointwise(flow: DataflowGraph, number: int) -> bool:
    """True for a 1×1 convolution with one group."""
    if "Transpose" in flow.nodes[number].op_type or flow.nodes[number].attributes.get("group", 1) != 1:
        return False
    shape = kernel_shape(flow, number)
    return shape is not None and len(shape) > 2 and all(size == 1 for size in shape[2:])


def _separables(
    flow: DataflowGraph, units: dict[int, ConvUnit], gates: list[RecognisedBlock]
) -> list[RecognisedBlock]:
    """Match depthwise followed by pointwise convolutions, with an optional squeeze-excite between them."""
    gated = {gate.inputs[0]: gate for gate in gates if gate.inputs and gate.outputs}
    blocks = []
    for number, first in units.items():
        shape = kernel_shape(flow, number)
        spatial = shape is not None and any(size != 1 for size in shape[2:])
        if not is_depthwise(flow, number) or not spatial or "Transpose" in first.parts[0]:
            continue
        leaves, between = first.output, []
        gate = gated.get(leaves)
        if gate is not None:
            leaves, between = gate.outputs[0], list(gate.nodes)
        after, passed = next_node(flow, leaves, COPY_OPS)
        second = units.get(after)
        if second is None or not is_pointwise(flow, after):
            continue
        facts: dict[str, Fact] = {
            "in_channels": first.facts["in_channels"],
            "out_channels": second.facts["out_channels"],
            "kernel": first.facts["kernel"],
            "strides": first.facts["strides"],
            "squeeze_excite": gate is not None,
        }
        nodes = [*first.nodes, *between, *passed, *second.nodes]
        blocks.append(make_block(flow, "depthwise-separable", nodes, number, facts=facts))
    return blocks
