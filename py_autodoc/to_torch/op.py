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
        value = super().attr(name, default)
        if value is MISSING:
            raise NotCovered(f"attribute {name} is missing")
        if isinstance(default, int) and not isinstance(value, int):
            raise self.malformed(f"attribute {name} is not an integer")
        return value

    def choice(self, name: str, default: str, allowed: tuple[str, ...]) -> str:
        """Return an attribute that must be one of ``allowed``. Raises: NotCovered."""
        value = self.node.attributes.get(name, default)
        if value not in allowed:
            raise NotCovered(f"{name} {str(value)[:40]!r}, not one of {', '.join(allowed)}")
        return str(value)

    def auto_pad(self) -> str:
        """Return the padding mode of the windows. Raises: NotCovered."""
        modes = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
        return self.choice("auto_pad", "NOTSET", (*modes, "")) or "NOTSET"

    def tensor_attr(self, name: str) -> Any:
        """Return the values of a tensor attribute; None if it is missing."""
        value = self.node.attributes.get(name)
        if isinstance(value, ConstTensor):
            if value.values is None:
                raise NotCovered(f"attribute {name} is large")
            return value.values
        return None

    def value(self, index: int) -> CodeValue:
        """Return the representation of an input. Raises: NotCovered if it is omitted."""
        if not self.has(index):
            raise NotCovered(f"input {index} is missing")
        return self.value_of(self.inputs[index])

    def t(self, index: int) -> str:
        """Return code for the input as a tensor."""
        return self.writer.tensor(self.scope, self.value(index))

    def optional(self, index: int) -> str:
        """Like ``t``, but ``None`` for an omitted input."""
        return self.t(index) if self.has(index) else "None"

    def v(self, index: int) -> str:
        """Return code for the input that can be followed by a method call or an index."""
        code = self.t(index)
        return code if code[0] in "\x01\x03" or code.startswith(("self.", "torch.")) else f"({code})"

    def array(self, index: int) -> Any:
        """Return the values of a small constant input; None for others."""
        if not self.has(index):
            return None
        value = self.value(index)
        if value.kind == "constant":
            return self.writer.source.array(value.tensor)
        if value.fixed:
            items = np.array(value.items, np.int64)
            return items.reshape(()) if value.scalar else items
        return None

    def scalar(self, index: int) -> Any:
        """Return the number in a constant input with one element; None for others."""
        array = self.array(index)
        return array.reshape(-1)[0] if array is not None and array.size == 1 else None

    def host(self, index: int) -> CodeValue | None:
        """Return the input as integers held by Python; None if it is a tensor."""
        value = self.value(index)
        if value.kind == "host":
            return value
        array = self.array(index)
        if array is None or array.ndim > 1 or array.dtype.kind not in "iu":
            return None
        items = tuple(int(item) for item in array.reshape(-1))
        return CodeValue("host", "", items, array.ndim == 0, self.dtype(index))

    def ints(self, index: int) -> tuple[int | str, ...] | None:
        """Return the input as integers or integer expressions; None if it is a tensor."""
        host = self.host(index)
        return None if host is None else host.items

    def fixed(self, index: int) -> tuple[int, ...] | None:
        """Return the input as known integers; None for others."""
        array = self.array(index)
        if array is None or array.dtype.kind not in "iu" or array.ndim > 1:
            return None
        return tuple(int(item) for item in array.reshape(-1))

    def ints_code(self, index: int) -> str:
        """Return code for a list of integers, for any kind of input."""
        values = self.ints(index)
        if values is not None:
            return f"[{', '.join(map(str, values))}]"
        return (
            f"{self.v(index)}.reshape(-1).tolist()" if self.rank(index) != 1 else f"{self.v(index)}.tolist()"
        )

    def rank(self, index: int) -> int | None:
        """Return the rank of an input; None if unknown."""
        return self.writer.source.rank(self.node.inputs[index]) if self.has(index) else None

    def out_rank(self, index: int = 0) -> int | None:
        """Return the rank of an output; None if unknown."""
        shape = self.writer.source.types.shapes[self.node.outputs[index]]
        return None if shape is None else len(shape)

    def is_float(self, index: int) -> bool:
        """True if the input is known to have a floating-point type."""
        return self.dtype(index) in FLOATS

    def is_integer(self, index: int) -> bool:
        """True if the input is known to have an integer type."""
        dtype = self.dtype(index)
        return bool(dtype) and dtype not in FLOATS and dtype not in BOOLS and dtype in TORCH

    def constant(self, index: int) -> int | None:
        """Return the id of a constant input; None for others."""
        if not self.has(index):
            return None
        value = self.value(index)
        dense = value.kind == "constant" and self.writer.source.dims(value.tensor) is not None
        return value.tensor if dense else None

    def dims(self, index: int) -> tuple[int, ...]:
        """Return the shape of a constant input. Raises: NotCovered."""
        tensor = self.constant(index)
        sizes = None if tensor is None else self.writer.source.dims(tensor)
        if sizes is None:
            raise NotCovered(f"input {index} is not a constant")
        return sizes

    def num(self, index: int, reference: int | None = None) -> str:
        """Return a Python number for a constant with one element, else code for the tensor.

        ``reference`` is the input it is combined with: a constant whose dimensions are 1 must not increase
        the rank of the result.
        """
        array = self.array(index)
        if array is None or array.size != 1 or array.dtype.kind not in "fiu":
            value = self.value(index)
            if (
                value.kind == "host"
                and value.scalar
                and reference is not None
                and self.value(reference).kind == "tensor"
            ):
                return str(value.items[0])
            return self.t(index)
        rank = self.rank(reference) if reference is not None else None
        if array.ndim and (rank is None or rank < array.ndim):
            return self.t(index)
        if reference is not None and self.value(reference).kind != "tensor":
            return self.t(index)
        if reference is not None and self.dtype(reference) != self.dtype(index):
            return self.t(index)
        item = array.reshape(-1)[0]
        return number(item if array.dtype != np.float16 else np.float64(item))

    # outputs

    @property
    def hint(self) -> str:
        """Hint for the name of a variable with the result."""
        return self.node.op_type.lower()

    def out(self, code: str, index: int = 0) -> None:
        """Define an output as the value of an expression."""
        if self.has_out(index):
            self.set(CodeValue("tensor", self.scope.assign(code, self.hint)), index)

    def outs(self, code: str) -> None:
        """Define the outputs as the items of a tuple."""
        tokens = []
        for index in range(len(self.node.outputs)):
            number_ = self.scope.tokens.new(self.hint)
            tokens.append(number_)
            if self.has_out(index):
                self.set(CodeValue("tensor", token(number_)), index)
        targets = ", ".join(map(token, tokens)) + ("," if len(tokens) == 1 else "")
        self.scope.stmts.append(Statement([(0, f"{targets} = {code}")], tuple(tokens)))

    def set(self, value: CodeValue, index: int = 0) -> None:
        """Define an output as ``value``."""
        if self.has_out(index):
            self.scope.values[self.node.outputs[index]] = value

    def same(self, index: int = 0, output: int = 0) -> None:
        """Define an output as equal to an input."""
        self.set(self.value(index), output)

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
        parts += [
            f"{key}={value}" for key, value in named.items() if value is not None and value is not False
        ]
        return f"{self.use(helper)}({', '.join(parts)})"

    def torch_dtype(self, dtype: int) -> str:
        """Return a type such as ``torch.float32``. Raises: NotCovered for types that torch does not have."""
        if dtype not in TORCH:
            raise NotCovered(f"element type {onnx_type(dtype)}")
        return f"torch.{TORCH[dtype]}"

    def layer(
        self, constructor: str, arguments: dict[str, object], weights: dict[str, ModuleWeight], hint: str = ""
    ) -> str:
        """Add a layer of torch.nn and return its code. Its parameters are floats; other weights are buffers.

        Raises: NotCovered: a weight that the layer would hold as a parameter is not a float.
        """
        for name, weight in weights.items():
            if weight.dtype not in FLOATS and name not in _COUNTERS:
                raise NotCovered(f"nn.{constructor} with a {name} of {onnx_type(weight.dtype)}")
        dtype = next((w.dtype for w in weights.values() if w.dtype in FLOATS), 1)
        named = [(key, str(value)) for key, value in arguments.items()]
        if dtype != 1:
            named.append(("dtype", self.torch_dtype(dtype)))
        names = self.path or (self._numbered(hint or constructor.rpartition(".")[2].lower()),)
        return self.scope.member(Member("layer", names, f"nn.{constructor}", tuple(named), weights))

    def _numbered(self, stem: str) -> str:
        counts = self.writer.counts.setdefault(id(self.scope), {})
        counts[stem] = counts.get(stem, 0) + 1
        return f"{stem}{counts[stem]}"

    def weight(self, index: int, transform: Any = None, key: str = "", shape: Any = None) -> ModuleWeight:
        """Return a constant input as the weight of a layer."""
        tensor = self.constant(index)
        if tensor is None:
            raise NotCovered(f"input {index} is not a constant")
        dims = self.dims(index) if shape is None else shape
        return ModuleWeight(tensor, self.dtype(index), tuple(dims), transform, key)


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
