"""From the nodes to a model: outputs, types of all tensors, tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import onnx_ir as ir
from onnx_ir.passes.common import ShapeInferencePass

from py_autodoc.errors import AnalysisError
from py_autodoc.keras.builder import Builder
from py_autodoc.keras.model_runner import ModelRunner
from py_autodoc.keras.spec import Ref
from py_autodoc.keras.tensor import KerasTensor, straight
from py_autodoc.tags import Frame, ModuleInfo, Namer, Tags, assign
from py_autodoc.tags.paths import parent
from py_autodoc.version import NAME, version

_IR_VERSION = 10
EXPORTER = "keras"


class _RecordedModule:
    """Evidence of the tags: the layer under which each node was made."""

    exact = True

    def __init__(self, frames: Mapping[ir.Node, tuple[Frame, ...]]) -> None:
        self._frames = frames

    def frames(self, node: ir.Node) -> Sequence[Frame] | None:
        """Layers being converted when the node was made."""
        return self._frames.get(node)

    def frames_of(self, node: ir.Node, path: str) -> Sequence[Frame] | None:
        """No node is made of several."""
        return None

    def parameters(self, node: ir.Node) -> Sequence[str]:
        """Not needed: every node is recorded."""
        return ()

    def owner(self, name: str) -> str | None:
        """Not needed: every node is recorded."""
        return None

    def rewritten(self, node: ir.Node) -> bool:
        """No node is made of several."""
        return False


def assemble(
    runner: ModelRunner, outputs: Sequence[tuple[Ref, KerasTensor]], names: Sequence[str], title: str
) -> tuple[ir.Model, Tags]:
    """The model with its tags; every tensor has a type.

    Raises:
        AnalysisError: ONNX finds other shapes than Keras has, a fault of this package.
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
    """Names of a model's outputs: of their layers, with numbers where a layer gives several."""
    several = Counter(ref.layer for ref in outputs)
    found: dict[str, None] = {}
    used: Counter[str] = Counter()
    for ref in outputs:
        name = base = f"{ref.layer}_{ref.output}" if several[ref.layer] > 1 else ref.layer
        while name in found or name in inputs:
            used[base] += 1
            name = f"{base}_out{used[base]}"
        found[name] = None
    return list(found)


def _outputs(
    builder: Builder, outputs: Sequence[tuple[Ref, KerasTensor]], names: Sequence[str]
) -> list[ir.Value]:
    """The outputs as Keras has them: in its order of axes, under its names."""
    found: dict[ir.Value, None] = {}
    for (_, tensor), name in zip(outputs, names, strict=True):
        with builder.under(tensor.maker or (Frame("", 0),)):
            value = builder.turned(tensor, straight(tensor.rank))
            if value.producer() is None or value in found:
                value = builder.op("Identity", value)
        value.name = name
        value.type = ir.TensorType(tensor.kind)
        if value.shape is None:
            value.shape = ir.Shape(
                ["batch" if at == 0 and one is None else one for at, one in enumerate(tensor.shape)]
            )
        found[value] = None
    return list(found)


def _drop_unused(builder: Builder, outputs: Collection[ir.Value]) -> None:
    """Nodes whose outputs nobody reads, as a mask that was worked out for nothing."""
    kept: list[ir.Node] = []
    wanted = set(outputs)
    for node in reversed(builder.nodes):
        if any(value in wanted or value.uses() for value in node.outputs):
            kept.append(node)
            continue
        for at in range(len(node.inputs)):
            node.replace_input_with(at, None)
        builder.frames.pop(node, None)
    builder.nodes = kept[::-1]
    builder.initializers = {name: one for name, one in builder.initializers.items() if one.uses()}


def _agree(value: ir.Value, tensor: KerasTensor) -> None:
    """What ONNX infers about an output must be what Keras says."""
    dims = list(value.shape) if value.shape is not None else []
    known = [
        (one, size) for one, size in zip(dims, tensor.shape, strict=False) if isinstance(one, int) and size
    ]
    if len(dims) != tensor.rank or any(one != size for one, size in known):
        raise AnalysisError(
            "keras-shape",
            f"The output {value.name} came out as {dims}, Keras has {list(tensor.shape)}.",
            "Please report it.",
        )


def module_infos(runner: ModelRunner) -> dict[str, ModuleInfo]:
    """Layer → what is known about it, for the file beside the model."""
    children: dict[str, dict[str, str]] = {}
    own: dict[str, list[str]] = {}
    for path, kind in runner.modules.items():
        if path:
            children.setdefault(parent(path), {})[path.rpartition(".")[2]] = kind
    for path, name in runner.builder.owned:
        own.setdefault(path, []).append(name)
    found: dict[str, ModuleInfo] = {}
    for path in sorted(runner.modules, key=lambda one: -one.count(".") if one else 1):
        names = list(dict.fromkeys(own.get(path, ())))
        below = [
            f"{name}.{one}"
            for name in children.get(path, {})
            for one in found[f"{path}.{name}" if path else name].parameters
        ]
        found[path] = ModuleInfo(
            runner.modules[path], children.get(path, {}), (), (*names, *below), tuple(names), ()
        )
    return {path: found[path] for path in runner.modules}
