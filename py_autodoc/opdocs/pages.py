"""The operation reference as Markdown and as one HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from py_autodoc.opdocs.document import Operation, Operations
from py_autodoc.opdocs.formulas import MEANINGS
from py_autodoc.opdocs.tables import OPERANDS, operand_rows, summary, tables
from py_autodoc.optional_packages import optional_module
from py_autodoc.render.markdown_text import code, escape
from py_autodoc.version import NAME, version

_CODE_COLUMNS = {1}
"""Operand columns that contain names from the model."""


def markdown(reference: Operations) -> str:
    """Return the reference for code hosts: LaTeX formulas, images as separate files."""
    lines = [f"# Quantized operations of {escape(reference.model)}", ""]
    for text in summary(reference):
        lines += [escape(text), ""]
    if reference.picture:
        lines += [f"![The graph of the model]({reference.picture})", ""]
    lines += [
        "| # | Operation | Name | Form | Bits of the accumulator |",
        "| ---: | --- | --- | --- | ---: |",
    ]
    for operation in reference.operations:
        bits = operation.accumulator.worst_bits if operation.accumulator is not None else None
        link = f"[{operation.number}](#op-{operation.number})"
        lines.append(
            f"| {link} | {operation.op_type} | {code(operation.name)} | {operation.form} | {bits or '—'} |"
        )
    for operation in reference.operations:
        lines += ["", *_operation(operation)]
    if reference.floats:
        lines += ["", "## Computed in float", "", "| Node | Operator | Why |", "| --- | --- | --- |"]
        lines += [
            f"| {code(operation.node)} | {escape(operation.op_type)} | {escape(operation.reason)} |"
            for operation in reference.floats
        ]
    return "\n".join(lines) + "\n"


def _operation(operation: Operation) -> list[str]:
    lines = [
        f'<a id="op-{operation.number}"></a>',
        "",
        f"## {operation.number}. {operation.op_type} {code(operation.name)}",
        "",
    ]
    module = f" Module: {code(operation.module)}." if operation.module else ""
    lines += [escape(MEANINGS[operation.op_type].description) + module, ""]
    if operation.picture:
        lines += [f"![Operands and steps]({operation.picture})", ""]
    for formula in operation.formulas:
        lines += ["```math", formula, "```", ""]
    lines += [f"| {' | '.join(OPERANDS)} |", f"| {' | '.join('---' for _ in OPERANDS)} |"]
    for row in operand_rows(operation):
        cells = [
            code(cell) if column in _CODE_COLUMNS and cell != "—" else escape(cell)
            for column, cell in enumerate(row)
        ]
        lines.append(f"| {' | '.join(cells)} |")
    for title, rows in tables(operation):
        lines += ["", f"### {title}", "", "| | |", "| --- | --- |"]
        lines += [f"| {escape(name)} | {escape(value)} |" for name, value in rows]
    lines += ["", "### Steps", "", "```text", *operation.pseudo_code, "```"]
    for note in operation.notes:
        lines += ["", escape(note)]
    files = [f"C: [{operation.c}]({operation.c})."] if operation.c else []
    files += [f"Test vectors: [{operation.vectors}]({operation.vectors})."] if operation.vectors else []
    return lines + (["", " ".join(files)] if files else [])


def html(reference: Operations, pictures: Mapping[int, str]) -> str:
    """Return a self-contained file; ``pictures`` are SVG texts by operation number.

    Raises: RequirementError: latex2mathml, which renders the formulas, is not installed.
    """
    style = _file("operations.css")
    return str(
        _template().render(
            reference=reference,
            style=_safe(style),
            style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            generator=f"{NAME} {version()}",
            summary=summary(reference),
            descriptions={name: meaning.description for name, meaning in MEANINGS.items()},
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
    converter: Any = optional_module(
        "latex2mathml.converter",
        "latex2mathml",
        "needs-latex2mathml",
        "The HTML page needs",
        "pip install 'onnx-autodoc[quantize]'",
    )
    return _safe(converter.convert(formula, display="block"))
