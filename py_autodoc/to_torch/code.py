"""Unformatted code: values, statements, and tokens for variables that have no name yet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOKEN = re.compile("\x01([0-9]+)\x02")
"""A variable in unformatted code. Text from the model cannot contain one, because ``quoted`` escapes it."""
MEMBER = re.compile("\x03([0-9]+)\x04")
"""A member of the module; ``Lists`` decides its attribute path at the end."""


class NotCovered(Exception):
    """An operator, or this use of it, that cannot be converted exactly; the message is shown to the user."""


@dataclass(frozen=True, slots=True)
class CodeValue:
    """Representation of a tensor of the model in the code.

    ``tensor``: ``code`` is an expression for it. ``host``: integers held by Python; ``items`` are numbers or
    expressions, and ``scalar`` is True for a single one without a dimension. ``list``: a Python list of
    tensors (an ONNX sequence). ``constant``: ``tensor`` is the id of a constant, which is written where it is
    used.
    """

    kind: str
    code: str = ""
    items: tuple[int | str, ...] = ()
    scalar: bool = False
    dtype: int = 7
    tensor: int = -1

    @property
    def fixed(self) -> bool:
        """True if all integers are known."""
        return self.kind == "host" and all(isinstance(item, int) for item in self.items)


@dataclass(slots=True)
class Statement:
    """One statement, or a block of statements that stays together."""

    lines: list[tuple[int, str]]
    """Pairs of indentation level and code with tokens."""
    defs: tuple[int, ...]
    """Tokens that it assigns and that others may read, in order of assignment."""
    inner: tuple[int, ...] = ()
    """Tokens used only inside the block."""
    simple: bool = True
    """False for blocks, whose variables share no names with others."""
    call: tuple[int, tuple[int, ...]] | None = None
    """(member, arguments) if it is a plain call of a submodule with one result."""
    carried: int = -1
    """For a loop over modules, the token that each iteration reads and replaces."""

    def reads(self) -> set[int]:
        """Return the tokens in its text that it does not define."""
        tokens = {int(n) for _, text in self.lines for n in TOKEN.findall(text)}
        return tokens - set(self.defs) - set(self.inner)


@dataclass(slots=True)
class CodeTokens:
    """Tokens of one function, each with a hint for its name."""

    hints: list[str] = field(default_factory=list)

    def new(self, hint: str) -> int:
        """Return a new token."""
        self.hints.append(hint)
        return len(self.hints) - 1


def token(number: int) -> str:
    """Return the token as it is written in code."""
    return f"\x01{number}\x02"


def numbers(text: str) -> Iterator[int]:
    """Yield the tokens in code, in order."""
    return (int(n) for n in TOKEN.findall(text))


def quoted(text: str) -> str:
    """Return an ASCII string literal in double quotes."""
    body = ascii(text)[1:-1]
    if ascii(text)[0] == '"':
        return f'"{body}"' if '"' not in text else ascii(text)
    return f'"{body}"' if '"' not in text else ascii(text)


def number(value: Any) -> str:
    """Return a Python literal that torch converts back to the same number."""
    if isinstance(value, (bool, np.bool_)):
        return repr(bool(value))
    if isinstance(value, (int, np.integer)):
        return repr(int(value))
    single = np.float32(value)
    exact = float(value)
    if np.isnan(exact) or np.isinf(exact):
        return f'float("{exact}")'
    text = str(single) if isinstance(value, np.float32) or float(single) == exact else repr(exact)
    return repr(float(text)).replace("e+", "e")


def floating(value: float) -> str:
    """Return a literal for a float attribute, which is stored in 32 bits."""
    return number(np.float32(value))


def sequence(items: Iterable[object], brackets: str = "()") -> str:
    """Return a tuple or list literal of numbers and code."""
    parts = [str(without_parentheses(item) if isinstance(item, str) else item) for item in items]
    comma = "," if brackets == "()" and len(parts) == 1 else ""
    return f"{brackets[0]}{', '.join(parts)}{comma}{brackets[1]}"


def without_parentheses(code: int | str) -> int | str:
    """Return an integer expression without enclosing parentheses."""
    text = str(code)
    if not (text.startswith("(") and text.endswith(")")):
        return code
    depth = 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if not depth:
            return text[1:-1] if index == len(text) - 1 else code
    return code
