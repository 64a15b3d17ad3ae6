"""Example inputs and dynamic axes in the formats of the exporters."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from py_autodoc.errors import OptionError

Dynamic = bool | Mapping[str, Any] | Sequence[Any] | None


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """Inputs of one call of the model."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, example: Any) -> ModelInputs:
        """Convert a tensor, a tuple or list of positional inputs, or a mapping of named ones.

        As in ``torch.onnx.export``, a mapping at the end of a tuple holds named inputs.

        Raises:
            OptionError: the example has another type.
        """
        if isinstance(example, torch.Tensor):
            return cls((example,))
        if isinstance(example, Mapping):
            return cls((), dict(example))
        if isinstance(example, (tuple, list)):
            if example and isinstance(example[-1], dict):
                return cls(tuple(example[:-1]), dict(example[-1]))
            return cls(tuple(example))
        raise OptionError(
            "example-inputs",
            f"Example inputs cannot be a {type(example).__name__}.",
            "Pass a tensor, a tuple of positional inputs, or a dict of named ones.",
        )

    def by_name(self, model: Any) -> dict[str, Any]:
        """Return the inputs by argument name of ``forward``; surplus positional ones are named by number."""
        names = parameter_names(model)
        named = {names[i] if i < len(names) else f"#{i}": value for i, value in enumerate(self.args)}
        return {**named, **self.kwargs}


def parameter_names(model: Any) -> list[str]:
    """Return the names of the positional arguments; empty without a signature."""
    try:
        parameters = inspect.signature(model.forward).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in positional]


def dynamic_shapes(model: Any, inputs: ModelInputs, names: Sequence[str] | None, dynamic: Dynamic) -> Any:
    """Convert the ``dynamic`` argument of ``export`` to ``dynamic_shapes`` of ``torch.export``.

    True makes every axis of every tensor dynamic. A mapping is input → axis → name of the axis (or a
    ``torch.export.Dim``); anything else is passed on unchanged.

    Raises:
        OptionError: it names an unknown input, or an axis the input does not have.
    """
    if dynamic is None or dynamic is False:
        return None
    if dynamic is True:
        auto = torch.utils._pytree.tree_map(_every_axis, (inputs.args, inputs.kwargs))
        return _shapes(model, inputs, dict(enumerate(auto[0])), auto[1])
    if not isinstance(dynamic, Mapping):
        return dynamic
    keys = _keys(model, inputs, names)
    by_place: dict[int, Any] = {}
    by_name: dict[str, Any] = {}
    for name, axes in dynamic.items():
        key = keys.get(name)
        if key is None:
            raise OptionError(
                "dynamic-input", f"dynamic: no input is named {name}.", f"Choose one of {', '.join(keys)}."
            )
        _check_axes(name, _value(inputs, key), axes)
        if isinstance(key, int):
            by_place[key] = axes
        else:
            by_name[key] = axes
    return _shapes(model, inputs, by_place, by_name)


def as_dims(shapes: Any) -> Any:
    """Convert nested axis names for ``torch.export``, with one object per name."""
    dims: dict[str, Any] = {}

    def dim(entry: Any) -> Any:
        if not isinstance(entry, str):
            return entry
        if entry not in dims:
            dims[entry] = torch.export.Dim(entry)
        return dims[entry]

    return torch.utils._pytree.tree_map(dim, shapes)


def dynamic_axes(
    model: Any, inputs: ModelInputs, names: Sequence[str] | None, dynamic: Dynamic
) -> tuple[list[str] | None, dict[str, dict[int, str]] | None]:
    """Return ``input_names`` and ``dynamic_axes`` of the TorchScript exporter.

    Raises:
        OptionError: as ``dynamic_shapes``, or a form that this exporter does not support.
    """
    if dynamic is None or dynamic is False:
        return (list(names) if names else None), None
    keys = _keys(model, inputs, names)
    if dynamic is True:
        tensors = {name: _value(inputs, key) for name, key in keys.items()}
        defaults = {
            name: {axis: f"{name}_{axis}" for axis in range(tensor.dim())}
            for name, tensor in tensors.items()
            if isinstance(tensor, torch.Tensor)
        }
        return list(names or defaults), defaults
    if not isinstance(dynamic, Mapping):
        raise OptionError(
            "dynamic-form",
            "dynamic: the TorchScript exporter takes a mapping of input → axis → name.",
        )
    axes_by_name: dict[str, dict[int, str]] = {}
    for name, axes in dynamic.items():
        if name not in keys:
            raise OptionError(
                "dynamic-input", f"dynamic: no input is named {name}.", f"Choose one of {', '.join(keys)}."
            )
        _check_axes(name, _value(inputs, keys[name]), axes)
        axes_by_name[name] = {axis: str(getattr(dim, "__name__", dim)) for axis, dim in axes.items()}
    return list(names or keys), axes_by_name


def _keys(model: Any, inputs: ModelInputs, names: Sequence[str] | None) -> dict[str, int | str]:
    """Return input name → its position among the positional inputs, or its keyword."""
    parameters = parameter_names(model)
    keys: dict[str, int | str] = {parameters[i]: i for i in range(min(len(parameters), len(inputs.args)))}
    keys.update({name: name for name in inputs.kwargs})
    order: list[int | str] = [*range(len(inputs.args)), *inputs.kwargs]
    keys.update(dict(zip(names or (), order, strict=False)))
    return keys


def _value(inputs: ModelInputs, key: int | str) -> Any:
    return inputs.args[key] if isinstance(key, int) else inputs.kwargs[key]


def _check_axes(name: str, value: Any, axes: Any) -> None:
    if not isinstance(value, torch.Tensor) or not isinstance(axes, Mapping):
        return
    for axis in axes:
        if not isinstance(axis, int) or not 0 <= axis < value.dim():
            raise OptionError(
                "dynamic-axis", f"dynamic: {name} has no axis {axis}.", f"It has {value.dim()} axes, from 0."
            )


def _every_axis(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return dict.fromkeys(range(value.dim()), torch.export.Dim.AUTO)
    return None


def _shapes(model: Any, inputs: ModelInputs, by_place: Mapping[int, Any], by_name: Mapping[str, Any]) -> Any:
    """Return shapes by name if ``forward`` names its arguments, else by position."""
    parameters = parameter_names(model)
    if inputs.args and len(parameters) < len(inputs.args):
        spread = tuple(by_place.get(i) for i in range(len(parameters), len(inputs.args)))
        return (*(by_place.get(i) for i in range(len(parameters))), spread)
    named = {parameters[i]: by_place.get(i) for i in range(len(inputs.args))}
    return {**named, **{name: by_name.get(name) for name in inputs.kwargs}}
