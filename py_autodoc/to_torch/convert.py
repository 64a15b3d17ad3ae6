"""From an ONNX file to a Python file and its weights."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from py_autodoc.errors import InputError, OptionError
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.outputs import OutputPlace, OutputRequest, places
from py_autodoc.outputs.marks import sealed_text
from py_autodoc.tags.model_files import staging
from py_autodoc.to_torch import weights as stored_weights
from py_autodoc.to_torch.file import Beside, file_text
from py_autodoc.to_torch.finish_module import flat_weights
from py_autodoc.to_torch.module import ModuleInstance
from py_autodoc.to_torch.source import ModelFile
from py_autodoc.to_torch.writer import Writer

_SHOWN = 5
"""Nodes named for each operator that is not covered."""


@dataclass(frozen=True, slots=True)
class Uncovered:
    """An operator of a model that cannot be written exactly."""

    op_type: str
    domain: str
    count: int
    nodes: tuple[str, ...]
    """The first of them by name."""
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        label = f"{self.domain}::{self.op_type}" if self.domain else self.op_type
        return f"{label} ×{self.count}: {'; '.join(self.reasons)} ({', '.join(self.nodes)})"


@dataclass(frozen=True, slots=True)
class Written:
    """What was written."""

    paths: tuple[Path, Path]
    """The Python file and its weights."""
    nodes: int
    classes: tuple[str, ...]
    """Names of the classes, the model's own last."""
    modules: int
    """Modules that the classes are instantiated as, the model itself included."""
    weights: int
    """Tensors in the weights file."""
    weight_bytes: int
    functions: tuple[str, ...]
    """Functions that the file takes along for operators that PyTorch has none for."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON; paths as file names."""
        return asdict(self) | {"paths": [path.name for path in self.paths]}


class NotCoveredError(InputError):
    """The model uses operators that cannot be written; ``uncovered`` lists them."""

    def __init__(self, name: str, uncovered: tuple[Uncovered, ...]) -> None:
        names = ", ".join(f"{one.op_type} ×{one.count}" for one in uncovered[:_SHOWN])
        more = f" and {len(uncovered) - _SHOWN} more" if len(uncovered) > _SHOWN else ""
        super().__init__(
            "operators-not-covered",
            f"{name}: cannot be written as PyTorch code because of {names}{more}.",
            "`onnx-autodoc to-torch MODEL --list` lists the nodes and the reasons; nothing was written.",
        )
        self.uncovered = uncovered


def uncovered(path: PathLike, *, limits: Limits = LIBRARY) -> tuple[Uncovered, ...]:
    """Operators of a model that ``write`` cannot write, the most frequent first. Reads no weights.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the model cannot be read.
    """
    writer = Writer(ModelFile(path, limits))
    writer.run()
    return _uncovered(writer)


def write(
    path: PathLike,
    out: PathLike,
    *,
    weights: str | None = None,
    limits: Limits = LIBRARY,
    force: bool = False,
) -> Written:
    """Write a model as PyTorch source with its weights beside it.

    The file defines ``Model`` and ``load()`` and needs nothing but PyTorch (and safetensors or numpy).
    Given the same inputs the model computes what the ONNX file does, whatever the free sizes are.
    Initializers that the file also lists as inputs are weights.

    Args:
        path: the ONNX model.
        out: the Python file; the weights get its name with another suffix.
        weights: ``safetensors`` or ``npz``; None: safetensors where that is installed.
        limits: how much of an untrusted file to read.
        force: replace files that ONNX Autodoc did not write, or that were changed since.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the model cannot be read.
        NotCoveredError: it uses operators that cannot be written; see ``uncovered``.
        ExternalDataError: weights cannot be read.
        OptionError: an unknown format, or a name that is none of a Python file.
        OutputError: the result cannot be written; no partial file is left.
    """
    kind = weights or ("safetensors" if find_spec("safetensors") else "npz")
    if kind not in stored_weights.SUFFIXES:
        known = " or ".join(stored_weights.SUFFIXES)
        raise OptionError("unknown-format", f"{kind!r}: no format of weights.", f"Use {known}.")
    if Path(out).suffix != ".py":
        raise OptionError("not-a-python-file", f"{base_name(out)}: does not end in .py.", "Call it OUT.py.")
    suffix = stored_weights.SUFFIXES[kind]
    # A name that is a link leads to where both files go.
    real = Path(os.path.realpath(out))
    wanted = [OutputRequest(out, "python"), OutputRequest(real.with_suffix(suffix), kind)]
    files = places(wanted, [path], force)
    source = ModelFile(path, limits)
    writer = Writer(source)
    root = writer.run()
    left = _uncovered(writer)
    if left:
        raise NotCoveredError(source.name, left)
    return _written(source, writer, root, files, kind)


def _written(
    source: ModelFile, writer: Writer, root: ModuleInstance, files: Sequence[OutputPlace], kind: str
) -> Written:
    """Write both files in one step. Raises: ExternalDataError, OutputError."""
    writer.classes.settle()
    named = [(name, member.weights[own]) for name, member, own in flat_weights(root)]
    stored, tied = stored_weights.plan(sorted(named, key=lambda held: held[1].tensor))
    target, beside = (one.path for one in files)
    bits = stored_weights.bits_only(stored)
    text = file_text(source, writer, Beside(beside.name, kind, tied, bits))
    with staging(target) as folder:
        stored_weights.write(source, stored, folder / beside.name, kind)
        (folder / target.name).write_text(sealed_text(text, "python"), encoding="ascii", newline="\n")
        for one in reversed(files):  # the code last: it reads the weights
            one.take(folder / one.path.name)
    return Written(
        paths=(target, beside),
        nodes=sum(node.op_type != "Constant" for node in source.model.nodes),
        classes=tuple(one.name for one in writer.classes.all),
        modules=_modules(root),
        weights=len(stored),
        weight_bytes=sum(one.size for one in stored),
        functions=tuple(sorted(writer.helpers)),
    )


def _modules(root: ModuleInstance) -> int:
    count, pending = 0, [root]
    while pending:
        one = pending.pop()
        count += 1
        pending.extend(m.child for m in one.members if m.kind == "child" and m.child is not None)
    return count


def _uncovered(writer: Writer) -> tuple[Uncovered, ...]:
    found = [
        Uncovered(held.op_type, held.domain, len(held.nodes), tuple(held.nodes[:_SHOWN]), tuple(held.reasons))
        for held in writer.refused.values()
    ]
    return tuple(sorted(found, key=lambda one: (-one.count, one.domain, one.op_type)))


def table(found: Iterable[Uncovered]) -> list[str]:
    """The list as lines of text: operator, domain, count, first nodes, reasons."""
    lines = []
    for one in found:
        nodes = ", ".join(name or "(no name)" for name in one.nodes)
        more = ", …" if one.count > len(one.nodes) else ""
        lines.append(f"{one.op_type} ({one.domain or 'ai.onnx'}) ×{one.count}: {'; '.join(one.reasons)}")
        lines.append(f"    {nodes}{more}")
    return lines
