"""The one base of what rules read nodes through: its answers, and who declares what."""

import numpy as np
import pytest

from py_autodoc.costs.registry import NodeView
from py_autodoc.costs.symbolic_view import SymbolicView
from py_autodoc.graph.ir.model import ConstTensor, Node, Storage
from py_autodoc.graph.operators.node_reader import NodeReader
from py_autodoc.graph.shapes.shape_context import ShapeContext as ShapeOp
from py_autodoc.to_torch.op import OpContext as TorchOp

OWN = {
    ShapeOp: set(),
    NodeView: set(),
    SymbolicView: {"value"},  # undecided values raise
    TorchOp: {"attr", "value"},  # what is missing cannot be written
}
HOOKS = {"dtype_of", "malformed", "value_of"}


class Reader(NodeReader):
    def dtype_of(self, tensor):
        return {0: 1, 3: 7}.get(tensor, 0)

    def value_of(self, tensor):
        return {3: np.array([2])}.get(tensor)

    def malformed(self, message):
        return ValueError(message)


def reader(**attributes):
    return Reader(Node(0, 0, "n", "Conv", "", (0, -1, 3), (4, -1), attributes))


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_no_reader_declares_what_they_share(kind):
    assert issubclass(kind, NodeReader)
    shared = {name for name in vars(NodeReader) if not name.startswith("_")} - HOOKS
    shared -= set(NodeReader.__slots__)
    assert {"attr", "dtype", "has", "has_out", "int_attr", "ints_attr", "text_attr", "value"} <= shared
    assert shared & vars(kind).keys() == OWN[kind]
    for hook in HOOKS:
        assert getattr(kind, hook) is not getattr(NodeReader, hook)


def test_operands():
    one = reader()
    assert [one.has(i) for i in range(4)] == [True, False, True, False]
    assert [one.has_out(i) for i in range(3)] == [True, False, False]
    assert [one.dtype(i) for i in range(4)] == [1, 0, 7, 0]
    assert [one.out_dtype(i) for i in range(2)] == [0, 0]
    assert one.value(0) is one.value(1) is one.value(9) is None
    assert one.value(2) == 2


def test_attributes():
    one = reader(axis=0, pads=[1, 2], mode="same")
    assert (one.int_attr("axis", 5), one.int_attr("none", 5)) == (0, 5)
    assert (one.ints_attr("pads"), one.ints_attr("none")) == ((1, 2), None)
    assert (one.text_attr("mode"), one.text_attr("none", "x")) == ("same", "x")
    assert (one.attr("mode"), one.attr("none"), one.attr("none", 3)) == ("same", None, 3)


@pytest.mark.parametrize(
    ("ask", "value"),
    [
        (lambda one: one.int_attr("a", 1), 1.5),
        (lambda one: one.int_attr("a", 1), "1"),
        (lambda one: one.ints_attr("a"), 1),
        (lambda one: one.ints_attr("a"), "12"),
        (lambda one: one.ints_attr("a"), [1, 2.0]),
        (lambda one: one.ints_attr("a"), ConstTensor(7, (1,), Storage(8))),
        (lambda one: one.text_attr("a"), 3),
        (lambda one: one.text_attr("a"), b"bytes"),
    ],
)
def test_attributes_of_another_type_are_malformed(ask, value):
    with pytest.raises(ValueError, match="attribute a is not"):
        ask(reader(a=value))
