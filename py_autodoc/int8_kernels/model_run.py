"""Run a model as a target computes it, on any machine.

The graph is cut at the operators whose sums saturate on one kind of processor and not on the other. They are
computed by the reference, everything between them by ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper

from py_autodoc.errors import AutodocError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.int8_kernels.saturating import attributes_of, saturating_nodes, with_unsigned_weights
from py_autodoc.int8_kernels.targets import Computation, kernel_here
from py_autodoc.ort import open_session, read_model, run_session, weight_bytes
from py_autodoc.outputs import scratch
from py_autodoc.quantize.reference import OPERATORS, Kernel, evaluate
from py_autodoc.quantize.reference.saturation import FACTORS
from py_autodoc.samples.specs import Sample

Array = np.ndarray[Any, Any]
FEATURE = "The comparison of integer kernels"
MAX_BYTES = 1 << 30
"""Bytes of weights above which a model is not measured: the optimized graph holds them twice."""
MAX_PRODUCTS = 4_000_000_000
"""Products, over all samples, above which the reference is not run."""
_KEEPS_S8 = "session.qdqisint8allowed"


class NotMeasured(Exception):
    """A model cannot be run as a target computes it; the message says why, as the end of a sentence."""


def as_it_runs(path: PathLike, keeps_s8: bool) -> onnx.ModelProto:
    """Return the graph that ONNX Runtime runs, with integer operators instead of Q and DQ.

    Args:
        path: the model.
        keeps_s8: signed activations stay signed.

    Raises: NotMeasured: the weights are too large. AutodocError: ONNX Runtime rejects the model.
    """
    # With its weights: the optimized file would refer to those outside by names in the folder of the model.
    proto = read_model(path, weights=True)
    if weight_bytes(proto.graph) > MAX_BYTES:
        raise NotMeasured(f"its weights exceed {MAX_BYTES >> 30} GiB")
    with scratch() as folder:
        optimized = folder / "optimized.onnx"
        open_session(
            path,
            FEATURE,
            proto=proto,
            portable=True,
            optimized=str(optimized),
            settings={_KEEPS_S8: "1" if keeps_s8 else "0"},
        )
        return onnx.load(optimized)


@dataclass(slots=True)
class _Part:
    """Nodes between two cuts, and their session once the types of the inputs are known."""

    nodes: list[onnx.NodeProto]
    reads: list[str] = field(default_factory=list)
    gives: list[str] = field(default_factory=list)
    session: Any = None


class ModelRun:
    """Runs a graph with one kind of integer kernels.

    Args:
        path: the file of the model, for messages.
        model: the graph that runs, with its weights.
        kernel: the kind of kernels.
        samples: number of samples that will be run, for the limit.

    Raises: NotMeasured: an operator has no reference, or is in a subgraph.
    """

    def __init__(self, path: PathLike, model: onnx.ModelProto, kernel: Kernel, samples: int) -> None:
        self._path, self._name, self._kernel, self._samples = path, base_name(path), kernel, samples
        positions, inside = saturating_nodes(model)
        if inside:
            raise NotMeasured("its subgraphs have integer operators")
        if kernel == kernel_here():
            positions = []
        elif kernel == "exact" and positions:
            model, positions = with_unsigned_weights(model, positions)
        unknown = {model.graph.node[position].op_type for position in positions} - OPERATORS.keys()
        if unknown:
            raise NotMeasured(f"{', '.join(sorted(unknown))} has no reference")
        self._model = model
        self._constants = {tensor.name: tensor for tensor in model.graph.initializer}
        self._cuts = frozenset(positions)
        self._products = 0
        self._parts: list[_Part | onnx.NodeProto] | None = None
        self._names: tuple[str, ...] = ()

    def values(self, sample: Sample, names: Sequence[str]) -> list[Array]:
        """Return tensors for one sample.

        Raises: NotMeasured: the reference would take too long, or fails. AutodocError: ONNX Runtime fails.
        """
        if self._parts is None or self._names != tuple(names):
            self._parts, self._names = self._cut(names), tuple(names)
        self._products = 0
        values: dict[str, Array] = dict(sample)
        for part in self._parts:
            if isinstance(part, _Part):
                self._run(part, values)
            else:
                self._evaluate(part, values)
        return [np.asarray(self._value(name, values)) for name in names]

    def _cut(self, names: Sequence[str]) -> list[_Part | onnx.NodeProto]:
        parts: list[_Part | onnx.NodeProto] = []
        for position, node in enumerate(self._model.graph.node):
            if position in self._cuts:
                parts.append(node)
            elif parts and isinstance(parts[-1], _Part):
                parts[-1].nodes.append(node)
            else:
                parts.append(_Part([node]))
        needed = set(names)
        for part in reversed(parts):
            if not isinstance(part, _Part):
                needed.update(name for name in part.input if name and name not in self._constants)
                continue
            made = dict.fromkeys(name for node in part.nodes for name in node.output if name)
            read = dict.fromkeys(name for node in part.nodes for name in _reads(node))
            part.gives = [name for name in made if name in needed]
            part.reads = [name for name in read if name not in made and name not in self._constants]
            needed.update(part.reads)
        return [part for part in parts if not isinstance(part, _Part) or part.gives]

    def _run(self, part: _Part, values: dict[str, Array]) -> None:
        if part.session is None:
            part.session = open_session(self._path, FEATURE, proto=self._part_model(part, values), fuse=False)
        inputs = {name: values[name] for name in part.reads}
        values.update(zip(part.gives, run_session(part.session, part.gives, inputs, self._name), strict=True))

    def _part_model(self, part: _Part, values: dict[str, Array]) -> onnx.ModelProto:
        read = {name for node in part.nodes for name in _reads(node)}
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(values[name].dtype), None)
            for name in part.reads
        ]
        graph = helper.make_graph(
            part.nodes,
            "part",
            inputs,
            [onnx.ValueInfoProto(name=name) for name in part.gives],
            [tensor for name, tensor in self._constants.items() if name in read],
        )
        model = helper.make_model(graph, opset_imports=list(self._model.opset_import))
        model.ir_version = self._model.ir_version
        model.functions.extend(self._model.functions)
        return model

    def _evaluate(self, node: onnx.NodeProto, values: dict[str, Array]) -> None:
        inputs = [self._value(name, values) if name else None for name in node.input]
        self._products += _products(node, inputs)
        if self._products * self._samples > MAX_PRODUCTS:
            raise NotMeasured(
                f"the reference of other processors is limited to {MAX_PRODUCTS:,} products over all samples"
            )
        try:
            results = evaluate(node.op_type, inputs, attributes_of(node), self._kernel)
        except (KeyError, ValueError, IndexError, TypeError) as fault:
            raise NotMeasured(f"the reference cannot compute {node.op_type}") from fault
        values.update(zip(node.output, results, strict=False))

    def _value(self, name: str, values: dict[str, Array]) -> Array:
        if name not in values and name in self._constants:
            values[name] = onnx.numpy_helper.to_array(self._constants[name])
        return values[name]


def _reads(node: onnx.NodeProto) -> list[str]:
    """Return the tensors that a node and its subgraphs read from outside."""
    names = [name for name in node.input if name]
    for attribute in node.attribute:
        if attribute.HasField("g"):
            graph = attribute.g
            local = {value.name for value in (*graph.input, *graph.initializer)}
            local.update(name for inner in graph.node for name in inner.output)
            inner_reads = [name for inner in graph.node for name in _reads(inner)]
            inner_reads += [value.name for value in graph.output]
            names += [name for name in inner_reads if name not in local]
    return names


def _products(node: onnx.NodeProto, inputs: Sequence[Array | None]) -> int:
    """Return about how many products a node adds up."""
    factors = FACTORS[node.op_type][0]
    x, w = inputs[factors.a], inputs[factors.b]
    if x is None or w is None:
        return 0
    if "Conv" not in node.op_type:
        return int(x.size * w.shape[-1])
    strides = attributes_of(node).get("strides") or [1]
    positions = x.shape[0] * int(np.prod(x.shape[2:])) // max(1, int(np.prod(strides)))
    return int(w.size * positions)


def model_run(
    path: PathLike, asked: Computation, samples: int, graph: onnx.ModelProto | None = None
) -> ModelRun:
    """Return a run of the model as a target computes it. Raises: NotMeasured."""
    try:
        return ModelRun(path, graph or as_it_runs(path, asked.keeps_s8), asked.kernel, samples)
    except AutodocError as error:
        raise NotMeasured(f"ONNX Runtime does not run it: {error}") from error
