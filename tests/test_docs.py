"""The documentation names what the code has."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import msgspec
import pytest

from py_autodoc.blocks.results import KINDS
from py_autodoc.cli.analyze import command
from py_autodoc.findings.registry import rules
from py_autodoc.hf.tasks import TASKS
from py_autodoc.report import schema
from py_autodoc.report.document.report import Report
from py_autodoc.report.openapi_spec.openapi import field_docs

LAYERS = ("graph", "tags", "extract", "costs", "report", "compare", "torch", "to_torch", "keras", "cli")
SOURCES = [p for layer in LAYERS for p in Path("py_autodoc", layer).rglob("*.py")] + [
    path for folder in ("findings", "hf", "hf/serving") for path in Path("py_autodoc", folder).glob("*.py")
]
CODE = re.compile(r'"([a-z][a-z0-9]*(?:-[a-z0-9]+)+)"')
NO_CODES = {
    "utf-8",
    "git-lfs",
    "text-format",
    "repeat-part",
    "onnx-autodoc",
    "model-explorer",
    "export-report",
    "ec2-user",
    "gitlab-runner",
    "sagemaker-user",
    "onnx-ir",
    "e-0",
    "graph-dark",
    "selective-scan",
    "this-machine",
    "node-times",
    "latency-by-size",
    "quality-by-latency",
    "quality-by-size",
    *KINDS,
    *TASKS.values(),
    "text-classification",
    "audio-classification",
    "fill-mask",
    "image-classification",
    "image-feature-extraction",
    "image-to-text",
    "mask-generation",
    "object-detection",
    "token-classification",
    "zero-shot-classification",
}


def table(page: str, heading: str) -> str:
    text = Path("docs", page).read_text(encoding="utf-8")
    return text.partition(f"## {heading}")[2]


def test_every_code_is_documented():
    used = (
        {code for path in SOURCES for code in CODE.findall(path.read_text("utf-8"))}
        - NO_CODES
        - rules().keys()
    )
    assert len(used) > 40
    documented = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", table("diagnostics.md", "Diagnostics")))
    assert used - documented == set()


def test_every_documented_diagnostic_exists():
    rows = re.findall(
        r"^\| `([a-z0-9-]+)` \|", table("diagnostics.md", "Diagnostics").partition("## Errors")[0], re.M
    )
    source = "\n".join(path.read_text("utf-8") for path in SOURCES)
    assert [code for code in rows if f'"{code}"' not in source] == []
    assert rows == sorted(rows)


def test_every_option_is_documented():
    page = Path("docs/cli.md").read_text(encoding="utf-8")
    for parameter in command.params:
        for option in () if getattr(parameter, "hidden", False) else parameter.opts[:1]:
            if option.startswith("--"):
                assert f"`{option}" in page, option


@pytest.mark.parametrize(
    "name", ["Report", "ModelInfo", "GraphInfo", "Layer", "Metrics", "Coverage", "DimInfo"]
)
def test_every_field_says_what_it_is(name):
    struct = Report if name == "Report" else getattr(schema, name)
    fields = [field.name for field in msgspec.structs.fields(struct)]
    assert [field for field in fields if field not in field_docs().get(name, {})] == []


def test_the_reference_is_generated():
    sys.path.insert(0, "scripts")
    try:
        from report_docs import report_page
    finally:
        sys.path.remove("scripts")
    assert Path("docs/report.md").read_text(encoding="utf-8") == report_page()


def test_the_reference_has_every_struct():
    page = Path("docs/report.md").read_text("utf-8")
    structs = json.loads(Path("py_autodoc/report/report.schema.json").read_text("utf-8"))["$defs"]
    assert [name for name in structs if f"\n## {name}\n" not in page] == []


def test_severities_are_the_documented_ones():
    from py_autodoc.graph.ir.diagnostic_collector import SEVERITY

    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (\w+) \|", table("diagnostics.md", "Diagnostics"), re.M)
    documented = dict(rows)
    assert {code: documented.get(code) for code in SEVERITY} == SEVERITY
