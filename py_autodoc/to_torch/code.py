"""Code that is not laid out yet: values, statements, and tokens that stand for variables without a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOKEN = re.compile("\x01([0-9]+)\x02")
"""A variable in unfinished code; text of the model cannot hold one, for it is written by ``quoted``."""
MEMBER = re.compile("\x03([0-9]+)\x04")
"""A member of the module, whose place among its siblings is decided at the end."""


class NotCovered(Exception):
    """An operator, or this use of it, that cannot be written exactly; the reason is for people."""


@dataclass(frozen=True, slots=True)
class CodeValue:
    """What a tensor of the model is in the code.

    ``tensor``: ``code`` is an expression that gives it. ``host``: integers that Python holds, the ``items``
    numbers or expressions; ``scalar`` when there is one without a dimension. ``list``: a Python list of
    tensors (an ONNX sequence). ``constant``: the id ``tensor`` of a constant, written where it is used.
    """

    kind: str
    code: str = ""
    items: tuple[int | str, ...] = ()
    scalar: bool = False
    dtype: int = 7
    tensor: int = -1

    @property
    def fixed(self) -> bool:
        """True for integers that are all known."""
        return self.kind == "host" and all(isinstance(item, int) for item in self.items)


@dataclass(slots=True)
class Statement:
    """One statement, or a block that stays together."""

    lines: list[tuple[int, str]]
    """Indentation in levels, and code with tokens."""
    defs: tuple[int, ...]
    """Tokens that it assigns and others may read, in the order of the assignment."""
    inner: tuple[int, ...] = ()
    """Tokens that only the block itself knows."""
    simple: bool = True
    """False for blocks: their variables share no name with others."""
    call: tuple[int, tuple[int, ...]] | None = None
    """(member, arguments) of a plain call of a sub-module with one result."""
    carried: int = -1
    """For a loop over modules: the token that goes in and comes out."""

    def reads(self) -> set[int]:
        """Tokens in its text that it does not define."""
        found = {int(n) for _, text in self.lines for n in TOKEN.findall(text)}
        return found - set(self.defs) - set(self.inner)


@dataclass(slots=True)
class CodeTokens:
    """Tokens of one function with what they might be called."""

    hints: list[str] = field(default_factory=list)

    def new(self, hint: str) -> int:
        """A new token."""
        self.hints.append(hint)
        return len(self.hints) - 1


def token(number: int) -> str:
    """The token in code."""
    return f"\x01{number}\x02"


def numbers(text: str) -> Iterator[int]:
    """Tokens in code, in order."""
    return (int(n) for n in TOKEN.findall(text))


def quoted(text: str) -> str:
    """A string literal in double quotes, of ASCII alone."""
    body = ascii(text)[1:-1]
    if ascii(text)[0] == '"':
        return f'"{body}"' if '"' not in text else ascii(text)
    return f'"{body}"' if '"' not in text else ascii(text)


def number(value: Any) -> str:
    """A Python literal of a number that torch turns back into the same one."""
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
    """A literal of a float attribute, which is stored with 32 bits."""
    return number(np.float32(value))


def sequence(items: Iterable[object], brackets: str = "()") -> str:
    """A tuple or list literal of numbers and code."""
    parts = [str(bare(item) if isinstance(item, str) else item) for item in items]
    comma = "," if brackets == "()" and len(parts) == 1 else ""
    return f"{brackets[0]}{', '.join(parts)}{comma}{brackets[1]}"


def bare(code: int | str) -> int | str:
    """An integer expression without the parentheses around the whole of it."""
    text = str(code)
    if not (text.startswith("(") and text.endswith(")")):
        return code
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if not depth:
            return text[1:-1] if place == len(text) - 1 else code
    return code
