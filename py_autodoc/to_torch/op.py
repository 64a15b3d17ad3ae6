"""A node as the conversion rules see it: its inputs, and methods that define its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from py_autodoc.graph.ir.model import ConstTensor, Node
from py_autodoc.graph.operators.node_reader import NodeReader
from py_autodoc.to_torch.code import CodeValue, NotCovered, Statement, floating, number, quoted, token
from py_autodoc.to_torch.dtypes import BOOLS, FLOATS, TORCH, onnx_type
from py_autodoc.to_torch.module import Member, ModuleWeight, SourceScope
from py_autodoc.to_torch.value_writer import ValueWriter

MISSING: Any = object()


class OpContext(NodeReader):
    """A node, its module and the writer."""

    def __init__(self, writer: ValueWriter, scope: SourceScope, node: Node, path: tuple[str, ...]) -> None:
        super().__init__(node)
        self.writer = writer
        self.scope = scope
        self.path = path
        """Name of the module that consists of this node alone; empty for other nodes."""

    # inputs

    @property
    def count(self) -> int:
        """Number of inputs, including omitted ones."""
        return len(self.node.inputs)

    @property
    def opset(self) -> int:
        """Opset version of the node's domain."""
        return self.node.opset or 1

    def dtype_of(self, tensor: int) -> int:
        """Return the stored or inferred element type."""
        return self.writer.source.dtype(tensor)

    def value_of(self, tensor: int) -> CodeValue:
        """Return the representation of a tensor in the module. Raises: NotCovered if nothing produces it."""
        return self.writer.value(self.scope, tensor)

    def malformed(self, message: str) -> NotCovered:
        """Return the error for a node that cannot be converted."""
        return NotCovered(message)

    def attr(self, name: str, default: Any = MISSING) -> Any:
        """Return an attribute. Raises: NotCovered if it is missing and has no default."""
        held = super().attr(name, default)
        if held is MISSING:
            raise NotCovered(f"attribute {name} is missing")
        if isinstance(default, int) and not isinstance(held, int):
            raise self.malformed(f"attribute {name} is not an integer")
        return held

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """Return an attribute that must be one of ``allowed``. Raises: NotCovered."""
        held = self.node.attributes.get(name, default)
        if held not in allowed:
            raise NotCovered(f"{name} {str(held)[:40]!r}, which is none of {', '.join(allowed)}")
        return str(held)

    def auto_pad(self) -> str:
        """Return the padding mode of the windows. Raises: NotCovered."""
        known = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
        return self.choice("auto_pad", "NOTSET", (*known, "")) or "NOTSET"

    def tensor_attr(self, name: str) -> Any:
        """Return the values of a tensor attribute; None if it is missing."""
        held = self.node.attributes.get(name)
        if isinstance(held, ConstTensor):
            if held.values is None:
                raise NotCovered(f"attribute {name} is large")
            return held.values
        return None

    def value(self, place: int) -> CodeValue:
        """Return the representation of an input. Raises: NotCovered if it is omitted."""
        if not self.has(place):
            raise NotCovered(f"input {place} is missing")
        return self.value_of(self.inputs[place])

    def t(self, place: int) -> str:
        """Return code for the input as a tensor."""
        return self.writer.tensor(self.scope, self.value(place))

    def optional(self, place: int) -> str:
        """Like ``t``, but ``None`` for an omitted input."""
        return self.t(place) if self.has(place) else "None"

    def v(self, place: int) -> str:
        """Return code for the input that can be followed by a method call or an index."""
        code = self.t(place)
        return code if code[0] in "\x01\x03" or code.startswith(("self.", "torch.")) else f"({code})"

    def array(self, place: int) -> Any:
        """Return the values of a small constant input; None for others."""
        if not self.has(place):
            return None
        found = self.value(place)
        if found.kind == "constant":
            return self.writer.source.array(found.tensor)
        if found.fixed:
            items = np.array(found.items, np.int64)
            return items.reshape(()) if found.scalar else items
        return None

    def scalar(self, place: int) -> Any:
        """Return the number in a constant input with one element; None for others."""
        found = self.array(place)
        return found.reshape(-1)[0] if found is not None and found.size == 1 else None

    def host(self, place: int) -> CodeValue | None:
        """Return the input as integers held by Python; None if it is a tensor."""
        found = self.value(place)
        if found.kind == "host":
            return found
        array = self.array(place)
        if array is None or array.ndim > 1 or array.dtype.kind not in "iu":
            return None
        items = tuple(int(item) for item in array.reshape(-1))
        return CodeValue("host", "", items, array.ndim == 0, self.dtype(place))

    def ints(self, place: int) -> tuple[int | str, ...] | None:
        """Return the input as integers or integer expressions; None if it is a tensor."""
        found = self.host(place)
        return None if found is None else found.items

    def fixed(self, place: int) -> tuple[int, ...] | None:
        """Return the input as known integers; None for others."""
        array = self.array(place)
        if array is None or array.dtype.kind not in "iu" or array.ndim > 1:
            return None
        return tuple(int(item) for item in array.reshape(-1))

    def ints_code(self, place: int) -> str:
        """Return code for a list of integers, for any kind of input."""
        found = self.ints(place)
        if found is not None:
            return f"[{', '.join(map(str, found))}]"
        return (
            f"{self.v(place)}.reshape(-1).tolist()" if self.rank(place) != 1 else f"{self.v(place)}.tolist()"
        )

    def rank(self, place: int) -> int | None:
        """Return the rank of an input; None if unknown."""
        return self.writer.source.rank(self.node.inputs[place]) if self.has(place) else None

    def out_rank(self, place: int = 0) -> int | None:
        """Return the rank of an output; None if unknown."""
        shape = self.writer.source.types.shapes[self.node.outputs[place]]
        return None if shape is None else len(shape)

    def is_float(self, place: int) -> bool:
        """True if the input is known to have a floating-point type."""
        return self.dtype(place) in FLOATS

    def is_integer(self, place: int) -> bool:
        """True if the input is known to have an integer type."""
        dtype = self.dtype(place)
        return bool(dtype) and dtype not in FLOATS and dtype not in BOOLS and dtype in TORCH

    def constant(self, place: int) -> int | None:
        """Return the id of a constant input; None for others."""
        if not self.has(place):
            return None
        found = self.value(place)
        dense = found.kind == "constant" and self.writer.source.dims(found.tensor) is not None
        return found.tensor if dense else None

    def dims(self, place: int) -> tuple[int, ...]:
        """Return the shape of a constant input. Raises: NotCovered."""
        found = self.constant(place)
        sizes = None if found is None else self.writer.source.dims(found)
        if sizes is None:
            raise NotCovered(f"input {place} is not a constant")
        return sizes

    def num(self, place: int, other: int | None = None) -> str:
        """Return a Python number for a constant with one element, else code for the tensor.

        ``other`` is the input it is combined with: a constant whose dimensions are 1 must not increase the
        rank of the result.
        """
        found = self.array(place)
        if found is None or found.size != 1 or found.dtype.kind not in "fiu":
            held = self.value(place)
            if (
                held.kind == "host"
                and held.scalar
                and other is not None
                and self.value(other).kind == "tensor"
            ):
                return str(held.items[0])
            return self.t(place)
        rank = self.rank(other) if other is not None else None
        if found.ndim and (rank is None or rank < found.ndim):
            return self.t(place)
        if other is not None and self.value(other).kind != "tensor":
            return self.t(place)
        if other is not None and self.dtype(other) != self.dtype(place):
            return self.t(place)
        item = found.reshape(-1)[0]
        return number(item if found.dtype != np.float16 else np.float64(item))

    # outputs

    @property
    def hint(self) -> str:
        """Hint for the name of a variable with the result."""
        return self.node.op_type.lower()

    def out(self, code: str, place: int = 0) -> None:
        """Define an output as the value of an expression."""
        if self.has_out(place):
            self.set(CodeValue("tensor", self.scope.assign(code, self.hint)), place)

    def outs(self, code: str) -> None:
        """Define the outputs as the items of a tuple."""
        made = []
        for place in range(len(self.node.outputs)):
            number_ = self.scope.tokens.new(self.hint)
            made.append(number_)
            if self.has_out(place):
                self.set(CodeValue("tensor", token(number_)), place)
        targets = ", ".join(map(token, made)) + ("," if len(made) == 1 else "")
        self.scope.stmts.append(Statement([(0, f"{targets} = {code}")], tuple(made)))

    def set(self, value: CodeValue, place: int = 0) -> None:
        """Define an output as ``value``."""
        if self.has_out(place):
            self.scope.values[self.node.outputs[place]] = value

    def same(self, place: int = 0, output: int = 0) -> None:
        """Define an output as equal to an input."""
        self.set(self.value(place), output)

    def integers(self, items: Sequence[int | str], scalar: bool = False, dtype: int = 7) -> None:
        """Define the output as integers held by Python."""
        self.set(CodeValue("host", "", tuple(items), scalar, dtype))

    def keep(self, code: str, hint: str = "") -> str:
        """Assign an intermediate result to a variable and return it."""
        return self.scope.assign(code, hint or self.hint)

    def use(self, helper: str) -> str:
        """Include a runtime function in the file and return its name."""
        self.writer.helpers.add(helper)
        return helper

    def call(self, helper: str, *arguments: object, **named: object) -> str:
        """Return code that calls a runtime function, without named arguments that are None or False."""
        parts = [str(argument) for argument in arguments]
        parts += [f"{key}={held}" for key, held in named.items() if held is not None and held is not False]
        return f"{self.use(helper)}({', '.join(parts)})"

    def torch_dtype(self, dtype: int) -> str:
        """Return a type such as ``torch.float32``. Raises: NotCovered for types that torch does not have."""
        if dtype not in TORCH:
            raise NotCovered(f"element type {onnx_type(dtype)}")
        return f"torch.{TORCH[dtype]}"

    def layer(
        self, made: str, arguments: dict[str, object], weights: dict[str, ModuleWeight], hint: str = ""
    ) -> str:
        """Add a layer of torch.nn and return its code. Its parameters are floats; other weights are buffers.

        Raises: NotCovered: a weight that the layer would hold as a parameter is not a float.
        """
        for name, weight in weights.items():
            if weight.dtype not in FLOATS and name not in _COUNTERS:
                raise NotCovered(f"nn.{made} with a {name} of {onnx_type(weight.dtype)}")
        dtype = next((w.dtype for w in weights.values() if w.dtype in FLOATS), 1)
        named = [(key, str(held)) for key, held in arguments.items()]
        if dtype != 1:
            named.append(("dtype", self.torch_dtype(dtype)))
        names = self.path or (self._numbered(hint or made.rpartition(".")[2].lower()),)
        return self.scope.member(Member("layer", names, f"nn.{made}", tuple(named), weights))

    def _numbered(self, stem: str) -> str:
        counts = self.writer.counts.setdefault(id(self.scope), {})
        counts[stem] = counts.get(stem, 0) + 1
        return f"{stem}{counts[stem]}"

    def weight(self, place: int, transform: Any = None, key: str = "", shape: Any = None) -> ModuleWeight:
        """Return a constant input as the weight of a layer."""
        found = self.constant(place)
        if found is None:
            raise NotCovered(f"input {place} is not a constant")
        dims = self.dims(place) if shape is None else shape
        return ModuleWeight(found, self.dtype(place), tuple(dims), transform, key)


_COUNTERS = frozenset({"num_batches_tracked"})
"""Integer buffers of layers in torch.nn."""


def fl(value: float) -> str:
    """Return a literal for a float attribute."""
    return floating(value)


def text(value: str) -> str:
    """Return a string literal."""
    return quoted(value)


def sequence_text(values: Sequence[str]) -> str:
    """Return a list of string literals."""
    return f"[{', '.join(map(quoted, values))}]"
