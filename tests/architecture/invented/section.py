"""A section that counts."""

from py_autodoc.report.sections.model import Context, Section, Table, Value


def section(context: Context) -> Section:
    """The number of layers."""
    rows = ((("Layers that are listed",), (Value(len(context.report.layers), "exact"),)),)
    return Section("invented", "Invented section", (Table(("Invented", "Value"), rows),))
