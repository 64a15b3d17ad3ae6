"""What a converter of one class of layers is given, and the register of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import onnx_ir as ir

from py_autodoc.keras.builder import Builder
from py_autodoc.keras.conversion_errors import Unsupported, broken
from py_autodoc.keras.settings import LayerSettings
from py_autodoc.keras.spec import LayerSpec, leaves
from py_autodoc.keras.tensor import KerasTensor, Mask, Order, Shape, straight
from py_autodoc.keras.weights import ModelWeights

LayerValue = Any
"""A ``KerasTensor``, a constant, or lists and dicts of them: what a layer is called with or gives back."""


class LayerRunner(Protocol):
    """Runs layers."""

    def enter(
        self,
        call: LayerCall,
        spec: LayerSpec,
        attribute: str,
        args: tuple[LayerValue, ...] = (),
        **kwargs: LayerValue,
    ) -> AbstractContextManager[LayerCall]:
        """A call of a layer that another one holds as ``attribute``; nodes in the block belong to it."""

    def run(self, call: LayerCall) -> LayerValue:
        """What a layer gives back."""


@dataclass(frozen=True, slots=True)
class LayerCall:
    """One call of one layer."""

    spec: LayerSpec
    path: tuple[str, ...]
    """Where its weights are."""
    args: tuple[LayerValue, ...]
    kwargs: Mapping[str, LayerValue]
    builder: Builder
    weights: ModelWeights
    file: str
    major: int
    """Version of Keras: 2 and 3 differ in some functions."""
    host: LayerRunner

    # -- what goes in --------------------------------------------------------------------------------

    @property
    def settings(self) -> LayerSettings:
        """The layer's settings."""
        return LayerSettings(self.spec.config, self.spec.label, self.file)

    def tensors(self) -> list[KerasTensor]:
        """All tensors in the first argument."""
        return [one for one in leaves(self.args[0] if self.args else ()) if isinstance(one, KerasTensor)]

    def tensor(self) -> KerasTensor:
        """The one tensor it is called with, as float."""
        found = self.tensors()
        if len(found) != 1:
            raise broken(self.file, f"{self.spec.label} is called with {len(found)} tensors, and takes one.")
        return found[0]

    def floating(self) -> KerasTensor:
        """The one tensor it is called with, as float32."""
        return self.builder.cast(self.tensor(), ir.DataType.FLOAT)

    def argument(self, name: str, at: int) -> LayerValue:
        """An argument by name or by place; None where it is not given."""
        return self.kwargs[name] if name in self.kwargs else self.args[at] if at < len(self.args) else None

    def mask_of(self, tensor: KerasTensor) -> KerasTensor | None:
        """The mask of the layer's input: the one it is called with, or the one that came along."""
        given = self.kwargs.get("mask")
        if not isinstance(given, KerasTensor):
            given = tensor.mask.tensor() if tensor.mask is not None else None
        return self.straight(given) if given is not None else None

    def straight(self, tensor: KerasTensor) -> KerasTensor:
        """The tensor lying as its shape says."""
        order = straight(tensor.rank)
        return replace(tensor, value=self.builder.turned(tensor, order), order=order)

    def rank(self, tensor: KerasTensor, *allowed: int) -> None:
        """Raises: InputError where the tensor has another number of axes than the layer takes."""
        if tensor.rank not in allowed:
            wanted = " or ".join(map(str, allowed))
            raise broken(
                self.file, f"{self.spec.label} is called with {tensor.rank} axes, and takes {wanted}."
            )

    def known(self, tensor: KerasTensor, axis: int) -> int:
        """The size of an axis. Raises: InputError where it is free."""
        size = tensor.shape[axis]
        if size is None:
            raise broken(
                self.file, f"{self.spec.label} needs to know axis {axis % tensor.rank} of its input."
            )
        return size

    # -- what comes out ------------------------------------------------------------------------------

    def take(self, name: str, *shape: int) -> Any:
        """A weight of the layer, whose shape must be this."""
        return self.weights.take(self.path, name, shape)

    def made(
        self, value: ir.Value, shape: Shape, order: Order | None = None, kind: ir.DataType = ir.DataType.FLOAT
    ) -> KerasTensor:
        """A tensor that this layer made, without a mask."""
        return self.builder.tensor(value, shape, order or straight(len(shape)), kind)

    def like(self, tensor: KerasTensor, value: ir.Value) -> KerasTensor:
        """A tensor of the same shape, order and mask."""
        mask = tensor.mask
        return replace(tensor, value=value, mask=mask, maker=self.builder.at)

    def lazily(self, make: Callable[[], KerasTensor]) -> Mask:
        """A mask whose nodes belong to this layer, made when somebody asks."""
        builder, frames = self.builder, self.builder.at

        def made() -> KerasTensor:
            with builder.under(frames):
                return make()

        return Mask(made)

    def refuse(self, why: str) -> Unsupported:
        """The fault of a form of the layer that is not converted."""
        return Unsupported(self.spec.label, why)


Converter = Callable[[LayerCall], LayerValue]
CONVERTERS: dict[str, Converter] = {}
"""Class of a layer → how it is converted."""


def layer(*kinds: str) -> Callable[[Converter], Converter]:
    """Register a converter for classes of layers."""

    def register(converter: Converter) -> Converter:
        for kind in kinds:
            CONVERTERS[kind] = converter
        return converter

    return register
