"""``Autodoc(model)``: the viewer in a notebook cell, with its selection as a Python value."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets
from ipywidgets import widget_serialization

from py_autodoc import metrics
from py_autodoc.errors import AutodocError, InputError
from py_autodoc.render.html import static
from py_autodoc.report.document.report import Report
from py_autodoc.report.pipeline.device_choice import choose_device
from py_autodoc.report.schema import Layer
from py_autodoc.units import at_least, count
from py_autodoc.widget.analysed_subject import AnalysedSubject
from py_autodoc.widget.batches import answer_batch
from py_autodoc.widget.container_outputs import register_box_formatter
from py_autodoc.widget.dim import Dim
from py_autodoc.widget.exports import Exports
from py_autodoc.widget.extract_messages import answer_extract, extract_nodes
from py_autodoc.widget.file_messages import answer_files
from py_autodoc.widget.picture import picture
from py_autodoc.widget.profiles import answer_profiles
from py_autodoc.widget.saved_output import MIME, SavableWidget, saved_output
from py_autodoc.widget.sections import answer_sections
from py_autodoc.widget.serving import answer_serving
from py_autodoc.widget.shared_code import ViewerCode, shared_code
from py_autodoc.widget.sized import answer_sized
from py_autodoc.widget.sources import source_of
from py_autodoc.widget.trait_values import TraitFault, expect_names, nodes_in, resolve_nodes, whole_sizes
from py_autodoc.widget.user_overlay import user_overlay_values
from py_autodoc.widget.weight_messages import answer_weights

if TYPE_CHECKING:
    from py_autodoc.extract import Extraction

OVERLAYS = metrics.ids("heatmap")
"""Names that ``overlay`` accepts."""


class _Nodes(traitlets.Any):
    """Accepts ids, names, tags or report rows and stores ids. The validator also receives None."""

    allow_none = False


class Autodoc(Exports, SavableWidget, anywidget.AnyWidget):  # type: ignore[misc] # anywidget has no types
    """A model in a notebook: the graph, its costs and the selection.

    ``model`` is a path, serialized bytes, an ``onnx.ModelProto``, an ``onnx_ir.Model``, a ``Report``, or an
    ``nn.Module`` with example ``inputs`` (a tensor, a tuple, or a dict of named ones; ``dynamic_shapes`` as
    in ``torch.onnx.export``). Weights are not read. All traits work in both directions: set them from Python,
    or read the state of the viewer.

    A report of ``analyze`` keeps its model and is shown with it. A report read from JSON needs the model:
    ``Report.from_json(text, model="model.onnx")``.

    ``hardware`` is the id of a device (``"l4"``) or a profile file for latency estimates. ``precision`` is
    one of ``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8``, ``int8`` (None: the stored precision), and
    ``runtime`` one of ``tensorrt``, ``ort-cuda``, ``pytorch-eager``, ``torch-compile``, ``vendor``
    (None: the usual one of the device).

    Attributes:
        selection: Ids of the selected nodes. May be set to ids, node names or hierarchy tags; a tag selects
            every node under it.
        overlay: The heatmap: one of ``OVERLAYS``, None, or a mapping of node (id, name or tag) → number.
        dims: Values of symbolic dimensions; all costs follow.
        view: Expanded blocks and the camera; saved with the notebook.
        theme: ``auto``, ``light`` or ``dark``.
        direction: Layout direction: ``right``, ``down``, ``wrapped`` (in rows, like text), or ``auto``: one
            row or several, whichever shows more.
        height: Height in pixels.

    Raises:
        InputError: the model cannot be read or an option does not fit it.
        RequirementError: the viewer is not built into this installation, or a module needs torch.
        TraitError: a trait does not accept the value.
    """

    _bundle = traitlets.Bytes(b"").tag(sync=True)
    _code = traitlets.Instance(ViewerCode).tag(sync=True, **widget_serialization)
    _fixed = traitlets.Bool(False).tag(sync=True)
    _pair = traitlets.Unicode("").tag(sync=True)
    _comparison = traitlets.Bytes(b"").tag(sync=True)
    selection = _Nodes([]).tag(sync=True)
    _tensors = traitlets.List(traitlets.Unicode()).tag(sync=True)
    overlay = traitlets.Any("macs", allow_none=True).tag(sync=True)
    dims = traitlets.Dict().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), "auto").tag(sync=True)
    direction = traitlets.Enum(("auto", "right", "down", "wrapped"), "auto").tag(sync=True)
    height = traitlets.Int(600, min=120, max=5000).tag(sync=True)

    def __init__(
        self,
        model: Any,
        inputs: Any = None,
        *,
        dims: Mapping[str, int] | None = None,
        input_shapes: Mapping[str, Sequence[int]] | None = None,
        dynamic_shapes: Any = None,
        hardware: str | os.PathLike[str] | None = None,
        precision: str | None = None,
        runtime: str | None = None,
        label: str = "",
        **traits: Any,
    ) -> None:
        options = Autodoc.__init__.__kwdefaults__ or {}
        expect_names("Autodoc", (*options, *self.class_trait_names()), traits)
        self._chosen = choose_device(hardware, precision, runtime)
        self._source = source_of(model, inputs, dynamic_shapes, input_shapes)
        sizes = whole_sizes({} if dims is None else dims)
        self._subject: AnalysedSubject | None = self._source.subject(sizes).on(self._chosen)
        self._sent = self._subject
        self._label = label
        self._dim_widgets: dict[str, Dim] = {}
        self._from_page = False
        self._picture: tuple[object, str | None] | None = None
        late = {name: traits.pop(name) for name in ("overlay", "selection") if name in traits}
        super().__init__(
            _bundle=self._subject.bundle,
            _code=shared_code(),
            _fixed=self._source.fixed,
            dims=sizes,
            **traits,
        )
        for name, value in late.items():
            setattr(self, name, value)
        answer_weights(self, lambda: (self._source.model, self._now.analysis))
        answer_extract(self, lambda: (self._source.model, self._now.analysis))
        answer_batch(self, lambda: (self._source.model, self._now.analysis))
        answer_sections(self, lambda: (self._source.model, self._now.analysis))
        answer_serving(self, lambda: (self._source.model, self._now.analysis))
        answer_sized(
            self, lambda: (self._source.model, self._sent.analysis), lambda dims: self._source.subject(dims)
        )
        answer_files(self, lambda: (self._source.model, self._now.analysis))
        answer_profiles(self, lambda: (self._source.model, self._now.analysis))
        self.on_msg(self._on_page_message)
        register_box_formatter()

    def __repr__(self) -> str:
        return f"Autodoc({self._sent.name})"

    @property
    def _esm(self) -> str:
        """Front-end module that loads the viewer from ``_code``; anywidget makes a trait of it."""
        return static("loader.js")

    # ---- state for Python

    @property
    def report(self) -> Report:
        """The complete report for the current ``dims``."""
        return self._now.report

    @property
    def selected_layers(self) -> list[Layer]:
        """The selected nodes as rows of the report, in graph order."""
        chosen = set(self.selection)
        return [layer for layer in self.report.layers if layer.id in chosen]

    @property
    def selected_names(self) -> list[str]:
        """Names of the selected nodes, in graph order."""
        return [layer.name for layer in self.selected_layers]

    @property
    def selected_tensors(self) -> list[str]:
        """Names of the selected tensors: a connection, an input or an output, including all of a group."""
        return list(self._tensors)

    # ---- actions

    def show(self, *nodes: Any) -> None:
        """Select nodes (ids, names, tags, rows, or a list of them) and bring the first into view.

        Raises: TraitError.
        """
        before = self.selection
        self.selection = nodes[0] if len(nodes) == 1 else list(nodes)
        if self.selection == before:
            # They may have been scrolled out of view.
            self.send({"type": "autodoc:show"})

    def find(self, query: str) -> list[Layer]:
        """Return the matching layers in graph order, with the query syntax of the viewer's search.

        Words that must all match (names, operators, shapes, types, modules, ``"exact text"``), and conditions
        joined by ``& | ! ( )``: ``op=Conv & macs>1e8 & in[0].shape[1]>=256``.

        Raises: QueryError with the error and its position; TraitError if ``query`` is not a string.
        """
        if not isinstance(query, str):
            raise TraitFault(
                "not-a-query", f"{query!r:.80} is not a query.", 'Pass a string such as "op=Conv".'
            )
        matches = set(self._now.matcher.find(query))
        return [layer for layer in self.report.layers if layer.id in matches]

    def dim(self, name: str) -> Dim:
        """Return the widget of a symbolic dimension, with a ``value``; the same one for each call.

        Sliders linked to it by ``jslink`` update the model even without a kernel.
        Raises: TraitError for an unknown name, or if all dimensions are fixed.
        """
        widget = self._dim_widgets.get(name)
        if widget is None or widget.comm is None:
            sizes = {} if self._source.fixed else self._sizes()
            if name not in sizes:
                raise _no_dim(name, sizes)
            widget = self._dim_widgets[name] = Dim(name=name, owner=self, value=sizes[name])
            widget.observe(self._resized, "value")
        return widget

    def extract(self, path: str | os.PathLike[str], *nodes: int | str, force: bool = False) -> Extraction:
        """Write nodes (ids, names or tags; default: the selected ones) as a separate model.

        Raises: TraitError; InputError, AnalysisError and OutputError as ``py_autodoc.extract``.
        """
        chosen = resolve_nodes(self.report.layers, list(nodes)) if nodes else list(self.selection)
        return extract_nodes(self._source.model, self._now.analysis, chosen, path, force)

    # ---- output for readers without widgets

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget with the compressed model and an image, or an HTML summary without an image.

        An image and HTML are never both included, because readers without widgets prefer HTML to images.
        """
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if data is None:  # the widget was closed
            return bundle
        self._send_bundle()
        payload, svg = self._now.payload, self._image_svg()
        macs = at_least(payload.metrics.total_macs, payload.coverage.macs)
        summary = f"{payload.model.name}: {count(payload.metrics.total_params)} parameters, {macs} MACs"
        data["text/plain"] = f"Autodoc({summary})"
        # After the widget, because some readers show the first type they support.
        data[MIME] = saved_output([self])
        if svg is None:
            data["text/html"] = self.report._repr_html_()
        else:
            data["image/svg+xml"] = svg
            metadata = {**(metadata or {}), "image/svg+xml": {"alt": summary}}
        return data, metadata

    def _image_svg(self) -> str | None:
        style = self._look()
        key = (self._now, style)
        if self._picture is None or self._picture[0] != key:
            self._picture = (key, picture(self._now, style))
        return self._picture[1]

    # ---- traits

    @traitlets.validate("selection")
    def _valid_selection(self, proposal: Any) -> list[int]:
        return resolve_nodes(self.report.layers, nodes_in(proposal["value"]))

    @traitlets.observe("selection")
    def _nodes_instead(self, change: Any) -> None:
        if change["new"]:
            self._tensors = []

    @traitlets.validate("overlay")
    def _valid_overlay(self, proposal: Any) -> Any:
        value = proposal["value"]
        if value is None or (isinstance(value, str) and value in OVERLAYS):
            return value
        numbers = user_overlay_values(value, self.report.layers, self._label)
        if numbers is not None:
            return numbers
        raise TraitFault(
            "unknown-overlay",
            f"Unknown overlay {value!r:.80}.",
            f"Pass one of {', '.join(OVERLAYS)}, None, a mapping of node to number, or one number per layer.",
        )

    @traitlets.validate("dims")
    def _valid_dims(self, proposal: Any) -> dict[str, int]:
        known = self._sent.sizes
        for name in proposal["value"]:
            if name not in known:
                raise _no_dim(name, known)
        value = whole_sizes(proposal["value"])
        if self._source.fixed:
            try:
                self._source.subject(value)
            except InputError as error:
                raise TraitFault(error.code, error.message, error.hint) from None
        return value

    # ---- sizes

    @property
    def _now(self) -> AnalysedSubject:
        """The model under the current dimensions, analysed on first use."""
        if self._subject is None:
            self._subject = self._source.subject(self.dims).on(self._chosen)
        return self._subject

    def _sizes(self) -> dict[str, int]:
        """Return the value of each symbolic dimension, assumed if not given."""
        return dict(self.dims if set(self.dims) == set(self._sent.sizes) else self._now.sizes)

    def set_state(self, sync_data: Any) -> None:
        """Apply changes from the page, which has updated its own costs and dimension widgets already."""
        self._from_page = True
        try:
            super().set_state(sync_data)
        finally:
            self._from_page = False

    @traitlets.observe("dims")
    def _new_dims(self, change: Any) -> None:
        if not self._bundle or self._source.fixed:
            return
        before, self._subject = self._subject, None
        if self._from_page:
            return
        try:
            # If it has all expressions, the page computes costs for other dimensions itself.
            if self._sent.payload.expressions is None or set(self.dims) != set(self._sent.sizes):
                self._send_bundle()
        except InputError as error:
            # The model does not support these dimensions, so the displayed ones stay.
            self._from_page = True
            try:
                self.dims = change["old"]
            finally:
                self._from_page = False
            self._subject = before
            raise TraitFault(error.code, error.message, error.hint) from None
        if self._dim_widgets:
            sizes = self._sizes()
            for name, widget in self._dim_widgets.items():
                widget.value = sizes[name]

    def _resized(self, change: Any) -> None:
        """Apply a change of a dimension widget that was made in Python."""
        if not change["owner"].from_page:
            self.dims = {**self.dims, change["owner"].name: change["new"]}

    def _send_bundle(self) -> None:
        """Send the model under the current dimensions to the page."""
        if self._sent is not self._now:
            self._bundle = self._now.bundle
            self._sent = self._now

    def _on_page_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """Answer messages of the page: presence of a kernel, code of the viewer, analysis."""
        kind = content.get("type") if isinstance(content, dict) else None
        if kind == "autodoc:hello":
            self.send({"type": kind})
        elif kind == "autodoc:code":
            code, text = self._code, static("widget.js")
            self.send({"type": kind, "code": text, "style": code.style, "version": code.version})
        elif kind == "autodoc:analyse":
            answer: dict[str, Any] = {"type": kind, "id": str(content.get("id", ""))[:200]}
            try:
                self.set_state({"dims": content.get("dims") or {}})
                self._send_bundle()
            except (AutodocError, traitlets.TraitError) as error:
                answer["problem"] = _error_fields(error)
            self.send(answer)


def _error_fields(error: AutodocError | traitlets.TraitError) -> dict[str, str]:
    if isinstance(error, AutodocError):
        return {"code": error.code, "message": error.message, "hint": error.hint}
    return {"code": "bad-size", "message": str(error), "hint": ""}


def _no_dim(name: str, known: Mapping[str, int]) -> TraitFault:
    hint = f"It has {', '.join(known)}." if known else "All its dimensions are fixed."
    return TraitFault("unknown-dim", f"The model has no symbolic dimension {name!r:.80}.", hint)
