"""A module under construction: its members and the code of its ``forward``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from py_autodoc.to_torch.code import CodeTokens, CodeValue, Statement, token
from py_autodoc.to_torch.identifiers import NumberedNames, attribute

Transform = Callable[[Any], Any]
"""Converts the stored array to the layout that the layer expects."""


@dataclass(frozen=True, slots=True)
class ModuleWeight:
    """A weight of a member and its source."""

    tensor: int
    """Id of the constant; -1 if ``transform`` creates it without an input."""
    dtype: int
    shape: tuple[int, ...]
    transform: Transform | None = None
    """None: the bytes are copied unchanged."""
    key: str = ""
    """Identifies the transform: two weights with the same tensor and key are equal."""


@dataclass(slots=True)
class Member:
    """A layer, submodule, parameter or buffer created in ``__init__``."""

    kind: str
    """``layer``, ``child``, ``parameter`` or ``buffer``; ``dropped`` if unused."""
    path: tuple[str, ...]
    """Attribute name, followed by the keys of containers below it."""
    constructor: str
    """Class such as ``nn.Conv2d``; the element type of a parameter or buffer."""
    arguments: tuple[tuple[str, str], ...] = ()
    """(name, literal); names of positional arguments begin with an underscore."""
    weights: dict[str, ModuleWeight] = field(default_factory=dict)
    """Name inside the member → weight; the name is empty for parameters and buffers."""
    child: ModuleInstance | None = None


@dataclass(slots=True, eq=False)
class ModuleInstance:
    """A module of the model; equal modules share a class."""

    name: str
    members: list[Member] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    body: list[tuple[int, str]] = field(default_factory=list)
    """Pairs of indentation level and line of ``forward``; tokens are replaced by names."""
    returns: tuple[str, ...] = ()
    module_class: ModuleClass | None = None


@dataclass(slots=True, eq=False)
class ModuleClass:
    """A class of the generated file; equal modules are instances of it."""

    name: str
    instances: list[ModuleInstance] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    """Arguments of the constructor."""
    values_of: dict[int, list[str]] = field(default_factory=dict)
    """``id`` of an instance → literals for the parameters."""
    literals: dict[tuple[int, str], str] = field(default_factory=dict)
    """(member, argument) → its code: a literal or the name of a parameter."""


@dataclass(slots=True, eq=False)
class SourceScope:
    """State of a module while its nodes are written."""

    instance: ModuleInstance
    root: bool
    parent: SourceScope | None = None
    tokens: CodeTokens = field(default_factory=CodeTokens)
    stmts: list[Statement] = field(default_factory=list)
    values: dict[int, CodeValue] = field(default_factory=dict)
    arguments: list[int] = field(default_factory=list)
    """Tokens of the arguments of ``forward``."""
    imported: list[int] = field(default_factory=list)
    """Tensors passed as arguments, in the same order; the root has its inputs instead."""
    shared: dict[tuple[object, ...], str] = field(default_factory=dict)
    """Constants that already are members → their code."""
    numbered: NumberedNames = field(default_factory=NumberedNames)
    tree: dict[str, Any] = field(default_factory=dict)
    """Attributes in use; a container maps to a dict of its own entries."""

    def assign(self, code: str, hint: str) -> str:
        """Assign the code to a new variable and return its token."""
        number = self.tokens.new(hint)
        self.stmts.append(Statement([(0, f"{token(number)} = {code}")], (number,)))
        return token(number)

    def member(self, member: Member) -> str:
        """Add a member and return code that refers to it."""
        member.path = self._unique_path(member.path)
        self.instance.members.append(member)
        return f"\x03{len(self.instance.members) - 1}\x04"

    def _unique_path(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Return a free path as close to ``path`` as possible."""
        parts = tuple(_component(component, first=not number) for number, component in enumerate(path))
        subtree = self.tree
        for component in parts[:-1]:
            children = subtree.setdefault(component, {})
            if not isinstance(children, dict):
                break
            subtree = children
        else:
            if parts[-1] not in subtree:
                subtree[parts[-1]] = True
                return parts
        name = self.numbered.free(attribute("_".join(parts)), self.tree)
        self.tree[name] = True
        return (name,)


def _component(text: str, *, first: bool) -> str:
    if not first and text.isascii() and text.isdigit() and len(text) < 6:
        return str(int(text))
    return attribute(text)
