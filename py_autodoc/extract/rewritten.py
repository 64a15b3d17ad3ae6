"""Writes a file with an edited structure, copying weights piece by piece."""

from __future__ import annotations

import os
from pathlib import Path

import onnx

from py_autodoc.extract.build import EXPANDED, external_tensors, tensors_of, write_external
from py_autodoc.extract.stream import write_model
from py_autodoc.graph.ir.name_sanitizer import decode_text
from py_autodoc.graph.loading.load import LoadedModel
from py_autodoc.graph.protobuf.probe import PathLike
from py_autodoc.graph.protobuf.tensor_protos import MAX_ELEMENTS, element_count, stored_bytes
from py_autodoc.graph.tensor_data.tensor_bytes import TensorFiles
from py_autodoc.outputs.marks import DATA, unmark
from py_autodoc.tags import read_tags, write_tags
from py_autodoc.tags.model_files import LARGE, finish, staging, targets, to_ir
from py_autodoc.tags.tag_storage import proto_nodes


def write_rewritten(
    path: PathLike, out: PathLike, loaded: LoadedModel, proto: onnx.ModelProto, name: str, force: bool
) -> tuple[Path, ...]:
    """Write the model atomically, with large weights in an external file.

    Args:
        path: the original model, from which weights are copied.
        out: the output file.
        loaded: the original model as loaded.
        proto: its edited structure.
        name: display name of the model.
        force: replace a file that ONNX Autodoc did not write.

    Raises:
        ExternalDataError: weights cannot be read.
        OutputError: the result cannot be written; no partial file is left.
    """
    if loaded.functions:
        _tags_of_calls(proto, name)
    source = os.fspath(path)
    unmark(proto)
    large = _weight_bytes(proto) > LARGE
    targets_by_kind = targets(out, data=large, inputs=[path], force=force)
    target = targets_by_kind[0].path
    with TensorFiles(source, os.stat(source).st_size) as files, staging(target) as folder:
        with open(folder / target.name, "xb") as file:
            if large:
                location = f"{target.name}{DATA}"
                with open(folder / location, "xb") as data:
                    write_external(external_tensors(proto.graph, files, name), data, location, name)
                file.write(proto.SerializeToString())
            else:
                write_model(proto, files, file, name)
        return tuple(finish(folder, targets_by_kind))


def _tags_of_calls(proto: onnx.ModelProto, name: str) -> None:
    """Remove the marks of expanded functions from nodes, keeping their tags."""
    for node in proto_nodes(proto):
        entries = [entry for entry in node.metadata_props if not decode_text(entry.key).startswith(EXPANDED)]
        del node.metadata_props[:]
        node.metadata_props.extend(entries)
    tags = read_tags(to_ir(proto, name))
    if tags.source != "none":
        write_tags(proto, tags)


def _weight_bytes(proto: onnx.ModelProto) -> int:
    total = 0
    for tensor in tensors_of(proto.graph):
        count = element_count(tuple(tensor.dims)) or 0
        total += stored_bytes(tensor.data_type, min(count, MAX_ELEMENTS)) or 0
    return total
