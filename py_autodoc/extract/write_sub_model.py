"""Extraction from a model file to a sub-model file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir

from py_autodoc.errors import InputError, LimitError, OptionError
from py_autodoc.extract import build
from py_autodoc.extract.selection import Selection, by_ids, by_module, by_outputs
from py_autodoc.extract.sub_model_parts import SubModelParts, deep, find_parts
from py_autodoc.graph.building.build import build as build_graph
from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.name_sanitizer import repair_texts
from py_autodoc.graph.loading.function_inlining import expand_functions
from py_autodoc.graph.loading.load import load, parse_structure
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file
from py_autodoc.graph.protobuf.protobuf_wire import WireSource
from py_autodoc.graph.protobuf.tensor_protos import MAX_ELEMENTS
from py_autodoc.graph.shapes import infer
from py_autodoc.graph.tensor_data.tensor_bytes import TensorFiles
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.outputs.marks import DATA
from py_autodoc.tags import Tags, read_tags, walk, write_tags
from py_autodoc.tags.model_files import LARGE, finish, staging, targets, to_ir
from py_autodoc.tags.tag_storage import proto_nodes


@dataclass(frozen=True, slots=True)
class Subgraph:
    """The parts of a module or selection. Names are those of the model; nodes in file order."""

    target: str
    call: int | None
    operations: tuple[str, ...]
    """Nodes of the module. Unnamed ones are named after their first output."""
    external_inputs: tuple[str, ...]
    """Tensors from outside: inputs of the model and outputs of other modules, without weights."""
    internal_tensors: tuple[str, ...]
    """Tensors that are not used outside."""
    outputs: tuple[str, ...]
    boundary_operations: tuple[str, ...]
    """External nodes that produce an external input."""
    constants: tuple[str, ...]
    """External nodes that depend only on constants; a sub-model contains copies of them."""
    widened: tuple[str, ...]
    """Control-flow nodes included as a whole although only a part belongs to the module."""
    convex: bool
    """False if an external input depends on an output."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The result of an extraction."""

    paths: tuple[Path, ...]
    """The model and, if its weights are large, their external file."""
    subgraph: Subgraph
    initializers: int
    weight_bytes: int


class _ExpandedModel:
    """A model's structure with functions expanded, so that its nodes match those in the viewer."""

    def __init__(self, proto: onnx.ModelProto, name: str, limits: Limits) -> None:
        repair_texts(proto)
        if expand_functions(proto, limits, DiagnosticCollector()):
            raise InputError(
                "functions-not-expanded",
                f"{name}: the local functions are too large to expand, or recursive.",
                "Inline them first (onnx.inliner).",
            )
        self.proto = proto
        self.model = to_ir(proto, name)
        self.tags: Tags = read_tags(self.model)

    def selection(
        self,
        target: str | None = None,
        call: int | None = None,
        outputs: Iterable[str] | None = None,
        nodes: Iterable[int | str] | None = None,
    ) -> Selection:
        if [target, outputs, nodes].count(None) != 2:
            raise OptionError("nothing-selected", "Pass either a module or nodes to extract.")
        if nodes is not None:
            return by_ids(self.model, nodes)
        if outputs is not None:
            return by_outputs(self.model, outputs)
        return by_module(self.model, self.tags, target or "", call)


def extract_module_subgraph(
    model: PathLike | onnx.ModelProto,
    hierarchy_metadata: Any = None,
    target: str | None = None,
    *,
    call: int | None = None,
    limits: Limits = LIBRARY,
) -> Subgraph:
    """Return operations, external inputs, internal tensors and boundary operations of a module.

    Called as ``(model, target)`` or ``(model, hierarchy_metadata, target)``.

    Args:
        model: a file or a protobuf; neither is changed.
        hierarchy_metadata: not needed, the model has its tags; the target, if there are two arguments.
        target: a tag (``/BertModel/BertEncoder/BertLayer.0``) or a module path (``encoder.layer.0``).
        call: call number, from 0, of a module that is called several times; None for all calls.
        limits: how much of an untrusted file to read.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the model cannot be read.
        OptionError: no such module; the message lists the nearest names.
    """
    target = hierarchy_metadata if target is None else target
    if not isinstance(target, str):
        raise OptionError(
            "no-target", "The target is missing.", "Pass (model, target): a tag or a module path."
        )
    if isinstance(model, onnx.ModelProto):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        opened = _ExpandedModel(copy, "The model", limits)
    else:
        opened = _open(model, limits)
    return _to_subgraph(find_parts(opened.selection(target, call)))


def extract(
    path: PathLike,
    out: PathLike,
    target: str | None = None,
    *,
    call: int | None = None,
    outputs: Iterable[str] | None = None,
    nodes: Iterable[int | str] | None = None,
    limits: Limits = LIBRARY,
    force: bool = False,
) -> Extraction:
    """Write a module, or some nodes, as a separate model.

    Its inputs are the tensors from outside, its outputs the tensors that other nodes use. It contains the
    weights and constants it needs. Given the same inputs, its outputs equal the tensors of the full model.

    Args:
        path: the model.
        out: the output file; its folder must exist.
        target: a tag or module path, as for ``extract_module_subgraph``.
        call: which call of a module that is called several times.
        outputs: instead of a module: names of tensors whose nodes to take.
        nodes: instead of a module: ids of nodes, as in a report of the same file.
        limits: how much of an untrusted file to read.
        force: replace files that ONNX Autodoc did not write; never the model and the files of its weights.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the model cannot be read.
        ExternalDataError: weights that the sub-model needs cannot be read.
        OptionError: no such module, tensor or node.
        AnalysisError: the type of an input is not known.
        OutputError: the result cannot be written; no partial file is left.
    """
    targets(out, inputs=[path], force=force)
    opened = _open(path, limits)
    proto, parts = _cut_out(path, opened, opened.selection(target, call, outputs, nodes), limits)
    return _write(path, out, proto, parts, base_name(path), force)


