"""Packages of extras: imported when they are needed, missing or broken ones as one line with the way out."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from py_autodoc.errors import RequirementError


def optional_module(name: str, package: str, code: str, what: str, hint: str) -> ModuleType:
    """Return a module of a package that an extra brings.

    ``what`` needs it (``Plots need``); ``code`` and ``hint``, the pip command, are those of the error if it
    is not installed. Raises RequirementError if it is not installed, or its import fails.
    """
    try:
        return import_module(name)
    except Exception as fault:  # a broken package may raise anything, and is not our fault
        if isinstance(fault, ModuleNotFoundError) and (fault.name or "").split(".")[0] == name.split(".")[0]:
            raise RequirementError(code, f"{what} {package}, which is not installed.", hint) from None
        lines = str(fault).strip().splitlines()
        said = (lines[0] if lines else type(fault).__name__)[:200].rstrip(".")
        raise RequirementError(
            "broken-package",
            f"{what} {package}, which cannot be imported here: {said}.",
            f"Reinstall it: pip install --force-reinstall {package}",
        ) from fault
