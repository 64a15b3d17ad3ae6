"""Reads models and tags without weights, and writes them atomically.

A result replaces its target only when complete. Large weights are written to a second file next to the
model, inside its folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import onnx
import onnx_ir as ir

from py_autodoc import temporary
from py_autodoc.errors import InputError
from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.name_sanitizer import repair_texts
from py_autodoc.graph.loading.external_data import external_facts, location_hint
from py_autodoc.graph.loading.first_pass import external_tensors
from py_autodoc.graph.loading.load import parse_structure
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file
from py_autodoc.graph.protobuf.protobuf_wire import WireSource
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.outputs import OutputFile, OutputRequest, check_outputs, output_failed
from py_autodoc.outputs.marks import DATA, WRITTEN, seal_model
from py_autodoc.tags.map_types import keep_types, without_map_types

LARGE = 1536 << 20
"""Bytes of weights from which a model is written with external data, well below protobuf's 2 GiB limit."""


def load_structure(path: PathLike, limits: Limits = LIBRARY) -> ir.Model:
    """Load a model's graph without its weights: large tensors are references to the file.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: as for ``py_autodoc.analyze``.
        InputError: the graph is invalid, such as two nodes that produce one tensor.
    """
    name = base_name(path)
    with regular_file(path) as (fd, status):
        proto = parse_structure(WireSource(status.st_size, fd), name, limits)
    return to_ir(proto, name)


def to_ir(proto: onnx.ModelProto, name: str = "The model") -> ir.Model:
    """Return the graph of a protobuf. Raises: InputError if it is invalid."""
    repair_texts(proto)
    try:
        with without_map_types(proto) as types:
            model = ir.from_proto(proto)
        keep_types(model, types)
        return model
    except Exception as fault:
        notes = DiagnosticCollector()
        external_facts(external_tensors(proto), None, notes)
        for one in notes.diagnostics():
            raise InputError(
                one.code,
                f"{name}: {one.where}: {one.message}",
                location_hint(one.code, ""),
            ) from fault
        line = str(_root(fault)).strip().partition("\n")[0] or type(_root(fault)).__name__
        raise InputError(
            "graph-inconsistent",
            f"{name}: the graph is invalid: {line.rstrip('.')}.",
            "Run `analyze` for details.",
        ) from fault


def _root(fault: BaseException) -> BaseException:
    """Return what a library's errors began with: those around it quote protobufs, or fail themselves."""
    seen = [fault]
    while (inner := seen[-1].__cause__ or seen[-1].__context__) is not None and inner not in seen:
        seen.append(inner)
    return seen[-1]


def weight_bytes(model: ir.Model) -> int:
    """Return the bytes of all initializers, including those in subgraphs."""
    tensors = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    return sum(int(tensor.nbytes) for tensor in tensors if tensor is not None)


def targets(
    path: PathLike,
    *,
    data: bool = False,
    sidecar: bool = False,
    inputs: Iterable[PathLike] = (),
    force: bool = False,
) -> list[OutputFile]:
    """Return the targets of a model and, if requested, of its data and its sidecar.

    Raises: OutputError: as for ``outputs.check_outputs``.
    """
    requests = [OutputRequest(path, "onnx")]
    if data:
        requests.append(OutputRequest(f"{os.path.realpath(path)}{DATA}", "data"))
    if sidecar:
        requests.append(OutputRequest(f"{os.fspath(path)}.json", "sidecar"))
    return check_outputs(requests, inputs, force)


def save(
    model: ir.Model,
    path: PathLike,
    external_data: bool | None = None,
    *,
    inputs: Iterable[PathLike] = (),
    force: bool = False,
) -> list[Path]:
    """Write a model atomically; return the files written.

    Args:
        model: the model, which is not modified.
        path: the model's file.
        external_data: store weights in ``<name>.data`` next to it; None: from 1.5 GiB of weights.
        inputs: files read to create it, which are never overwritten.
        force: replace files that were not written by ONNX Autodoc.

    Raises:
        OutputError: it cannot be written; no partial file remains and no older file is lost.
    """
    if external_data is None:
        external_data = weight_bytes(model) > LARGE
    checked = targets(path, data=external_data, inputs=inputs, force=force)
    target = checked[0].path
    mark = model.metadata_props.pop(WRITTEN, None)
    try:
        with staging(target) as folder:
            ir.save(
                model, folder / target.name, external_data=f"{target.name}{DATA}" if external_data else None
            )
            return finish(folder, checked)
    finally:
        if mark is not None:
            model.metadata_props[WRITTEN] = mark


@contextmanager
def staging(target: Path) -> Iterator[Path]:
    """Create a folder next to ``target`` for files that belong together, removed after the block.

    Raises: OutputError: it cannot be created or written to.
    """
    with output_failed(target.name), temporary.folder(target.parent) as folder:
        yield folder


def finish(folder: Path, checked: Sequence[OutputFile]) -> list[Path]:
    """Move a model and its data, if any, from a folder to their targets; return the paths, the model first.

    Raises: OutputError.
    """
    written = [target for target in checked if (folder / target.path.name).exists()]
    seal_model(folder / written[0].path.name)
    for target in reversed(written):  # the model last, so that nothing refers to missing data
        target.replace_with(folder / target.path.name)
    return [target.path for target in written]


def rewritten(
    path: PathLike, checked: Sequence[OutputFile], write: Callable[[WireSource, BinaryIO], None]
) -> None:
    """Write a model to its target from ``path`` using ``write``.

    Raises:
        PathError, OutputError: as for ``load_structure`` and ``save``.
    """
    with staging(checked[0].path) as folder:
        with regular_file(path) as (fd, status), open(folder / checked[0].path.name, "xb") as file:
            write(WireSource(status.st_size, fd), file)
        finish(folder, checked)


def check_external(model: ir.Model, path: PathLike, out: PathLike) -> None:
    """Check that a copy in another folder does not lose weights in external files.

    Raises:
        InputError: it would lose them.
    """
    if os.path.realpath(os.path.dirname(os.path.abspath(path))) == os.path.dirname(os.path.realpath(out)):
        return
    file_name = base_name(path)
    tensors = (value.const_value for graph in model.graphs() for value in graph.initializers.values())
    if any(isinstance(tensor, ir.ExternalTensor) and tensor.location != file_name for tensor in tensors):
        raise InputError(
            "external-data-elsewhere",
            f"{file_name}: its weights are in files next to it, which a copy in another folder"
            " would not find.",
            "Write the result into the model's own folder.",
        )
