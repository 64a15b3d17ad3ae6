"""Symbols of the inputs that the shapes of a node depend on."""

from __future__ import annotations

from collections.abc import Mapping

from py_autodoc.graph.ir.model import Model, Node, Shape
from py_autodoc.graph.shapes.infer import SymbolicTypes
from py_autodoc.graph.symbolic_dims import dim_arithmetic

Symbols = frozenset[str]
_NONE: Symbols = frozenset()


class Influence:
    """Uses symbolic shapes, or the dataflow where these are unknown."""

    def __init__(
        self, model: Model, inputs: Mapping[int, Shape | None], symbolic: SymbolicTypes | None
    ) -> None:
        self.model = model
        self.inputs = inputs
        self.symbolic = symbolic
        self._flow: list[Symbols] | None = None

    def of(self, node: Node) -> Symbols:
        """Return the symbols in the shapes and small values a node reads; if any is unknown, all upstream."""
        symbols: set[str] = set()
        is_complete = self.symbolic is not None
        for t in node.inputs:
            if t >= 0 and self.symbolic is not None:
                names, complete = self._read(self.symbolic, t)
                symbols |= names
                is_complete = is_complete and complete
        if is_complete and symbols:
            return frozenset(symbols)
        flow = self._upstream()
        return _NONE.union(*(flow[t] for t in node.inputs if t >= 0))

    def _read(self, symbolic: SymbolicTypes, t: int) -> tuple[set[str], bool]:
        """Return the symbols of a tensor's known shape and value, and whether these are complete."""
        shape, value = symbolic.types.shapes[t], symbolic.types.values.get(t)
        elements = [] if value is None or value.dtype != object else value.reshape(-1).tolist()
        expressions = [d for d in (*(shape or ()), *elements) if isinstance(d, str)]
        names = {name for expression in expressions for name in dim_arithmetic.symbols_of(expression)}
        free = names & set(symbolic.symbols)
        return free, shape is not None and None not in elements and names == free

    def _upstream(self) -> list[Symbols]:
        """Return, for every tensor, the symbols of the inputs it is computed from."""
        if self._flow is None:
            self._flow = [_NONE] * len(self.model.tensors)
            for t, shape in self.inputs.items():
                texts = [d for d in shape or () if isinstance(d, str)]
                self._flow[t] = frozenset(name for text in texts for name in dim_arithmetic.symbols_of(text))
            self._run(0, self._flow)
        return self._flow

    def _run(self, graph: int, flow: list[Symbols]) -> None:
        model = self.model
        for number in model.graphs[graph].nodes:
            node = model.nodes[number]
            symbols = _NONE.union(*(flow[t] for t in node.inputs if t >= 0))
            for _, body in node.subgraphs:
                for t in model.graphs[body].inputs:
                    flow[t] = symbols
                self._run(body, flow)
                symbols = symbols.union(*(flow[t] for t in model.graphs[body].outputs))
            for t in node.outputs:
                if t >= 0:
                    flow[t] = symbols
