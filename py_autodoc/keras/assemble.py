"""Assemble a model from its nodes: outputs, types of all tensors, tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import onnx_ir as ir
from onnx_ir.passes.common import ShapeInferencePass

from py_autodoc.errors import AnalysisError
from py_autodoc.keras.builder import Builder
from py_autodoc.keras.model_runner import ModelRunner
from py_autodoc.keras.spec import Ref
from py_autodoc.keras.tensor import KerasTensor, identity_order
from py_autodoc.tags import Frame, ModuleInfo, Namer, Tags, assign
from py_autodoc.tags.paths import parent
from py_autodoc.version import NAME, version

_IR_VERSION = 10
EXPORTER = "keras"


class _RecordedModule:
    """Evidence for tags: the layer that created each node."""

    exact = True

    def __init__(self, frames: Mapping[ir.Node, tuple[Frame, ...]]) -> None:
        self._frames = frames

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """Return the layers whose conversion created the node."""
        return self._frames.get(node)

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """Return None, since no node is merged from several."""
        return None

    def parameters(self, node: ir.Node) -> Sequence[str]:
        """Return nothing, since every node is recorded."""
        return ()

    def owning_module(self, name: str) -> str | None:
        """Return None, since every node is recorded."""
        return None

    def rewritten(self, node: ir.Node) -> bool:
        """Return False, since no node is merged from several."""
        return False


def assemble(
    runner: ModelRunner, outputs: Sequence[tuple[Ref, KerasTensor]], names: Sequence[str], title: str
) -> tuple[ir.Model, Tags]:
    """Return the model with its tags; every tensor has a type.

    Raises:
        AnalysisError: ONNX infers other shapes than Keras, which is a bug in this package.
    """
    builder = runner.builder
    values = _outputs(builder, outputs, names)
    _drop_unused(builder, values)
    graph = ir.Graph(
        runner.inputs,
        values,
        nodes=builder.nodes,
        initializers=list(builder.initializers.values()),
        opset_imports={"": builder.opset},
        name=title,
    )
    model = ir.Model(graph, ir_version=_IR_VERSION, producer_name=NAME, producer_version=version())
    ShapeInferencePass(check_type=True, strict_mode=True)(model)
    for (_, tensor), value in zip(outputs, values, strict=True):
        _agree(value, tensor)
    namer = Namer(runner.modules, keep=(), infrastructure=(), named=True)
    return model, assign(model, namer, _RecordedModule(builder.frames), EXPORTER)


def output_names(outputs: Sequence[Ref], inputs: Collection[str]) -> list[str]:
    """Return the names of a model's outputs: those of their layers, numbered if a layer has several."""
    several = Counter(ref.layer for ref in outputs)
    names: dict[str, None] = {}
    used: Counter[str] = Counter()
    for ref in outputs:
        name = base = f"{ref.layer}_{ref.output}" if several[ref.layer] > 1 else ref.layer
        while name in names or name in inputs:
            used[base] += 1
            name = f"{base}_out{used[base]}"
        names[name] = None
    return list(names)


def _outputs(
    builder: Builder, outputs: Sequence[tuple[Ref, KerasTensor]], names: Sequence[str]
) -> list[ir.Value]:
    """Return the outputs in Keras's axis order and under Keras's names."""
    values: dict[ir.Value, None] = {}
    for (_, tensor), name in zip(outputs, names, strict=True):
        with builder.under(tensor.maker or (Frame("", 0),)):
            value = builder.transposed(tensor, identity_order(tensor.rank))
            if value.producer() is None or value in values:
                value = builder.op("Identity", value)
        value.name = name
        value.type = ir.TensorType(tensor.kind)
        if value.shape is None:
            value.shape = ir.Shape(
                ["batch" if axis == 0 and size is None else size for axis, size in enumerate(tensor.shape)]
            )
        values[value] = None
    return list(values)


def _drop_unused(builder: Builder, outputs: Collection[ir.Value]) -> None:
    """Remove nodes whose outputs are not used, such as masks."""
    used_nodes: list[ir.Node] = []
    used = set(outputs)
    for node in reversed(builder.nodes):
        if any(value in used or value.uses() for value in node.outputs):
            used_nodes.append(node)
            continue
        for index in range(len(node.inputs)):
            node.replace_input_with(index, None)
        builder.frames.pop(node, None)
    builder.nodes = used_nodes[::-1]
    builder.initializers = {
        name: initializer for name, initializer in builder.initializers.items() if initializer.uses()
    }


def _agree(value: ir.Value, tensor: KerasTensor) -> None:
    """Check that the shape and type ONNX infers for an output are those of Keras."""
    dims = list(value.shape) if value.shape is not None else []
    known_sizes = [
        (dim, size) for dim, size in zip(dims, tensor.shape, strict=False) if isinstance(dim, int) and size
    ]
    if len(dims) != tensor.rank or any(dim != size for dim, size in known_sizes):
        raise AnalysisError(
            "keras-shape",
            f"The output {value.name} came out as {dims}, Keras has {list(tensor.shape)}.",
            "Please report it.",
        )


def module_infos(runner: ModelRunner) -> dict[str, ModuleInfo]:
    """Return layer → facts about it, for the sidecar."""
    children: dict[str, dict[str, str]] = {}
    own_weights: dict[str, list[str]] = {}
    for path, kind in runner.modules.items():
        if path:
            children.setdefault(parent(path), {})[path.rpartition(".")[2]] = kind
    for path, name in runner.builder.owned:
        own_weights.setdefault(path, []).append(name)
    infos: dict[str, ModuleInfo] = {}
    for path in sorted(runner.modules, key=lambda module_path: -module_path.count(".") if module_path else 1):
        names = list(dict.fromkeys(own_weights.get(path, ())))
        below = [
            f"{name}.{parameter}"
            for name in children.get(path, {})
            for parameter in infos[f"{path}.{name}" if path else name].parameters
        ]
        infos[path] = ModuleInfo(
            runner.modules[path], children.get(path, {}), (), (*names, *below), tuple(names), ()
        )
    return {path: infos[path] for path in runner.modules}
