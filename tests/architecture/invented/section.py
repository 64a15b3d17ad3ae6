"""A section that counts."""

from py_autodoc.report.sections.section_model import Section, SectionContext, Table, Value


def section(context: SectionContext) -> Section:
    """The number of layers."""
    rows = ((("Layers that are listed",), (Value(len(context.report.layers), "exact"),)),)
    return Section("invented", "Invented section", (Table(("Invented", "Value"), rows),))
