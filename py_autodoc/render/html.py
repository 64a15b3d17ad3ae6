"""A self-contained HTML file with the viewer and the model: works offline and from disk."""

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
from py_autodoc.report.builders.batch_section import embedded_offer
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
"""Layers in the static summary shown if scripts are disabled."""
_IDS = ("autodoc-model", "autodoc-other")
"""Ids of the elements that contain the models."""
_COMPARISON = "autodoc-comparison"
_MODEL = Template('<script type="application/octet-stream" id="$id">$model</script>')


def html_page(
    *analyses: Analysis,
    direction: str = "auto",
    comparison: ComparisonColumns | None = None,
    numbers: Mapping[str, Any] | None = None,
) -> str:
    """Return the page of an analysed model, or of two side by side and linked.

    Its Content-Security-Policy allows the page's own script and style by hash and the layout worker, but no
    requests to any host. Names from the models appear as text only.

    ``comparison`` aligns two models; without it the page matches them by names and edges. ``direction`` is
    the initial layout direction (``render.svg.DIRECTIONS``). ``numbers`` are shown as the initial heatmap: a
    label, a unit and values by node id; with ``largest``, a block shows its maximum.

    Raises: RequirementError if this installation does not include the viewer.
    """
    script, style = _inert(static("page.js")), static("viewer.css") + static("page.css")
    payloads = [build_payload(analysis, embedded_offer(analysis)) for analysis in analyses]
    pairs = list(zip(analyses, payloads, strict=True))
    reports = [brief_report(analysis, payload, SUMMARY_LAYERS) for analysis, payload in pairs]
    bundles = [_encode_model(analysis, payload) for analysis, payload in pairs]
    packed = list(zip(_IDS, bundles, strict=False))
    if comparison is not None:
        columns = gzip.compress(msgspec.json.encode(comparison), mtime=0)
        packed.append((_COMPARISON, base64.b64encode(columns).decode()))
    return _template().substitute(
        policy=escape(_policy(script, style)),
        generator=escape(f"{reports[0].generator.name} {reports[0].generator.version}"),
        title=escape(" | ".join(report.model.name for report in reports)),
        description=escape(" ".join(map(_facts, reports))),
        # Files of this package, and summaries in which all text is escaped.
        style=style,
        direction=escape(direction),
        numbers=_numbers_attribute(numbers),
        script=script,
        summary="".join(map(summary, reports)),
        models="\n".join(_MODEL.substitute(id=id, model=text) for id, text in packed),
    )


def _encode_model(analysis: Analysis, payload: GraphPayload) -> str:
    """Return a model with the report that its page shows and prints."""
    sections = document(context(analysis))
    return base64.b64encode(build_bundle(analysis, payload, sections, serving_of(analysis))).decode()


def _numbers_attribute(numbers: Mapping[str, Any] | None) -> str:
    """Return the heatmap numbers as an HTML attribute."""
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
    """Return a built file of the viewer. Raises: RequirementError if it is missing."""
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
    """Return the Content-Security-Policy: the page's own content by hash, and no external sources."""
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
    """Escape the script so that nothing in it ends the script element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@cache
def _template() -> Template:
    """Return the page template filled in by ``html_page``; values for its ``$`` names must be escaped."""
    return Template(
        resources.files("py_autodoc.render").joinpath("templates/page.html.in").read_text("utf-8")
    )
