"""One module being written: its members and the code of its ``forward``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from py_autodoc.to_torch.code import CodeTokens, CodeValue, Statement, token
from py_autodoc.to_torch.identifiers import NumberedNames, attribute

Transform = Callable[[Any], Any]
"""From the stored array to the one that the layer wants."""


@dataclass(frozen=True, slots=True)
class ModuleWeight:
    """A weight of a member and where it comes from."""

    tensor: int
    """Id of the constant; -1: ``transform`` makes it from nothing."""
    dtype: int
    shape: tuple[int, ...]
    transform: Transform | None = None
    """None: the bytes are copied as they are."""
    key: str = ""
    """Tells transforms apart: two weights of one tensor and one key are equal."""


@dataclass(slots=True)
class Member:
    """Something in ``__init__``."""

    kind: str
    """``layer``, ``child``, ``parameter``, ``buffer``; ``dropped`` when nothing uses it."""
    path: tuple[str, ...]
    """Attribute, and keys of containers below it."""
    made: str
    """``nn.Conv2d``; for a parameter its element type."""
    arguments: tuple[tuple[str, str], ...] = ()
    """(name, literal); the names of positional ones begin with an underscore."""
    weights: dict[str, ModuleWeight] = field(default_factory=dict)
    """Name inside the member → weight; of parameters and buffers the name is empty."""
    child: ModuleInstance | None = None


@dataclass(slots=True, eq=False)
class ModuleInstance:
    """A module as it stands in the model; equal ones share a class."""

    name: str
    members: list[Member] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    body: list[tuple[int, str]] = field(default_factory=list)
    """Lines of ``forward`` below its head; tokens are named, members still are not."""
    returns: tuple[str, ...] = ()
    made: ModuleClass | None = None


@dataclass(slots=True, eq=False)
class ModuleClass:
    """A class of the written file; equal modules are instances of it."""

    name: str
    instances: list[ModuleInstance] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    """Arguments of the constructor."""
    given: dict[int, list[str]] = field(default_factory=dict)
    """``id`` of an instance → literals for the parameters."""
    literals: dict[tuple[int, str], str] = field(default_factory=dict)
    """(member, argument) → its code: a literal or the name of a parameter."""


@dataclass(slots=True, eq=False)
class SourceScope:
    """What is known while the nodes of one module are written."""

    instance: ModuleInstance
    root: bool
    parent: SourceScope | None = None
    tokens: CodeTokens = field(default_factory=CodeTokens)
    stmts: list[Statement] = field(default_factory=list)
    values: dict[int, CodeValue] = field(default_factory=dict)
    arguments: list[int] = field(default_factory=list)
    """Tokens of the arguments of ``forward``."""
    imported: list[int] = field(default_factory=list)
    """Tensors that come in as arguments, in the same order (the root has its inputs)."""
    shared: dict[tuple[object, ...], str] = field(default_factory=dict)
    """Constants that are members already → their code."""
    numbered: NumberedNames = field(default_factory=NumberedNames)
    tree: dict[str, Any] = field(default_factory=dict)
    """Attributes that are taken; a container has a dict of its own."""

    def assign(self, code: str, hint: str) -> str:
        """A new variable with that value; its token."""
        made = self.tokens.new(hint)
        self.stmts.append(Statement([(0, f"{token(made)} = {code}")], (made,)))
        return token(made)

    def member(self, member: Member) -> str:
        """Add a member; code that gives it."""
        member.path = self._place(member.path)
        self.instance.members.append(member)
        return f"\x03{len(self.instance.members) - 1}\x04"

    def _place(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """A free place as near to ``path`` as can be."""
        parts = tuple(_part(part, first=not number) for number, part in enumerate(path))
        at = self.tree
        for part in parts[:-1]:
            held = at.setdefault(part, {})
            if not isinstance(held, dict):
                break
            at = held
        else:
            if parts[-1] not in at:
                at[parts[-1]] = True
                return parts
        name = self.numbered.free(attribute("_".join(parts)), self.tree)
        self.tree[name] = True
        return (name,)


def _part(text: str, *, first: bool) -> str:
    if not first and text.isascii() and text.isdigit() and len(text) < 6:
        return str(int(text))
    return attribute(text)
