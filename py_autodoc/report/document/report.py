"""``Report``: the fields of the schema with methods."""

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
        """Return the report as JSON text, ``indent`` spaces per level (0: one line)."""
        data = msgspec.json.encode(self)
        return (msgspec.json.format(data, indent=indent) if indent else data).decode()

    @classmethod
    def from_json(cls, text: str | bytes, model: str | os.PathLike[str] | None = None) -> Report:
        """Return the report in a JSON text, with all fields checked.

        ``model`` is the path of its model, remembered as in reports of ``analyze`` for ``Autodoc(report)``
        and ``report.weights``: the file is read then, and rejected if it is another model.

        Raises: msgspec.ValidationError; with ``model``, OptionError for rules that this version does not
        have.
        """
        report = msgspec.json.decode(text, type=cls)
        if model is not None:
            from py_autodoc.report.document.report_options import options_of
            from py_autodoc.report.document.report_origin import Origin, attach_origin

            attach_origin(report, Origin(options_of(report), path=os.path.abspath(os.fsdecode(model))))
        return report

    def to_dict(self) -> dict[str, Any]:
        """Return the report as dicts, lists, numbers and text, as in its JSON."""
        fields: dict[str, Any] = msgspec.to_builtins(self)
        return fields

    def to_pandas(self, table: str = "layers") -> pandas.DataFrame:
        """Return a table: layers, blocks, risk_signals, diagnostics, dims, by_op or latency.

        The table ``latency`` has one row per kernel and needs a device. Unknown numbers are ``<NA>``, not 0.
        Raises: InputError for an unknown table, RequirementError without pandas.
        """
        from py_autodoc.report.document.dataframes import to_dataframe

        return to_dataframe(self, table)

    def stats(self) -> ModelStats:
        """Return counts, parameters by operator type and shapes by depth."""
        from py_autodoc.report.document.model_stats import model_stats

        return model_stats(self)

    def weights(self, name: str | int, graph: str | None = None) -> WeightValues:
        """Return statistics, histogram and first values of one initializer or Constant, by name or id.

        The tensor is read now. ``graph`` names a subgraph (``"If_3.then_branch"``; ``""``: the main graph) if
        several graphs have a tensor with this name. Raises: InputError if the model is missing or has
        changed, it has no such constant, or the constant's data are missing or damaged.
        """
        from py_autodoc.report.document.weights import report_weights

        return report_weights(self, name, graph)

    def __repr__(self) -> str:
        """Return one line: the file and a short description."""
        from py_autodoc.units import at_least, count, share, size

        numbers, cover = self.metrics, self.coverage
        parts = (
            f"{self.graph.num_nodes:,} node{'' if self.graph.num_nodes == 1 else 's'}",
            f"{count(numbers.total_params)} parameters",
            f"{at_least(numbers.total_macs, cover.macs)} MACs",
            f"{size(numbers.weight_bytes)} of weights",
            f"coverage {share(cover.nodes_known, cover.nodes_total) if cover.nodes_total else '100 %'}",
        )
        identity = " · ".join(self.identity.text.split(" · ")[:2]) if self.identity else ""
        summary = ", ".join((identity, *parts) if identity else parts)
        return f"<Report {self.model.name!r}: {summary}>"

    def _repr_html_(self) -> str:
        """Return the notebook display of the report: static HTML, all text escaped."""
        from py_autodoc.report.document.html_repr import report_html

        return report_html(self)
