"""How much memory an analysis takes for each node of the model.

A chain of 300,000 nodes is to be analysed in 600 MB: 1,700 bytes a node beside 75 MB for the interpreter and
its libraries. 370 of them are the parsed protobuf, which tracemalloc does not see. The limits leave an
eighth or more over what is measured: two or three objects more for each node (56 bytes and up) are found.
"""

from __future__ import annotations

import gc
import tracemalloc

import pytest
from onnx import TensorProto, helper

from py_autodoc.report.document.report_stream import report_pieces
from py_autodoc.report.pipeline.analysis import run_analysis

NODES = 3_000
LIVE = 850
"""Bytes a node that stay as long as the analysis is kept; measured: 720 with modules, 570 without names."""
PEAK = 1_300
"""Bytes a node at the worst moment of the analysis; measured: 1,070 and 1,160."""
PIECES = 8_000_000
"""Bytes that writing the report takes on top: a piece of it, however many nodes there are, and blocks."""


def chain(named: bool) -> bytes:
    """Relu after Relu: in modules of ten, every fifth an Add with one before it; or plain and nameless."""
    nodes, last, earlier = [], "x", "x"
    for i in range(NODES):
        joins, out = named and i % 5 == 4, f"t{i}"
        name = f"/stage.{i // 1000}/block.{i // 10 % 100}/op.{i % 10}" if named else ""
        reads = [last, earlier] if joins else [last]
        nodes.append(helper.make_node("Add" if joins else "Relu", reads, [out], name=name))
        last, earlier = out, out if joins else earlier
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64, 56, 56]) for name in ("x", last)]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:])
    data: bytes = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    return data


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False], ids=["modules", "nameless"])
def test_memory_a_node(named: bool) -> None:
    data = chain(named)
    run_analysis(data)  # what is made once for all models
    gc.collect()
    tracemalloc.start()
    try:
        found = run_analysis(data)
        peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        live = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        size = sum(map(len, report_pieces(found)))
        writing = tracemalloc.get_traced_memory()[1] - live
    finally:
        tracemalloc.stop()
    assert len(found.model.nodes) == NODES
    assert live / NODES < LIVE, f"{live / NODES:.0f} bytes a node stay"
    assert peak / NODES < PEAK, f"{peak / NODES:.0f} bytes a node at the peak"
    assert size > 500 * NODES
    assert writing < PIECES, f"{writing:,} bytes to write {size:,}"
