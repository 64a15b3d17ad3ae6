"""Aspects: what ONNX Autodoc supports for an operator, and the module that reports each aspect.

This is the lowest layer, so the table only declares the aspects. The module with the registry of an aspect
reports it (``@answers``); ``py_autodoc.operators`` imports all of these modules and collects the results.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[3]

Key = tuple[str, str]
"""(domain, operator); the domain of ai.onnx is ``""``."""


@dataclass(frozen=True, slots=True)
class Link:
    """Source location of an operator's aspect."""

    path: str
    """File path, such as ``py_autodoc/costs/rules/conv.py``."""
    name: str
    """Name of the function or table."""
    line: int
    """Line of the definition; 0 for a row of a table."""
    detail: str = ""
    """Content of the table row: a category, a role, the names of the inputs."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One kind of support for an operator in ONNX Autodoc."""

    id: str
    label: str
    add: str
    """Where to add support for a new operator."""
    without: str
    """Behaviour for operators without this aspect, shown as the reason."""
    rows: bool = True
    """False if the aspect is looked up by name only, including operators without any other support."""


ASPECTS = (
    Aspect(
        "inputs", "Names of inputs", "the operator's schema in the onnx package",
        "ONNX defines no schema; inputs are numbered",
    ),
    Aspect(
        "shape", "Shape rule", "a function in graph/shapes/ under @rule",
        "ONNX's own inference of the node, else the shapes that the file states",
    ),
    Aspect(
        "folding", "Folding of values", "folds= of the shape rule",
        "values are not computed through it, so sizes that depend on them stay unknown",
    ),
    Aspect(
        "rebatch", "Another batch", "a function in graph/rebatch/rules/ under @rule",
        "a model whose batch reaches it keeps its batch",
    ),
    Aspect(
        "resize", "Other sizes", "a function in graph/resize/rules/ under @rule",
        "a model whose changed sizes reach it keeps its sizes",
    ),
    Aspect(
        "cost", "Cost rule", "a function in costs/rules/ under @cost",
        "its costs are unknown, and the coverage of the totals says so",
    ),
    Aspect(
        "kernel", "Role in kernels", "the tables of hardware/fusion_roles.py",
        "its time is unknown, and the estimate says so",
    ),
    Aspect(
        "category", "Category", "the tables of report/encode/categories.py",
        "its card is drawn as custom",
        rows=False,
    ),
    Aspect(
        "setting", "Setting on the card", "the tables of report/viewer_payload/node_settings.py",
        "its card shows no setting",
    ),
    Aspect(
        "torch", "PyTorch code", "a function in to_torch/ops/ under @rule",
        "to-torch refuses the model and names the operator",
    ),
    Aspect(
        "integer", "Integer reference", "quantize/reference/operators.py",
        "it is not a quantized operator, or opdocs replays it with ONNX Runtime alone",
    ),
)  # fmt: skip
"""In the order of the layers."""

Answer = Callable[[], Mapping[Key, Link]]
_ANSWERS: dict[str, Answer] = {}


def answers(aspect: str) -> Callable[[Answer], Answer]:
    """Register a function that returns operator → link for an aspect. Duplicates raise."""
    if aspect not in {registered.id for registered in ASPECTS}:
        raise ValueError(f"no aspect is called {aspect!r}")

    def add(answer: Answer) -> Answer:
        if aspect in _ANSWERS:
            raise ValueError(f"two modules answer for {aspect}")
        _ANSWERS[aspect] = answer
        return answer

    return add


def links(aspect: str) -> Mapping[Key, Link]:
    """Return the links of an aspect. Raises: KeyError if the responsible module is not imported."""
    return _ANSWERS[aspect]()


def link_to(function: Callable[..., Any], detail: str = "") -> Link:
    """Return the link to the definition of a function, or of the function it wraps."""
    while isinstance(function, partial):
        function = function.func
    code = inspect.unwrap(function).__code__
    return Link(_relative(code.co_filename), code.co_name, code.co_firstlineno, detail)


def row_of(module: str, table: str, detail: str = "") -> Link:
    """Return the link to a table of a module, such as ``py_autodoc.report.encode.categories``."""
    return Link(f"{module.replace('.', '/')}.py", table, 0, detail)


def _relative(file: str) -> str:
    path = Path(file)
    return path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name
