"""``Autodoc(model)``: the viewer in a notebook cell, with its selection as a Python value."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from py_autodoc.errors import OptionError
from py_autodoc.render.html import static
from py_autodoc.report.analysis import Analysis, Options, run
from py_autodoc.report.build import build_report
from py_autodoc.report.bundle import build_bundle
from py_autodoc.report.schema import Layer, Report
from py_autodoc.widget.find import matching, resolve
from py_autodoc.widget.weights import answer_weights

if TYPE_CHECKING:
    import onnx
    import onnx_ir

OVERLAYS = ("macs", "flops", "params", "activation_bytes", "weight_bytes", "intensity")
"""Names that ``overlay`` takes."""


class Autodoc(anywidget.AnyWidget):  # type: ignore[misc] # anywidget has no types
    """A model in a notebook: the graph, its costs, and what is selected in it.

    ``model`` is a path, serialized bytes, an ``onnx.ModelProto`` or an ``onnx_ir.Model``; weights are not
    read. All traits go both ways: set them from Python, read what the user did.

    Attributes:
        selection: Ids of the selected nodes. May be set to ids, node names or hierarchy tags; a tag selects
            every node under it.
        overlay: The heatmap: one of ``OVERLAYS``, None, or a mapping of node (id, name or tag) → number.
        dims: Sizes given to symbolic dimensions; setting it analyses again.
        view: What is open and where the picture stands; kept with the notebook.
        theme: ``auto``, ``light`` or ``dark``.
        height: Pixels.

    Raises:
        InputError: the model cannot be read or an option does not fit it.
        RequirementError: the viewer is not built into this installation.
    """

    _bundle = traitlets.Bytes(b"").tag(sync=True)
    # Any: names and tags come in, ids are kept.
    selection = traitlets.Any([]).tag(sync=True)
    overlay = traitlets.Any("macs", allow_none=True).tag(sync=True)
    dims = traitlets.Dict(key_trait=traitlets.Unicode(), value_trait=traitlets.Int(min=0)).tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), "auto").tag(sync=True)
    height = traitlets.Int(600, min=120, max=5000).tag(sync=True)

    def __init__(
        self,
        model: str | os.PathLike[str] | bytes | onnx.ModelProto | onnx_ir.Model,
        *,
        dims: Mapping[str, int] | None = None,
        input_shapes: Mapping[str, Sequence[int]] | None = None,
        label: str = "",
        **traits: Any,
    ) -> None:
        self._model = model
        self._input_shapes = dict(input_shapes or {})
        self._label = label
        self._analysis = self._analyse(dict(dims or {}))
        self._report: Report | None = None
        overlay, selection = traits.pop("overlay", "macs"), traits.pop("selection", [])
        super().__init__(
            _bundle=build_bundle(self._analysis),
            dims=dict(dims or {}),
            **traits,
        )
        self.overlay, self.selection = overlay, selection
        answer_weights(self, lambda: (self._model, self._analysis))

    @property
    def _esm(self) -> str:
        """The viewer's module; anywidget makes a trait of it."""
        return static("widget.js")

    @property
    def _css(self) -> str:
        """The viewer's style; anywidget makes a trait of it."""
        return static("viewer.css") + _FRAME

    # ---- what Python reads

    @property
    def report(self) -> Report:
        """The whole report under the present ``dims``."""
        if self._report is None:
            self._report = build_report(self._analysis)
        return self._report

    @property
    def selected_layers(self) -> list[Layer]:
        """The selected nodes as rows of the report, in graph order."""
        chosen = set(self.selection)
        return [layer for layer in self.report.layers if layer.id in chosen]

    # ---- what Python does

    def show(self, *nodes: int | str) -> None:
        """Select nodes (ids, names or tags) and bring the first into view. Raises: OptionError."""
        self.selection = list(nodes)

    def find(self, query: str) -> list[Layer]:
        """Layers that match all words and bounds, as the viewer's search does: ``conv macs>1e8``.

        Words are looked for in name, operator, domain, module and tag; bounds compare ``params``,
        ``macs``, ``flops``, ``weights``, ``activation``, ``read`` or ``write`` with a number.
        """
        return matching(self.report.layers, query)

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write one HTML file that shows the model offline. Raises: OutputError."""
        from py_autodoc.render.html import html_page

        return self._write(path, "to_html", html_page(self._analysis))

    def to_svg(self, path: str | os.PathLike[str], *, depth: int | None = None) -> Path:
        """Write the graph as an SVG picture, under the overlay that is shown.

        ``depth`` is how many levels of modules are open; None opens what a new view opens.
        Raises: RequirementError without Node 18 or newer, LimitError, OutputError.
        """
        from py_autodoc.render.svg import svg_picture

        overlay = self.overlay if isinstance(self.overlay, str) else "none"
        theme = "dark" if self.theme == "dark" else "light"
        picture = svg_picture(self._analysis, theme=theme, overlay=overlay, depth=depth)
        return self._write(path, "to_svg", picture)

    def _write(self, path: str | os.PathLike[str], what: str, text: str) -> Path:
        """Write a result in one step, never over the model itself. Raises: OutputError."""
        from py_autodoc.render.output import Target

        source = os.fspath(self._model) if isinstance(self._model, (str, os.PathLike)) else ""
        target = Target(os.fspath(path), what, source)
        target.write(text)
        return target.path

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and beside it a static summary for readers that run no widgets."""
        found = super()._repr_mimebundle_(**kwargs)
        data = found[0] if isinstance(found, tuple) else found
        if isinstance(data, dict):
            data.setdefault("text/html", self.report._repr_html_())
        return found

    # ---- traits

    @traitlets.validate("selection")
    def _valid_selection(self, proposal: Any) -> list[int]:
        value = proposal["value"]
        return resolve(self.report.layers, [value] if isinstance(value, (str, int)) else value)

    @traitlets.validate("overlay")
    def _valid_overlay(self, proposal: Any) -> Any:
        value = proposal["value"]
        if value is None or (isinstance(value, str) and value in OVERLAYS):
            return value
        if isinstance(value, Mapping):
            return self._numbers(value)
        raise OptionError(
            "unknown-overlay",
            f"There is no overlay {value!r}.",
            f"One of {', '.join(OVERLAYS)}, None, or a mapping of node to number.",
        )

    def _numbers(self, given: Mapping[Any, Any]) -> dict[str, Any]:
        """A mapping as the viewer reads it: numbers by node id, each tag's number at its first node."""
        if set(given) == {"label", "unit", "values"}:
            return dict(given)
        layers = self.report.layers
        values = {str(resolve(layers, [node])[0]): float(number) for node, number in given.items()}
        return {"label": self._label or "values", "unit": "", "values": values}

    @traitlets.observe("dims")
    def _new_dims(self, change: Any) -> None:
        if not self._bundle or dict(change["new"]) == dict(self._analysis.dims.bindings):
            return
        self._analysis = self._analyse(change["new"])
        self._report = None
        self._bundle = build_bundle(self._analysis)

    def _analyse(self, dims: Mapping[str, int]) -> Analysis:
        options = Options(bindings=dims, input_shapes=self._input_shapes, assume=True)
        return run(self._model, options)


_FRAME = """
.oad-Widget { border: 1px solid var(--jp-border-color2, #c8ccd2); border-radius: 4px; overflow: hidden; }
.oad-Widget > .oad-Viewer { height: 100%; }
.oad-Widget[role='alert'] { padding: 1rem; }
"""
