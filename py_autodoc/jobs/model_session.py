"""The engine of a child: one analysed model, with responses as encoded JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from py_autodoc.errors import OptionError
from py_autodoc.findings.registry import rules
from py_autodoc.findings.thresholds import RuleOptions, settings
from py_autodoc.graph.building.operator_docs import op_doc
from py_autodoc.graph.loading.external_data import refuse_hidden_files
from py_autodoc.jobs.errors import FileChanged, UnknownNode
from py_autodoc.jobs.file_stamps import Companion, companion_stamp, stamp_of
from py_autodoc.jobs.ipc_frames import AnalysisSpec, BodyRequest
from py_autodoc.jobs.worker import ProgressCall
from py_autodoc.report.builders.batch_section import batch_answer
from py_autodoc.report.builders.extraction_summary import summarise_extraction
from py_autodoc.report.builders.node_details import node_details
from py_autodoc.report.document.build_report import build_report
from py_autodoc.report.document.weight_arrays import weight_file
from py_autodoc.report.document.weights import constant_id, weight_values
from py_autodoc.report.pipeline.analysis import Analysis, Options, run_analysis
from py_autodoc.report.schema.details import NPY
from py_autodoc.report.viewer_payload.build_payload import build_payload
from py_autodoc.report.viewer_payload.hardware_columns import device_columns

if TYPE_CHECKING:
    from py_autodoc.llm.serving import ServingGrid

_IMPORTED_LATE = (
    "py_autodoc.graph.shapes",
    "onnx.shape_inference",
    "py_autodoc.compare.align",
    "py_autodoc.compare.columns",
)
"""Modules that are imported on first use, and before the first fork."""
MAX_COMPANIONS = 4096
"""Maximum number of external files whose changes the server detects; with more, it reuses no results."""
MAX_EXTRACT_BYTES = 448 << 20
"""Maximum bytes of weights in an extracted model, so that the response stays below ``MAX_BODY_BYTES``."""


class ModelSession:
    """An analysis that is kept in memory, so that the details of a node take milliseconds."""

    def __init__(self, analysis: Analysis, spec: AnalysisSpec, companions: list[Companion]) -> None:
        self._analysis = analysis
        self._spec = spec
        self._encoder = msgspec.json.Encoder()
        self.identity = analysis.model.file.identity
        self._companions = companions
        self.companions = companions[:MAX_COMPANIONS]
        self.has_all_companions = len(companions) <= MAX_COMPANIONS
        self._serving: ServingGrid | None = None

    def graph(self) -> bytes:
        """Return the payload of the viewer."""
        return self._encoder.encode(build_payload(self._analysis))

    def report(self) -> bytes:
        """Return the report."""
        return self._encoder.encode(build_report(self._analysis))

    def sections(self) -> bytes:
        """Return the report as sections of a document."""
        from py_autodoc.report.sections.section_document import document
        from py_autodoc.report.sections.section_model import SectionContext

        return self._encoder.encode(document(SectionContext(build_report(self._analysis))))

    def batch(self) -> bytes:
        """Return whether the batch size can be changed."""
        return self._encoder.encode(batch_answer(self._analysis))

    def node(self, node: int) -> bytes:
        """Return the details of a node. Raises: UnknownNode."""
        analysis = self._analysis
        if not 0 <= node < len(analysis.model.nodes):
            raise UnknownNode(str(node))
        details = node_details(analysis.loaded, analysis.model, analysis.types, node)
        return self._encoder.encode(details)

    def weights(self, request: BodyRequest, check: Callable[[], None]) -> bytes:
        """Return a summary of a constant, or all values. Raises: FileChanged, InputError."""
        analysis = self._analysis
        self._check_files(-1)
        number = request.tensor
        if number < 0:
            number = constant_id(analysis.model, request.name, request.graph)
        self._check_files(number)
        read = weight_file if request.format == NPY else weight_values
        values = read(analysis.loaded, analysis.model, self._spec.path, number, check)
        self._check_files(number)
        return self._encoder.encode(values)

    def file(self, request: BodyRequest) -> bytes:
        """Return a document or image as a file. Raises: OptionError, RequirementError."""
        from py_autodoc.render.files import saved_file

        return self._encoder.encode(saved_file(self._analysis, request.format, request.metric))

    def comparison(self, request: BodyRequest) -> bytes:
        """Return the alignment with ``request.other``. Raises: FileChanged, InputError, AnalysisError."""
        from py_autodoc.compare.align import align
        from py_autodoc.compare.columns import comparison_columns

        spec = request.other
        if spec is None:
            raise OptionError(
                "no-other-model", "A comparison needs another model.", "Pass the id of its job."
            )
        if spec == self._spec:
            other = self._analysis
        else:
            options = Options(
                bindings=spec.bindings,
                input_shapes=spec.input_shapes,
                assume=spec.assume,
                limits=spec.limits,
                brief=True,
            )
            other = run_analysis(spec.path, options)
            if stamp_of(spec.path) != spec.stamp:
                raise FileChanged(os.path.basename(spec.path))
        return self._encoder.encode(comparison_columns(align(self._analysis, other)))

    def serving(self, request: BodyRequest) -> bytes:
        """Return estimates of text generation on a device. Raises: OptionError."""
        from py_autodoc.llm.serving import ServingGrid, packaged

        chosen = packaged(request.device, request.precision, request.runtime)
        if self._serving is None:
            self._serving = ServingGrid(self._analysis, self._spec.limits)
        return self._encoder.encode(self._serving.on(chosen))

    def extract(self, request: BodyRequest, check: Callable[[], None]) -> bytes:
        """Return a line of JSON about the extracted nodes, then the model with these nodes.

        Raises: UnknownNode, FileChanged, InputError, AnalysisError.
        """
        from py_autodoc.extract import extract_bytes

        if request.target:
            self._check_target(request.target)
        self._check_files(-1)
        # Check the ids before the ranges are expanded: these can have any length.
        count = len(self._analysis.model.nodes)
        for first, last in request.ranges:
            if first < 0 or last >= count:
                raise UnknownNode(str(first if first < 0 else last))
        nodes = [number for first, last in request.ranges for number in range(first, last + 1)]
        result, data = extract_bytes(
            self._spec.path, nodes, max_bytes=MAX_EXTRACT_BYTES, limits=self._spec.limits, check=check
        )
        self._check_files(-1)
        return self._encoder.encode(summarise_extraction(result, len(data))) + b"\n" + data

    def _check_target(self, target: str) -> None:
        """Check that a file is neither the model nor one of its data. Raises: OutputError."""
        from py_autodoc.outputs import OutputRequest, check_outputs

        check_outputs([OutputRequest(target, "onnx")], [self._spec.path], force=True)

    def _check_files(self, number: int) -> None:
        """Check that the model and the data of tensor ``number`` have not changed since the analysis.

        A file that was missing then may exist now. Raises: FileChanged.
        """
        path = self._spec.path
        if stamp_of(path) != self._spec.stamp:
            raise FileChanged(os.path.basename(path))
        tensors = self._analysis.model.tensors
        storage = tensors[number].storage if 0 <= number < len(tensors) else None
        for companion in self._companions:
            if storage and companion.name == storage.location and companion.stamp is not None:
                now = companion_stamp(os.path.dirname(path), companion.name)
                if now is not None and now != companion.stamp:
                    raise FileChanged(os.path.basename(companion.name))


def prepare() -> None:
    """Do work that all jobs share once, before the first fork: imports, operator schemas, device profiles."""
    for name in _IMPORTED_LATE:
        import_module(name)
    rules()
    op_doc("", "Add", 1)
    device_columns()


def open_session(spec: AnalysisSpec, progress: ProgressCall) -> ModelSession:
    """Analyse a file.

    Raises: FileChanged: its stamp is not ``spec.stamp``; and the errors of ``run_analysis`` and ``settings``.
    """
    if not spec.allow_hidden:
        refuse_hidden_files()
    chosen = _rule_settings(spec)
    options = Options(
        bindings=spec.bindings,
        input_shapes=spec.input_shapes,
        assume=spec.assume,
        thresholds=chosen,
        read_weights=spec.read_weights,
        limits=spec.limits,
    )
    analysis = run_analysis(spec.path, options, progress)
    if stamp_of(spec.path) != spec.stamp:
        raise FileChanged(os.path.basename(spec.path))
    folder = os.path.dirname(spec.path)
    stored = (tensor.storage for tensor in analysis.model.tensors if tensor.storage is not None)
    names = sorted(
        {
            *analysis.model.file.external_files,
            *(storage.location for storage in stored if storage.location),
        }
    )
    companions = [Companion(name, companion_stamp(folder, name)) for name in names]
    return ModelSession(analysis, spec, companions)


def _rule_settings(spec: AnalysisSpec) -> RuleOptions | None:
    """Return the rule settings, validated before the model is read.

    Raises: OptionError, PathError, FileChanged.
    """
    if spec.thresholds_file is None:
        thresholds = msgspec.json.decode(spec.thresholds)
        return None if thresholds is None else settings(thresholds)
    result = settings(spec.thresholds_file.name)
    if stamp_of(spec.thresholds_file.name) != spec.thresholds_file.stamp:
        raise FileChanged(os.path.basename(spec.thresholds_file.name))
    return result
