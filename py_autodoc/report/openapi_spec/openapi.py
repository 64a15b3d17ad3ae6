"""JSON Schema and OpenAPI documents of the wire model, for ``scripts/generate.py`` and other tools.

Descriptions come from the docstrings in ``schema/``. All properties of a response are marked required,
because the encoder always writes them; in requests, properties with defaults stay optional.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec

from py_autodoc.report import schema
from py_autodoc.report.document.report import Report
from py_autodoc.report.schema import (
    BatchAnswer,
    Bundle,
    ComparisonColumns,
    Extracted,
    ExtractRequest,
    FileStamp,
    GraphPayload,
    Job,
    JobRequest,
    NodeDetails,
    Problem,
    ReportDocument,
    ReportFields,
    SavedFile,
    Task,
    TaskRequest,
    Upload,
    WeightFile,
    WeightValues,
)

JSON_SCHEMA = "https://json-schema.org/draft/2020-12/schema"
REQUESTS = frozenset({"JobRequest", "ExtractRequest", "TaskRequest"})
"""Structs that a client sends: fields with a default stay optional."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one route: its request and responses.

    ``answers`` maps HTTP statuses to wire types (None: no body); any other status is a ``Problem``. ``query``
    maps required query parameters to descriptions, ``optional`` the others. ``path`` is relative to
    ``/autodoc/api``.
    """

    method: str
    path: str
    id: str
    summary: str
    answers: Mapping[int, type[msgspec.Struct] | None]
    request: type[msgspec.Struct] | None = None
    query: Mapping[str, str] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)
    raw: bool = False
    """True if the body is a file, sent unchanged."""


@cache
def field_docs() -> Mapping[str, Mapping[str, str]]:
    """Return struct name → field name → the docstring below the field in ``schema/``."""
    docs: dict[str, dict[str, str]] = {}
    modules = {kind.__module__ for kind in vars(schema).values() if isinstance(kind, type)}
    sources = (inspect.getsource(sys.modules[name]) for name in sorted(modules))
    for node in (node for source in sources for node in ast.parse(source).body):
        if not isinstance(node, ast.ClassDef):
            continue
        fields = docs.setdefault(node.name, {})
        for statement, following in zip(node.body, node.body[1:], strict=False):
            if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                text = _docstring(following)
                if text:
                    fields[statement.target.id] = text
    docs[Report.__name__] = docs[ReportFields.__name__]
    return docs


def components(types: Iterable[type[Any]], ref_template: str) -> dict[str, Any]:
    """Return the schemas of ``types`` and all types they refer to, by struct name, with descriptions."""
    _, schemas = msgspec.json.schema_components(types, ref_template=ref_template)
    for name, body in schemas.items():
        body["description"] = body.get("description", "").replace("``", "`")
        properties = body.get("properties", {})
        if name not in REQUESTS:
            body["required"] = list(properties)
            for prop in properties.values():
                prop.pop("default", None)
        for prop, text in field_docs().get(name, {}).items():
            # JSON Schema allows a description next to a reference since 2019-09.
            properties[prop] = {**properties[prop], "description": text}
    _allow_other_keys(schemas)
    return dict(sorted(schemas.items()))


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the report."""
    definitions = components([Report], "#/$defs/{name}")
    return {
        "$schema": JSON_SCHEMA,
        "$id": f"urn:onnx-autodoc:report:{schema.SCHEMA_VERSION}",
        "title": "ONNX Autodoc report",
        "$ref": "#/$defs/Report",
        "$defs": definitions,
    }


def openapi_document(operations: Iterable[Operation], version: str = schema.SCHEMA_VERSION) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the server's routes and all wire types."""
    types = [
        *(Report, GraphPayload, NodeDetails, Bundle, Job, JobRequest, Problem, FileStamp),
        *(
            WeightValues,
            WeightFile,
            ExtractRequest,
            Extracted,
            SavedFile,
            TaskRequest,
            Task,
            Upload,
            BatchAnswer,
            ComparisonColumns,
        ),
        ReportDocument,
    ]
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ONNX Autodoc",
            "version": version,
            "description": "Routes of the Jupyter server extension and the types of what they exchange.",
        },
        "servers": [{"url": "/autodoc/api"}],
        "paths": paths,
        "components": {"schemas": components(types, "#/components/schemas/{name}")},
    }


def _operation(operation: Operation) -> dict[str, Any]:
    responses = {str(status): _answer(kind) for status, kind in operation.answers.items()}
    responses["default"] = {
        "description": "What went wrong and the way out.",
        "content": {"application/problem+json": {"schema": _ref(Problem)}},
    }
    out: dict[str, Any] = {"operationId": operation.id, "summary": operation.summary}
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _placeholders(operation.path)
    ] + [
        {"name": name, "in": "query", "required": needed, "description": text, "schema": {"type": "string"}}
        for needed, parameters_of_kind in ((True, operation.query), (False, operation.optional))
        for name, text in parameters_of_kind.items()
    ]
    if parameters:
        out["parameters"] = parameters
    if operation.request is not None:
        out["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _ref(operation.request)}},
        }
    elif operation.raw:
        schema = {"type": "string", "format": "binary"}
        out["requestBody"] = {"required": True, "content": {"application/octet-stream": {"schema": schema}}}
    out["responses"] = responses
    return out


def _answer(kind: type[msgspec.Struct] | None) -> dict[str, Any]:
    if kind is None:
        return {"description": "Done; no body."}
    return {
        "description": (inspect.getdoc(kind) or "").partition("\n")[0],
        "content": {"application/json": {"schema": _ref(kind)}},
    }


def _ref(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _placeholders(path: str) -> list[str]:
    return [segment[1:-1] for segment in path.split("/") if segment.startswith("{")]


def _allow_other_keys(schema_part: Any) -> None:
    """Mark free-form objects as accepting any key, so that generated types allow reading them."""
    if isinstance(schema_part, dict):
        if schema_part.get("type") == "object" and not {"properties", "additionalProperties"} & set(
            schema_part
        ):
            schema_part["additionalProperties"] = True
        schema_part = list(schema_part.values())
    if isinstance(schema_part, list):
        for item in schema_part:
            _allow_other_keys(item)


def _docstring(node: ast.stmt) -> str:
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return inspect.cleandoc(node.value.value).replace("``", "`")
    return ""
