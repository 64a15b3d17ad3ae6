"""The read-out of operators: links that lead somewhere, reasons where there is nothing, no row of nothing."""

import ast
from pathlib import Path

import pytest

from py_autodoc.graph.operators import aspects
from py_autodoc.graph.operators.aspects import ASPECTS, Link, answers, link_to, links
from py_autodoc.operators import coverage
from py_autodoc.report.encode.categories import CATEGORIES

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def rows():
    return coverage()


def names_of(path):
    """Every function and table that a file defines."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            found.setdefault(getattr(node, "name", "<lambda>"), set()).add(first)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, set()).add(0)
    return found


def test_every_link_leads_to_a_definition(rows):
    places = {link for row in rows for link in row.links.values()}
    assert len(places) > 300
    files = {path: names_of(path) for path in {link.path for link in places}}
    for link in places:
        lines = files[link.path].get(link.name)
        assert lines is not None, link
        assert link.line in lines or (link.line == 0 and link.path.startswith("py_autodoc/")), link


def test_every_aspect_of_every_operator_is_a_link_or_a_reason(rows):
    ids = [one.id for one in ASPECTS]
    assert len(set(ids)) == len(ids)
    for row in rows:
        assert set(row.links) | set(row.missing) == set(ids)
        assert not set(row.links) & set(row.missing)
        assert all(row.missing.values())
        assert set(row.links) - {"category"}, row


def test_numbers_of_operators(rows):
    """Of each aspect as many as there were at least: a registry that is not imported would lose its own."""
    least = {
        "inputs": 200, "shape": 270, "folding": 60, "rebatch": 220, "resize": 190, "cost": 320,
        "kernel": 260, "category": 320, "setting": 80, "torch": 190, "integer": 16,
    }  # fmt: skip
    assert list(least) == [one.id for one in ASPECTS]
    for aspect, count in least.items():
        assert sum(aspect in row.links for row in rows) >= count, aspect


def test_one_operator(rows):
    conv = next(row for row in rows if (row.domain, row.type) == ("", "Conv"))
    assert conv.links["inputs"].detail == "X, W, B"
    assert conv.links["cost"].path == "py_autodoc/costs/rules/conv.py"
    assert (conv.links["cost"].detail, conv.links["kernel"].detail) == ("MACs", "conv")
    assert conv.missing.keys() == {"folding", "integer"}


def test_every_category_is_one(rows):
    for row in rows:
        assert row.links["category"].detail in CATEGORIES, row
        assert row.links["category"].detail != "custom"


def test_who_answers():
    with pytest.raises(ValueError, match="no aspect"):
        answers("colour")
    with pytest.raises(ValueError, match="two modules"):
        answers("cost")(dict)


def test_a_new_aspect_without_an_answer_is_noticed(monkeypatch):
    monkeypatch.delitem(aspects._ANSWERS, "cost")
    with pytest.raises(KeyError):
        links("cost")


def test_links_to_functions():
    link = link_to(test_links_to_functions, "why")
    line = test_links_to_functions.__code__.co_firstlineno
    assert link == Link("tests/test_operators.py", "test_links_to_functions", line, "why")
