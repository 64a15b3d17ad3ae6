"""One HTML file that shows a model as JupyterLab does: offline, opened from disk, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from py_autodoc.errors import RequirementError
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.build import build_report
from py_autodoc.report.bundle import build_bundle
from py_autodoc.units import count, exact, size

SUMMARY_LAYERS = 30
"""Layers in the static summary that stands in for the viewer where scripts are off."""


def html_page(analysis: Analysis) -> str:
    """The page of an analysed model.

    The policy in its head allows the page's own script and style by hash, the layout worker, and
    nothing else: no request to any host. Names of the model appear as text only.

    Raises: RequirementError when the viewer was not built into this installation.
    """
    report = build_report(analysis, SUMMARY_LAYERS)
    script, style = _inert(static("page.js")), static("viewer.css") + static("page.css")
    numbers = report.metrics
    facts = (
        f"{count(numbers.total_params)} parameters, {count(numbers.total_macs)} MACs, "
        f"{exact(report.graph.num_nodes)} nodes, {size(numbers.weight_bytes)} of weights"
    )
    return _template().render(
        policy=_policy(script, style),
        generator=f"{report.generator.name} {report.generator.version}",
        title=report.model.name,
        description=f"{report.model.name}: {facts}.",
        style=Markup(style),  # noqa: S704 -- our own files
        script=Markup(script),  # noqa: S704 -- our own files
        summary=Markup(report._repr_html_()),  # noqa: S704 -- every text in it is escaped
        model=base64.b64encode(build_bundle(analysis)).decode(),
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
    environment = Environment(
        loader=PackageLoader("py_autodoc.render"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("page.html.j2")
