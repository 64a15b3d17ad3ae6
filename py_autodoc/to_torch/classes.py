"""One class for all equal modules; values that differ between them are constructor arguments."""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.to_torch.identifiers import NumberedNames, attribute, class_name, unique
from py_autodoc.to_torch.layout import wrap
from py_autodoc.to_torch.module import Member, ModuleClass, ModuleInstance
from py_autodoc.to_torch.module_lists import Lists

ROOT = "Model"
"""Class of the whole model."""


class Classes:
    """All classes of the file, each after the classes it uses."""

    def __init__(self) -> None:
        self.all: list[ModuleClass] = []
        self._by_shape: dict[tuple[object, ...], ModuleClass] = {}
        self._names: set[str] = {ROOT}
        self._numbered = NumberedNames()

    def add(self, instance: ModuleInstance, root: bool) -> None:
        """Add an instance to its class. The children of the instance must have been added before."""
        members = tuple(
            (
                m.kind,
                m.path,
                m.made,
                tuple(name for name, _ in m.arguments),
                id(m.child.made) if m.child else 0,
            )
            for m in instance.members
            if m.kind != "dropped"
        )
        shape = (root, tuple(instance.arguments), tuple(instance.body), instance.returns, members)
        held = self._by_shape.get(shape)
        if held is None:
            name = ROOT if root else self._numbered.free(class_name(instance.name), self._names)
            self._names.add(name)
            held = self._by_shape[shape] = ModuleClass(name)
            self.all.append(held)
        held.instances.append(instance)
        instance.made = held

    def settle(self) -> None:
        """Determine the constructor arguments of all classes. Call once, after the last ``add``."""
        for one in self.all:
            _settle(one)


def kept(instance: ModuleInstance) -> list[Member]:
    """Return the members that are used."""
    return [member for member in instance.members if member.kind != "dropped"]


def _slots(one: ModuleClass) -> Iterator[tuple[int, Member, str, list[str]]]:
    """Yield (member index, its first form, argument, literal in every instance)."""
    columns = [kept(instance) for instance in one.instances]
    for place, first in enumerate(columns[0]):
        held = [column[place] for column in columns]
        if first.child is not None and first.child.made is not None:
            made = first.child.made
            for number, name in enumerate(made.parameters):
                yield place, first, name, [made.given[id(member.child)][number] for member in held]
        else:
            for number, (name, _) in enumerate(first.arguments):
                yield place, first, name, [member.arguments[number][1] for member in held]


def _settle(one: ModuleClass) -> None:
    known: dict[tuple[str, ...], str] = {}
    one.given = {id(instance): [] for instance in one.instances}
    for place, member, name, values in _slots(one):
        if len(set(values)) == 1:
            one.literals[place, name] = values[0]
            continue
        key = tuple(values)
        if key not in known:
            label = name.removeprefix("_")
            if label in one.parameters:
                label = f"{attribute('_'.join(member.path))}_{label}"
            known[key] = unique(label, one.parameters)
            one.parameters.append(known[key])
            for instance, value in zip(one.instances, values, strict=True):
                one.given[id(instance)].append(value)
        one.literals[place, name] = known[key]


def class_lines(one: ModuleClass, doc: list[str]) -> list[str]:
    """Return the source lines of a class."""
    first = one.instances[0]
    lines = [f"class {one.name}(nn.Module):"]
    lines += [f"    {line}" if line else "" for line in doc]
    if doc:
        lines.append("")
    members = kept(first)
    if members:
        lines += wrap(f"def __init__({', '.join(['self', *one.parameters])}):", 4)
        lines.append("        super().__init__()")
        lines += _init_lines(one, members)
        lines.append("")
    lines += wrap(f"def forward({', '.join(['self', *first.arguments])}):", 4)
    for indent, text in first.body:
        lines += wrap(text, 8 + 4 * indent)
    return [*lines, *wrap(f"return {first.returns[0]}", 8)]


def _init_lines(one: ModuleClass, members: list[Member]) -> list[str]:
    lists = Lists(members)
    lines: list[str] = []
    done: set[str] = set()
    for place, member in enumerate(members):
        head = member.path[0]
        if member.kind == "buffer":
            lines += wrap(f'self.register_buffer("{head}", {_empty(one, place, member)})', 8)
        elif member.kind == "parameter":
            lines += wrap(f"self.{head} = nn.Parameter({_empty(one, place, member)})", 8)
        elif len(member.path) == 1:
            lines += wrap(f"self.{head} = {_made(one, place, member)}", 8)
        elif head not in done:
            done.add(head)
            lines += wrap(f"self.{head} = {_container(one, members, lists, (head,))}", 8)
    return lines


def _container(one: ModuleClass, members: list[Member], lists: Lists, path: tuple[str, ...]) -> str:
    """Return the code of a ModuleList or ModuleDict and its entries. Recurses once per level of the path."""
    made: dict[str, str] = {}
    for place, member in enumerate(members):
        if member.path[: len(path)] == path and len(member.path) > len(path):
            key = member.path[len(path)]
            if len(member.path) == len(path) + 1:
                made[key] = _made(one, place, member)
            elif key not in made:
                made[key] = _container(one, members, lists, (*path, key))
    if not lists.is_list(path):
        return f"nn.ModuleDict({{{', '.join(f'{key!r}: {code}' for key, code in made.items())}}})".replace(
            "'", '"'
        )
    codes = [made[str(number)] for number in range(len(made))]
    if len(codes) > 1 and len(set(codes)) == 1:
        return f"nn.ModuleList({codes[0]} for _ in range({len(codes)}))"
    return f"nn.ModuleList([{', '.join(codes)}])"


def _made(one: ModuleClass, place: int, member: Member) -> str:
    if member.child is not None and member.child.made is not None:
        made = member.child.made
        arguments = [f"{name}={one.literals[place, name]}" for name in made.parameters]
        return f"{made.name}({', '.join(arguments)})"
    parts = []
    for name, _ in member.arguments:
        value = one.literals[place, name]
        parts.append(value if name.startswith("_") else f"{name}={value}")
    return f"{member.made}({', '.join(parts)})"


def _empty(one: ModuleClass, place: int, member: Member) -> str:
    sizes = [one.literals[place, name] for name, _ in member.arguments]
    shape = ", ".join(sizes) if sizes else "()"
    dtype = "" if member.made == "float32" else f", dtype=torch.{member.made}"
    return f"torch.empty({shape}{dtype})"
