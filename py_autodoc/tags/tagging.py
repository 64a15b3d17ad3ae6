"""Tags existing files: exported by other tools, or processed by a tool that dropped the tags.

The result is the same file with tags: nodes are rewritten one at a time, weights are copied.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO

from py_autodoc.errors import InputError
from py_autodoc.graph.ir.exporter_records import TABLE, pack_table
from py_autodoc.graph.protobuf.probe import PathLike, base_name
from py_autodoc.graph.protobuf.protobuf_wire import WireSource
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.outputs import OutputFile
from py_autodoc.outputs.inputs import data_files
from py_autodoc.tags import model_files
from py_autodoc.tags.assign import assign
from py_autodoc.tags.dynamo import DynamoEvidence, classes_of, parameters_of
from py_autodoc.tags.metadata_rewrite import rewrite
from py_autodoc.tags.model import Tags
from py_autodoc.tags.naming import KEEP, Namer
from py_autodoc.tags.read import table_in
from py_autodoc.tags.restore import restore
from py_autodoc.tags.tag_storage import node_editor, table_of


def tag_file(
    path: PathLike,
    out: PathLike,
    *,
    keep: Sequence[str] = KEEP,
    limits: Limits = LIBRARY,
    force: bool = False,
) -> Tags:
    """Tag a file of torch.onnx's dynamo exporter from its own metadata.

    Needs neither torch nor the code of the model. Modules without nodes stay unknown, a module with two
    names appears as two, and calls of a module are not distinguished. An export with this package
    records all three.

    Args:
        path: the model.
        out: target of the tagged model; may be ``path``.
        keep: globs of torch classes that tags include.
        limits: bounds for reading an untrusted file.
        force: replace a file that ONNX Autodoc did not write.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the file cannot be used;
            ``no-scopes`` if the exporter left no module records.
        OutputError: it cannot be written, or would replace model data or a file of another program.
    """
    _checked(path, out, force)
    model = model_files.load_structure(path, limits)
    classes = classes_of(model)
    if not classes:
        raise InputError(
            "no-scopes",
            f"{base_name(path)}: no node records its module.",
            "Export the model again with the dynamo exporter of torch.onnx (torch 2.5 or later).",
        )
    namer = Namer(classes, keep=keep)
    tags = assign(model, namer, DynamoEvidence(model, parameters_of(model)), "dynamo")
    model_files.check_external(model, path, out)
    write_file(path, out, tags, force=force)
    return tags


def restore_file(path: PathLike, out: PathLike, *, limits: Limits = LIBRARY, force: bool = False) -> Tags:
    """Restore the tags of a file, dropped by a tool, from the table in its metadata.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the file cannot be used;
            ``no-table`` if it has no table.
        OutputError: as for ``tag_file``.
    """
    _checked(path, out, force)
    model = model_files.load_structure(path, limits)
    table = table_in(model)
    if table is None:
        damaged = TABLE in model.metadata_props
        raise InputError(
            "no-table",
            f"{base_name(path)}: its table of modules is {'damaged' if damaged else 'missing'}.",
            "Files exported or tagged by onnx-autodoc have one.",
        )
    tags = restore(model, table)
    model_files.check_external(model, path, out)
    write_file(path, out, tags, keep_table=True, force=force)
    return tags


def write_file(
    path: PathLike, out: PathLike, tags: Tags, *, keep_table: bool = False, force: bool = False
) -> None:
    """Write ``path`` with ``tags`` to ``out``.

    ``keep_table`` preserves the table in the file's metadata: it has the names of the originally exported
    model, which another tool may still use.

    Raises:
        PathError, OutputError: as for ``tag_file``.
        AnalysisError: the tags belong to another model.
    """
    metadata = {} if keep_table else {TABLE: pack_table(table_of(tags))}

    def write(source: WireSource, file: BinaryIO) -> None:
        rewrite(source, file, node_editor(tags), metadata)

    model_files.rewritten(os.fspath(path), _checked(path, out, force), write)


def _checked(path: PathLike, out: PathLike, force: bool) -> list[OutputFile]:
    """Return the target of the result, which may be the model itself."""
    if os.path.exists(path) and os.path.exists(out) and os.path.samefile(path, out):
        return model_files.targets(out, inputs=data_files(os.fspath(path)), force=True)
    return model_files.targets(out, inputs=[path], force=force)
