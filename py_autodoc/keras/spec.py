"""What a model is made of, the same for every version of Keras that wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Ref(NamedTuple):
    """One tensor of a model: what a layer gave back in one of its calls."""

    layer: str
    call: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True)
class Arguments:
    """One call of a layer. Values are lists, dicts, ``Ref`` and plain JSON."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class LayerSpec:
    """A layer, or a model used as one."""

    name: str
    kind: str
    """Class without its package; ``ops.Add`` for an operation that is not a layer."""
    config: dict[str, Any]
    calls: list[Arguments] = field(default_factory=list)
    model: ModelSpec | None = None
    parts: dict[str, LayerSpec] = field(default_factory=dict)
    """Layers that this one wraps: ``layer``, ``backward_layer``, ``cell``, ``cells/0``."""
    custom: bool = False
    """The class is not Keras's own."""

    @property
    def label(self) -> str:
        """For people."""
        return f"{self.name} ({self.kind})"


@dataclass(slots=True)
class ModelSpec:
    """A graph of layers."""

    name: str
    kind: str
    layers: dict[str, LayerSpec]
    inputs: Any
    """Structure of ``Ref``, as the model is called with."""
    outputs: Any


def leaves(value: Any) -> Iterator[Any]:
    """What lies in nested lists and dicts, in order; dicts by their sorted keys. Not recursive."""
    pending = [value]
    while pending:
        at = pending.pop()
        if isinstance(at, dict):
            pending.extend(at[key] for key in sorted(at, key=str, reverse=True))
        elif isinstance(at, (list, tuple)) and not isinstance(at, Ref):
            pending.extend(reversed(at))
        else:
            yield at


def refs(value: Any) -> list[Ref]:
    """The tensors in a structure."""
    return [one for one in leaves(value) if isinstance(one, Ref)]
