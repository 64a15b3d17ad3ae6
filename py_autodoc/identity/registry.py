"""Registry of the task rules; each family of tasks has a file in ``identity/tasks``.

A rule is a function ``read(case) -> RuleReading | None`` registered with ``@task`` under a stable id, with
its description and the names used for the task in files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from py_autodoc.identity.case import IdentityCase
from py_autodoc.identity.model import RuleReading

Read = Callable[[IdentityCase], RuleReading | None]


@dataclass(frozen=True, slots=True)
class TaskRule:
    """A registered task."""

    id: str
    words: str
    """Text shown to users: ``image classification``."""
    read: Read
    pipelines: tuple[str, ...]
    """Names of pipelines and tasks that exporters write into metadata."""
    classes: tuple[str, ...]
    """Suffixes of class names, such as ``ForImageClassification``."""


_TASKS: dict[str, TaskRule] = {}


def task(
    id: str, words: str, pipelines: tuple[str, ...] = (), classes: tuple[str, ...] = ()
) -> Callable[[Read], Read]:
    """Register a rule. Raises: ValueError for a duplicate id."""

    def add(read: Read) -> Read:
        if id in _TASKS:
            raise ValueError(f"two tasks are called {id}")
        _TASKS[id] = TaskRule(id, words, read, pipelines, classes)
        return read

    return add


def tasks() -> Mapping[str, TaskRule]:
    """Return every task by id, sorted. Imports ``identity/tasks`` on first use."""
    _import_tasks()
    return dict(sorted(_TASKS.items()))


@cache
def _import_tasks() -> None:
    package = import_module("py_autodoc.identity.tasks")
    for entry in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{entry.name}")
