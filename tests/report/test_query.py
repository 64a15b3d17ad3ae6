"""The query grammar. That the viewer answers alike is tested on the file that ``query_fixture`` writes."""

import pytest
from query_fixture import FIXTURE, fixture, payloads

from py_autodoc.errors import OptionError
from py_autodoc.report.node_query.node_matcher import NodeMatcher
from py_autodoc.report.node_query.query_parser import QueryError, query_number


def test_the_shared_fixture_is_up_to_date():
    assert FIXTURE.read_bytes() == fixture(), "run python tests/report/query_fixture.py"


@pytest.fixture(scope="module")
def named():
    """Query → names of the nodes of the odd model."""
    payload = payloads()["odd"]
    matcher = NodeMatcher(payload)

    def find(text):
        return [
            payload.nodes.name[node] or payload.ops[payload.nodes.op[node]].type
            for node in matcher.find(text)
        ]

    return find


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("op=conv", ["/stem/größe/Conv"]),
        ("op=Conv & in[0].shape[1]=3", ["/stem/größe/Conv"]),
        ("op=Conv & in[0].shape[1]>3", []),
        ("in[1].shape=16x3x3x3", ["/stem/größe/Conv"]),
        ("in[0].shape[0]=batch & op=Conv", ["/stem/größe/Conv"]),
        ("op=Conv | op=Mystery", ["/stem/größe/Conv", "/tail/a//b/Mystery"]),
        ("domain=com.example", ["/tail/a//b/Mystery"]),
        ("gate & relu & then", ["/gate/then/Relu"]),
        ("relu & !then", ["/gate/else/Relu"]),
        ('name="odd(1) & <b>"', ["odd(1) & <b>"]),
        ("GRÖSSE | größe conv", ["/stem/größe/Conv"]),
        ("params>=432", ["/stem/größe/Conv"]),
        ("params>432", []),
        ("", []),
    ],
)
def test_finds(named, query, expected):
    assert named(query) == expected


def test_constant_nodes_are_not_found(named):
    assert "Constant_relu" not in named("relu") + named("op=Constant") + named("!conv")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("macs>0", True),
        ("!(macs>0)", True),
        ("!!(macs>0)", True),
        # One part that is known decides.
        ("macs>0 & op=Mystery", True),
        ("macs>0 & op=Conv", False),
        ("macs>0 | op=Mystery", False),
        ("macs>0 | op=Conv", True),
        ("!(macs>0 | op=Conv)", True),
        ("!(macs>0 & op=Conv)", False),
        # Asked for itself, the unknown is known.
        ("macs=?", False),
        ("!(macs=?)", False),
        # What a node does not have is not unknown, whatever is said of it.
        ("attr.nothing=3", False),
        ("!(attr.nothing=3)", False),
        ("attr.nothing=3 & macs>0", False),
        ("op=Mystery", False),
        ("", False),
    ],
)
def test_a_query_is_undecided_where_something_unknown_decides_it(query, expected):
    payload = payloads()["odd"]
    matcher = NodeMatcher(payload)
    open_ = [payload.nodes.name[node] for node in matcher.undecided(query)]
    assert ("/tail/a//b/Mystery" in open_) is expected
    # Nothing is both: what matches is decided.
    assert not set(matcher.undecided(query)) & set(matcher.find(query))


def test_what_is_unknown_matches_neither_a_condition_nor_its_opposite(named):
    assert "/tail/a//b/Mystery" not in named("macs>0") + named("!(macs>0)")
    assert "/tail/a//b/Mystery" in named("macs=?")


@pytest.mark.parametrize(
    ("query", "kind", "at", "told"),
    [
        ("colour>3", "unknown-field", 0, "unknown field “colour”"),
        ("conv & x=1", "unknown-field", 7, "at character 8"),
        ("macs>", "no-value", 4, "expected a value"),
        ("conv &", "no-term", 6, "at its end"),
        ("(conv", "unclosed", 0, "missing closing"),
        ("macs=lots", "not-a-number", 5, "“lots” is not a number"),
        ("op>3", "text-order", 2, "Use =, != or ~"),
        ("(" * 5000 + "a", "too-deep", 50, "The limit is 50"),
    ],
)
def test_faults_say_what_where_and_what_was_expected(query, kind, at, told):
    with pytest.raises(QueryError) as caught:
        NodeMatcher(payloads()["odd"]).find(query)
    assert isinstance(caught.value, OptionError)
    assert (caught.value.kind, caught.value.position) == (kind, at)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("text", "value"), [("1.5K", 1500), ("1e2", 100), ("2MB", 2e6), ("4KiB", 4096), (".5g", 5e8), ("12b", 12)]
)
def test_numbers(text, value):
    assert query_number(text) == value


@pytest.mark.parametrize("text", ["1e999", "-1", "0x10", "", "nan", "inf", "1_000", "١"])
def test_no_numbers(text):
    assert query_number(text) != query_number(text)


def test_a_pattern_of_many_stars_takes_no_time(named):
    assert named("name=" + "*a" * 2000) == []
