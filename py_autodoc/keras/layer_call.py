"""The arguments of layer converters, and their registry."""

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
from py_autodoc.keras.tensor import KerasTensor, Mask, Order, Shape, identity_order
from py_autodoc.keras.weights import ModelWeights

LayerValue = Any
"""A ``KerasTensor``, a constant, or lists and dicts of them: argument or result of a layer."""


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
        """Call a layer that another one holds as ``attribute``; nodes in the ``with`` block belong to it."""

    def run(self, call: LayerCall) -> LayerValue:
        """Return the result of a layer."""


@dataclass(frozen=True, slots=True)
class LayerCall:
    """One call of one layer."""

    spec: LayerSpec
    path: tuple[str, ...]
    """Path of the layer, by which its weights are found."""
    args: tuple[LayerValue, ...]
    kwargs: Mapping[str, LayerValue]
    builder: Builder
    weights: ModelWeights
    file: str
    major: int
    """Major version of Keras; 2 and 3 differ in some functions."""
    host: LayerRunner

    # -- inputs --------------------------------------------------------------------------------------

    @property
    def settings(self) -> LayerSettings:
        """Return the layer's settings."""
        return LayerSettings(self.spec.config, self.spec.label, self.file)

    def tensors(self) -> list[KerasTensor]:
        """Return all tensors in the first argument."""
        return [leaf for leaf in leaves(self.args[0] if self.args else ()) if isinstance(leaf, KerasTensor)]

    def tensor(self) -> KerasTensor:
        """Return the only tensor argument as a float."""
        tensors = self.tensors()
        if len(tensors) != 1:
            raise broken(
                self.file, f"{self.spec.label} is called with {len(tensors)} tensors, and takes one."
            )
        return tensors[0]

    def floating(self) -> KerasTensor:
        """Return the only tensor argument as float32."""
        return self.builder.cast(self.tensor(), ir.DataType.FLOAT)

    def argument(self, name: str, index: int) -> LayerValue:
        """Return an argument by name or position; None if it is not given."""
        return (
            self.kwargs[name] if name in self.kwargs else self.args[index] if index < len(self.args) else None
        )

    def mask_of(self, tensor: KerasTensor) -> KerasTensor | None:
        """Return the mask of the layer's input: the given one, or the one attached to the tensor."""
        mask = self.kwargs.get("mask")
        if not isinstance(mask, KerasTensor):
            mask = tensor.mask.tensor() if tensor.mask is not None else None
        return self.in_shape_order(mask) if mask is not None else None

    def in_shape_order(self, tensor: KerasTensor) -> KerasTensor:
        """Return the tensor stored in the axis order of its shape."""
        order = identity_order(tensor.rank)
        return replace(tensor, value=self.builder.transposed(tensor, order), order=order)

    def rank(self, tensor: KerasTensor, *allowed: int) -> None:
        """Raise an InputError if the layer does not accept the rank of the tensor."""
        if tensor.rank not in allowed:
            expected = " or ".join(map(str, allowed))
            raise broken(
                self.file, f"{self.spec.label} is called with {tensor.rank} axes, and takes {expected}."
            )

    def known_size(self, tensor: KerasTensor, axis: int) -> int:
        """Return the size of an axis. Raises: InputError if it is dynamic."""
        size = tensor.shape[axis]
        if size is None:
            raise broken(
                self.file, f"{self.spec.label} needs to know axis {axis % tensor.rank} of its input."
            )
        return size

    # -- results -------------------------------------------------------------------------------------

    def take(self, name: str, *shape: int) -> Any:
        """Return a weight of the layer, which must have this shape."""
        return self.weights.take(self.path, name, shape)

    def new_tensor(
        self, value: ir.Value, shape: Shape, order: Order | None = None, kind: ir.DataType = ir.DataType.FLOAT
    ) -> KerasTensor:
        """Return a tensor created by this layer, without a mask."""
        return self.builder.tensor(value, shape, order or identity_order(len(shape)), kind)

    def like(self, tensor: KerasTensor, value: ir.Value) -> KerasTensor:
        """Return a tensor with the same shape, order and mask."""
        mask = tensor.mask
        return replace(tensor, value=value, mask=mask, maker=self.builder.current_frames)

    def lazily(self, compute: Callable[[], KerasTensor]) -> Mask:
        """Return a mask whose nodes belong to this layer and are created on first use."""
        builder, frames = self.builder, self.builder.current_frames

        def make_in_layer() -> KerasTensor:
            with builder.under(frames):
                return compute()

        return Mask(make_in_layer)

    def refuse(self, why: str) -> Unsupported:
        """Return the error for a form of the layer that is not converted."""
        return Unsupported(self.spec.label, why)


Converter = Callable[[LayerCall], LayerValue]
CONVERTERS: dict[str, Converter] = {}
"""Class of a layer → its converter."""


def layer(*kinds: str) -> Callable[[Converter], Converter]:
    """Register a converter for classes of layers."""

    def register(converter: Converter) -> Converter:
        for kind in kinds:
            CONVERTERS[kind] = converter
        return converter

    return register
