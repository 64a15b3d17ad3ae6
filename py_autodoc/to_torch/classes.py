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
                m.constructor,
                tuple(name for name, _ in m.arguments),
                id(m.child.module_class) if m.child else 0,
            )
            for m in instance.members
            if m.kind != "dropped"
        )
        shape = (root, tuple(instance.arguments), tuple(instance.body), instance.returns, members)
        module_class = self._by_shape.get(shape)
        if module_class is None:
            name = ROOT if root else self._numbered.free(class_name(instance.name), self._names)
            self._names.add(name)
            module_class = self._by_shape[shape] = ModuleClass(name)
            self.all.append(module_class)
        module_class.instances.append(instance)
        instance.module_class = module_class

    def settle(self) -> None:
        """Determine the constructor arguments of all classes. Call once, after the last ``add``."""
        for module_class in self.all:
            _settle(module_class)


def stored_members(instance: ModuleInstance) -> list[Member]:
    """Return the members that are used."""
    return [member for member in instance.members if member.kind != "dropped"]


def _slots(module_class: ModuleClass) -> Iterator[tuple[int, Member, str, list[str]]]:
    """Yield (member index, its first form, argument, literal in every instance)."""
    columns = [stored_members(instance) for instance in module_class.instances]
    for position, first in enumerate(columns[0]):
        same_slot = [column[position] for column in columns]
        if first.child is not None and first.child.module_class is not None:
            module_class = first.child.module_class
            for number, name in enumerate(module_class.parameters):
                yield (
                    position,
                    first,
                    name,
                    [module_class.values_of[id(member.child)][number] for member in same_slot],
                )
        else:
            for number, (name, _) in enumerate(first.arguments):
                yield position, first, name, [member.arguments[number][1] for member in same_slot]


def _settle(module_class: ModuleClass) -> None:
    parameter_of: dict[tuple[str, ...], str] = {}
    module_class.values_of = {id(instance): [] for instance in module_class.instances}
    for position, member, name, values in _slots(module_class):
        if len(set(values)) == 1:
            module_class.literals[position, name] = values[0]
            continue
        key = tuple(values)
        if key not in parameter_of:
            label = name.removeprefix("_")
            if label in module_class.parameters:
                label = f"{attribute('_'.join(member.path))}_{label}"
            parameter_of[key] = unique(label, module_class.parameters)
            module_class.parameters.append(parameter_of[key])
            for instance, value in zip(module_class.instances, values, strict=True):
                module_class.values_of[id(instance)].append(value)
        module_class.literals[position, name] = parameter_of[key]


def class_lines(module_class: ModuleClass, doc: list[str]) -> list[str]:
    """Return the source lines of a class."""
    first = module_class.instances[0]
    lines = [f"class {module_class.name}(nn.Module):"]
    lines += [f"    {line}" if line else "" for line in doc]
    if doc:
        lines.append("")
    members = stored_members(first)
    if members:
        lines += wrap(f"def __init__({', '.join(['self', *module_class.parameters])}):", 4)
        lines.append("        super().__init__()")
        lines += _init_lines(module_class, members)
        lines.append("")
    lines += wrap(f"def forward({', '.join(['self', *first.arguments])}):", 4)
    for indent, text in first.body:
        lines += wrap(text, 8 + 4 * indent)
    return [*lines, *wrap(f"return {first.returns[0]}", 8)]


def _init_lines(module_class: ModuleClass, members: list[Member]) -> list[str]:
    lists = Lists(members)
    lines: list[str] = []
    written: set[str] = set()
    for position, member in enumerate(members):
        head = member.path[0]
        if member.kind == "buffer":
            lines += wrap(f'self.register_buffer("{head}", {_empty(module_class, position, member)})', 8)
        elif member.kind == "parameter":
            lines += wrap(f"self.{head} = nn.Parameter({_empty(module_class, position, member)})", 8)
        elif len(member.path) == 1:
            lines += wrap(f"self.{head} = {_constructor_code(module_class, position, member)}", 8)
        elif head not in written:
            written.add(head)
            lines += wrap(f"self.{head} = {_container(module_class, members, lists, (head,))}", 8)
    return lines


def _container(module_class: ModuleClass, members: list[Member], lists: Lists, path: tuple[str, ...]) -> str:
    """Return the code of a ModuleList or ModuleDict and its entries. Recurses once per level of the path."""
    entries: dict[str, str] = {}
    for position, member in enumerate(members):
        if member.path[: len(path)] == path and len(member.path) > len(path):
            key = member.path[len(path)]
            if len(member.path) == len(path) + 1:
                entries[key] = _constructor_code(module_class, position, member)
            elif key not in entries:
                entries[key] = _container(module_class, members, lists, (*path, key))
    if not lists.is_list(path):
        return f"nn.ModuleDict({{{', '.join(f'{key!r}: {code}' for key, code in entries.items())}}})".replace(
            "'", '"'
        )
    codes = [entries[str(number)] for number in range(len(entries))]
    if len(codes) > 1 and len(set(codes)) == 1:
        return f"nn.ModuleList({codes[0]} for _ in range({len(codes)}))"
    return f"nn.ModuleList([{', '.join(codes)}])"


def _constructor_code(owner: ModuleClass, position: int, member: Member) -> str:
    if member.child is not None and member.child.module_class is not None:
        module_class = member.child.module_class
        arguments = [f"{name}={owner.literals[position, name]}" for name in module_class.parameters]
        return f"{module_class.name}({', '.join(arguments)})"
    parts = []
    for name, _ in member.arguments:
        value = owner.literals[position, name]
        parts.append(value if name.startswith("_") else f"{name}={value}")
    return f"{member.constructor}({', '.join(parts)})"


def _empty(module_class: ModuleClass, position: int, member: Member) -> str:
    sizes = [module_class.literals[position, name] for name, _ in member.arguments]
    shape = ", ".join(sizes) if sizes else "()"
    dtype = "" if member.constructor == "float32" else f", dtype=torch.{member.constructor}"
    return f"torch.empty({shape}{dtype})"
