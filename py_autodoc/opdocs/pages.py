"""The operation reference as Markdown and as one HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import import_module, resources
from typing import Any

from py_autodoc.errors import RequirementError
from py_autodoc.opdocs.document import Operation, Operations
from py_autodoc.opdocs.formulas import MEANINGS
from py_autodoc.opdocs.tables import OPERANDS, operand_rows, summary, tables
from py_autodoc.render.markdown_text import code, escape
from py_autodoc.version import NAME, version

_CODE_COLUMNS = {1}
"""Operand columns that contain names from the model."""


def markdown(found: Operations) -> str:
    """Return the reference for code hosts: LaTeX formulas, images as separate files."""
    lines = [f"# Quantized operations of {escape(found.model)}", ""]
    for text in summary(found):
        lines += [escape(text), ""]
    if found.picture:
        lines += [f"![The graph of the model]({found.picture})", ""]
    lines += [
        "| # | Operation | Name | Form | Bits of the accumulator |",
        "| ---: | --- | --- | --- | ---: |",
    ]
    for one in found.operations:
        bits = one.accumulator.worst_bits if one.accumulator is not None else None
        link = f"[{one.number}](#op-{one.number})"
        lines.append(f"| {link} | {one.op_type} | {code(one.name)} | {one.form} | {bits or '—'} |")
    for one in found.operations:
        lines += ["", *_operation(one)]
    if found.floats:
        lines += ["", "## Computed in float", "", "| Node | Operator | Why |", "| --- | --- | --- |"]
        lines += [
            f"| {code(one.node)} | {escape(one.op_type)} | {escape(one.reason)} |" for one in found.floats
        ]
    return "\n".join(lines) + "\n"


def _operation(one: Operation) -> list[str]:
    lines = [f'<a id="op-{one.number}"></a>', "", f"## {one.number}. {one.op_type} {code(one.name)}", ""]
    module = f" Module: {code(one.module)}." if one.module else ""
    lines += [escape(MEANINGS[one.op_type].says) + module, ""]
    if one.picture:
        lines += [f"![Operands and steps]({one.picture})", ""]
    for formula in one.formulas:
        lines += ["```math", formula, "```", ""]
    lines += [f"| {' | '.join(OPERANDS)} |", f"| {' | '.join('---' for _ in OPERANDS)} |"]
    for row in operand_rows(one):
        cells = [
            code(cell) if at in _CODE_COLUMNS and cell != "—" else escape(cell) for at, cell in enumerate(row)
        ]
        lines.append(f"| {' | '.join(cells)} |")
    for title, rows in tables(one):
        lines += ["", f"### {title}", "", "| | |", "| --- | --- |"]
        lines += [f"| {escape(name)} | {escape(value)} |" for name, value in rows]
    lines += ["", "### Steps", "", "```text", *one.pseudo_code, "```"]
    for note in one.notes:
        lines += ["", escape(note)]
    files = [f"C: [{one.c}]({one.c})."] if one.c else []
    files += [f"Test vectors: [{one.vectors}]({one.vectors})."] if one.vectors else []
    return lines + (["", " ".join(files)] if files else [])


def html(found: Operations, pictures: Mapping[int, str]) -> str:
    """Return a self-contained file; ``pictures`` are SVG texts by operation number.

    Raises: RequirementError: latex2mathml, which renders the formulas, is not installed.
    """
    style = _file("operations.css")
    return str(
        _template().render(
            found=found,
            style=_safe(style),
            style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            generator=f"{NAME} {version()}",
            summary=summary(found),
            says={name: one.says for name, one in MEANINGS.items()},
            pictures={number: _data_uri(text) for number, text in pictures.items()},
            operand_titles=OPERANDS,
            operand_rows=operand_rows,
            tables=tables,
            mathml=_mathml,
        )
    )


def _data_uri(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _file(name: str) -> str:
    return resources.files("py_autodoc.opdocs").joinpath(f"templates/{name}").read_text("utf-8")


@cache
def _template() -> Any:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_file("operations.html"))


def _safe(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - our own file


@cache
def _mathml(formula: str) -> Any:
    """Convert a formula; formulas never contain names from the model."""
    try:
        converter = import_module("latex2mathml.converter")
    except ImportError:
        raise RequirementError(
            "needs-latex2mathml", "The HTML page needs latex2mathml, which is not installed.",
            "pip install 'onnx-autodoc[quantize]'",
        ) from None  # fmt: skip
    return _safe(converter.convert(formula, display="block"))
