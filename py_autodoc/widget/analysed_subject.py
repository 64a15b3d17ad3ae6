"""A model under one choice of dimensions; each result is computed on first use."""

from __future__ import annotations

from functools import cached_property

from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.report import Report
from py_autodoc.report.document.report_origin import Origin, attach_origin
from py_autodoc.report.node_query.node_matcher import NodeMatcher
from py_autodoc.report.pipeline.analysis import Analysis, Options
from py_autodoc.report.pipeline.device_analysis import on_device
from py_autodoc.report.pipeline.device_choice import DeviceChoice
from py_autodoc.report.schema import GraphPayload
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.report.viewer_payload.bundle import build_bundle


class AnalysedSubject:
    """An analysed model, with its report if that exists already."""

    def __init__(self, analysis: Analysis, report: Report | None = None) -> None:
        self.analysis = analysis
        self._initial_report = report

    def on(self, chosen: DeviceChoice | None) -> AnalysedSubject:
        """Return the same model on a device."""
        return self if chosen is None else AnalysedSubject(on_device(self.analysis, chosen))

    @cached_property
    def report(self) -> Report:
        """The complete report. It refers to this analysis, so it can be shown as a widget."""
        if self._initial_report is not None:
            return self._initial_report
        report = build_report(self.analysis)
        attach_origin(report, Origin(Options(), analysis=self.analysis))
        return report

    @cached_property
    def payload(self) -> GraphPayload:
        """Data drawn by the viewer."""
        return build_payload(self.analysis)

    @cached_property
    def bundle(self) -> bytes:
        """The payload and the details of its nodes, compressed."""
        return build_bundle(self.analysis)

    @cached_property
    def matcher(self) -> NodeMatcher:
        """Matcher of node queries."""
        return NodeMatcher(self.payload)

    @property
    def name(self) -> str:
        """Name of the model's file."""
        return self.analysis.model.file.name

    @property
    def sizes(self) -> dict[str, int]:
        """Values of the symbolic dimensions that have one."""
        return {dim.name: dim.value for dim in self.analysis.dims.symbols if dim.value is not None}
