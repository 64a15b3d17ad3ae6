"""Replace tokens by variables: unused results are dropped, and names are reused after their last use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from py_autodoc.to_torch.code import TOKEN, CodeTokens, Statement, numbers, token
from py_autodoc.to_torch.identifiers import NumberedNames, identifier


def pruned(stmts: Sequence[Statement], needed: set[int]) -> list[Statement]:
    """Return the statements whose results are read or in ``needed``."""
    needed_statements: list[Statement] = []
    needed = set(needed)
    for stmt in reversed(stmts):
        if needed.isdisjoint(stmt.defs):
            continue
        needed |= stmt.reads()
        if stmt.simple and len(stmt.defs) > 1:
            stmt = _unused(stmt, needed)
        needed_statements.append(stmt)
    return needed_statements[::-1]


def _unused(stmt: Statement, needed: set[int]) -> Statement:
    """Change ``a, b = f()`` to ``a, _ = f()`` if ``b`` is not read."""
    ((indent, text),) = stmt.lines
    targets, _, code = text.partition(" = ")
    for variable in stmt.defs:
        if variable not in needed:
            targets = targets.replace(token(variable), "_")
    defs = tuple(variable for variable in stmt.defs if variable in needed)
    return Statement([(indent, f"{targets} = {code}")], defs)


def looped(
    stmts: list[Statement],
    tokens: CodeTokens,
    returned: set[int],
    sequence: Callable[[int], tuple[str, int, int] | None],
) -> list[Statement]:
    """Write runs of equal calls ``x = self.layer[i](x, mask)`` as a loop over the list.

    ``sequence`` returns, for a member of a list, the list's code, the index and the length. Each call must
    read the previous result as the same argument, and nothing else may read that result.
    """
    uses: dict[int, int] = dict.fromkeys(returned, 1)
    for stmt in stmts:
        for variable in stmt.reads():
            uses[variable] = uses.get(variable, 0) + 1
    result: list[Statement] = []
    index = 0
    while index < len(stmts):
        run = _run(stmts, index, uses, sequence)
        if len(run) < 2:
            result.append(stmts[index])
            index += 1
            continue
        result.append(_loop(run, tokens, sequence))
        index += len(run)
    return result


def _run(
    stmts: list[Statement],
    index: int,
    uses: dict[int, int],
    sequence: Callable[[int], tuple[str, int, int] | None],
) -> list[Statement]:
    first = stmts[index]
    tokens = sequence(first.call[0]) if first.call else None
    if tokens is None or tokens[1] != 0:
        return []
    run = [first]
    for number in range(1, tokens[2]):
        if index + number >= len(stmts):
            return []
        candidate, before = stmts[index + number], run[-1]
        if candidate.call is None or sequence(candidate.call[0]) != (tokens[0], number, tokens[2]):
            return []
        assert before.call is not None
        (result,) = before.defs
        changed = [
            n for n, (a, b) in enumerate(zip(before.call[1], candidate.call[1], strict=False)) if a != b
        ]
        same = len(candidate.call[1]) == len(before.call[1]) and len(changed) == 1
        if (
            not same
            or candidate.call[1][changed[0]] != result
            or candidate.call[1].count(result) != 1
            or uses[result] != 1
        ):
            return []
        run.append(candidate)
    return run


def _loop(
    run: list[Statement], tokens: CodeTokens, sequence: Callable[[int], tuple[str, int, int] | None]
) -> Statement:
    first, second = run[0].call, run[1].call
    assert first is not None
    assert second is not None
    source_tokens = sequence(first[0])
    assert source_tokens is not None
    position = next(n for n, (a, b) in enumerate(zip(first[1], second[1], strict=True)) if a != b)
    result = run[-1].defs[0]
    layer = tokens.new("layer")
    arguments = ", ".join(token(result if n == position else variable) for n, variable in enumerate(first[1]))
    lines = [
        (0, f"{token(result)} = {token(first[1][position])}"),
        (0, f"for {token(layer)} in {source_tokens[0]}:"),
        (1, f"{token(result)} = {token(layer)}({arguments})"),
    ]
    return Statement(lines, (result,), (layer,), carried=first[1][position])


def _short_names(hint: str) -> Iterator[str]:
    """Yield the first names to try; they become free again after the last use of their variable."""
    stem = f"{hint}_" if hint[-1].isdigit() else hint
    yield hint
    yield from (f"{stem}{number}" for number in range(2, 20))


@dataclass(frozen=True, slots=True)
class _UnionContainer:
    """Union of two sets, without copying."""

    first: set[str]
    second: set[str]

    def __contains__(self, name: object) -> bool:
        return name in self.first or name in self.second


@dataclass(slots=True)
class _Names:
    """Names in use while the statements of a function are processed in order."""

    of: dict[int, str]
    live: set[str]
    used: set[str]
    blocked: set[str]
    numbered: NumberedNames = field(default_factory=NumberedNames)

    def fresh(self, hint: str, reserved: bool) -> str:
        hint = identifier(hint)
        if reserved:
            name = self.numbered.free(hint, self.used)
        else:
            used = _UnionContainer(self.live, self.blocked)
            name = next((n for n in _short_names(hint) if n not in used), "") or self.numbered.free(
                hint, used
            )
        self.used.add(name)
        if reserved:
            self.blocked.add(name)
        return name


def named(
    stmts: list[Statement], tokens: CodeTokens, fixed: dict[int, str], keep: set[str], returned: str
) -> tuple[list[tuple[int, str]], str]:
    """Replace tokens by variables and return the lines and the return expression.

    Args:
        stmts: the statements in order, pruned.
        tokens: the tokens with their hints.
        fixed: names of the arguments.
        keep: names that must not be assigned again.
        returned: the return expression.
    """
    stmts, returned = _returned(stmts, returned)
    last: dict[int, int] = {}
    for index, stmt in enumerate(stmts):
        for variable in (*stmt.defs, *stmt.reads()):
            last[variable] = index
    for variable in numbers(returned):
        last[variable] = len(stmts)
    names = _Names(dict(fixed), set(fixed.values()), set(fixed.values()), set(keep))
    for index, stmt in enumerate(stmts):
        dying = [variable for variable in dict.fromkeys(_order(stmt)) if last.get(variable) == index]
        for variable in dying:
            names.live.discard(names.of[variable])
        _define(stmt, dying, names, tokens)
        names.live |= {names.of[one] for one in stmt.defs if last[one] > index}
    lines = [(indent, _resolved(text, names.of)) for stmt in stmts for indent, text in stmt.lines]
    return [line for line in lines if not _idle(line[1])], _resolved(returned, names.of)


def _returned(stmts: list[Statement], returned: str) -> tuple[list[Statement], str]:
    """Change ``x = f(y)`` and ``return x`` to ``return f(y)``."""
    if not stmts or not stmts[-1].simple or len(stmts[-1].defs) != 1 or len(stmts[-1].lines) != 1:
        return stmts, returned
    left, _, code = stmts[-1].lines[0][1].partition(" = ")
    return (stmts[:-1], code) if left == returned else (stmts, returned)


def _order(stmt: Statement) -> list[int]:
    defined = {*stmt.defs, *stmt.inner}
    return [variable for _, text in stmt.lines for variable in numbers(text) if variable not in defined]


def _define(stmt: Statement, dying: list[int], names: _Names, tokens: CodeTokens) -> None:
    if stmt.carried >= 0 and stmt.carried in dying and names.of[stmt.carried] not in names.blocked:
        names.of[stmt.defs[0]] = names.of[stmt.carried]
        _inside(stmt, names, tokens)
    elif stmt.simple and stmt.carried < 0 and len(stmt.defs) == 1:
        free = [names.of[variable] for variable in dying if names.of[variable] not in names.blocked]
        name = "x" if "x" in free else free[0] if free else names.fresh(tokens.hints[stmt.defs[0]], False)
        names.of[stmt.defs[0]] = name
        names.used.add(name)
    else:
        _several(stmt, names, tokens)


def _several(stmt: Statement, names: _Names, tokens: CodeTokens) -> None:
    """Name the results of a block or of a call with several results; names of its inputs are not reused."""
    added = {names.of[variable] for variable in _order(stmt)} - names.live
    names.live |= added
    for variable in stmt.defs:
        name = names.of[variable] = names.fresh(tokens.hints[variable], not stmt.simple)
        added.add(name)
        names.live.add(name)
    _inside(stmt, names, tokens)
    names.live -= added


def _inside(stmt: Statement, names: _Names, tokens: CodeTokens) -> None:
    """Name the variables inside a block, which no other variable shares."""
    for variable in stmt.inner:
        names.of[variable] = names.fresh(tokens.hints[variable], True)


def _resolved(text: str, names: dict[int, str]) -> str:
    return TOKEN.sub(lambda match: names[int(match[1])], text)


def _idle(text: str) -> bool:
    """True for ``x = x``."""
    left, _, right = text.partition(" = ")
    return bool(right) and left == right
