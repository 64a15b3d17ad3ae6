"""Adjust the inputs of a factory or a Keras model to the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from py_autodoc.errors import OptionError
from py_autodoc.torch.input_options import InputOptions, near, read_arrays
from py_autodoc.torch.inputs import ModelInputs, parameter_names


def adjust_inputs(model: Any, example: Any, options: InputOptions) -> Any:
    """Return inputs from a file, or inputs of other shapes.

    Raises:
        OptionError: the model has no such input, or a shape is given for an input that is not a tensor.
        InputError: the file cannot be read.
    """
    if options.arrays is not None:
        return _from_arrays(model, {k: torch.from_numpy(v) for k, v in read_arrays(options.arrays).items()})
    inputs = ModelInputs.of(example)
    if not options.shapes:
        return example
    named = inputs.by_name(model)
    random = torch.Generator().manual_seed(options.seed)
    for name, shape in options.shapes.items():
        input_name = name or _only(named)
        if input_name not in named:
            raise OptionError(
                "unknown-input", f"The model has no input {input_name}.", near(input_name, named)
            )
        if not isinstance(named[input_name], torch.Tensor):
            raise OptionError(
                "bad-input-shape", f"The input {input_name} is not a tensor.", "Change the factory."
            )
        named[input_name] = like(named[input_name], shape, random)
    values = list(named.values())
    count = len(inputs.args)
    return (*values[:count], dict(zip(inputs.kwargs, values[count:], strict=True)))


def like(tensor: torch.Tensor, shape: tuple[int, ...], random: torch.Generator) -> torch.Tensor:
    """Return a tensor of another shape with similar values: constant, in the same range, or normal."""
    if tensor.numel() and bool((tensor == tensor.reshape(-1)[0]).all()):
        return tensor.reshape(-1)[0].expand(shape).clone()
    if tensor.is_floating_point():
        return torch.randn(shape, generator=random).to(tensor.dtype)
    if tensor.dtype == torch.bool or not tensor.numel() or tensor.is_complex():
        return torch.ones(shape, dtype=tensor.dtype)
    low, high = int(tensor.min()), int(tensor.max())
    return torch.randint(low, high + 1, shape, generator=random).to(tensor.dtype)


def _only(named: Mapping[str, Any]) -> str:
    tensors = [name for name, value in named.items() if isinstance(value, torch.Tensor)]
    if len(tensors) != 1:
        raise OptionError(
            "bad-input-shape",
            "A shape without a name requires a single input.",
            f"Choose one of {', '.join(tensors) or 'none'}.",
        )
    return tensors[0]


def _from_arrays(model: Any, tensors: dict[str, torch.Tensor]) -> Any:
    """Assign arrays by name, or in order if numpy chose the names."""
    if list(tensors) == [f"arr_{i}" for i in range(len(tensors))]:
        return tuple(tensors.values())
    names = parameter_names(model)
    unknown = next((name for name in tensors if names and name not in names), None)
    if unknown is not None:
        raise OptionError("unknown-input", f"The model has no input {unknown}.", near(unknown, names))
    return tensors
