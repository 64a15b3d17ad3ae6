"""One HTML file that shows a model as JupyterLab does: offline, opened from disk, nothing fetched."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib import resources
from string import Template
from typing import Any

import msgspec

from py_autodoc.errors import RequirementError
from py_autodoc.render.document import context
from py_autodoc.render.serving import serving_of
from py_autodoc.report.builders.batch_section import carried_offer
from py_autodoc.report.document.build_report import brief_report
from py_autodoc.report.document.html_repr import report_html as summary
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import ComparisonColumns, GraphPayload
from py_autodoc.report.sections.section_document import document
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.report.viewer_payload.bundle import build_bundle
from py_autodoc.units import at_least, count, exact, size

SUMMARY_LAYERS = 30
"""Layers in the static summary that stands in for the viewer where scripts are off."""
_IDS = ("autodoc-model", "autodoc-other")
"""Elements in which the page looks for its models."""
_COMPARISON = "autodoc-comparison"
_MODEL = Template('<script type="application/octet-stream" id="$id">$model</script>')


def html_page(
    *analyses: Analysis,
    direction: str = "auto",
    comparison: ComparisonColumns | None = None,
    numbers: Mapping[str, Any] | None = None,
) -> str:
    """The page of an analysed model, or of two beside each other, linked.

    The policy in its head allows the page's own script and style by hash, the layout worker, and
    nothing else: no request to any host. Names of the models appear as text only.

    ``comparison`` aligns two models; without it the page matches them by names and wires.
    ``direction`` is how a model is set when the page is opened (``render.svg.DIRECTIONS``). ``numbers`` paint
    it at first: a label, a unit and values by node id; with ``largest`` a block has the largest one in it.

    Raises: RequirementError when the viewer was not built into this installation.
    """
    script, style = _inert(static("page.js")), static("viewer.css") + static("page.css")
    payloads = [build_payload(analysis, carried_offer(analysis)) for analysis in analyses]
    pairs = list(zip(analyses, payloads, strict=True))
    reports = [brief_report(analysis, payload, SUMMARY_LAYERS) for analysis, payload in pairs]
    bundles = [_packed(analysis, payload) for analysis, payload in pairs]
    packed = list(zip(_IDS, bundles, strict=False))
    if comparison is not None:
        columns = gzip.compress(msgspec.json.encode(comparison), mtime=0)
        packed.append((_COMPARISON, base64.b64encode(columns).decode()))
    return _template().substitute(
        policy=escape(_policy(script, style)),
        generator=escape(f"{reports[0].generator.name} {reports[0].generator.version}"),
        title=escape(" | ".join(report.model.name for report in reports)),
        description=escape(" ".join(map(_facts, reports))),
        # Our own files, and summaries in which every text is escaped.
        style=style,
        direction=escape(direction),
        numbers=_painted(numbers),
        script=script,
        summary="".join(map(summary, reports)),
        models="\n".join(_MODEL.substitute(id=id, model=text) for id, text in packed),
    )


def _packed(analysis: Analysis, payload: GraphPayload) -> str:
    """A model with the report that its page shows and prints."""
    made = document(context(analysis))
    return base64.b64encode(build_bundle(analysis, payload, made, serving_of(analysis))).decode()


def _painted(numbers: Mapping[str, Any] | None) -> str:
    """The numbers as an attribute."""
    if numbers is None:
        return ""
    pairs = [[int(node), value] for node, value in numbers["values"].items()]
    return f' data-numbers="{escape(json.dumps({**numbers, "values": pairs}, allow_nan=False))}"'


def _facts(report: Report) -> str:
    numbers = report.metrics
    macs = at_least(numbers.total_macs, report.coverage.macs)
    return (
        f"{report.model.name}: {count(numbers.total_params)} parameters, {macs} MACs, "
        f"{exact(report.graph.num_nodes)} nodes, {size(numbers.weight_bytes)} of weights."
    )


@cache
def static(name: str) -> str:
    """A built file of the viewer. Raises: RequirementError when it is not there."""
    path = resources.files("py_autodoc").joinpath("static").joinpath(name)
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise RequirementError(
            "viewer-not-built",
            f"This installation has no built viewer ({name} is missing).",
            "Install the wheel, or run `make lab` once in a checkout.",
        ) from None


def _policy(script: str, style: str) -> str:
    """Content-Security-Policy: what the page is made of, by hash, and nothing from anywhere."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "worker-src blob:",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _inert(script: str) -> str:
    """The script with nothing in it that would end a script element early."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def _template() -> Template:
    """The page around what ``html_page`` fills in; its ``$`` names are given escaped."""
    return Template(
        resources.files("py_autodoc.render").joinpath("templates/page.html.in").read_text("utf-8")
    )
