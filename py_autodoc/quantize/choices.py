"""What the fields of a recipe can be. The server asks for the methods, so nothing heavy is imported."""

from __future__ import annotations

from importlib.metadata import entry_points

from py_autodoc.errors import OptionError

METHODS = ("static", "dynamic", "int8-weights", "int4-weights", "fp16")
AUTO = "auto"
"""The method that tries others."""
FORMATS = ("qdq", "qoperator")
CALIBRATIONS = ("minmax", "percentile", "entropy")
ACTIVATIONS, WEIGHTS = ("u8", "s8", "u16"), ("s8", "u8", "s7")
GROUP = "onnx_autodoc.quantizers"
"""Entry points of plugins."""


def checked_method(name: str) -> str:
    """Return the name of a method: built in, ``auto``, or that of a plugin. Raises: OptionError."""
    if name in METHODS or name == AUTO:
        return name
    plugins = sorted({plugin.name for plugin in entry_points(group=GROUP)})
    if name not in plugins:
        names = ", ".join([*METHODS, *plugins])
        raise OptionError("unknown-method", f"Unknown method {name[:80]!r}.", f"Choose one of {names}.")
    return name
