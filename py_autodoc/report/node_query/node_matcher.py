"""Evaluate queries on the nodes of a payload.

A test returns True, False, or None if the result depends on something unknown: unknown values match
neither a condition nor its negation.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import isnan

from py_autodoc.report.node_query.query_fields import Nodes
from py_autodoc.report.node_query.query_parser import Combination, FieldCondition, Not, Query, Word, parse
from py_autodoc.report.schema import GraphPayload

_Test = Callable[[int], bool | None]
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class NodeMatcher:
    """Evaluates queries on one payload."""

    def __init__(self, payload: GraphPayload) -> None:
        self.nodes = Nodes(payload)
        self._texts: dict[int, tuple[str, str, str]] = {}
        self._paths: dict[int, str] = {-1: "\n"}
        self._absent_is_unknown = True

    def find(self, text: str) -> list[int]:
        """Return the ids of matching nodes, ascending, without Constant nodes. An empty query matches none.

        Raises: QueryError.
        """
        query = parse(text)
        if query is None:
            return []
        test = self._compile(query)
        return [node for node in self._nodes() if test(node)]

    def undecided(self, text: str) -> list[int]:
        """Return the ids of nodes that may match: a number or shape that decides it is unknown.

        Something a node does not have, such as an attribute, is not unknown: the node does not match.
        Raises: QueryError.
        """
        query = parse(text)
        if query is None:
            return []
        test = self._compile(query)
        unknown = [node for node in self._nodes() if test(node) is None]
        if not unknown:
            return []
        self._absent_is_unknown = False
        try:
            certain = self._compile(query)
        finally:
            self._absent_is_unknown = True
        return [node for node in unknown if certain(node) is None]

    def _nodes(self) -> list[int]:
        columns = self.nodes.payload.nodes
        constant = set(columns.constant)
        return [node for node in range(len(columns.op)) if node not in constant]

    def _compile(self, query: Query) -> _Test:
        if isinstance(query, Word):
            return self._word(query)
        if isinstance(query, FieldCondition):
            return _condition(self.nodes, query, self._absent_is_unknown)
        if isinstance(query, Not):
            operand = self._compile(query.operand)
            return lambda node: None if (value := operand(node)) is None else not value
        return _combine(query, [self._compile(operand) for operand in query.parts])

    # ---- words: names, types, domain, shapes, element type, scope path

    def _word(self, word: Word) -> _Test:
        text, full_line = word.text, f"\n{word.text}\n"

        def test(node: int) -> bool:
            name, kind, searchable = self._text(node)
            if text in (name, kind):
                return True
            return (full_line if word.exact else text) in searchable

        return test

    def _text(self, node: int) -> tuple[str, str, str]:
        """Return label, operator, and all searchable text, with parts separated by a line feed."""
        texts = self._texts.get(node)
        if texts is None:
            nodes = self.nodes
            full_name, kind = nodes.payload.nodes.name[node].lower(), nodes.op(node).lower()
            fields = [full_name, kind, nodes.domain(node).lower()]
            for tensor in nodes.outputs(node):
                if tensor >= 0:
                    name = nodes.payload.tensors.name[tensor]
                    fields += [name.lower(), nodes.shape_text(tensor).lower(), nodes.dtype(tensor).lower()]
            fields += [nodes.shape_text(tensor).lower() for tensor in nodes.inputs(node) if tensor >= 0]
            fields += [text.lower() for text in nodes.attribute_texts.get(node, ())]
            path = self._path(nodes.payload.nodes.scope[node])
            text = f"{path}{_parts(full_name, '/')}" + "\n".join(fields) + "\n"
            texts = self._texts[node] = (full_name.rpartition("/")[2], kind, text)
        return texts

    def _path(self, scope: int) -> str:
        path_lines = self._paths.get(scope)
        if path_lines is None:
            labels = self.nodes.scope_labels(scope)
            path_lines = self._paths[scope] = "\n" + "".join(_parts(label.lower(), " / ") for label in labels)
        return path_lines


def _parts(path: str, separator: str) -> str:
    """Return the parts of a path, each followed by a line feed."""
    return "".join(f"{step}\n" for step in path.split(separator) if step)


def _combine(query: Combination, tests: Sequence[_Test]) -> _Test:
    deciding = not query.conjunction

    def test(node: int) -> bool | None:
        unknown = False
        for operand in tests:
            value = operand(node)
            if value is deciding:
                return deciding
            unknown = unknown or value is None
        return None if unknown else not deciding

    return test


def _condition(nodes: Nodes, condition: FieldCondition, absent_is_unknown: bool = True) -> _Test:
    field, relation, number = condition.field, condition.relation, condition.number
    matches = _text_test(condition)
    numeric = not isnan(number)
    compare = _COMPARE.get(relation, _never)

    def test(node: int) -> bool | None:
        value = field.value(nodes, node)
        if condition.unknown:
            return value is None
        if value is None:
            return None if absent_is_unknown or field.has(nodes, node) else False
        if isinstance(value, float):
            # A dimension compared with a symbol name (`=batch`) is not one.
            return compare(value, number) if numeric else relation == "!="
        if field.kind == "size" and numeric:
            return None
        return any(matches(text.lower()) for text in value) != (relation == "!=")

    return test


def _never(value: float, number: float) -> bool:
    """Return False: ``~`` never matches a number (``in[0].shape[0]~b``)."""
    return False


def _text_test(condition: FieldCondition) -> Callable[[str], bool]:
    pattern = condition.text
    if condition.relation == "~":
        return lambda text: pattern in text
    if "*" not in pattern:
        return lambda text: text == pattern
    first, *middle, last = pattern.split("*")

    # Search piece by piece: a regular expression could take exponential time.
    def test(text: str) -> bool:
        if not text.startswith(first) or not text.endswith(last):
            return False
        position = len(first)
        for piece in middle:
            start = text.find(piece, position)
            if start < 0:
                return False
            position = start + len(piece)
        return position + len(last) <= len(text)

    return test
