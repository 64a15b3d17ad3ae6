"""Rewrites a file with fixed dimensions for other ones, copying weights piece by piece."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from py_autodoc.extract.rewritten import write_rewritten
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.graph.rebatch import BatchRefusal
from py_autodoc.graph.resize import ResizeBlocked, resize_model
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.tags.model_files import targets


@dataclass(frozen=True, slots=True)
class ResizedFile:
    """The result of a resize."""

    paths: tuple[Path, ...]
    """The model and, if its weights are large, their external file."""
    inputs: Mapping[str, tuple[int, ...]]
    """Input → its new shape."""
    fixed: Mapping[str, tuple[int, ...]]
    """The original shapes."""
    outputs: Mapping[str, tuple[int, ...]]
    """Output → its new shape, if it changed."""
    edits: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]
    """(node, note)."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "files": [path.name for path in self.paths],
            "inputs": {name: list(shape) for name, shape in self.inputs.items()},
            "fixed": {name: list(shape) for name, shape in self.fixed.items()},
            "outputs": {name: list(shape) for name, shape in self.outputs.items()},
            "edits": list(self.edits),
            "notes": [f"{node}: {note}" for node, note in self.notes],
        }


def resize(
    path: PathLike,
    out: PathLike,
    input_shapes: Mapping[str, Sequence[int]],
    *,
    bindings: Mapping[str, int] | None = None,
    force: bool = False,
    limits: Limits = LIBRARY,
) -> ResizedFile:
    """Write a model whose sequence length or resolution is fixed for another one.

    The result has the same operators and weights with other dimensions. Numbers that stood for old
    dimensions are replaced; a stored table for a sequence is cut to its first entries. If a table would
    have to be longer, belongs to an image, or a stored number has two possible meanings, nothing is
    written. Weights, metadata and tags are kept.

    Args:
        path: a model with fixed dimensions.
        out: the output file; its folder must exist.
        input_shapes: input → its full shape. Other inputs keep theirs.
        bindings: values of symbolic dimensions, for which the edits hold.
        force: replace a file that ONNX Autodoc did not write.
        limits: how much of an untrusted file to read.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the model cannot be read.
        ResizeBlocked: a node cannot have these dimensions, or no rule says that it can.
        OptionError: an unknown input, or an invalid value.
        ExternalDataError: weights cannot be read.
        OutputError: the result cannot be written; no partial file is left.
    """
    targets(out, inputs=[path], force=force)
    name = base_name(path)
    loaded = load(path, limits)
    resized = resize_model(loaded, input_shapes, bindings)
    if isinstance(resized, BatchRefusal):
        raise ResizeBlocked(name, resized)
    paths = write_rewritten(path, out, loaded, resized.loaded.proto, name, force)
    return ResizedFile(paths, resized.inputs, resized.fixed, resized.outputs, resized.edits, resized.notes)
