"""Checks a tagged model, for ``onnx-autodoc validate``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir

from py_autodoc.bounded import parse_json
from py_autodoc.graph.building.build import build
from py_autodoc.graph.ir import exporter_records
from py_autodoc.graph.ir.diagnostic_causes import depends_on_sizes
from py_autodoc.graph.ir.model import Model
from py_autodoc.graph.loading.load import LoadedModel, load, parse_structure
from py_autodoc.graph.protobuf.probe import PathLike, base_name, regular_file
from py_autodoc.graph.protobuf.protobuf_wire import WireSource
from py_autodoc.limits import LIBRARY, TABLE, Limits
from py_autodoc.tags.model import VIAS, Tags, walk
from py_autodoc.tags.model_files import load_structure
from py_autodoc.tags.node_tag import from_metadata
from py_autodoc.tags.paths import below
from py_autodoc.tags.read import NONE, read_tags, table_in
from py_autodoc.tags.sidecar import SCHEMA, sidecar_path

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_DATA = frozenset(
    {"data-size-mismatch", "external-hidden", "external-missing", "external-outside", "external-range"}
)
"""Diagnostics about tensor data."""
_KNOWN = "tags-known"
_FORM = re.compile(r"(/[^/\s]+)+\Z")
_MAX_SHOWN = 5
_MAX_SIDECAR = 1 << 28


@dataclass(frozen=True, slots=True)
class Check:
    """A check and its result."""

    name: str
    status: str
    """passed, failed, or skipped (``detail`` gives the reason)."""
    detail: str = ""
    faults: tuple[str, ...] = ()
    """The first few problems."""
    count: int = 0
    """Total number of problems."""


@dataclass(slots=True)
class _Model:
    path: Path
    model: ir.Model
    tags: Tags


def validate(path: PathLike, limits: Limits = LIBRARY, *, require_tags: bool = False) -> list[Check]:
    """Check a model: ONNX's own rules, the analysis, its tags and its sidecar.

    With ``require_tags``, a model without tags fails, and one with tags whose modules are mostly unknown.

    External data is checked by the analysis, not by ONNX: the analysis follows links as in the Hugging Face
    cache and checks that the data are long enough.

    Raises:
        PathError, NotAModel, CorruptModel, LimitError, InputError: the model cannot be read.
    """
    model = load_structure(path, limits)
    tagged = _Model(Path(os.fspath(path)), model, read_tags(model))
    loaded = load(path, limits)
    built = build(loaded)
    checks = [
        checked("onnx", _onnx(path, limits)),
        checked("analysis", _analysis(loaded, built)),
        _weights(built),
    ]
    if tagged.tags.source == NONE:
        reason = "the model has no tags"
        if require_tags:
            checks.append(Check(_KNOWN, FAILED, "", (reason,), 1))
        return checks + [Check(name, SKIPPED, reason) for name in (*_TAGS, "sidecar")]
    checks += [checked(name, work(tagged)) for name, work in _TAGS.items()]
    if require_tags:
        fault = tagged.tags.coverage.fault
        checks.append(checked(_KNOWN, iter([fault] if fault else [])))
    return [*checks, _sidecar(tagged)]


def checked(name: str, faults: Iterator[str]) -> Check:
    """Return a check that fails if there are problems; the first few are kept, all are counted."""
    first = tuple(islice(faults, _MAX_SHOWN))
    more = sum(1 for _ in faults)
    return Check(name, FAILED if first else PASSED, "", first, len(first) + more)


def _onnx(path: PathLike, limits: Limits) -> Iterator[str]:
    """Run onnx's checker on the structure, without large and external data."""
    with regular_file(path) as (fd, status):
        proto = parse_structure(WireSource(status.st_size, fd), base_name(path), limits)
    for tensor in _external(proto.graph):
        # An empty tensor has no data anywhere.
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        tensor.ClearField("dims")
        tensor.dims.append(0)
    try:
        onnx.checker.check_model(proto)
    except UnicodeDecodeError:
        yield "one of its texts is not UTF-8, so onnx's checker cannot find other faults"
    except (
        onnx.checker.ValidationError,
        onnx.shape_inference.InferenceError,
        ValueError,
        RuntimeError,
    ) as fault:
        yield str(fault).strip().partition("\n")[0]


def _weights(model: Model) -> Check:
    """Check that tensor data match their shapes and are inside their files."""
    problems = [d for d in model.diagnostics if d.code in _DATA]
    wrong = [d for d in problems if d.code != "external-missing"]
    if wrong:
        return checked("weights", (f"{d.code}: {d.where}: {d.message}" for d in wrong))
    if problems:
        return Check("weights", SKIPPED, f"{problems[0].where}: {problems[0].message}")
    return Check("weights", PASSED)