def extract_bytes(
    path: PathLike,
    nodes: Iterable[int],
    *,
    max_bytes: int,
    limits: Limits = LIBRARY,
    check: Callable[[], None] | None = None,
) -> tuple[Extraction, bytes]:
    """Extract nodes as ``extract`` does, but return the sub-model as serialized bytes.

    ``max_bytes`` limits the bytes of weights. ``check`` is called between pieces of them; an exception that
    it raises aborts the extraction. Raises: as ``extract``, and LimitError.
    """
    opened = _open(path, limits)
    proto, parts = _cut_out(path, opened, opened.selection(nodes=nodes), limits)
    name = base_name(path)
    with TensorFiles(os.fspath(path), os.stat(path).st_size) as files:
        tensors = build.external_tensors(proto.graph, files, name)
        size = sum(content.size for _, content in tensors)
        if size > max_bytes:
            message = (
                f"{name}: the selection has {size:,} bytes of weights; at most {max_bytes:,} can be sent."
            )
            raise LimitError(
                "extract_bytes",
                size,
                max_bytes,
                message,
                "Use `onnx-autodoc extract` or py_autodoc.extract_submodel.",
            )
        build.inline(tensors, name, check)
    return Extraction((), _to_subgraph(parts), len(parts.initializers), size), proto.SerializeToString()


def _cut_out(
    path: PathLike, opened: _ExpandedModel, selection: Selection, limits: Limits
) -> tuple[onnx.ModelProto, SubModelParts]:
    """Return the sub-model, with weights still external, and its parts."""
    parts = find_parts(selection)
    name = base_name(path)
    if not parts.outputs:
        raise OptionError(
            "no-outputs", f"{name}: the selected nodes produce no tensors.", "Select other nodes."
        )
    nodes, stored = [node for node, _ in walk(opened.model)], list(proto_nodes(opened.proto))
    if len(nodes) != len(stored):
        raise InputError(
            "graph-inconsistent",
            f"{name}: the graph is invalid: duplicate names of subgraphs or attributes.",
            "Run `analyze` for details.",
        )
    protos = dict(zip(nodes, stored, strict=True))
    proto = build.sub_model(opened.proto, parts, protos, _types(path, parts, limits), name)
    if opened.tags.source != "none":
        write_tags(proto, _tags_of_parts(opened.tags, parts))
    return proto, parts


def _open(path: PathLike, limits: Limits) -> _ExpandedModel:
    name = base_name(path)
    with regular_file(path) as (fd, status):
        proto = parse_structure(WireSource(status.st_size, fd), name, limits)
    return _ExpandedModel(proto, name, limits)


def _tags_of_parts(tags: Tags, parts: SubModelParts) -> Tags:
    """Return the tags of the included nodes, in the order of the sub-model."""
    records = {inner: tags.records[inner] for node in parts.nodes for inner in deep(node)}
    return Tags(records, tags.namer, tags.exporter, tags.source, tags.called)


def _types(path: PathLike, parts: SubModelParts, limits: Limits) -> dict[str, onnx.TypeProto]:
    """Infer the types of inputs and outputs for which the file declares no type or rank."""
    values = (*parts.external_inputs, *parts.outputs)
    missing = {v.name for v in values if v.type is None or (build.is_tensor(v) and v.shape is None)}
    if not missing:
        return {}
    loaded = load(path, limits)
    model = build_graph(loaded)
    table = infer(loaded, model, {}, {})
    types = {}
    for tensor in model.tensors:
        if tensor.name in missing and tensor.container == "tensor" and table.dtypes[tensor.id]:
            shape = table.shapes[tensor.id]
            if shape is not None and any(isinstance(dim, int) and dim > MAX_ELEMENTS for dim in shape):
                continue
            types[tensor.name] = onnx.helper.make_tensor_type_proto(table.dtypes[tensor.id], shape)
    return types


def _write(
    path: PathLike, out: PathLike, proto: onnx.ModelProto, parts: SubModelParts, name: str, force: bool
) -> Extraction:
    """Write the sub-model atomically, with large weights piece by piece."""
    with TensorFiles(os.fspath(path), os.stat(path).st_size) as files:
        tensors = build.external_tensors(proto.graph, files, name)
        size = sum(content.size for _, content in tensors)
        large = size > LARGE
        checked = targets(out, data=large, inputs=[path], force=force)
        target = checked[0].path
        with staging(target) as folder:
            if large:
                location = f"{target.name}{DATA}"
                with open(folder / location, "xb") as data:
                    build.write_external(tensors, data, location, name)
            else:
                build.inline(tensors, name)
            (folder / target.name).write_bytes(proto.SerializeToString())
            paths = tuple(finish(folder, checked))
    return Extraction(paths, _to_subgraph(parts), len(parts.initializers), size)


def _to_subgraph(parts: SubModelParts) -> Subgraph:
    selection = parts.selection
    return Subgraph(
        target=selection.target,
        call=selection.call,
        operations=tuple(map(_label, selection.nodes)),
        external_inputs=tuple(str(value.name) for value in parts.external_inputs),
        internal_tensors=tuple(str(value.name) for value in parts.internal),
        outputs=tuple(str(value.name) for value in parts.outputs),
        boundary_operations=tuple(map(_label, parts.boundary)),
        constants=tuple(map(_label, parts.constants)),
        widened=tuple(map(_label, selection.widened)),
        convex=parts.convex,
    )


def _label(node: ir.Node) -> str:
    return str(node.name or next((value.name for value in node.outputs if value.name), node.op_type))
