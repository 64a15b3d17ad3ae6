"""Dimensions for several models: each gets those that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py_autodoc.report.pipeline.analysis import Options


def fitting(path: str, options: Options) -> tuple[Options, set[str]]:
    """Return the options that apply to a model, and the names of those that do not."""
    from dataclasses import replace

    from py_autodoc.compare.topology import input_names
    from py_autodoc.graph.symbolic_dims.dim_names import ANY_SYMBOL

    inputs, symbols = input_names(path)
    bindings = {
        name: size for name, size in options.bindings.items() if name in symbols or name == ANY_SYMBOL
    }
    shapes = {name: shape for name, shape in options.input_shapes.items() if name in inputs}
    resize = {name: shape for name, shape in options.resize.items() if name in inputs}
    unused = (set(options.bindings) - bindings.keys()) | (set(options.input_shapes) - shapes.keys())
    unused |= set(options.resize) - resize.keys()
    return replace(options, bindings=bindings, input_shapes=shapes, resize=resize), unused
