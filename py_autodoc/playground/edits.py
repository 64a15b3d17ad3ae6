"""The changes as an immutable set of edits, with undo and redo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

_NO_SCALES: Mapping[str, tuple[float, int]] = MappingProxyType({})
_NO_FACTORS: Mapping[str, float] = MappingProxyType({})
MOST = 500
"""Maximum number of undo steps."""


@dataclass(frozen=True)
class Edits:
    """Edits of a model; everything not listed is as in the file."""

    data: Mapping[str, tuple[float, int]] = field(default_factory=lambda: _NO_SCALES)
    """Tensor → its scale and zero point."""
    float_data: frozenset[str] = frozenset()
    """Tensors that are not quantized."""
    weights: Mapping[str, float] = field(default_factory=lambda: _NO_FACTORS)
    """Codes of a weight → factor of its scales."""
    float_weights: frozenset[str] = frozenset()
    """Codes of weights that are not quantized."""

    def with_data(self, tensor: str, scale: float, zero_point: int) -> Edits:
        """Return the edits with another scale and zero point of a tensor."""
        return replace(self, data={**self.data, tensor: (scale, zero_point)})

    def with_weight(self, codes: str, factor: float) -> Edits:
        """Return the edits with another factor of a weight's scales."""
        return replace(self, weights={**self.weights, codes: factor})

    def with_precision(self, data: set[str], weights: set[str], quantized: bool) -> Edits:
        """Return the edits with tensors and weights quantized or in float."""
        if quantized:
            return replace(
                self, float_data=self.float_data - data, float_weights=self.float_weights - weights
            )
        return replace(self, float_data=self.float_data | data, float_weights=self.float_weights | weights)


class History:
    """Current edits, earlier edits, and undone edits."""

    def __init__(self) -> None:
        self._past: list[Edits] = [Edits()]
        self._future: list[Edits] = []

    @property
    def current(self) -> Edits:
        """The current edits."""
        return self._past[-1]

    def push(self, edits: Edits, instead: bool = False) -> None:
        """Add a state; with ``instead``, replace the current one, for example while a slider moves."""
        if instead and len(self._past) > 1:
            self._past.pop()
        self._past.append(edits)
        del self._past[: max(0, len(self._past) - MOST)]
        self._future.clear()

    def undo(self) -> bool:
        """Undo one step. False if there is none."""
        if len(self._past) < 2:
            return False
        self._future.append(self._past.pop())
        return True

    def redo(self) -> bool:
        """Redo one step. False if there is none."""
        if not self._future:
            return False
        self._past.append(self._future.pop())
        return True
