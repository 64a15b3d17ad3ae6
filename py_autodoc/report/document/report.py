"""``Report``: the fields of the schema, and what can be done with them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from py_autodoc.report.schema import ReportFields, WeightValues

if TYPE_CHECKING:
    import pandas

    from py_autodoc.report.document.model_stats import ModelStats


class Report(ReportFields, frozen=True, kw_only=True, dict=True):
    """The whole report."""

    def to_json(self, indent: int = 0) -> str:
        """The report as JSON text, ``indent`` spaces a level (0: one line)."""
        data = msgspec.json.encode(self)
        return (msgspec.json.format(data, indent=indent) if indent else data).decode()

    @classmethod
    def from_json(cls, text: str | bytes, model: str | os.PathLike[str] | None = None) -> Report:
        """A report from its JSON text, fields checked.

        ``model`` is the path of its model. The report remembers it as one of ``analyze`` does, for
        ``Autodoc(report)`` and ``report.weights``: the file is read then, and refused if it is another model.

        Raises: msgspec.ValidationError; with ``model``, OptionError for rules that this version lacks.
        """
        found = msgspec.json.decode(text, type=cls)
        if model is not None:
            from py_autodoc.report.document.report_options import options_of
            from py_autodoc.report.document.report_origin import Origin, attach_origin

            attach_origin(found, Origin(options_of(found), path=os.path.abspath(os.fsdecode(model))))
        return found

    def to_dict(self) -> dict[str, Any]:
        """The report as dicts, lists, numbers and text, the same as its JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def to_pandas(self, table: str = "layers") -> pandas.DataFrame:
        """A list of the report as a table: layers, blocks, risk_signals, diagnostics, dims, by_op, latency.

        The last one has a row a kernel, and needs a device. Unknown numbers are ``<NA>``, never 0.
        Raises: InputError for another table, RequirementError without pandas.
        """
        from py_autodoc.report.document.dataframes import to_dataframe

        return to_dataframe(self, table)

    def stats(self) -> ModelStats:
        """Counts, parameters by operator type and shapes by depth."""
        from py_autodoc.report.document.model_stats import model_stats

        return model_stats(self)

    def weights(self, name: str | int, graph: str | None = None) -> WeightValues:
        """Statistics, histogram and first values of one initializer or Constant, by name or id, read now.

        ``graph`` names a body (``"If_3.then_branch"``; ``""``: the main graph) where several have that name.
        Raises: InputError when the model is not there any more or changed, it has no such constant, or the
        constant's data are missing or damaged.
        """
        from py_autodoc.report.document.weights import report_weights

        return report_weights(self, name, graph)

    def __repr__(self) -> str:
        """One line: the file, and what it is in short."""
        from py_autodoc.units import at_least, count, share, size

        numbers, cover = self.metrics, self.coverage
        parts = (
            f"{self.graph.num_nodes:,} node{'' if self.graph.num_nodes == 1 else 's'}",
            f"{count(numbers.total_params)} parameters",
            f"{at_least(numbers.total_macs, cover.macs)} MACs",
            f"{size(numbers.weight_bytes)} of weights",
            f"coverage {share(cover.nodes_known, cover.nodes_total) if cover.nodes_total else '100 %'}",
        )
        words = " · ".join(self.identity.text.split(" · ")[:2]) if self.identity else ""
        told = ", ".join((words, *parts) if words else parts)
        return f"<Report {self.model.name!r}: {told}>"

    def _repr_html_(self) -> str:
        """What a notebook shows for a report: static HTML, all texts escaped."""
        from py_autodoc.report.document.html_repr import report_html

        return report_html(self)
