"""Structure of a model, independent of the Keras version."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Ref(NamedTuple):
    """A tensor of a model: result of a layer in one of its calls."""

    layer: str
    call: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of one call of a layer. Values are lists, dicts, ``Ref`` and plain JSON."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class LayerSpec:
    """A layer, or a model used as one."""

    name: str
    kind: str
    """Class without its package; ``ops.Add`` for an operation outside of layers."""
    config: dict[str, Any]
    calls: list[Arguments] = field(default_factory=list)
    model: ModelSpec | None = None
    parts: dict[str, LayerSpec] = field(default_factory=dict)
    """Layers that this one wraps: ``layer``, ``backward_layer``, ``cell``, ``cells/0``."""
    custom: bool = False
    """True if the class is not part of Keras."""

    @property
    def label(self) -> str:
        """Name and class for messages."""
        return f"{self.name} ({self.kind})"


@dataclass(slots=True)
class ModelSpec:
    """A graph of layers."""

    name: str
    kind: str
    layers: dict[str, LayerSpec]
    inputs: Any
    """Structure of ``Ref`` in the form of the model's arguments."""
    outputs: Any


def leaves(value: Any) -> Iterator[Any]:
    """Yield the items of nested lists and dicts in order, dicts by sorted keys. Not recursive."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item[key] for key in sorted(item, key=str, reverse=True))
        elif isinstance(item, (list, tuple)) and not isinstance(item, Ref):
            pending.extend(reversed(item))
        else:
            yield item


def refs(value: Any) -> list[Ref]:
    """Return the tensors in a structure."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, Ref)]
