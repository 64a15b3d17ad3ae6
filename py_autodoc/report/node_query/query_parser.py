"""The grammar of searches and filters: words and conditions, joined by ``&``, ``|``, ``!`` and parentheses.

    conv "exact name"              words that all must match
    op=Conv & macs>1e8             conditions on fields
    in[0].shape[1]>=256 | !(op~norm)

The grammar is that of the viewer (``src/core/query/queryParser.ts``); both are tested on one fixture.
Adjacent terms must all match, as if joined by ``&``, which binds tighter than ``|``. Texts are compared
case-insensitively: ``=`` matches the whole text (``*`` is a wildcard), ``~`` a part of it. ``=?`` matches
unknown values. ``query_fields`` defines the fields, ``node_matcher`` the matching.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf, isnan, nan

from py_autodoc.errors import OptionError
from py_autodoc.report.node_query.query_fields import FIELD_NAMES, Field, field_of

MAX_DEPTH = 50
"""Maximum nesting depth of parentheses."""
_SPACE = "\\t\\n\\x0b\\x0c\\r \\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
"""White space as JavaScript defines it: both implementations must split a query at the same positions."""
_BLANKS = "\t\n\x0b\x0c\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_TOKEN = re.compile(
    rf"[{_SPACE}]*(?:(?P<mark>&&?|\|\|?|\(|\))|(?P<relation>!=|<=|>=|==|[<>=~≤≥≠])|(?P<not>!)"
    rf'|"(?P<quote>[^"]*)"?|(?P<word>(?:[^{_SPACE}&|()<>=~≤≥≠"!]|!(?!=))+))'
)
_SAME = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!="}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]{1,3})?(?:([kmgt])(i?))?b?")
_SHAPE = re.compile(r"[0-9?]+(?:x[0-9?]+)+")
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}


@dataclass(frozen=True, slots=True)
class Word:
    """A text to find; if ``exact``, it must be a whole name, type, shape or part of a path."""

    text: str
    exact: bool


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """A field compared with a value, as text (lower case) and as number (NaN if it is not one)."""

    field: Field
    relation: str
    text: str
    number: float
    unknown: bool
    """``=?``: matches unknown values."""


@dataclass(frozen=True, slots=True)
class Not:
    """Negation of a query."""

    operand: Query


@dataclass(frozen=True, slots=True)
class Combination:
    """Conjunction or disjunction of its parts."""

    conjunction: bool
    parts: tuple[Query, ...]


Query = Word | FieldCondition | Not | Combination


class QueryError(OptionError):
    """A malformed query. ``kind`` names the error, ``position`` is counted from 0."""

    def __init__(self, kind: str, query: str, position: int, text: str) -> None:
        message, hint = _message_and_hint(kind, text if len(text) <= 40 else f"{text[:39]}…")
        location = "at its end" if position >= len(query) else f"at character {position + 1}"
        shortened = query if len(query) <= 80 else f"{query[:79]}…"
        super().__init__(f"query-{kind}", f"Invalid query {shortened!r}, {location}: {message}", hint)
        self.kind = kind
        self.position = position
        self.text = text


def _message_and_hint(kind: str, text: str) -> tuple[str, str]:
    """Return what is wrong, and what was expected."""
    missing = f"a term is missing before “{text}”." if text else "a term is missing."
    return {
        "unknown-field": (
            f"unknown field “{text}”.",
            f"Available fields: {', '.join(FIELD_NAMES)}. Put names with <, = or > in quotes.",
        ),
        "no-field": (f"expected a field before “{text}”.", "Example: macs>1e6."),
        "no-value": (f"expected a value after “{text}”.", "Example: macs>1e6."),
        "not-a-number": (f"“{text}” is not a number.", "Write numbers as 1000, 1e6, 1.5K or 10MB."),
        "text-order": (f"a text cannot be compared by {text}.", "Use =, != or ~, as in op=Conv."),
        "number-part": ("a number cannot be compared by ~.", "Use = != < <= > or >=, as in macs>1e6."),
        "no-term": (missing, "A word, a condition such as macs>1e6, or a query in parentheses was expected."),
        "unclosed": ("missing closing parenthesis.", "Add a )."),
        "unopened": ("unmatched parenthesis.", "Add a ( or remove it."),
        "too-deep": ("parentheses are nested too deeply.", f"The limit is {MAX_DEPTH}."),
    }[kind]


def query_number(text: str) -> float:
    """Parse ``1e9``, ``1.5K``, ``10MB`` or ``4KiB``; return NaN for anything else."""
    match = _NUMBER.fullmatch(text.lower())
    if match is None:
        return nan
    digits, exponent, prefix, binary = match.groups()
    value = float(digits + (exponent or ""))
    value *= float((1024 if binary else 1000) ** _POWERS[prefix]) if prefix else 1.0
    return value if value < inf else nan


def word_text(text: str) -> str:
    """Return lower-case text, with shapes as the viewer writes them: ``64x3x7x7`` is ``64×3×7×7``."""
    lower = text.strip(_BLANKS).lower()
    return lower.replace("x", "×") if _SHAPE.fullmatch(lower) else lower


def parse(text: str) -> Query | None:
    """Parse a query; return None for an empty one. Raises: QueryError with the position and the problem."""
    return _QueryParser(text).parse()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    position: int


def _tokens(text: str) -> list[_Token]:
    tokens = []
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        kind = str(match.lastgroup)
        token = match[kind]
        first = match.start(kind) - (kind == "quote")
        tokens.append(_Token(token[0] if kind == "mark" else "!" if kind == "not" else kind, token, first))
    return tokens


class _QueryParser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.list = _tokens(text)
        self.position = 0

    def parse(self) -> Query | None:
        if not self.list:
            return None
        query = self._parse_or(0)
        trailing = self._next()
        if trailing is not None:
            raise self._error("unopened", trailing)
        return query

    def _next(self) -> _Token | None:
        return self.list[self.position] if self.position < len(self.list) else None

    def _next_is(self, kind: str) -> bool:
        token = self._next()
        return token is not None and token.kind == kind

    def _parse_or(self, depth: int) -> Query:
        parts = [self._parse_and(depth)]
        while self._next_is("|"):
            self.position += 1
            parts.append(self._parse_and(depth))
        return parts[0] if len(parts) == 1 else Combination(False, tuple(parts))

    def _parse_and(self, depth: int) -> Query:
        parts = [self._parse_not(depth)]
        while True:
            token = self._next()
            if token is None or token.kind in ("|", ")"):
                return parts[0] if len(parts) == 1 else Combination(True, tuple(parts))
            self.position += token.kind == "&"
            parts.append(self._parse_not(depth))

    def _parse_not(self, depth: int) -> Query:
        negated = False
        while self._next_is("!"):
            self.position += 1
            negated = not negated
        operand = self._parse_term(depth)
        return Not(operand) if negated else operand

    def _parse_term(self, depth: int) -> Query:
        token = self._next()
        if token is None:
            raise self._error("no-term", _Token("", "", len(self.text)))
        if token.kind == "(":
            if depth >= MAX_DEPTH:
                raise self._error("too-deep", token)
            self.position += 1
            inner = self._parse_or(depth + 1)
            if not self._next_is(")"):
                raise self._error("unclosed", token)
            self.position += 1
            return inner
        if token.kind == "relation":
            raise self._error("no-field", token)
        if token.kind not in ("word", "quote"):
            raise self._error("no-term", token)
        self.position += 1
        relation = self._next()
        if relation is not None and relation.kind == "relation":
            self.position += 1
            return self._parse_condition(token, relation)
        return Word(word_text(token.text), token.kind == "quote")

    def _parse_condition(self, name: _Token, sign: _Token) -> FieldCondition:
        field = field_of(name.text) if name.kind == "word" else None
        if field is None:
            raise self._error("unknown-field", name)
        value = self._next()
        if value is None or value.kind not in ("word", "quote"):
            raise self._error("no-value", sign)
        self.position += 1
        relation = _SAME.get(sign.text, sign.text)
        is_word = value.kind == "word"
        number = query_number(value.text) if is_word else nan
        unknown = is_word and value.text == "?" and relation == "="
        ordered = relation not in ("=", "!=", "~")
        if field.kind == "text" and ordered:
            raise self._error("text-order", sign)
        if field.kind == "number" and relation == "~":
            raise self._error("number-part", sign)
        must = field.kind == "number" or (field.kind == "size" and ordered)
        if must and isnan(number) and not unknown:
            raise self._error("not-a-number", value)
        return FieldCondition(field, relation, word_text(value.text), number, unknown)

    def _error(self, kind: str, token: _Token) -> QueryError:
        return QueryError(kind, self.text, token.position, token.text)
