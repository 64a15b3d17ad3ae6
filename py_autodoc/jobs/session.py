"""The real engine of a child: one analysed model, answering with encoded wire structs."""

from __future__ import annotations

import os
from importlib import import_module

import msgspec

from py_autodoc.findings.registry import rules
from py_autodoc.graph.opdocs import op_doc
from py_autodoc.jobs.errors import FileChanged, UnknownNode
from py_autodoc.jobs.frames import Spec
from py_autodoc.jobs.stamps import Companion, stamp_beside, stamp_of
from py_autodoc.jobs.worker import ProgressCall
from py_autodoc.report.analysis import Analysis, Options, run
from py_autodoc.report.build import build_report
from py_autodoc.report.details import node_details
from py_autodoc.report.payload import build_payload

_IMPORTED_LATE = ("py_autodoc.graph.shapes", "onnx.shape_inference")
MAX_COMPANIONS = 128
MAX_NAME = 1024


class ModelSession:
    """Holds the analysis, so that a node's details cost milliseconds."""

    def __init__(self, analysis: Analysis, companions: list[Companion]) -> None:
        self._analysis = analysis
        self._encoder = msgspec.json.Encoder()
        self.identity = analysis.model.file.identity
        self.companions = companions

    def graph(self) -> bytes:
        """The viewer's payload as JSON."""
        return self._encoder.encode(build_payload(self._analysis))

    def report(self) -> bytes:
        """The whole report as JSON."""
        return self._encoder.encode(build_report(self._analysis))

    def node(self, node: int) -> bytes:
        """One node's details as JSON."""
        analysis = self._analysis
        if not 0 <= node < len(analysis.model.nodes):
            raise UnknownNode(str(node))
        details = node_details(analysis.loaded, analysis.model, analysis.types, node)
        return self._encoder.encode(details)


def prepare() -> None:
    """Does once, before the first fork, what every job would do again: late imports, operator schemas."""
    for name in _IMPORTED_LATE:
        import_module(name)
    rules()
    op_doc("", "Add", 1)


def open_session(spec: Spec, progress: ProgressCall) -> ModelSession:
    """Analyses ``spec.path``. Raises ``FileChanged`` when the file is not (or no longer) the one meant."""
    options = Options(
        bindings=spec.bindings, input_shapes=spec.input_shapes, assume=spec.assume, limits=spec.limits
    )
    analysis = run(spec.path, options, progress)
    if stamp_of(spec.path) != spec.stamp:
        raise FileChanged(os.path.basename(spec.path))
    folder = os.path.dirname(spec.path)
    external = analysis.model.file.external_files
    names = [name for name in external if len(name) <= MAX_NAME][:MAX_COMPANIONS]
    return ModelSession(analysis, [Companion(name, stamp_beside(folder, name)) for name in names])
