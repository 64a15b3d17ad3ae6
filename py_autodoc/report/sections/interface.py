"""Inputs and outputs of the model."""

from __future__ import annotations

from collections.abc import Sequence

from py_autodoc.report.schema import ValueInfo
from py_autodoc.report.sections.section_model import Line, Name, Section, SectionContext, Table
from py_autodoc.units import shape

MAX_ROWS = 32


def section(context: SectionContext) -> Section:
    """Return inputs and outputs with their types, shapes and roles."""
    graph, identity = context.report.graph, context.report.identity
    roles = {}
    for entry in (*identity.inputs, *identity.outputs) if identity else ():
        roles[entry.name] = f"{'probably ' if entry.likely else ''}{entry.role}" if entry.role else ""
    tables = []
    for title, values in (("Inputs", graph.inputs), ("Outputs", graph.outputs)):
        rows = tuple(_row(value, roles) for value in values[:MAX_ROWS])
        tables.append(Table(("Name", "Type", "Shape", "Role"), rows, max(0, len(values) - MAX_ROWS), title))
    return Section("interface", "Inputs and outputs", tuple(tables))


def _row(value: ValueInfo, roles: dict[str, str]) -> tuple[Line, ...]:
    alone = value.container in ("tensor", "map")
    kind = value.elem_type if alone else f"{value.container} of {value.elem_type}"
    sized = value.container in ("tensor", "sparse")
    dims: Sequence[int | str | None] | None = value.shape
    return (
        (Name(value.name),),
        (kind,),
        (Name(shape(dims)) if sized else "",),
        (roles.get(value.name, ""),),
    )
