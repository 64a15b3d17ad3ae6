"""Complete a module: final code and class from its statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from py_autodoc.to_torch.classes import Classes
from py_autodoc.to_torch.code import MEMBER, Statement, numbers
from py_autodoc.to_torch.module import Member, ModuleInstance, SourceScope
from py_autodoc.to_torch.module_lists import Lists
from py_autodoc.to_torch.naming import looped, named, pruned


def finish(
    scope: SourceScope, code: list[str], input_names: Sequence[str], classes: Classes
) -> ModuleInstance:
    """Complete the instance of a scope and add it to ``classes``.

    Args:
        scope: the module, all of whose nodes are written.
        code: the expressions that it returns.
        input_names: arguments of the root, one per graph input; not used for other modules.
        classes: the classes of the file, which contain those of the module's children.
    """
    instance = scope.instance
    returned = ", ".join(code) if code else "None"
    needed = set(numbers(returned))
    stmts = pruned(scope.stmts, needed)
    returned = _merged(instance, stmts, returned)
    _drop_unused(instance, stmts, returned)
    lists = Lists(instance.members)
    stmts = looped(stmts, scope.tokens, needed, lists.position_of)
    if scope.root:
        names = list(input_names)
    else:
        names = [scope.tokens.hints[variable] for variable in scope.arguments]
        names = [name if name != "more" else f"x{n}" for n, name in enumerate(names)]
    fixed = dict(zip(scope.arguments, names, strict=True))
    lines, result = named(stmts, scope.tokens, fixed, set(names) if scope.root else set(), returned)

    def resolved(text: str) -> str:
        return MEMBER.sub(lambda match: lists.code(int(match[1])), text)

    instance.arguments = names
    instance.body = [(indent, resolved(text)) for indent, text in lines]
    instance.returns = (resolved(result),)
    classes.add(instance, scope.root)
    return instance


def flat_weights(instance: ModuleInstance) -> Iterator[tuple[str, Member, str]]:
    """Yield (full name, member, name in it) for each weight of a module and its submodules. Not recursive."""
    pending: list[tuple[str, ModuleInstance]] = [("", instance)]
    while pending:
        prefix, inner = pending.pop()
        for member in inner.members:
            path = prefix + ".".join(member.path)
            if member.kind == "child" and member.child is not None:
                pending.append((f"{path}.", member.child))
            elif member.kind != "dropped":
                for name in member.weights:
                    yield (f"{path}.{name}" if name else path), member, name


def _same(member: Member) -> tuple[object, ...] | None:
    """Return a key that is equal for members that are the same module; None for members without weights."""
    if member.kind == "child" and member.child is not None:
        weights = [
            (name, m.weights[weight_name].tensor, m.weights[weight_name].key)
            for name, m, weight_name in flat_weights(member.child)
        ]
        return (id(member.child.module_class), *weights) if weights else None
    if member.kind == "layer" and member.weights:
        weights = [(name, weight.tensor, weight.key) for name, weight in member.weights.items()]
        return (member.constructor, member.arguments, *weights)
    return None


def _merged(instance: ModuleInstance, stmts: list[Statement], returned: str) -> str:
    """Merge members that are calls of the same module."""
    first_with_key: dict[tuple[object, ...], int] = {}
    replacement: dict[int, int] = {}
    for number, member in enumerate(instance.members):
        key = _same(member)
        if key is not None and first_with_key.setdefault(key, number) != number:
            replacement[number] = first_with_key[key]

    def renumbered(text: str) -> str:
        return MEMBER.sub(lambda m: f"\x03{replacement.get(int(m[1]), int(m[1]))}\x04", text)

    if replacement:
        for stmt in stmts:
            stmt.lines = [(indent, renumbered(text)) for indent, text in stmt.lines]
            if stmt.call is not None:
                stmt.call = (replacement.get(stmt.call[0], stmt.call[0]), stmt.call[1])
    return renumbered(returned)


def _drop_unused(instance: ModuleInstance, stmts: list[Statement], returned: str) -> None:
    texts = [text for stmt in stmts for _, text in stmt.lines]
    used = {int(n) for text in (*texts, returned) for n in MEMBER.findall(text)}
    for number, member in enumerate(instance.members):
        if number not in used:
            member.kind = "dropped"
