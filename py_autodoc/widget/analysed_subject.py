"""One model under one choice of sizes: what a widget shows, each part made when it is first asked for."""

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
    """An analysed model, with its report where that is there already."""

    def __init__(self, analysis: Analysis, report: Report | None = None) -> None:
        self.analysis = analysis
        self._given = report

    def on(self, chosen: DeviceChoice | None) -> AnalysedSubject:
        """The same model on a device."""
        return self if chosen is None else AnalysedSubject(on_device(self.analysis, chosen))

    @cached_property
    def report(self) -> Report:
        """The whole report. It remembers this analysis, so that it can be shown in its turn."""
        if self._given is not None:
            return self._given
        report = build_report(self.analysis)
        attach_origin(report, Origin(Options(), analysis=self.analysis))
        return report

    @cached_property
    def payload(self) -> GraphPayload:
        """What the viewer draws."""
        return build_payload(self.analysis)

    @cached_property
    def bundle(self) -> bytes:
        """The payload and the details of its nodes, packed."""
        return build_bundle(self.analysis)

    @cached_property
    def matcher(self) -> NodeMatcher:
        """Answers queries."""
        return NodeMatcher(self.payload)

    @property
    def name(self) -> str:
        """Of the model's file."""
        return self.analysis.model.file.name

    @property
    def sizes(self) -> dict[str, int]:
        """Size of each free dimension that has one."""
        return {dim.name: dim.value for dim in self.analysis.dims.symbols if dim.value is not None}
