"""Convert an ONNX file to a Python file and its weights."""

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
from py_autodoc.outputs import OutputFile, OutputRequest, check_outputs
from py_autodoc.outputs.marks import sealed_text
from py_autodoc.tags.model_files import staging
from py_autodoc.to_torch import weights as stored_weights
from py_autodoc.to_torch.file import WeightsFile, file_text
from py_autodoc.to_torch.finish_module import flat_weights
from py_autodoc.to_torch.module import ModuleInstance
from py_autodoc.to_torch.source import ModelFile
from py_autodoc.to_torch.writer import Writer

_MAX_LISTED = 5
"""Maximum number of nodes named for each uncovered operator."""


@dataclass(frozen=True, slots=True)
class Uncovered:
    """An operator of a model that cannot be converted exactly."""

    op_type: str
    domain: str
    count: int
    nodes: tuple[str, ...]
    """Names of the first few nodes with this operator."""
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        label = f"{self.domain}::{self.op_type}" if self.domain else self.op_type
        return f"{label} ×{self.count}: {'; '.join(self.reasons)} ({', '.join(self.nodes)})"


@dataclass(frozen=True, slots=True)
class Written:
    """Result of ``write``."""

    paths: tuple[Path, Path]
    """The Python file and the weights file."""
    nodes: int
    classes: tuple[str, ...]
    """Names of the classes; the class of the model is last."""
    modules: int
    """Number of module instances, including the model itself."""
    weights: int
    """Number of tensors in the weights file."""
    weight_bytes: int
    functions: tuple[str, ...]
    """Functions included in the file for operators without a PyTorch equivalent."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data for JSON, with paths as file names."""
        return asdict(self) | {"paths": [path.name for path in self.paths]}


class NotCoveredError(InputError):
    """The model uses operators that cannot be converted; ``uncovered`` lists them."""

    def __init__(self, name: str, uncovered: tuple[Uncovered, ...]) -> None:
        names = ", ".join(f"{operator.op_type} ×{operator.count}" for operator in uncovered[:_MAX_LISTED])
        more = f" and {len(uncovered) - _MAX_LISTED} more" if len(uncovered) > _MAX_LISTED else ""
        super().__init__(
            "operators-not-covered",
            f"{name}: cannot be converted to PyTorch code because of {names}{more}.",
            "Nothing was written. Run `onnx-autodoc to-torch MODEL --list` to list them with reasons.",
        )
        self.uncovered = uncovered


def uncovered(path: PathLike, *, limits: Limits = LIBRARY) -> tuple[Uncovered, ...]:
    """Return the operators of a model that ``write`` cannot convert, most frequent first. Reads no weights.

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
    """Convert a model to PyTorch source and a weights file next to it.

    The file defines ``Model`` and ``load()`` and needs only PyTorch and safetensors or numpy. For the same
    inputs, the module computes what the ONNX model computes, for any values of the symbolic dimensions.
    Initializers that are also listed as inputs become weights.

    Args:
        path: the ONNX model.
        out: the Python file; the weights file has the same name with another suffix.
        weights: ``safetensors`` or ``npz``; None uses safetensors if it is installed.
        limits: limits on reading an untrusted file.
        force: replace files that ONNX Autodoc did not write, or that were changed since.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the model cannot be read.
        NotCoveredError: the model uses operators that cannot be converted; see ``uncovered``.
        ExternalDataError: weights cannot be read.
        OptionError: the weights format is unknown, or ``out`` is not the name of a Python file.
        OutputError: the result cannot be written; no partial file is left.
    """
    kind = weights or ("safetensors" if find_spec("safetensors") else "npz")
    if kind not in stored_weights.SUFFIXES:
        suffixes = " or ".join(stored_weights.SUFFIXES)
        raise OptionError("unknown-format", f"{kind!r}: unknown weight format.", f"Choose one of {suffixes}.")
    if Path(out).suffix != ".py":
        raise OptionError(
            "not-a-python-file", f"{base_name(out)}: does not end in .py.", "Choose a name such as model.py."
        )
    suffix = stored_weights.SUFFIXES[kind]
    # If the name is a symbolic link, both files go to the folder of its target.
    real = Path(os.path.realpath(out))
    requests = [OutputRequest(out, "python"), OutputRequest(real.with_suffix(suffix), kind)]
    files = check_outputs(requests, [path], force)
    source = ModelFile(path, limits)
    writer = Writer(source)
    root = writer.run()
    uncovered = _uncovered(writer)
    if uncovered:
        raise NotCoveredError(source.name, uncovered)
    return _written(source, writer, root, files, kind)


def _written(
    source: ModelFile, writer: Writer, root: ModuleInstance, files: Sequence[OutputFile], kind: str
) -> Written:
    """Write both files in one step. Raises: ExternalDataError, OutputError."""
    writer.classes.settle()
    named = [(name, member.weights[weight_name]) for name, member, weight_name in flat_weights(root)]
    stored, tied = stored_weights.plan(sorted(named, key=lambda item: item[1].tensor))
    target, weights_path = (file.path for file in files)
    bits = stored_weights.bits_only(stored)
    text = file_text(source, writer, WeightsFile(weights_path.name, kind, tied, bits))
    with staging(target) as folder:
        stored_weights.write(source, stored, folder / weights_path.name, kind)
        (folder / target.name).write_text(sealed_text(text, "python"), encoding="ascii", newline="\n")
        for file in reversed(files):  # the code last, because it reads the weights
            file.replace_with(folder / file.path.name)
    return Written(
        paths=(target, weights_path),
        nodes=sum(node.op_type != "Constant" for node in source.model.nodes),
        classes=tuple(module_class.name for module_class in writer.classes.all),
        modules=_modules(root),
        weights=len(stored),
        weight_bytes=sum(tensor.size for tensor in stored),
        functions=tuple(sorted(writer.helpers)),
    )


def _modules(root: ModuleInstance) -> int:
    count, pending = 0, [root]
    while pending:
        instance = pending.pop()
        count += 1
        pending.extend(m.child for m in instance.members if m.kind == "child" and m.child is not None)
    return count


def _uncovered(writer: Writer) -> tuple[Uncovered, ...]:
    uncovered = [
        Uncovered(
            refusal.op_type,
            refusal.domain,
            len(refusal.nodes),
            tuple(refusal.nodes[:_MAX_LISTED]),
            tuple(refusal.reasons),
        )
        for refusal in writer.refused.values()
    ]
    return tuple(sorted(uncovered, key=lambda operator: (-operator.count, operator.domain, operator.op_type)))


def table(uncovered: Iterable[Uncovered]) -> list[str]:
    """Return the list as lines of text: operator, domain, count, first nodes, reasons."""
    lines = []
    for operator in uncovered:
        nodes = ", ".join(node or "(no name)" for node in operator.nodes)
        more = ", …" if operator.count > len(operator.nodes) else ""
        name = f"{operator.op_type} ({operator.domain or 'ai.onnx'})"
        lines.append(f"{name} ×{operator.count}: {'; '.join(operator.reasons)}")
        lines.append(f"    {nodes}{more}")
    return lines
