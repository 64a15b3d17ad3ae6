"""Structure-only loading: the protobuf of a model without its weights.

The cost depends on the structure, not on the file size: a 1.4 GB model needs reads of only a few MB.
External data files are never opened.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx
from google.protobuf.message import DecodeError

from py_autodoc.errors import CorruptModel, LimitError
from py_autodoc.graph.ir.diagnostic_collector import DiagnosticCollector
from py_autodoc.graph.ir.model import NO_TEXTS, Description, Diagnostic, FileFacts, TextFacts
from py_autodoc.graph.loading.descriptions import descriptions
from py_autodoc.graph.loading.external_data import external_facts
from py_autodoc.graph.loading.first_pass import collect_and_sanitize
from py_autodoc.graph.loading.function_inlining import expand_functions
from py_autodoc.graph.loading.text_privacy import text_facts
from py_autodoc.graph.protobuf.file_counts import FileCounts
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file, scan_source
from py_autodoc.graph.protobuf.protobuf_wire import WireError, WireSource
from py_autodoc.graph.protobuf.structure_scan import StructureScan
from py_autodoc.limits import LIBRARY, Limits

_PARSER_DEPTH = 100
"""Nesting depth beyond which protobuf's parser rejects messages."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A loaded model for the later stages.

    In ``proto`` every string is valid text of bounded length, payloads of at least 4 KiB are references into
    the file (external_data with a secret mark), and local functions are expanded unless
    ``unexpanded_calls`` is set. Treat it as read-only.
    """

    proto: onnx.ModelProto
    facts: FileFacts
    counts: FileCounts
    diagnostics: tuple[Diagnostic, ...]
    functions: int = 0
    """Number of local functions defined in the file."""
    unexpanded_calls: int = 0
    """Calls kept as one node because the expansion is circular or exceeds a limit."""
    texts: TextFacts = NO_TEXTS
    descriptions: tuple[Description, ...] = ()
    num_descriptions: int = 0
    external_values: Mapping[tuple[str, int, int], bytes] = field(default_factory=dict)
    """(location, offset, bytes) → data of small integer constants in external files
    (``tensor_data.small_constants``)."""


def load(path: PathLike, limits: Limits = LIBRARY) -> LoadedModel:
    """Load the structure of a model file.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError: see ``probe``.
    """
    name = base_name(path)
    with regular_file(path) as (fd, status):
        if status.st_size > limits.file_bytes:
            raise _too_large(name, status.st_size, limits)
        scan = scan_source(WireSource(status.st_size, fd), name, limits)
        structure, identity = _structure(scan, name)
        after = os.fstat(fd)
    if (after.st_size, after.st_mtime_ns) != (status.st_size, status.st_mtime_ns):
        raise CorruptModel(f"{name}: the file changed while it was read.", "Try again when it is complete.")
    return _loaded(scan, structure, identity, name, os.fspath(path), limits)


def load_bytes(data: bytes, name: str = "model.onnx", limits: Limits = LIBRARY) -> LoadedModel:
    """Load the structure of a model in memory; raises like ``load``.

    External data is not looked up, since bytes have no folder.
    """
    if len(data) > limits.file_bytes:
        raise _too_large(name, len(data), limits)
    scan = scan_source(WireSource.of_bytes(data), name, limits)
    structure, identity = _structure(scan, name)
    return _loaded(scan, structure, identity, name, None, limits)


def parse_structure(source: WireSource, name: str, limits: Limits = LIBRARY) -> onnx.ModelProto:
    """Return the protobuf as in the file, with payloads of at least 4 KiB replaced by references.

    Nothing is repaired or expanded, as needed to write the model again.

    Raises:
        NotAModel, CorruptModel, LimitError: see ``probe``.
    """
    scan = scan_source(source, name, limits)
    return _parse(_structure(scan, name)[0], scan, name)


def _structure(scan: StructureScan, name: str) -> tuple[bytes, str]:
    try:
        return scan.structure()
    except WireError as error:
        raise CorruptModel(f"{name}: {error}.", "", error.offset) from None


def _loaded(
    scan: StructureScan, structure: bytes, identity: str, name: str, path: str | None, limits: Limits
) -> LoadedModel:
    proto = _parse(structure, scan, name)
    notes = DiagnosticCollector()
    first_pass = collect_and_sanitize(proto, notes)
    texts = text_facts(proto, first_pass.graphs, structure)
    described, num_described = descriptions(proto, first_pass.graphs)
    external = external_facts(first_pass.external, path, notes)
    unexpanded = expand_functions(proto, limits, notes)
    facts = FileFacts(
        name, scan.source.size, scan.counts.structure_bytes, identity, external.files, external.bytes
    )
    return LoadedModel(
        proto,
        facts,
        scan.counts,
        tuple(notes.diagnostics()),
        scan.counts.functions,
        unexpanded,
        texts,
        described,
        num_described,
    )


def _parse(structure: bytes, scan: StructureScan, name: str) -> onnx.ModelProto:
    try:
        return onnx.ModelProto.FromString(structure)
    except DecodeError:
        depth = scan.counts.depth
        if depth * 3 + 6 > _PARSER_DEPTH:
            raise LimitError(
                "depth",
                depth,
                _PARSER_DEPTH // 3 - 2,
                f"{name}: {depth} nested subgraphs are too many to parse.",
            ) from None
        raise CorruptModel(f"{name}: broken protobuf inside a field.", "The file is damaged.") from None


def _too_large(name: str, size: int, limits: Limits) -> LimitError:
    message = f"{name}: {size:,} bytes, the limit is {limits.file_bytes:,}."
    return LimitError(
        "file_bytes", size, limits.file_bytes, message, "Raise the limit if you trust the file."
    )
