"""No modules import each other in a ring, imports in functions and for types included."""

import grimp
import pytest


@pytest.fixture(scope="module")
def graph():
    return grimp.build_graph("py_autodoc", exclude_type_checking_imports=False, cache_dir=None)


def rings(links):
    """Strongly connected components of at least two, by Tarjan's algorithm."""
    number, low, stack, found = {}, {}, [], []
    for start in sorted(links):
        work = [(start, iter(()))] if start not in number else []
        while work:
            at, rest = work[-1]
            if at not in number:
                number[at] = low[at] = len(number)
                stack.append(at)
                work[-1] = at, rest = at, iter(sorted(links[at]))
            for other in rest:
                if other not in number:
                    work.append((other, iter(())))
                    break
                if other in stack:
                    low[at] = min(low[at], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == number[at]:
                    cut = stack.index(at)
                    if len(stack) - cut > 1:
                        found.append(frozenset(stack[cut:]))
                    del stack[cut:]
    return found


def links_of(graph):
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def test_the_search_finds_rings():
    assert rings({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set()}) == [frozenset("abc")]
    assert rings({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [frozenset("bc")]


def test_no_modules_form_a_ring(graph):
    assert rings(links_of(graph)) == []


def test_the_schema_imports_nothing_of_the_report(graph):
    below = {"errors", "limits", "units", "metrics", "bounded"}
    for module in graph.modules:
        if module.startswith("py_autodoc.report.schema"):
            for found in graph.find_modules_directly_imported_by(module):
                assert found.startswith("py_autodoc.report.schema") or found.split(".")[1] in below, module
