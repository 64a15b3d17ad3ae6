"""Rewrites a file with a fixed batch for another batch, copying weights piece by piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from py_autodoc.errors import OptionError
from py_autodoc.extract.rewritten import write_rewritten
from py_autodoc.graph.loading.load import load
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.graph.rebatch import BatchRefusal, BatchRequest, Layout, RebatchBlocked, plan_batch
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.tags.model_files import targets

MAX_BATCH = 1 << 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class RebatchedFile:
    """The result of a rebatch."""

    paths: tuple[Path, ...]
    """The model and, if its weights are large, their external file."""
    batch: int | str
    fixed: int
    """Batch size of the original model."""
    inputs: Mapping[str, int]
    """Input → batch axis."""
    outputs: Mapping[str, Layout | None]
    """Output → position of the batch; None if it is the same for all items."""
    edits: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]
    """(node, input or output; note)."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. ``factor`` is the number of entries per item on the axis."""
        outputs = {
            name: None
            if layout is None
            else {"axis": layout.axis, "factor": None if layout.ragged else layout.entries_per_item}
            for name, layout in self.outputs.items()
        }
        return {
            "files": [path.name for path in self.paths],
            "batch": self.batch,
            "fixed": self.fixed,
            "inputs": dict(self.inputs),
            "outputs": outputs,
            "edits": list(self.edits),
            "notes": [f"{location}: {note}" for location, note in self.notes],
        }


def rebatch(
    path: PathLike,
    out: PathLike,
    batch: int | str,
    *,
    axes: Mapping[str, int | None] | None = None,
    fixed: int | None = None,
    bindings: Mapping[str, int] | None = None,
    force: bool = False,
    limits: Limits = LIBRARY,
) -> RebatchedFile:
    """Write a model for another number of items, or for any.

    Item i of the result is what the model computes for item i alone; if that is impossible, nothing is
    written. Weights, metadata and tags are kept.

    Args:
        path: a model whose batch is fixed.
        out: the output file; its folder must exist.
        batch: the number of items, or a name (``"batch"``) for a symbolic one.
        axes: input → axis of its batch, None: the input is the same for all items. Others are
            inferred.
        fixed: the batch that the file has; None: 1, or the size that the first axis of every input and
            output has.
        bindings: values of other symbolic dimensions, which are then fixed in the result.
        force: replace a file that ONNX Autodoc did not write.
        limits: how much of an untrusted file to read.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the model cannot be read.
        RebatchBlocked: a node would mix items, or no rule says that it does not.
        OptionError: an unknown input, or an invalid value.
        ExternalDataError: weights cannot be read.
        OutputError: the result cannot be written; no partial file is left.
    """
    targets(out, inputs=[path], force=force)
    name = base_name(path)
    loaded = load(path, limits)
    _check(loaded.proto, batch, axes or {}, name)
    planned = plan_batch(loaded, BatchRequest(fixed, dict(axes or {}), bindings=dict(bindings or {})))
    if isinstance(planned, BatchRefusal):
        raise RebatchBlocked(name, planned)
    odd = planned.checked(batch if isinstance(batch, int) else planned.plan.batch + 2)
    if odd is not None:
        raise RebatchBlocked(name, odd)
    written = planned.written(batch)
    proto = written.proto
    paths = write_rewritten(path, out, loaded, proto, name, force)
    plan = planned.plan
    return RebatchedFile(
        paths, batch, plan.batch, plan.inputs, plan.outputs, tuple(written.edits), plan.notes
    )


def parse_batch(text: str) -> int | str:
    """Parse ``"8"`` as a number, ``"batch"`` as a name. Raises: OptionError."""
    if text.isascii() and text.isdigit() and 1 <= int(text[:12]) <= MAX_BATCH:
        return int(text)
    if _NAME.match(text):
        return text
    raise OptionError(
        "bad-batch",
        f"{text[:40]!r} is not a batch size.",
        f"Pass a number from 1 to {MAX_BATCH:,}, or a name such as batch for a symbolic one.",
    )


def _check(proto: onnx.ModelProto, batch: int | str, axes: Mapping[str, int | None], name: str) -> None:
    """Raises: OptionError."""
    parse_batch(str(batch))
    names = [info.name for info in proto.graph.input]
    for key in axes:
        if key not in names:
            listed = ", ".join(names[:12])
            raise OptionError("unknown-input", f"{name} has no input {key!r}.", f"Choose one of {listed}.")
    used = {dim.dim_param for info in proto.graph.input for dim in info.type.tensor_type.shape.dim}
    if isinstance(batch, str) and batch in used:
        raise OptionError(
            "batch-name-taken", f"{name} already has a dimension {batch}.", "Choose another name."
        )


def parse_axes(axes: Iterable[str], same: Iterable[str]) -> dict[str, int | None]:
    """Parse ``["state=1"]`` and ``["sr"]`` into a mapping. Raises: OptionError."""
    batch_axes: dict[str, int | None] = {}
    for item in axes:
        name, _, number = item.rpartition("=")
        if not name or not re.fullmatch(r"-?\d{1,3}", number, re.ASCII):
            hint = "Pass INPUT=AXIS, such as state=1."
            raise OptionError("bad-axis", f"{item[:80]!r} is not an axis of an input.", hint)
        if batch_axes.setdefault(name, int(number)) != int(number):
            raise OptionError("bad-axis", f"The input {name!r} is given two axes.", "Pass one axis.")
    for name in same:
        if batch_axes.setdefault(name, None) is not None:
            message = f"The input {name!r} cannot have an axis and be the same for all items."
            raise OptionError("bad-axis", message, "Pass only one of them.")
    return batch_axes
