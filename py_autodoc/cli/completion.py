"""Shell completion of devices, rules, symbols of the given model, and files."""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem

_MOST = 1000
"""Maximum number of completions."""


def files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leave the completion of files to the shell."""
    return [CompletionItem(incomplete, type="file")]


def devices(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete ids of devices with latency estimates, or files if a path was begun."""
    if os.sep in incomplete or incomplete.endswith(".json"):
        return files(context, parameter, incomplete)
    from py_autodoc.hardware.profile import estimable, profiles

    wanted = incomplete.lower()
    found = [one for one in profiles() if one.id.startswith(wanted) and estimable(one)]
    return [CompletionItem(one.id, help=one.name) for one in found[:_MOST]]


def precisions(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the precisions of latency estimates."""
    from py_autodoc.hardware.profile import PRECISIONS

    return [CompletionItem(one) for one in PRECISIONS if one.startswith(incomplete.lower())]


def runtimes(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the runtimes of latency estimates."""
    from py_autodoc.hardware.runtimes import RUNTIMES

    return [
        CompletionItem(one.id, help=one.label) for one in RUNTIMES if one.id.startswith(incomplete.lower())
    ]


def rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the ids of rules."""
    from py_autodoc.findings.registry import rules as known

    found = [one for one in known().values() if one.id.startswith(incomplete)]
    return [CompletionItem(one.id, help=one.title) for one in found]


def symbols(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete ``NAME=`` with symbolic dimensions of the model on the command line, if any."""
    from py_autodoc.errors import AutodocError
    from py_autodoc.graph.building.build import build
    from py_autodoc.graph.loading.load import load
    from py_autodoc.graph.symbolic_dims.dim_names import usual

    # While an option lacks its value, click leaves the arguments unparsed.
    given = context.params.get("models") or context.params.get("model") or context.args
    paths = [given] if isinstance(given, str) else [one for one in given if os.path.isfile(one)]
    found: list[str] = []
    for path in paths[:1]:
        try:
            found = list(usual(build(load(path))))
        except (AutodocError, OSError):
            return []
    names = [f"{name}=" for name in found[:_MOST]]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
