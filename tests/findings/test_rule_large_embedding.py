"""large-embedding: tables by their bytes and share."""

from __future__ import annotations

from onnx import helper
from rule_help import INT, found, model, weight

RULE = "large-embedding"


def lookup(rows, width, tied=False):
    """ids[4] → rows of a table; with ``tied`` the table also projects the result."""
    nodes = [helper.make_node("Gather", ["table", "ids"], ["x"], name="tokens")]
    if tied:
        nodes += [
            helper.make_node("Transpose", ["table"], ["t"], perm=[1, 0]),
            helper.make_node("MatMul", ["x", "t"], ["y"]),
        ]
    out = ("y", [4, rows]) if tied else ("x", [4, width])
    return model(nodes, [("ids", [4], INT)], [out], [weight("table", rows, width)])


def test_fires():
    (finding,) = found(RULE, lookup(200_000, 1024))
    assert finding.severity == "medium"
    assert finding.nodes == (0,)
    assert finding.evidence["table_bytes"] == 200_000 * 1024 * 4
    assert finding.evidence["share"] == 1.0
    assert not finding.evidence["tied"]
    assert "205 M parameters (200,000 × 1,024, 819 MB)" in finding.message


def test_a_smaller_one_is_low_and_tied():
    (finding,) = found(RULE, lookup(30_000, 768, tied=True))
    assert finding.severity == "low"
    assert finding.evidence["tied"]


def test_does_not_fire_on_small_tables():
    assert found(RULE, lookup(1000, 64)) == []
    assert len(found(RULE, lookup(1000, 64), min_bytes=256_000)) == 1
    assert found(RULE, lookup(1000, 64), min_bytes=256_001) == []


def test_does_not_fire_on_a_matrix_that_is_multiplied():
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    assert (
        found(RULE, model(nodes, [("x", [4, 200_000])], [("y", [4, 1024])], [weight("w", 200_000, 1024)]))
        == []
    )
