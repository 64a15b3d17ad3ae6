"""Version of the installed package."""

from __future__ import annotations

from functools import cache

NAME = "onnx-autodoc"


@cache
def version() -> str:
    """The version written at build time, else that of the installed distribution."""
    try:
        from py_autodoc._version import __version__ as built  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        from importlib.metadata import PackageNotFoundError
        from importlib.metadata import version as installed

        try:
            return installed(NAME)
        except PackageNotFoundError:
            return "0+unknown"
    return str(built)
