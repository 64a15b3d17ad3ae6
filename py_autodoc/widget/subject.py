"""One model under one choice of sizes: what a widget shows, each part made when it is first asked for."""

from __future__ import annotations

import gzip
from functools import cached_property

import msgspec

from py_autodoc.errors import InputError
from py_autodoc.graph.opdocs import op_doc
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.build import build_report
from py_autodoc.report.bundle import MAX_DETAILS, build_bundle
from py_autodoc.report.details import operator_info
from py_autodoc.report.device_analysis import on_device
from py_autodoc.report.device_choice import Chosen
from py_autodoc.report.matcher import Matcher
from py_autodoc.report.payload import build_payload
from py_autodoc.report.report import Report
from py_autodoc.report.revive import opset_of, payload_of
from py_autodoc.report.schema import (
    AttributeInfo,
    Bundle,
    BundleNode,
    GraphPayload,
    Layer,
    OperatorDoc,
)


class Subject:
    """An analysed model, or a report whose model is not at hand; ``why`` says why it is not."""

    def __init__(self, analysis: Analysis | None, report: Report | None = None, why: str = "") -> None:
        self.analysis = analysis
        self._given = report
        self._why = why

    def on(self, chosen: Chosen | None) -> Subject:
        """The same model on a device. Raises: InputError when there is only a report."""
        if chosen is None:
            return self
        return Subject(on_device(self.need("an estimated latency"), chosen))

    @cached_property
    def report(self) -> Report:
        """The whole report."""
        if self._given is not None:
            return self._given
        return build_report(self.need("a report"))

    @cached_property
    def payload(self) -> GraphPayload:
        """What the viewer draws."""
        if self.analysis is not None:
            return build_payload(self.analysis)
        return payload_of(self.report, self._why)

    @cached_property
    def bundle(self) -> bytes:
        """The payload and the details of its nodes, packed."""
        if self.analysis is not None:
            return build_bundle(self.analysis)
        return _report_bundle(self.report, self.payload)

    @cached_property
    def matcher(self) -> Matcher:
        """Answers queries."""
        return Matcher(self.payload)

    @property
    def name(self) -> str:
        """Of the model's file."""
        return self.report.model.name if self.analysis is None else self.analysis.model.file.name

    @property
    def sizes(self) -> dict[str, int]:
        """Size of each free dimension that has one."""
        dims = self.report.dims if self.analysis is None else self.analysis.dims.symbols
        return {dim.name: dim.value for dim in dims if dim.value is not None}

    def need(self, what: str) -> Analysis:
        """The analysis. Raises: InputError when there is only a report."""
        if self.analysis is None:
            raise InputError(
                "model-not-at-hand", f"For {what} the model itself is needed. {self._why}", "Give the model."
            )
        return self.analysis


def _report_bundle(report: Report, payload: GraphPayload) -> bytes:
    """The bundle of a report: attributes and tags as it has them, documentation as ONNX has it."""
    pool: list[OperatorDoc] = []
    descriptions: list[dict[str, str]] = []
    places: dict[tuple[str, str], int | None] = {}
    nodes: dict[str, BundleNode] = {}
    for layer in report.layers[:MAX_DETAILS]:
        key = (layer.domain, layer.type)
        if key not in places:
            places[key] = _document(report, layer, pool, descriptions)
        attributes = [AttributeInfo(name=name, type="", value=v) for name, v in layer.attributes.items()]
        nodes[str(layer.id)] = BundleNode(
            operator=places[key],
            attributes=attributes,
            constants=[],
            tag=layer.tag,
            doc_string="",
            metadata={},
        )
    bundle = Bundle(version=1, payload=payload, operators=pool, descriptions=descriptions, nodes=nodes)
    return gzip.compress(msgspec.json.encode(bundle), 9, mtime=0)


def _document(
    report: Report, layer: Layer, pool: list[OperatorDoc], descriptions: list[dict[str, str]]
) -> int | None:
    """Puts an operator's documentation into the pool; None where there is none."""
    domain = "" if layer.domain == "ai.onnx" else layer.domain
    found = op_doc(domain, layer.type, opset_of(report, layer.domain))
    if found is None:
        return None
    pool.append(operator_info(found))
    descriptions.append({name: about.description for name, about in found.attributes.items()})
    return len(pool) - 1
