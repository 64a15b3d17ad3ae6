"""Tables that must keep up with the world: categories, documentation, generated files."""

from __future__ import annotations

import onnx
import pytest

from py_autodoc.costs import rules  # noqa: F401 - registers
from py_autodoc.costs.registry import registered
from py_autodoc.report import schema
from py_autodoc.report.document.report import Report
from py_autodoc.report.encode.categories import CATEGORIES, category_of
from py_autodoc.report.encode.labels import dtype_name
from py_autodoc.report.openapi_spec.openapi import field_docs, openapi_document
from py_autodoc.report.openapi_spec.operations import OPERATIONS


def test_every_operator_has_a_category():
    schemas = {
        ("" if s.domain == "ai.onnx" else s.domain, s.name) for s in onnx.defs.get_all_schemas_with_history()
    }
    everything = schemas | set(registered())
    found = {key: category_of(*key) for key in everything}
    assert set(found.values()) <= set(CATEGORIES)
    assert not [key for key, category in found.items() if category == "custom"]


@pytest.mark.parametrize(
    ("domain", "op", "category"),
    [
        ("", "Conv", "layer"),
        ("", "Relu", "activation"),
        ("com.microsoft", "QLinearAdd", "quantization"),
        ("com.microsoft", "GroupQueryAttention", "attention"),
        ("ai.onnx.ml", "TreeEnsemble", "ml"),
        ("vendor", "Conv", "custom"),
    ],
)
def test_categories(domain, op, category):
    assert category_of(domain, op) == category


def test_every_element_type_has_a_name():
    for number in onnx.TensorProto.DataType.values():
        assert not dtype_name(number).startswith("type ")
    assert dtype_name(99) == "type 99"


def test_field_docs_name_real_fields():
    for struct, fields in field_docs().items():
        kind = Report if struct == "Report" else getattr(schema, struct)
        assert set(fields) <= set(kind.__struct_fields__)


def test_openapi_describes_every_operation():
    found = openapi_document(OPERATIONS)
    listed = {(method.upper(), path) for path, methods in found["paths"].items() for method in methods}
    assert listed == {(operation.method, operation.path) for operation in OPERATIONS}
    schemas = found["components"]["schemas"]
    assert schemas["Report"]["required"] == list(schemas["Report"]["properties"])
    assert schemas["JobRequest"]["required"] == ["path"]
