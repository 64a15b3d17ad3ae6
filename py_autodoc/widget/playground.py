"""``QuantPlayground``: a quantized model in a notebook, with sliders for its quantization parameters."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import numpy as np

from py_autodoc.errors import AutodocError
from py_autodoc.playground import Playground
from py_autodoc.playground.playground import FLOAT, INTEGER
from py_autodoc.quantize.recipe import Recipe
from py_autodoc.quantize.reference.arithmetic import limits
from py_autodoc.render.terminal_text import printable, shorten
from py_autodoc.widget.autodoc import Autodoc
from py_autodoc.widget.playground_parts import bars_of, histogram_of, pixels_of, score_of

_WIDTH = "360px"
_OCTAVES = 5
"""Range of the scale's slider in octaves below and above the file's scale."""
_STEP = 0.02
_LONGEST = 48
_WARMEST = 1.0


class QuantPlayground(widgets.HBox):  # type: ignore[misc] # ipywidgets has no types
    """A quantized model that can be edited while it runs: the graph and the controls.

    The graph is coloured by the error of each tensor. Choose a tensor in the list or a node in the graph,
    then change its scale or zero point, or keep it in float; outputs, scores, histogram and image are
    updated.

    Args:
        model: a QDQ model, or a float model, which is quantized first.
        samples: values of the inputs: a ``.npz`` file, a folder, arrays.
        reference: the float model from which a QDQ ``model`` was made.
        recipe: quantization recipe for a float model.
        count: number of samples; None uses 16.
        height: height in pixels.
        labels: names of the classes, for the outputs.

    Attributes:
        playground: the model that the controls change; call ``refresh()`` after changing it from Python.
        graph: the ``Autodoc`` widget.

    Raises: as ``Playground``.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        samples: Any = None,
        *,
        reference: str | os.PathLike[str] | None = None,
        recipe: Recipe | None = None,
        count: int | None = None,
        height: int = 640,
        labels: Mapping[int, str] | None = None,
    ) -> None:
        self.playground = Playground(model, samples, reference=reference, recipe=recipe, count=count)
        self._labels = dict(labels or {})
        self.graph = Autodoc(self.playground.proto, height=height, overlay=None)
        self._ids = {node.name: node.id for node in self.playground.analysis.model.nodes}
        self._setting = False
        self._dragging = False
        self._build()
        controls = self._controls()
        for one in controls:
            # A scrolling column would otherwise shrink its children first.
            one.layout.flex = "0 0 auto"
        size = widgets.Layout(width=_WIDTH, min_width=_WIDTH, max_height=f"{height}px", overflow="auto")
        panel = widgets.VBox(controls, layout=size)
        self.graph.layout = widgets.Layout(flex="1 1 auto", min_width="0")
        super().__init__([self.graph, panel], layout=widgets.Layout(width="100%"))
        self._watch()
        self._choose()
        self.refresh()

    def __repr__(self) -> str:
        return f"Quant{self.playground!r}"

    # ---- controls

    def _build(self) -> None:
        points = self.playground.points
        names = [*points.data, *points.weights]
        wide = widgets.Layout(width="96%")
        style = {"description_width": "86px"}
        options = [(shorten(printable(one), _LONGEST), one) for one in names]
        self._tensor = widgets.Dropdown(options=options, description="Tensor", layout=wide, style=style)
        self._scale = widgets.FloatLogSlider(
            1.0,
            base=2,
            min=-_OCTAVES,
            max=_OCTAVES,
            step=_STEP,
            description="Scale ×",
            layout=wide,
            style=style,
            readout_format=".3f",
        )
        self._exact = widgets.FloatText(0.0, description="Scale", layout=wide, style=style)
        self._zero = widgets.IntSlider(0, -128, 255, description="Zero point", layout=wide, style=style)
        choices = [("8 bits", INTEGER), ("float", FLOAT)]
        self._precision = widgets.ToggleButtons(options=choices, description="Precision", style=style)
        self._selected = widgets.HBox(
            [
                widgets.Label("Selection in the graph:"),
                *(
                    widgets.Button(description=text, layout=widgets.Layout(width="70px"))
                    for text, _ in choices
                ),
            ]
        )
        count = len(self.playground.samples)
        self._sample = widgets.IntSlider(
            0, 0, max(count - 1, 0), description="Sample", layout=wide, style=style
        )
        self._sample.layout.display = "" if count > 1 else "none"
        self._undo, self._redo, self._reset = (
            widgets.Button(description=text, layout=widgets.Layout(width="80px"))
            for text in ("Undo", "Redo", "Reset")
        )
        self._path = widgets.Text("edited.onnx", description="File", layout=wide, style=style)
        self._export = widgets.Button(description="Export the edited model", layout=wide)
        self._score, self._outputs, self._picture = (widgets.HTML() for _ in range(3))
        self._message = widgets.HTML()

    def _controls(self) -> list[Any]:
        return [
            self._score,
            self._tensor,
            self._scale,
            self._exact,
            self._zero,
            self._precision,
            self._selected,
            self._picture,
            self._sample,
            self._outputs,
            widgets.HBox([self._undo, self._redo, self._reset]),
            self._path,
            self._export,
            self._message,
        ]

    def _watch(self) -> None:
        self._tensor.observe(self._guarded(lambda change: self._choose()), "value")
        self._scale.observe(self._guarded(self._on_slider), "value")
        self._exact.observe(self._guarded(self._typed), "value")
        self._zero.observe(self._guarded(self._shifted), "value")
        self._precision.observe(self._guarded(self._switched), "value")
        self._sample.observe(self._guarded(self._sampled), "value")
        for button, precision in zip(self._selected.children[1:], (INTEGER, FLOAT), strict=True):
            button.on_click(self._guarded(partial(self._several, precision)))
        for button, step in ((self._undo, self.playground.undo), (self._redo, self.playground.redo)):
            button.on_click(self._guarded(partial(self._stepped, step)))
        self._reset.on_click(self._guarded(partial(self._stepped, self.playground.reset)))
        self._export.on_click(self._guarded(lambda _: self._exported()))
        self.graph.observe(self._guarded(lambda change: self._picked()), "selection")

    def _guarded(self, work: Callable[[Any], None]) -> Callable[[Any], None]:
        """Ignore events while the controls are set from Python; show errors in the panel."""

        def guarded(event: Any) -> None:
            if self._setting:
                return
            self._message.value = ""
            try:
                work(event)
            except AutodocError as error:
                self._message.value = f"<p role='alert'>{escape(printable(str(error)))}</p>"

        return guarded

    # ---- events

    @property
    def tensor(self) -> str:
        """Tensor whose parameters the controls show; may be set."""
        return str(self._tensor.value)

    @tensor.setter
    def tensor(self, name: str) -> None:
        self._tensor.value = name

    def _choose(self) -> None:
        """Show another tensor in the controls."""
        self._dragging = False
        self._show_controls()
        self._show_picture()

    def _on_slider(self, change: Any) -> None:
        play, name = self.playground, self.tensor
        base = play.points.data[name].scale if name in play.points.data else 1.0
        current = play.of(name)[0] / base if name in play.points.data else play.edits.weights.get(name, 1.0)
        if _step_of(float(change["new"])) == _step_of(current):
            # The page moves the thumb to a step of the slider and reports that as a user event.
            return
        play.set_scale(name, base * float(change["new"]), instead=self._dragging)
        self._dragging = True
        self.refresh()

    def _typed(self, change: Any) -> None:
        self.playground.set_scale(self.tensor, float(change["new"]))
        self._dragging = False
        self.refresh()

    def _shifted(self, change: Any) -> None:
        self.playground.set_zero_point(self.tensor, int(change["new"]), instead=self._dragging)
        self._dragging = True
        self.refresh()

    def _switched(self, change: Any) -> None:
        self.playground.set_precision(self.tensor, str(change["new"]))
        self._dragging = False
        self.refresh()

    def _several(self, precision: str, _button: Any) -> None:
        names = [one.name for one in self._nodes() if one.name in self.playground.points.layers]
        if not names:
            raise AutodocError(
                "nothing-selected", "Nothing quantized is selected.", "Select layers in the graph."
            )
        self.playground.set_precision(names, precision)
        self._dragging = False
        self.refresh()

    def _sampled(self, change: Any) -> None:
        self.playground.shown = int(change["new"])
        self.refresh()

    def _stepped(self, step: Callable[[], Any], _button: Any) -> None:
        step()
        self._dragging = False
        self.refresh()

    def _exported(self) -> None:
        path = Path(self._path.value)
        self.playground.export(path)
        self._message.value = f"<p>Wrote {escape(printable(path.name))}.</p>"

    def _nodes(self) -> list[Any]:
        nodes = self.playground.analysis.model.nodes
        return [nodes[number] for number in self.graph.selection if 0 <= number < len(nodes)]

    def _picked(self) -> None:
        """Show the tensor produced by the chosen node, or its weight."""
        points = self.playground.points
        tensors = self.playground.analysis.model.tensors
        for node in self._nodes():
            tensor_names = [tensors[number].name for number in (*node.outputs, *node.inputs) if number >= 0]
            known = [name for name in tensor_names if name in points.data]
            if node.name in points.layers and not known:
                known = [points.layers[node.name].weight]
            if known:
                self._tensor.value = known[0]
                return

    # ---- display

    def refresh(self) -> None:
        """Update everything, as after a change from Python."""
        play = self.playground
        edits = play.edits
        changed = (edits.data, edits.weights, edits.float_data, edits.float_weights)
        kernels = play.kernel_score() if play.kernels_saturate else None
        self._score.value = score_of(play.score(), sum(len(one) for one in changed), kernels)
        name = next(iter(play.outputs))
        self._outputs.value = bars_of(play.float_outputs[name], play.outputs[name], self._labels, name)
        self._show_controls()
        self._show_picture()
        heat = {
            str(self._ids[node]): min(error, _WARMEST)
            for node, error in play.heat().items()
            if node in self._ids
        }
        self.graph.overlay = {"label": "Relative error", "unit": "", "values": heat, "largest": True}

    def _show_controls(self) -> None:
        play, name = self.playground, self.tensor
        weight = name in play.points.weights
        self._setting = True
        try:
            if weight:
                factor, exact = play.edits.weights.get(name, 1.0), play.edits.weights.get(name, 1.0)
                self._exact.description = "Factor"
                is_float = name in play.edits.float_weights
            else:
                point = play.points.data[name]
                exact, zero = play.of(name)
                factor = exact / point.scale
                low, high = limits(point.dtype)
                # The limits first, so that the value is always between them.
                self._zero.min, self._zero.max = min(low, self._zero.min), max(high, self._zero.max)
                self._zero.value = zero
                self._zero.min, self._zero.max = low, high
                self._exact.description = "Scale"
                is_float = name in play.edits.float_data
            self._scale.value = 2.0 ** (_STEP * _step_of(factor))
            self._exact.value = float(f"{exact:.6g}")
            self._zero.disabled = weight or is_float
            self._scale.disabled = self._exact.disabled = is_float
            self._precision.value = FLOAT if is_float else INTEGER
        finally:
            self._setting = False

    def _show_picture(self) -> None:
        play, name = self.playground, self.tensor
        self._picture.value = histogram_of(play.histogram(name), name)
        if name in play.points.weights:
            self._picture.value += pixels_of(*play.weight(name))


def _step_of(factor: float) -> int:
    """Return the step of the slider closest to a factor."""
    return round(float(np.clip(np.log2(factor), -_OCTAVES, _OCTAVES)) / _STEP)