def _external(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yield every tensor of a graph and its subgraphs with external data."""
    stack = [graph]
    while stack:
        current = stack.pop()
        tensors = [*current.initializer]
        for node in current.node:
            for attribute in node.attribute:
                tensors += [attribute.t, *attribute.tensors]
                stack += [attribute.g] if attribute.HasField("g") else []
                stack += attribute.graphs
        yield from (t for t in tensors if t.data_location == onnx.TensorProto.EXTERNAL)


def _analysis(loaded: LoadedModel, model: Model) -> Iterator[str]:
    """Yield structural errors found by the analysis, and contradictions that keep the model from running."""
    from py_autodoc.graph.shapes import infer  # slow to import

    for diagnostic in model.diagnostics:
        if diagnostic.severity == "error" and diagnostic.code not in _DATA:
            yield f"{diagnostic.code}: {diagnostic.where}: {diagnostic.message}"
    types = infer(loaded, model, {}, {})
    for diagnostic in types.diagnostics:
        if diagnostic.severity == "error":
            yield f"{diagnostic.code}: {diagnostic.where}: {diagnostic.message}"
    fault = types.contradiction
    if fault is not None and depends_on_sizes(fault.code):
        yield f"{fault.code}: {fault.message}"


def _complete(tagged: _Model) -> Iterator[str]:
    """Every node has its own tag in its metadata, its ``doc_string`` or the table."""
    for node, record in tagged.tags.records.items():
        if not record.tag.strip("/"):
            yield f"{_label(node)}: empty"
        elif (via := node.metadata_props.get(exporter_records.VIA, record.via)) not in VIAS:
            yield f"{_label(node)}: {via!r} does not say how its module is known"


def _form(tagged: _Model) -> Iterator[str]:
    """``/Class/Class.0``: starts with a slash, no empty segment, no space."""
    for node, record in tagged.tags.records.items():
        if not _FORM.match(record.tag):
            yield f"{_label(node)}: {record.tag!r}"


def _consistent(tagged: _Model) -> Iterator[str]:
    """A node's metadata, its ``doc_string`` and the model's table agree."""
    namer, has_table = tagged.tags.namer, table_in(tagged.model) is not None
    for node, _ in walk(tagged.model):
        record = from_metadata(node)
        text = exporter_records.read_doc_string(node.doc_string or "")
        if record is None:
            continue
        if has_table and namer.knows(record.scope) and namer.tag(record.scope) != record.tag:
            yield f"{_label(node)}: {record.tag}, but its module is {namer.tag(record.scope)}"
        if text is not None and text.hierarchy_tags[:1] not in ([], [record.tag]):
            yield f"{_label(node)}: {record.tag}, but {text.hierarchy_tags[0]} in its doc_string"
        if record.scopes and record.scope not in record.scopes:
            yield f"{_label(node)}: its module is not among those it was made from"


def _distinct(tagged: _Model) -> Iterator[str]:
    """No two modules share a tag."""
    yield from tagged.tags.namer.collisions()
    owners: dict[str, str] = {}
    listed = tagged.tags.namer.tags
    for record in tagged.tags.records.values():
        scope = next((path for path in _innermost_first(record.scope) if path in listed), None)
        if scope is None:
            continue
        first_scope = owners.setdefault(record.tag, scope)
        if not below(first_scope, scope) and not below(scope, first_scope):
            yield f"{record.tag}: {first_scope} and {scope}"


def _innermost_first(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition(".")[0]
    yield ""


_TAGS: dict[str, Callable[[_Model], Iterator[str]]] = {
    "tags-complete": _complete,
    "tags-form": _form,
    "tags-consistent": _consistent,
    "tags-distinct": _distinct,
}


def _sidecar(tagged: _Model) -> Check:
    path = sidecar_path(tagged.path)
    try:
        if path.stat().st_size > _MAX_SIDECAR:
            return Check("sidecar", FAILED, "", (f"{path.name}: larger than 256 MiB",), 1)
        content = parse_json(path.read_bytes(), TABLE)
    except FileNotFoundError:
        return Check("sidecar", SKIPPED, f"there is no {path.name}")
    except (OSError, ValueError) as fault:
        return Check("sidecar", FAILED, "", (f"{path.name}: {fault}",), 1)
    return checked("sidecar", _agreement(tagged, content, path.name))


def _agreement(tagged: _Model, content: Any, name: str) -> Iterator[str]:
    """The sidecar lists the nodes of this model with the same tags, and no unknown tags."""
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        yield f"{name}: is not a file of schema {SCHEMA}"
        return
    nodes, expected = content.get("nodes"), content.get("expected_hierarchy")
    if not isinstance(nodes, dict) or not isinstance(expected, list):
        yield f"{name}: has no nodes or no expected_hierarchy"
        return
    tags = {tag for tag in expected if isinstance(tag, str)}
    missing = dict.fromkeys(nodes)
    labels: set[str] = set()
    for number, (node, record) in enumerate(tagged.tags.records.items()):
        label = node.name if node.name and node.name not in labels else f"#{number}"
        labels.add(label)
        missing.pop(label, None)
        row = nodes.get(label)
        if not isinstance(row, dict):
            yield f"{_label(node)}: not in {name}"
        elif row.get("tag") != record.tag:
            yield f"{_label(node)}: {record.tag}, but {row.get('tag')} in {name}"
        if record.tag not in tags:
            yield f"{record.tag}: not expected by {name}"
    for label in missing:
        yield f"{label}: in {name}, not in the model"


def _label(node: ir.Node) -> str:
    return str(node.name or next((value.name for value in node.outputs if value.name), node.op_type))
