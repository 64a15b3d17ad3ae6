"""Code for the tensors of a model, used by the conversion rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from py_autodoc.graph.ir.model import Node, TensorKind
from py_autodoc.to_torch.code import (
    CodeValue,
    NotCovered,
    Statement,
    number,
    sequence,
    token,
    without_parentheses,
)
from py_autodoc.to_torch.dtypes import FLOATS, TORCH, onnx_type
from py_autodoc.to_torch.identifiers import identifier
from py_autodoc.to_torch.module import Member, ModuleWeight, SourceScope
from py_autodoc.to_torch.module_groups import Reads
from py_autodoc.to_torch.source import MAX_READ, ModelFile, plain_attribute


class ValueWriter(ABC):
    """Writes tensors and constants; ``Writer`` adds nodes and modules."""

    def __init__(self, source: ModelFile) -> None:
        self.source = source
        self.model = source.model
        self.reads = Reads(self.model)
        self.helpers: set[str] = set()
        """Runtime functions that the file needs."""
        self.counts: dict[int, dict[str, int]] = {}
        """``id`` of a scope → name of a layer → number of layers with that name."""
        self.folded: dict[int, CodeValue] = {}
        """Known or constant results, valid in all modules."""
        self.fused: set[int] = set()
        """Nodes that were written together with another node."""
        self.readers = self._all_readers()

    def value(self, scope: SourceScope, tensor: int) -> CodeValue:
        """Return the representation of a tensor in a module. Raises: NotCovered if nothing produces it."""
        value = scope.values.get(tensor) or self.folded.get(tensor)
        if value is not None:
            return value
        if self.source.is_constant(tensor):
            return CodeValue("constant", tensor=tensor)
        if scope.parent is None:
            raise NotCovered("an input that no node produces")
        outer = self.value(scope.parent, tensor)
        if outer.fixed or outer.kind == "constant":
            return outer
        variable = scope.tokens.new("xyzuvw"[len(scope.arguments)] if len(scope.arguments) < 6 else "more")
        scope.arguments.append(variable)
        scope.imported.append(tensor)
        value = scope.values[tensor] = received(outer, token(variable))
        return value

    def tensor(self, scope: SourceScope, value: CodeValue) -> str:
        """Return code for a value as a tensor."""
        if value.kind in ("tensor", "list"):
            return value.code
        if value.kind == "host":
            dtype = f"torch.{TORCH.get(value.dtype, 'int64')}"
            if value.scalar:
                more = "" if value.dtype == 7 else f", dtype={dtype}"
                return f"torch.tensor({without_parentheses(value.items[0])}{more})"
            return f"torch.tensor({sequence(value.items, '[]')}, dtype={dtype})"
        return self._constant_code(scope, value.tensor)

    def _constant_code(self, scope: SourceScope, tensor: int) -> str:
        dtype, dims = self.source.dtype(tensor), self.source.dims(tensor)
        if dims is None or dtype not in TORCH:
            raise NotCovered(
                f"a constant of {onnx_type(dtype) if dims is not None else 'sparse data or text'}"
            )
        array = self.source.array(tensor)
        if array is not None and array.ndim == 0 and array.dtype.kind in "fiub":
            return f"torch.tensor({number(array[()])}, dtype=torch.{TORCH[dtype]})"
        return self.parameter(scope, ModuleWeight(tensor, dtype, dims))

    def parameter(self, scope: SourceScope, weight: ModuleWeight) -> str:
        """Add a constant as a parameter or buffer of the module and return its code."""
        key = (weight.tensor, weight.key)
        if key not in scope.shared:
            tensor = self.model.tensors[weight.tensor]
            trained = weight.dtype in FLOATS and tensor.kind == TensorKind.INITIALIZER
            last = tensor.name.rpartition(".")[2] if "." in tensor.name else ""
            usable = last.isidentifier() and last.isascii() and len(last) <= 30
            name = last if usable else "weight" if trained else "const"
            kind = "parameter" if trained else "buffer"
            sizes = tuple((f"_dim{n}", str(size)) for n, size in enumerate(weight.shape))
            member = Member(kind, (name,), TORCH[weight.dtype], sizes, {"": weight})
            scope.shared[key] = scope.member(member)
        return scope.shared[key]

    def fold_constant(self, node: Node) -> None:
        """Record the value of a Constant node that holds integers instead of a tensor."""
        if node.outputs and node.outputs[0] >= 0 and not self.source.has_file(node.outputs[0]):
            array = plain_attribute(node)
            if array is not None and array.dtype.kind == "i" and array.size <= MAX_READ:
                items = tuple(int(item) for item in array.reshape(-1))
                self.folded[node.outputs[0]] = CodeValue("host", "", items, array.ndim == 0)

    def _all_readers(self) -> dict[int, list[int]]:
        """Return tensor → nodes of the main graph that read it."""
        readers: dict[int, list[int]] = {}
        for node in self.model.graphs[0].nodes:
            for tensor in self.reads.tensors_of(node):
                readers.setdefault(tensor, []).append(node)
        return readers

    def bias_of(self, node: Node) -> int | None:
        """Return the Add node that adds a constant vector to a product with a constant matrix.

        None if there is no such node, or if other nodes read the product.
        """
        if node.op_type != "MatMul" or node.domain or len(node.inputs) != 2 or node.graph != 0:
            return None
        if not node.outputs:
            return None
        readers = self.readers.get(node.outputs[0], [])
        if len(readers) != 1 or self.model.tensors[node.outputs[0]].is_output:
            return None
        add = self.model.nodes[readers[0]]
        addends = [t for t in add.inputs if t != node.outputs[0]]
        if add.op_type != "Add" or add.domain or len(addends) != 1 or add.opset < 7 or addends[0] < 0:
            return None
        if node.inputs[1] < 0 or not all(map(self.source.is_constant, (node.inputs[1], addends[0]))):
            return None
        matrix, vector = self.source.dims(node.inputs[1]), self.source.dims(addends[0])
        fits = matrix is not None and len(matrix) == 2 and vector == matrix[1:]
        return add.id if fits and add.scope == node.scope else None

    def fuse(self, node: int) -> None:
        """Mark a node as written together with another node."""
        self.fused.add(node)

    def label(self, tensor: int) -> str:
        """Return a hint for the name of a variable that holds a tensor."""
        name = self.model.tensors[tensor].name if tensor >= 0 else ""
        return identifier(name.rpartition("/")[2], "result")[:20]

    @abstractmethod
    def body(
        self, scope: SourceScope, graph: int, values: Mapping[int, CodeValue]
    ) -> tuple[list[Statement], list[CodeValue]]:
        """Write the subgraph of a control-flow node and return its statements and results.

        Raises: NotCovered: a result is not known, or subgraphs are nested too deeply.
        """


def received(value: CodeValue, code: str) -> CodeValue:
    """Return a value of another module under its name in this module."""
    if value.kind != "host":
        return CodeValue("list" if value.kind == "list" else "tensor", code)
    items = (code,) if value.scalar else tuple(f"{code}[{n}]" for n in range(len(value.items)))
    return CodeValue("host", "", items, value.scalar, value.dtype)
