"""Files with fixed dimensions: rows in batches of the file's size, texts padded to the file's length."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from py_autodoc.errors import AnalysisError, OptionError
from py_autodoc.hf.serving.feeds import IDS, KINDS, MASK
from py_autodoc.hf.serving.session import ServingSession, SessionPort, shown_shape

Array = np.ndarray[Any, Any]
Tokenwise = Callable[[int, Array], bool]
"""(index of an output, its value) → whether axis 1 of it counts tokens."""


@dataclass(frozen=True, slots=True)
class PaddedBatch:
    """Padding of a text that is shorter than the file requires."""

    token: int | None = None
    """Id of the padding token; None if the tokenizer has none."""
    kind: int = 0
    """Its token type."""

    def value(self, name: str) -> int | None:
        """Return the padding value for an input; None if it cannot be padded."""
        return {IDS: self.token, MASK: 0, KINDS: self.kind}.get(name)


def fixed_length(ports: Mapping[str, SessionPort]) -> int | None:
    """Return the number of tokens of the file's inputs, if it is fixed."""
    port = ports.get(IDS)
    return port.fixed(1) if port is not None and port.rank == 2 else None


class BatchRunner:
    """Runs any number of rows of any length on a file with fixed dimensions.

    Padding is appended to a text and masked with zeros, so it changes neither the positions nor the results
    of the tokens before it. Outputs are cut back to the given tokens. Incomplete batches are filled by
    repeating the last row; the extra results are dropped.

    Args:
        session: the session of the file.
        padding: padding values of the tokenizer.
        tokenwise: tells which outputs have an axis of tokens.
    """

    def __init__(self, session: ServingSession, padding: PaddedBatch, tokenwise: Tokenwise) -> None:
        self._session = session
        self._padding = padding
        self._tokenwise = tokenwise
        fixed = [
            port for port in session.inputs.values() if port.dims and any(d is not None for d in port.dims)
        ]
        self._fixed = {port.name: port.dims or () for port in fixed}

    def __call__(self, feeds: dict[str, Array]) -> list[Array]:
        """Return all outputs.

        Raises:
            OptionError: a dimension cannot be adapted to the file's.
            AnalysisError: ONNX Runtime fails, or an output has no axis of rows.
        """
        if all(_fits(feeds[name].shape, dims) for name, dims in self._fixed.items()):
            return self._session.run(feeds)
        length = self._length(feeds)
        if length is not None:
            feeds = self._padded(feeds)
        self._check(feeds)
        outputs = self._batches(feeds)
        if length is not None:
            outputs = [self._cut(number, output, length) for number, output in enumerate(outputs)]
        return outputs

    def _length(self, feeds: Mapping[str, Array]) -> int | None:
        """Return the number of given tokens if the file requires more."""
        dims = self._fixed.get(IDS, ())
        ids = feeds.get(IDS)
        if ids is None or len(dims) != 2 or ids.ndim != 2 or dims[1] in (None, ids.shape[1]):
            return None
        if ids.shape[1] > (dims[1] or 0):
            raise OptionError(
                "text-too-long",
                f"{self._session.name} takes exactly {dims[1]:,} tokens, the text has {ids.shape[1]:,}.",
                f"Let the tokenizer cut it (truncation=True, max_length={dims[1]}), or export the file "
                "with --dynamic batch,seq.",
            )
        return int(ids.shape[1])

    def _padded(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        name = self._session.name
        if MASK not in feeds:
            raise OptionError(
                "text-too-short",
                f"{name} takes exactly {self._fixed[IDS][1]:,} tokens and no attention_mask, so a shorter "
                "text cannot be padded.",
                "Export it with attention_mask, or with --dynamic batch,seq.",
            )
        if self._padding.token is None:
            raise OptionError(
                "no-padding",
                f"{name} takes exactly {self._fixed[IDS][1]:,} tokens; the tokenizer has no padding token.",
                "Set tokenizer.pad_token, or export the file with --dynamic batch,seq.",
            )
        padded = dict(feeds)
        for key, array in feeds.items():
            dims, value = self._fixed.get(key, ()), self._padding.value(key)
            if value is None or len(dims) != 2 or array.ndim != 2 or dims[1] is None:
                continue
            if array.shape[1] < dims[1]:
                padded[key] = np.pad(array, ((0, 0), (0, dims[1] - array.shape[1])), constant_values=value)
        return padded

    def _check(self, feeds: Mapping[str, Array]) -> None:
        for name, dims in self._fixed.items():
            shape = feeds[name].shape
            # The first axis counts rows, which are split into batches.
            if len(shape) != len(dims) or not _fits(shape[1:], dims[1:]):
                raise OptionError(
                    "input-shape",
                    f"{self._session.name}: {name} takes {shown_shape(dims)}, given {shown_shape(shape)}.",
                    "The processor differs from that of the export, or the file has fixed dimensions.",
                )

    def _batches(self, feeds: dict[str, Array]) -> list[Array]:
        sizes = {dims[0] for dims in self._fixed.values() if dims and dims[0] is not None}
        rows = {array.shape[0] for array in feeds.values() if array.ndim}
        if not sizes or sizes == rows:
            return self._session.run(feeds)
        if len(sizes) > 1 or len(rows) > 1:
            raise OptionError(
                "batch-size",
                f"{self._session.name}: its inputs have fixed and different numbers of rows.",
                "Export it with --dynamic batch.",
            )
        size, count = sizes.pop() or 1, rows.pop()
        parts = [self._batch(feeds, start, size, count) for start in range(0, count, size)]
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def _batch(self, feeds: Mapping[str, Array], start: int, size: int, count: int) -> list[Array]:
        real = min(size, count - start)
        index = np.minimum(np.arange(start, start + size), count - 1)
        outputs = self._session.run({name: array[index] for name, array in feeds.items()})
        for port, output in zip(self._session.outputs, outputs, strict=True):
            if output.ndim == 0 or output.shape[0] != size:
                raise AnalysisError(
                    "batch-size",
                    f"{self._session.name} takes exactly {size} rows, and its output {port.name} "
                    f"({shown_shape(output.shape)}) has no axis of rows to divide.",
                    "Export it with --dynamic batch.",
                )
        return [output[:real] for output in outputs]

    def _cut(self, number: int, output: Array, kept_tokens: int) -> Array:
        length = self._fixed[IDS][1]
        tokens = output.ndim > 1 and output.shape[1] == length and self._tokenwise(number, output)
        return output[:, :kept_tokens] if tokens else output


def _fits(shape: tuple[int, ...], dims: tuple[int | None, ...]) -> bool:
    return len(shape) == len(dims) and all(
        dim is None or dim == size for dim, size in zip(dims, shape, strict=True)
    )
