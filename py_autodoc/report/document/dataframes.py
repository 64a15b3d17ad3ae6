"""Lists of the report as pandas DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args, get_origin

import msgspec

from py_autodoc.errors import InputError
from py_autodoc.optional_packages import optional_module
from py_autodoc.report.builders.node_numbers import COSTS, layer_in_inference

if TYPE_CHECKING:
    import pandas

    from py_autodoc.report.schema import ReportFields

TABLES = ("layers", "blocks", "risk_signals", "diagnostics", "dims", "by_op", "latency")
"""Tables available from ``Report.to_pandas``."""


def to_dataframe(report: ReportFields, table: str) -> pandas.DataFrame:
    """Return a table with one row per entry and one column per field, in the report's order.

    Columns that may be unknown use the nullable types ``Int64`` and ``Float64`` (``<NA>`` for unknown), so
    that totals are exact; numbers beyond 64 bits stay Python integers in an ``object`` column. Layers have
    costs of one execution, as in the report, and of one inference in ``macs_per_inference`` and similar
    columns.

    Raises:
        InputError: ``table`` is not in ``TABLES``, or it is ``latency`` and no device was chosen.
        RequirementError: pandas is not installed.
    """
    if table not in TABLES:
        raise InputError(
            "unknown-table", f"The report has no table {table!r}.", f"Choose one of {', '.join(TABLES)}."
        )
    pandas: Any = optional_module("pandas", "pandas", "needs-pandas", "Tables need", "pip install pandas")
    struct, name = _table_field(report, table)
    rows, kind = getattr(struct, name), _entry(type(struct), name)
    columns = {
        field.name: _column(pandas, field.type, [getattr(row, field.name) for row in rows])
        for field in msgspec.structs.fields(kind)
    }
    if table == "layers":
        for cost in COSTS:
            values = [layer_in_inference(row, cost) for row in rows]
            columns[f"{cost}_per_inference"] = _column(pandas, int | None, values)
    table_of: pandas.DataFrame = pandas.DataFrame(columns)
    return table_of


def _table_field(report: ReportFields, table: str) -> tuple[msgspec.Struct, str]:
    """Return the part of the report that has a table, and the name of its field."""
    if table == "by_op":
        return report.metrics, table
    if table != "latency":
        return report, table
    if report.hardware_estimates is None:
        raise InputError(
            "hardware-missing", "The latency overlay needs a device.", 'Pass one: analyze(…, hardware="l4").'
        )
    return report.hardware_estimates, "layers"


def _entry(struct: type[Any], name: str) -> type[msgspec.Struct]:
    """Return the struct type of the list field ``name`` of ``struct``."""
    declared = next(field.type for field in msgspec.structs.fields(struct) if field.name == name)
    entry: type[msgspec.Struct] = get_args(declared)[0]
    return entry


def _column(pandas: Any, kind: Any, values: list[Any]) -> Any:
    """Return the values as a column of a type that distinguishes unknown from 0."""
    options = {kind} if isinstance(kind, type) or get_origin(kind) is list else set(get_args(kind))
    if options <= {int, type(None)}:
        if any(value is not None and not -(1 << 63) <= value < 1 << 63 for value in values):
            return pandas.Series(values, dtype="object")
        return pandas.Series(values, dtype="Int64" if type(None) in options else "int64")
    if options == {float, type(None)}:
        return pandas.Series(values, dtype="Float64")
    return pandas.Series(values, dtype="bool" if kind is bool else "float64" if kind is float else "object")
