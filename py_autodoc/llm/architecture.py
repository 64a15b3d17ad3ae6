"""The weights and caches of a decoder, layer by layer, without values: what a configuration describes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Matrix:
    """A weight of inputs × outputs, or one for each expert of which a token uses ``chosen``."""

    name: str
    """Module name without its layer: ``self_attn.q_proj``."""
    inputs: int
    outputs: int
    bias: bool = False
    experts: int = 1
    chosen: int = 1
    linear: bool = True
    """False for routers and the embedding table, which quantization methods leave alone."""

    @property
    def elements(self) -> int:
        """Elements of all experts, without the biases."""
        return self.inputs * self.outputs * self.experts

    @property
    def biases(self) -> int:
        """Elements of the biases of all experts."""
        return self.outputs * self.experts if self.bias else 0


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer."""

    matrices: tuple[Matrix, ...]
    vectors: int
    """Elements of norms and other parameters that are no matrix."""
    cached: int
    """Elements kept for each token: keys and values, or a compressed vector of both."""
    score_width: int
    """Half of what a query multiplies for each key: heads · (size of keys + size of values) / 2."""
    window: int | None = None
    """Positions that it attends to; None: all."""
    state: int = 0
    """Elements kept for a sequence of any length, by linear attention."""
    widest: int = 0
    """Elements of one token alive at once besides the residual stream."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """A decoder: its layers, embedding table, head and last norm."""

    vocabulary: int
    hidden: int
    layers: tuple[Layer, ...]
    table: Matrix
    head: Matrix | None
    """None if the head shares the table."""
    last_norm: int
    kv_heads: int
    """Key-value heads that can be divided among devices; 1 if one compressed vector serves all heads."""
    max_context: int | None
    notes: tuple[str, ...] = ()

    @property
    def matrices(self) -> list[tuple[str, Matrix]]:
        """All matrices with their full names, the table last."""
        named = [
            (f"model.layers.{number}.{matrix.name}", matrix)
            for number, layer in enumerate(self.layers)
            for matrix in layer.matrices
        ]
        if self.head is not None:
            named.append((self.head.name, self.head))
        return [*named, (f"model.{self.table.name}", self.table)]

    @property
    def vectors(self) -> int:
        """Elements of all norms and biases."""
        biases = sum(matrix.biases for _, matrix in self.matrices)
        return biases + self.last_norm + sum(layer.vectors for layer in self.layers)

    @property
    def parameters(self) -> int:
        """All parameters; a shared table counts once."""
        return self.vectors + sum(matrix.elements for _, matrix in self.matrices)

    @property
    def active(self) -> int:
        """Weights that one token is multiplied with: in mixtures those of its experts, and the head."""
        total = sum(
            matrix.inputs * matrix.outputs * matrix.chosen
            for layer in self.layers
            for matrix in layer.matrices
        )
        return total + (self.head or self.table).elements

    def cached(self, context: int) -> int:
        """Return the elements kept for one sequence of ``context`` tokens."""
        return self.state + sum(layer.cached * min(context, layer.window or context) for layer in self.layers)

    @property
    def state(self) -> int:
        """Elements kept for one sequence of any length."""
        return sum(layer.state for layer in self.layers)

    @property
    def cached_per_token(self) -> int:
        """Elements kept for one token within all windows."""
        return sum(layer.cached for layer in self.layers)

    def score_flops(self, prompt: int) -> int:
        """Return the FLOPs of causal attention over a prompt: 4 · width · pairs of query and key."""
        total = 0
        for layer in self.layers:
            window = min(prompt, layer.window or prompt)
            total += 2 * layer.score_width * window * (2 * prompt - window)
        return total
