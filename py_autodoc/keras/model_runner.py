"""Call the layers of a model in order, as Keras does with symbolic tensors."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import onnx_ir as ir

from py_autodoc.keras.builder import Builder
from py_autodoc.keras.config import input_shape
from py_autodoc.keras.conversion_errors import Unsupported, broken, unsupported
from py_autodoc.keras.layer_call import CONVERTERS, LayerCall, LayerValue
from py_autodoc.keras.settings import MAX_SIZE
from py_autodoc.keras.spec import Arguments, LayerSpec, ModelSpec, Ref, leaves, refs
from py_autodoc.keras.tensor import KerasTensor, Mask, Shape
from py_autodoc.keras.weights import ModelWeights
from py_autodoc.tags import Frame

KINDS = {
    "float16": ir.DataType.FLOAT16, "float32": ir.DataType.FLOAT, "float64": ir.DataType.DOUBLE,
    "bfloat16": ir.DataType.BFLOAT16, "bool": ir.DataType.BOOL, "int8": ir.DataType.INT8,
    "int16": ir.DataType.INT16, "int32": ir.DataType.INT32, "int64": ir.DataType.INT64,
    "uint8": ir.DataType.UINT8, "uint16": ir.DataType.UINT16, "uint32": ir.DataType.UINT32,
}  # fmt: skip
_Node = tuple[str, int]


class ModelRunner:
    """Converts a model into a graph."""

    def __init__(
        self,
        builder: Builder,
        weights: ModelWeights,
        file: str,
        major: int,
        shapes: Mapping[str, tuple[int, ...]],
    ) -> None:
        self.builder = builder
        self.weights = weights
        self.file = file
        self.major = major
        self.shapes = dict(shapes)
        self.modules: dict[str, str] = {}
        """Path of every called layer → its class with its package."""
        self.inputs: list[ir.Value] = []
        self._calls: Counter[str] = Counter()

    # -- the model -------------------------------------------------------------------------------------

    def top(self, model: ModelSpec) -> list[tuple[Ref, KerasTensor]]:
        """Run the whole model and return its outputs in order."""
        self.modules[""] = f"keras.{model.kind}"
        with self.builder.under((self._frame(""),)):
            inputs = {ref.layer: self._input(model.layers[ref.layer]) for ref in self._entries(model)}
            outputs = self._model(model, (), inputs)
        return [(ref, outputs[ref]) for ref in refs(model.outputs)]

    def _entries(self, model: ModelSpec) -> list[Ref]:
        entries = refs(model.inputs)
        for ref in entries:
            spec = model.layers.get(ref.layer)
            if spec is None or spec.kind != "InputLayer":
                raise broken(
                    self.file,
                    f"its model {model.name} takes its input from {ref.layer}, which is not a layer.",
                )
        return list(dict.fromkeys(entries))

    def _model(
        self, model: ModelSpec, path: tuple[str, ...], inputs: Mapping[str, KerasTensor]
    ) -> dict[Ref, KerasTensor]:
        """Run every call that the outputs need, once its inputs are available."""
        tensors: dict[Ref, KerasTensor] = {}
        needed = self._needed(model)
        missing = {node: {(ref.layer, ref.call) for ref in _refs_of(model, node)} for node in needed}
        waiting: dict[_Node, list[_Node]] = {}
        for node, before in missing.items():
            for dependency in before:
                waiting.setdefault(dependency, []).append(node)
        runnable = deque(node for node in needed if not missing[node])
        run_count = 0
        while runnable:
            node = runnable.popleft()
            run_count += 1
            self._node(model, path, node, inputs, tensors)
            for after in waiting.get(node, ()):
                missing[after].discard(node)
                if not missing[after]:
                    runnable.append(after)
        if run_count < len(needed):
            raise broken(self.file, f"the layers of its model {model.name} form a cycle.")
        for ref in refs(model.outputs):
            if ref not in tensors:
                raise broken(self.file, f"its model {model.name} has no tensor {ref.output} of {ref.layer}.")
        return tensors

    def _needed(self, model: ModelSpec) -> list[_Node]:
        """Return the calls that outputs depend on, in the order of the file."""
        visited: set[_Node] = set()
        pending = [(ref.layer, ref.call) for ref in refs(model.outputs)]
        while pending:
            node = pending.pop()
            if node in visited:
                continue
            spec = model.layers.get(node[0])
            if spec is None or node[1] >= len(spec.calls):
                raise broken(
                    self.file, f"call {node[1]} of the layer {node[0]} is used but missing in the file."
                )
            visited.add(node)
            pending.extend((ref.layer, ref.call) for ref in _refs_of(model, node))
        return [
            (name, call_index)
            for name, spec in model.layers.items()
            for call_index in range(len(spec.calls))
            if (name, call_index) in visited
        ]

    def _node(
        self,
        model: ModelSpec,
        path: tuple[str, ...],
        node: _Node,
        inputs: Mapping[str, KerasTensor],
        tensors: dict[Ref, KerasTensor],
    ) -> None:
        name, call_index = node
        spec = model.layers[name]
        if spec.kind == "InputLayer":
            if name not in inputs:
                raise broken(self.file, f"its model {model.name} has an input {name} that is not connected.")
            self.modules[self._below(spec.name)] = _package(spec)
            tensors[Ref(name, call_index, 0)] = inputs[name]
            return
        arguments = spec.calls[call_index]
        args = tuple(self._values(argument, tensors) for argument in arguments.args)
        kwargs = {key: self._values(argument, tensors) for key, argument in arguments.kwargs.items()}
        with self._entered(spec, (*path, name), args, kwargs) as call:
            result = self.run(call)
        for number, tensor in enumerate(leaf for leaf in leaves(result) if isinstance(leaf, KerasTensor)):
            tensors[Ref(name, call_index, number)] = tensor

    def _values(self, value: Any, tensors: Mapping[Ref, KerasTensor]) -> Any:
        """Return the arguments with references replaced by tensors; nesting was limited when parsed."""
        if isinstance(value, Ref):
            if value not in tensors:
                raise broken(self.file, f"{value.layer} gives back no tensor {value.output}, which is used.")
            return tensors[value]
        if isinstance(value, list):
            return [self._values(item, tensors) for item in value]
        if isinstance(value, dict) and "class_name" not in value:
            return {key: self._values(item, tensors) for key, item in value.items()}
        return value

    # -- one layer -------------------------------------------------------------------------------------

    def run(self, call: LayerCall) -> LayerValue:
        """Convert one call of a layer. Raises: InputError."""
        if call.spec.model is not None:
            return self._inner(call, call.spec.model)
        try:
            return CONVERTERS[call.spec.kind](call)
        except Unsupported as fault:
            raise unsupported(self.file, [str(fault)]) from None

    def _inner(self, call: LayerCall, model: ModelSpec) -> LayerValue:
        """Convert a model that is used as a layer."""
        entries = self._entries(model)
        argument = call.args[0] if len(call.args) == 1 else list(call.args)
        if isinstance(argument, dict) and not isinstance(model.inputs, dict):
            values = [argument.get(ref.layer) for ref in entries]
        elif isinstance(argument, dict) and isinstance(model.inputs, dict):
            values = [argument.get(key) for key in sorted(model.inputs)]
        else:
            values = list(leaves(argument))
        tensors = [value for value in values if isinstance(value, KerasTensor)]
        if len(tensors) != len(entries):
            raise broken(
                self.file,
                f"{call.spec.label} is called with {len(tensors)} tensors, and takes {len(entries)}.",
            )
        mask = call.kwargs.get("mask")
        if isinstance(mask, KerasTensor) and len(tensors) == 1:
            tensors = [tensors[0].masked(Mask(lambda: mask, mask))]
        inputs = {
            ref.layer: self._fitted(model.layers[ref.layer], tensor)
            for ref, tensor in zip(entries, tensors, strict=True)
        }
        outputs = self._model(model, call.path, inputs)
        return [outputs[ref] for ref in refs(model.outputs)]

    def _fitted(self, entry: LayerSpec, tensor: KerasTensor) -> KerasTensor:
        """Cast a tensor to the type of a nested model's input. Raises: InputError for another rank."""
        kind = KINDS.get(str(entry.config.get("dtype")), tensor.kind)
        shape = input_shape(entry)
        if isinstance(shape, list) and len(shape) != tensor.rank:
            raise broken(self.file, f"{entry.label} is fed {tensor.rank} axes, and takes {len(shape)}.")
        return self.builder.cast(tensor, kind)

    @contextmanager
    def enter(
        self,
        call: LayerCall,
        spec: LayerSpec,
        attribute: str,
        args: tuple[LayerValue, ...] = (),
        **kwargs: LayerValue,
    ) -> Iterator[LayerCall]:
        """Yield the call of a layer that another one holds."""
        with self._entered(spec, (*call.path, attribute), args, kwargs) as inner:
            yield inner

    @contextmanager
    def _entered(
        self,
        spec: LayerSpec,
        path: tuple[str, ...],
        args: tuple[LayerValue, ...],
        kwargs: Mapping[str, LayerValue],
    ) -> Iterator[LayerCall]:
        directory = self._below(spec.name)
        self.modules[directory] = _package(spec)
        with self.builder.under((*self.builder.current_frames, self._frame(directory))):
            yield LayerCall(spec, path, args, kwargs, self.builder, self.weights, self.file, self.major, self)

    def _below(self, name: str) -> str:
        above = self.builder.current_frames[-1].path
        return f"{above}.{escaped(name)}" if above else escaped(name)

    def _frame(self, path: str) -> Frame:
        number = self._calls[path]
        self._calls[path] += 1
        return Frame(path, number)

    # -- inputs ----------------------------------------------------------------------------------------

    def _input(self, spec: LayerSpec) -> KerasTensor:
        shape, kind = self._shape(spec), str(spec.config.get("dtype") or "float32")
        if kind not in KINDS or spec.config.get("sparse") or spec.config.get("ragged"):
            storage = (
                "sparse" if spec.config.get("sparse") else "ragged" if spec.config.get("ragged") else kind
            )
            raise unsupported(self.file, [f"{spec.label} of {storage} values"])
        name = self.builder.name(spec.name)
        dims = [
            size if size is not None else "batch" if axis == 0 else f"{name}_{axis}"
            for axis, size in enumerate(shape)
        ]
        value = ir.Value(name=name, shape=ir.Shape(dims), type=ir.TensorType(KINDS[kind]))
        self.inputs.append(value)
        return replace(self.builder.tensor(value, shape, kind=KINDS[kind]), maker=())

    def _shape(self, spec: LayerSpec) -> Shape:
        declared = input_shape(spec)
        if not isinstance(declared, list) or not declared:
            raise broken(
                self.file,
                "it was saved without the shape of its input.",
                "Call the model once, then save it.",
            )
        good = all(size is None or (isinstance(size, int) and 0 < size < MAX_SIZE) for size in declared)
        if not good or len(declared) > 8:
            raise broken(self.file, f"{spec.label} has the shape {declared!r:.60}.")
        requested = self.shapes.pop(spec.name, None) or self.shapes.pop("", None)
        if requested is None:
            return tuple(declared)
        fits = len(requested) == len(declared) and all(
            size > 0 and declared_size in (None, size)
            for size, declared_size in zip(requested, declared, strict=False)
        )
        if not fits:
            shape_text = "×".join("?" if size is None else str(size) for size in declared)
            raise broken(
                self.file,
                f"the input {spec.name} has the shape {shape_text}, not {'×'.join(map(str, requested))}.",
            )
        return tuple(requested)


def _refs_of(model: ModelSpec, node: _Node) -> list[Ref]:
    arguments: Arguments = model.layers[node[0]].calls[node[1]]
    return refs([list(arguments.args), arguments.kwargs])


def _package(spec: LayerSpec) -> str:
    if spec.model is not None:
        return f"keras.{spec.kind}"
    return f"keras.{spec.kind}" if spec.kind.startswith("ops.") else f"keras.layers.{spec.kind}"


def escaped(name: str) -> str:
    """Return a layer's name as one part of a path, without dots and spaces."""
    if not any(char in "%." or char.isspace() for char in name):
        return name
    return "".join(f"%{ord(char):02X}" if char in "%." or char.isspace() else char for char in name)
