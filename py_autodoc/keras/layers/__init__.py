"""One converter for each class of layers; importing this package registers all of them."""

from __future__ import annotations

from py_autodoc.keras.layers import (
    activation,
    attention,
    conv,
    core,
    merge,
    norm,
    ops,
    pool,
    recurrent,
    shape,
    wrappers,
)

__all__ = [
    "activation",
    "attention",
    "conv",
    "core",
    "merge",
    "norm",
    "ops",
    "pool",
    "recurrent",
    "shape",
    "wrappers",
]
