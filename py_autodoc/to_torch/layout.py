"""Wrap long statements the way formatters do."""

from __future__ import annotations

from collections.abc import Iterator

WIDTH = 110
_OPEN, _CLOSE = "([{", ")]}"


def _marks(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield (position, bracket or comma, its nesting depth), skipping strings."""
    depth, position, quote = 0, 0, ""
    while position < len(text):
        char = text[position]
        if quote:
            if char == "\\":
                position += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in _OPEN:
            yield position, char, depth
            depth += 1
        elif char in _CLOSE:
            depth -= 1
            yield position, char, depth
        elif char == ",":
            yield position, char, depth
        position += 1


def _groups(text: str) -> list[tuple[int, int]]:
    """Return the bracketed ranges at the top level."""
    groups, start = [], 0
    for position, char, depth in _marks(text):
        if depth == 0 and char in _OPEN:
            start = position
        elif depth == 0 and char in _CLOSE:
            groups.append((start, position))
    return groups


def _items(text: str) -> list[str]:
    items, start = [], 0
    for position, char, depth in _marks(text):
        if depth == 0 and char == ",":
            items.append(text[start:position].strip())
            start = position + 1
    tail = text[start:].strip()
    return [*items, tail] if tail else items


def wrap(text: str, indent: int, width: int = WIDTH, suffix: str = "") -> list[str]:
    """Wrap one logical line to at most ``width`` characters where brackets allow it.

    ``indent`` is in spaces; ``suffix`` (a comma) is appended to the line.
    """
    pad = " " * indent
    line = f"{pad}{text}{suffix}"
    if len(line) <= width:
        return [line]
    targets, equals, value = text.partition(" = ")
    if equals and len(targets) > 60 and targets.replace(", ", "").replace("_", "").isalnum():
        names = [f"{pad}    {name}," for name in targets.split(", ")]
        return [f"{pad}(", *names, *wrap(f") = {value}", indent, width, suffix)]
    groups = [group for group in _groups(text) if text[group[0] + 1 : group[1]].strip()]
    if not groups:
        return [line]
    start, end = _best(text, groups, indent, width)
    inside = text[start + 1 : end].strip()
    head, tail = f"{pad}{text[: start + 1]}", f"{pad}{text[end:]}{suffix}"
    items = _items(inside)
    subscript = text[start] == "[" and start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_)]")
    grouping = (
        text[start] == "(" and len(items) == 1 and not inside.endswith(",") and not _is_call(text, start)
    )
    if len(pad) + 4 + len(inside) <= width and not inside.endswith(","):
        return [head, f"{pad}    {inside}", tail]
    lines = [head]
    if len(items) == 1 and (subscript or grouping or " for " in inside):
        lines += wrap(inside, indent + 4, width)
    else:
        for item in items:
            lines += wrap(item, indent + 4, width, ",")
    return [*lines, tail]


def _is_call(text: str, start: int) -> bool:
    return start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_)]")


def _best(text: str, groups: list[tuple[int, int]], indent: int, width: int) -> tuple[int, int]:
    """Return the last group that leaves short line ends, else the longest group."""
    for start, end in reversed(groups):
        if indent + start + 1 <= width and indent + len(text) - end < width - 20 and end - start > 20:
            return start, end
    return max(groups, key=lambda group: group[1] - group[0])
