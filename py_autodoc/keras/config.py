"""Parse the JSON of Keras 2 and Keras 3 files to a ``ModelSpec``.

Nesting is limited before it is followed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from py_autodoc.keras.conversion_errors import broken, too_large
from py_autodoc.keras.spec import Arguments, LayerSpec, ModelSpec, Ref, refs
from py_autodoc.limits import LIBRARY

MODELS = ("Functional", "Model", "Sequential")
WRAPPED = {"Bidirectional": ("layer", "backward_layer"), "TimeDistributed": ("layer",), "RNN": ("cell",)}
_PACKAGES = ("keras", "tf_keras", "tensorflow")
_TENSOR = "__keras_tensor__"
_MAX_STRUCTURE = 16


class _ConfigParser:
    def __init__(self, file: str) -> None:
        self.file = file
        self.count = 0

    def model(self, kind: str, config: Any, depth: int, shape: Any = None) -> ModelSpec:
        if depth > LIBRARY.depth:
            raise too_large(self.file, "depth", depth, LIBRARY.depth, "models inside models")
        if isinstance(config, list):  # Before 2.2, a Sequential was the list of its layers.
            config = {"layers": config}
        layer_configs = config.get("layers") if isinstance(config, dict) else None
        if not isinstance(layer_configs, list) or not layer_configs:
            raise broken(
                self.file,
                f"its model {_name(config) or kind} has no layers in it, as of a class of its own.",
                "Only Sequential and functional models say what they do.",
            )
        if kind == "Sequential":
            return self.sequential(config, layer_configs, depth, shape)
        layers: dict[str, LayerSpec] = {}
        for entry in layer_configs:
            self.add(layers, self.layer(entry, depth))
        for entry in layer_configs:
            spec = layers[_name(entry)]
            nodes = entry.get("inbound_nodes")
            spec.calls = [self.call(node, layers) for node in (nodes if isinstance(nodes, list) else [])]
            if spec.kind == "InputLayer":
                spec.calls = [Arguments()]
        inputs, outputs = config.get("input_layers"), config.get("output_layers")
        if inputs is None or outputs is None:
            raise broken(self.file, f"its model {_name(config)} does not declare its inputs and outputs.")
        model_name = str(config.get("name") or kind)
        model = ModelSpec(model_name, kind, layers, self.ends(inputs), self.ends(outputs))
        _count_own_call(model)
        return model

    def sequential(
        self, config: dict[str, Any], layer_configs: list[Any], depth: int, shape: Any
    ) -> ModelSpec:
        layers: dict[str, LayerSpec] = {}
        specs = [self.layer(layer_config, depth) for layer_config in layer_configs]
        model_name = str(config.get("name") or "Sequential")
        if specs[0].kind != "InputLayer":
            batch_shape = self.first_shape(specs[0]) or config.get("build_input_shape") or shape
            entry = {
                "batch_shape": batch_shape,
                "dtype": None,
            }  # None keeps the type of the tensor that is passed in.
            specs.insert(0, LayerSpec(f"{specs[0].name}_input", "InputLayer", entry))
        for before, spec in zip([None, *specs], specs, strict=False):
            self.add(layers, spec)
            spec.calls = [Arguments((Ref(before.name),) if before else ())]
        return ModelSpec(model_name, "Sequential", layers, [Ref(specs[0].name)], Ref(specs[-1].name))

    def first_shape(self, spec: LayerSpec) -> Any:
        """Return the input shape declared by the first layer, or by the first layer inside that."""
        while spec.model is not None:
            entry = next(iter(spec.model.layers.values()))
            if entry.kind == "InputLayer":
                return input_shape(entry)
            spec = entry
        return spec.config.get("batch_input_shape") or spec.config.get("batch_shape")

    def add(self, layers: dict[str, LayerSpec], spec: LayerSpec) -> None:
        if spec.name in layers:
            raise broken(self.file, f"two of its layers are called {spec.name!r}.")
        self.count += 1
        if self.count > LIBRARY.nodes:
            raise too_large(self.file, "nodes", self.count, LIBRARY.nodes, "layers")
        layers[spec.name] = spec

    def layer(self, entry: Any, depth: int) -> LayerSpec:
        if depth > LIBRARY.depth:
            raise too_large(self.file, "depth", depth, LIBRARY.depth, "layers inside layers")
        config = entry.get("config") if isinstance(entry, dict) else None
        kind = entry.get("class_name") if isinstance(entry, dict) else None
        name = _name(entry)
        if not isinstance(kind, str) or not name:
            raise broken(self.file, "one of its layers has no class or no name.")
        if kind in MODELS:
            build = entry.get("build_config")
            shape = build.get("input_shape") if isinstance(build, dict) else None
            inner = self.model(kind, config, depth + 1, shape)
            return LayerSpec(name, kind, {}, model=inner, custom=_custom(entry))
        if not isinstance(config, dict):
            raise broken(self.file, f"its layer {name} has no settings.")
        spec = LayerSpec(name, _kind(entry, kind, config), config, custom=_custom(entry))
        for key in WRAPPED.get(kind, ()):
            if config.get(key) is not None:
                spec.parts[key] = self.layer(config[key], depth + 1)
        if kind == "StackedRNNCells" and isinstance(config.get("cells"), list):
            for number, cell in enumerate(config["cells"]):
                spec.parts[f"cells/{number}"] = self.layer(cell, depth + 1)
        if kind == "Bidirectional" and "layer" in spec.parts:
            _both_ways(spec.parts)
        return spec

    def call(self, node: Any, layers: dict[str, LayerSpec]) -> Arguments:
        if isinstance(node, dict) and "args" in node:
            args, kwargs = node["args"], node.get("kwargs") or {}
            if not isinstance(args, list) or not isinstance(kwargs, dict):
                raise broken(self.file, "a call of a layer cannot be read.")
            return Arguments(
                tuple(self.value(argument, 0) for argument in args),
                {str(key): self.value(argument, 0) for key, argument in kwargs.items()},
            )
        return self.older_call(node, layers)

    def older_call(self, node: Any, layers: dict[str, LayerSpec]) -> Arguments:
        """Parse a Keras 2 call: ``[[layer, call, output, {keywords}], …]``, a dict of them, or one."""
        kwargs: dict[str, Any] = {}

        def entry(item: Any) -> Any:
            if not isinstance(item, list) or len(item) < 3:
                raise broken(self.file, "a call of a layer cannot be read.")
            if len(item) > 3 and isinstance(item[3], dict):
                kwargs.update(item[3])
            if item[0] == "_CONSTANT_VALUE":
                return item[2]
            return self.ref(item)

        arguments: Any
        if isinstance(node, dict):
            arguments = {key: entry(item) for key, item in node.items()}
        elif isinstance(node, list) and node and isinstance(node[0], str):
            arguments = entry(node)
        elif isinstance(node, list) and node:
            several = [entry(item) for item in node]
            arguments = several if len(several) > 1 else several[0]
        else:
            raise broken(self.file, "a call of a layer cannot be read.")
        named = {key: self.older_value(item, layers, 0) for key, item in kwargs.items()}
        return Arguments((arguments,), named)

    def older_value(self, value: Any, layers: dict[str, LayerSpec], depth: int) -> Any:
        self.bounded(depth)
        if not isinstance(value, list):
            return value
        if len(value) in (3, 4) and isinstance(value[0], str) and value[0] in layers:
            return self.ref(value)
        return [self.older_value(item, layers, depth + 1) for item in value]

    def value(self, value: Any, depth: int) -> Any:
        self.bounded(depth)
        if isinstance(value, list):
            return [self.value(item, depth + 1) for item in value]
        if isinstance(value, dict):
            if value.get("class_name") == _TENSOR:
                history = value.get("config")
                return self.ref(history.get("keras_history") if isinstance(history, dict) else None)
            if "class_name" in value:
                return value
            return {str(key): self.value(item, depth + 1) for key, item in value.items()}
        return value

    def ends(self, value: Any, depth: int = 0) -> Any:
        """Parse the inputs or outputs of a model: ``[layer, call, output]``, nested in lists or dicts."""
        self.bounded(depth)
        if isinstance(value, dict):
            return {str(key): self.ends(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list) and value and isinstance(value[0], str):
            return self.ref(value)
        if isinstance(value, list):
            return [self.ends(item, depth + 1) for item in value]
        raise broken(self.file, "the inputs or outputs of its model cannot be read.")

    def ref(self, value: Any) -> Ref:
        if isinstance(value, list) and len(value) >= 3 and isinstance(value[0], str):
            call, output = value[1], value[2]
            if isinstance(call, int) and isinstance(output, int) and min(call, output) >= 0:
                return Ref(value[0], call, output)
        raise broken(self.file, "a connection between its layers cannot be read.")

    def bounded(self, depth: int) -> None:
        if depth > _MAX_STRUCTURE:
            raise too_large(self.file, "depth", depth, _MAX_STRUCTURE, "lists inside lists")


def parse(config: dict[str, Any], file: str) -> ModelSpec:
    """Return the model that a file describes.

    Raises:
        InputError: the content is not a model, or has a form that no Keras version writes.
        LimitError: too many layers, or nested too deeply.
    """
    kind = config.get("class_name")
    if not isinstance(kind, str) or kind not in MODELS or _custom(config):
        description = kind if isinstance(kind, str) else "nothing"
        raise broken(
            file,
            f"its model is of the class {description}, which needs custom code to run.",
            "Sequential and functional models are read.",
        )
    build = config.get("build_config")
    shape = build.get("input_shape") if isinstance(build, dict) else None
    return _ConfigParser(file).model(kind, config.get("config"), 0, shape)


def _count_own_call(model: ModelSpec) -> None:
    """Add the call of a nested model that Keras 2 counts but does not write to the file."""
    used: dict[str, int] = {}
    calls = [call for spec in model.layers.values() for call in spec.calls]
    nodes = [[list(call.args), call.kwargs] for call in calls]
    for ref in refs([nodes, model.outputs]):
        used[ref.layer] = max(used.get(ref.layer, 0), ref.call)
    for name, last in used.items():
        spec = model.layers.get(name)
        if spec is not None and spec.model is not None and last == len(spec.calls):
            spec.calls.insert(0, Arguments())


def _both_ways(parts: dict[str, LayerSpec]) -> None:
    """Complete the two layers of a ``Bidirectional``; the second may be implied by the first."""
    layer = parts["layer"]
    if "backward_layer" not in parts:
        config = {**layer.config, "go_backwards": not layer.config.get("go_backwards", False)}
        name = f"backward_{layer.name.removeprefix('forward_')}"
        parts["backward_layer"] = replace(layer, name=name, config=config, calls=[])
    parts["layer"] = replace(layer, name=f"forward_{layer.name.removeprefix('forward_')}", calls=[])


def input_shape(spec: LayerSpec) -> Any:
    """Return the shape of an ``InputLayer``, including the batch."""
    return spec.config.get("batch_shape") or spec.config.get("batch_input_shape")


def _name(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    config = entry.get("config")
    name = entry.get("name") or (config.get("name") if isinstance(config, dict) else None)
    return name if isinstance(name, str) else ""


def _custom(config: dict[str, Any]) -> bool:
    """True if the class is not part of Keras, whatever its name."""
    module, registered = config.get("module"), config.get("registered_name")
    if isinstance(registered, str) and ">" in registered and not registered.startswith("keras>"):
        return True
    return isinstance(module, str) and module.partition(".")[0] not in _PACKAGES


def _kind(entry: dict[str, Any], kind: str, config: dict[str, Any]) -> str:
    """Return the kind of an entry; an operation shares its class name with a layer but is not trainable."""
    module = entry.get("module")
    if isinstance(module, str):
        return f"ops.{kind}" if module.startswith("keras.src.ops") else kind
    # Some layers omit ``trainable`` but not their dtype; masking operations do the opposite.
    unconfigured = "trainable" not in config and config.get("dtype") in (None, "bool")
    unconfigured = unconfigured and "batch_input_shape" not in config
    return (
        f"ops.{kind}"
        if unconfigured and kind not in ("InputLayer", *MODELS) and "inbound_nodes" in entry
        else kind
    )
