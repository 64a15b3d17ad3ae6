"""The file, and how this report was made."""

from __future__ import annotations

from py_autodoc.report.schema import Description
from py_autodoc.report.sections.labels import SETTINGS
from py_autodoc.report.sections.section_model import (
    Block,
    Line,
    Name,
    Paragraph,
    Section,
    SectionContext,
    Table,
    Value,
)

MAX_ROWS = 40


def section(context: SectionContext) -> Section:
    """Return file, producer, operator sets, digests and metadata."""
    report = context.report
    model, graph = report.model, report.graph
    opsets = ", ".join(f"{opset.domain} {opset.version}" for opset in model.opset_imports)
    producer = " ".join(text for text in (model.producer_name, model.producer_version) if text)
    rows: list[tuple[Line, ...]] = [
        (("File",), (Name(model.name),)),
        (("Bytes",), (Value(model.file_bytes, "exact", "/model/file_bytes"),)),
        (("Bytes of external data",), (Value(model.external_bytes, "exact", "/model/external_bytes"),)),
        (("Identity of the structure",), (Name(model.identity),)),
        (("Written by",), (Name(producer),)),
        (("ONNX IR version",), (model.onnx_ir_version,)),
        (("Operator sets",), (Name(opsets),)),
        (("Nodes",), (Value(graph.num_nodes, "exact", "/graph/num_nodes"),)),
        (("Edges",), (Value(graph.num_edges, "exact", "/graph/num_edges"),)),
        (("Initializers",), (Value(graph.num_initializers, "exact", "/graph/num_initializers"),)),
        (("Subgraphs of control flow",), (Value(graph.num_subgraphs, "exact", "/graph/num_subgraphs"),)),
        (("Local functions",), (Value(graph.num_functions, "exact", "/graph/num_functions"),)),
    ]
    if model.sha256:
        rows.append((("SHA-256 of the file",), (Name(model.sha256),)))
    rows += [
        (("SHA-256 of ", Name(file)), (Name(digest or ""),)) for file, digest in model.external_sha256.items()
    ]
    blocks: list[Block] = [Table(("File", "Value"), tuple(rows))]
    other_metadata = [(key, value) for key, value in model.metadata.items() if key not in SETTINGS]
    if other_metadata:
        listed = tuple(((Name(key),), (Name(value),)) for key, value in other_metadata[:MAX_ROWS])
        blocks.append(
            Table(("Metadata", "Value"), listed, max(0, len(other_metadata) - MAX_ROWS), "Other metadata")
        )
    if model.doc_string:
        blocks.append(Paragraph((Name(model.doc_string),), "Documentation"))
    if model.descriptions:
        listed_texts = [row for one in model.descriptions for row in _texts(one)]
        more = model.num_descriptions - len(model.descriptions) + max(0, len(listed_texts) - MAX_ROWS)
        columns = ("Of", "Name", "Key", "Text")
        blocks.append(Table(columns, tuple(listed_texts[:MAX_ROWS]), more, "Documentation of parts"))
    generator = report.generator
    blocks.append(
        Paragraph(
            (
                f"Made by {generator.name} {generator.version} from the structure of the file. Nothing was "
                "run, and weights were read only if requested.",
            ),
            "This report",
        )
    )
    return Section("origin", "How this was made", tuple(blocks))


def _texts(one: Description) -> list[tuple[Line, ...]]:
    """Return a row for the doc string and for each entry of the metadata."""
    texts = [("", one.doc_string)] if one.doc_string else []
    texts += one.metadata.items()
    return [((one.kind,), (Name(one.name),), (Name(key),), (Name(text),)) for key, text in texts]
