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

    prefix = incomplete.lower()
    matches = [device for device in profiles() if device.id.startswith(prefix) and estimable(device)]
    return [CompletionItem(device.id, help=device.name) for device in matches[:_MOST]]


def precisions(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the precisions of latency estimates."""
    from py_autodoc.hardware.profile import PRECISIONS

    return [CompletionItem(precision) for precision in PRECISIONS if precision.startswith(incomplete.lower())]


def runtimes(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the runtimes of latency estimates."""
    from py_autodoc.hardware.runtimes import RUNTIMES

    return [
        CompletionItem(runtime.id, help=runtime.label)
        for runtime in RUNTIMES
        if runtime.id.startswith(incomplete.lower())
    ]


def rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the ids of rules."""
    from py_autodoc.findings.registry import rules as known

    matches = [rule for rule in known().values() if rule.id.startswith(incomplete)]
    return [CompletionItem(rule.id, help=rule.title) for rule in matches]


def symbols(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete ``NAME=`` with symbolic dimensions of the model on the command line, if any."""
    from py_autodoc.errors import AutodocError
    from py_autodoc.graph.building.build import build
    from py_autodoc.graph.loading.load import load
    from py_autodoc.graph.symbolic_dims.dim_names import typical_sizes

    # While an option lacks its value, click leaves the arguments unparsed.
    models = context.params.get("models") or context.params.get("model") or context.args
    paths = [models] if isinstance(models, str) else [path for path in models if os.path.isfile(path)]
    symbols_of_file: list[str] = []
    for path in paths[:1]:
        try:
            symbols_of_file = list(typical_sizes(build(load(path))))
        except (AutodocError, OSError):
            return []
    names = [f"{name}=" for name in symbols_of_file[:_MOST]]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
