"""Version of the installed package."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

NAME = "onnx-autodoc"


@cache
def version() -> str:
    """Return the version written at build time, else that of the installed distribution."""
    try:
        from py_autodoc._version import __version__ as built  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return installed([NAME]).get(NAME, "0+unknown")
    return str(built)


def installed(packages: Iterable[str]) -> dict[str, str]:
    """Return package → version for the installed ones, without importing them."""
    from importlib import metadata

    found = {}
    for name in packages:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
