"""Sequences of tensors, which are Python lists."""

from __future__ import annotations

from py_autodoc.to_torch.code import CodeValue, NotCovered, sequence
from py_autodoc.to_torch.op import OpContext
from py_autodoc.to_torch.registry import rule


def _list(op: OpContext, code: str) -> None:
    op.set(CodeValue("list", op.keep(code, "items")))


@rule("SequenceEmpty")
def empty(op: OpContext) -> None:
    """``[]``."""
    _list(op, "[]")


@rule("SequenceConstruct")
def construct(op: OpContext) -> None:
    """``[a, b]``."""
    _list(op, f"[{', '.join(op.t(index) for index in range(op.count))}]")


@rule("SequenceInsert")
def insert(op: OpContext) -> None:
    """A new list with a tensor inserted."""
    items = op.t(0)
    if not op.has(2):
        _list(op, f"[*{items}, {op.t(1)}]")
        return
    position = op.ints(2)
    code = str(position[0]) if position else f"int({op.t(2)})"
    _list(op, f"[*{items}[:{code}], {op.t(1)}, *{items}[{code}:]]")


@rule("SequenceErase")
def erase(op: OpContext) -> None:
    """A new list without one of the tensors."""
    position = op.ints(1) if op.has(1) else (-1,)
    code = str(position[0]) if position else f"int({op.t(1)})"
    _list(op, op.call("onnx_sequence_erase", op.t(0), code))


@rule("SequenceAt")
def at(op: OpContext) -> None:
    """``items[0]``."""
    position = op.ints(1)
    op.out(f"{op.t(0)}[{position[0] if position else f'int({op.t(1)})'}]")


@rule("SequenceLength")
def length(op: OpContext) -> None:
    """``len(items)``."""
    op.integers([f"len({op.t(0)})"], True)


@rule("ConcatFromSequence")
def joined(op: OpContext) -> None:
    """``torch.cat`` or ``torch.stack``."""
    name = "stack" if op.attr("new_axis", 0) else "cat"
    op.out(f"torch.{name}({op.t(0)}, dim={op.attr('axis')})")


@rule("SplitToSequence")
def split(op: OpContext) -> None:
    """``x.split(1)`` as a list."""
    axis = op.attr("axis", 0)
    if not op.has(1):
        items = f"list({op.v(0)}.split(1, dim={axis}))"
        _list(op, items if op.attr("keepdims", 1) else f"list({op.v(0)}.unbind({axis}))")
        return
    sizes = op.ints(1)
    if sizes is None:
        raise NotCovered("computed sizes")
    host = op.host(1)
    code = str(sizes[0]) if host is not None and host.scalar else sequence(sizes, "[]")
    _list(op, f"list({op.v(0)}.split({code}, dim={axis}))")
