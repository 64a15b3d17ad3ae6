"""Convert a pipeline's inputs to the inputs of the file: names, types, missing and surplus inputs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from py_autodoc.errors import InputError, OptionError
from py_autodoc.hf.serving.session import SessionPort, shown_shape

Array = np.ndarray[Any, Any]

IDS, MASK, KINDS = "input_ids", "attention_mask", "token_type_ids"
_DEFAULTS = {MASK: 1, KINDS: 0}
"""Defaults of transformers models for missing inputs."""


class Feeds:
    """Selects and casts the inputs of a file.

    Args:
        ports: the file's inputs.
        main: the model's main input; a file with a single input of another name receives it there.
        file: the file's name for messages.
    """

    def __init__(self, ports: Mapping[str, SessionPort], main: str, file: str) -> None:
        self._ports = ports
        self._file = file
        self._warned: set[str] = set()
        alone = len(ports) == 1 and main not in ports
        self._renamed = {main: next(iter(ports))} if alone else {}

    def __call__(self, values: Mapping[str, Any]) -> dict[str, Array]:
        """Return the arrays to feed.

        Raises:
            OptionError: an input is missing, or a value does not fit its type.
            InputError: texts of different lengths for a file without an attention mask.
        """
        feeds: dict[str, Array] = {}
        for name, value in values.items():
            if not isinstance(value, (torch.Tensor, np.ndarray)):
                continue
            port = self._ports.get(self._renamed.get(name, name))
            if port is None:
                self._left_out(name, value)
            else:
                feeds[port.name] = _cast(_array(value), port)
        if len(feeds) < len(self._ports):
            self._fill(feeds, values)
        return feeds

    def _fill(self, feeds: dict[str, Array], values: Mapping[str, Any]) -> None:
        ids = feeds.get(IDS)
        missing = []
        for name, port in self._ports.items():
            if name in feeds:
                continue
            if ids is not None and name in _DEFAULTS and port.rank in (None, 2):
                feeds[name] = np.full(ids.shape, _DEFAULTS[name], port.dtype)
            else:
                missing.append(f"{name} ({port.dtype} {port.shown()})")
        if missing:
            passed = ", ".join(name for name, value in values.items() if value is not None) or "nothing"
            raise OptionError(
                "input-missing",
                f"{self._file} needs {', '.join(missing)}; given: {passed}.",
                "The task or the processor differs from that of the export.",
            )

    def _left_out(self, name: str, value: Any) -> None:
        """Check an input that the file does not have: warn, or raise if results would be wrong."""
        if name in self._warned:
            return
        array = _array(value)
        if name == MASK:
            if not array.all():
                raise InputError(
                    "no-attention-mask",
                    f"{self._file} takes no attention_mask, so it would read padding as text.",
                    "Pass texts one by one (batch_size=1), or export the model with attention_mask.",
                )
            return
        if not (array.any() if name == KINDS else array.size):
            return
        self._warned.add(name)
        warnings.warn(
            f"{self._file} has no input {name}: it is not included, and results may differ from the model's.",
            UserWarning,
            stacklevel=2,
        )


def _array(value: torch.Tensor | Array) -> Array:
    if isinstance(value, np.ndarray):
        return value
    tensor = value.detach()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    if tensor.dtype == torch.bfloat16:  # numpy has no bfloat16
        tensor = tensor.float()
    return tensor.numpy()


def _cast(array: Array, port: SessionPort) -> Array:
    """Return the array in the input's type. Raises if values would be truncated."""
    dtype = port.dtype
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "f" and dtype.kind != "f":
        raise OptionError(
            "input-type", f"{port.name} takes {dtype}, not {array.dtype} {shown_shape(array.shape)}."
        )
    if dtype.kind in "iu" and array.size:
        limits = np.iinfo(dtype)
        if array.min() < limits.min or array.max() > limits.max:
            raise OptionError(
                "input-type", f"{port.name} takes {dtype}; {array.max()} or {array.min()} does not fit."
            )
    return array.astype(dtype)
