"""Export what a widget shows as files: images, the page, and data for other programs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py_autodoc.errors import OptionError
from py_autodoc.outputs import check_output
from py_autodoc.widget.analysed_subject import AnalysedSubject
from py_autodoc.widget.message_handlers import file_of
from py_autodoc.widget.picture import PictureStyle


class Exports:
    """The ``to_…`` methods of a widget.

    They never overwrite the model or its external weights. Another file that was not written by the same
    method is replaced only with ``force``.
    """

    theme: str
    overlay: str | Mapping[str, Any] | None
    direction: str
    view: Mapping[str, Any]
    _source: Any

    @property
    def _now(self) -> AnalysedSubject:
        raise NotImplementedError

    def to_html(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write one HTML file with the viewer and the model's structure. Raises: OutputError."""
        from py_autodoc.render.html import html_page

        page = html_page(self._now.analysis, direction=self.direction)
        return self._write(path, "html", page, force)

    def to_svg(
        self,
        path: str | os.PathLike[str],
        *,
        depth: int | None = None,
        direction: str | None = None,
        aspect: float = 1.6,
        theme: str | None = None,
        force: bool = False,
    ) -> Path:
        """Write the graph as an SVG image with the current overlay.

        ``depth`` is the number of expanded levels of modules; None expands those of an initial view.
        ``direction`` is ``auto``, ``right``, ``down`` or ``wrapped``; None uses the widget's. Wrapped rows
        make the image about ``aspect`` times as wide as high. ``theme`` is ``light`` or ``dark``; None uses
        the widget's (light for ``auto``).

        Raises: OptionError, RequirementError without an engine (``render.engine``), LimitError, OutputError.
        """
        return self._write(path, "svg", self._svg(depth, direction, aspect, theme), force)

    def to_png(
        self,
        path: str | os.PathLike[str],
        *,
        scale: float = 1.0,
        depth: int | None = None,
        direction: str | None = None,
        aspect: float = 1.6,
        theme: str | None = None,
        force: bool = False,
    ) -> Path:
        """Write a PNG image with ``scale`` pixels per SVG unit. Raises: as ``to_svg``, or without resvg."""
        from py_autodoc.render.png import png_picture

        if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 0 < scale < math.inf:
            raise OptionError("bad-scale", f"{scale!r:.80} is not a scale.", "Pass a number above 0.")
        return self._write(path, "png", png_picture(self._svg(depth, direction, aspect, theme), scale), force)

    def to_dot(
        self,
        path: str | os.PathLike[str],
        *,
        depth: int | None = None,
        direction: str = "right",
        force: bool = False,
    ) -> Path:
        """Write the graph for Graphviz; ``depth`` levels are expanded, None: all. Raises: OutputError."""
        from py_autodoc.render.dot import dot

        levels = whole_depth(depth)
        return self._write(path, "dot", dot(self._now.payload, levels, direction=direction), force)

    def to_netron(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the costs as an attachment for Netron. Raises: InputError without a model, OutputError."""
        from py_autodoc.render.viewer_attachments import netron_attachment

        return self._write(path, "netron", netron_attachment(self._now.analysis).text, force)

    def to_model_explorer(
        self, path: str | os.PathLike[str], *, metric: str = "macs", force: bool = False
    ) -> Path:
        """Write one metric of every node for Model Explorer.

        ``metric`` is a name that ``overlay`` accepts (``latency`` if ``hardware`` was given), ``read_bytes``
        or ``write_bytes``.
        Raises: OptionError for another name, InputError without a model, OutputError.
        """
        from py_autodoc.render.viewer_attachments import available_metrics, model_explorer_data

        analysis = self._now.analysis
        check_choice("metric", metric, available_metrics(analysis))
        data = model_explorer_data(analysis, metric)
        return self._write(path, "model-explorer", data.text, force)

    def _svg(self, depth: int | None, direction: str | None, aspect: float, theme: str | None) -> str:
        from py_autodoc.render.svg import DIRECTIONS, THEMES

        direction = self.direction if direction is None else direction
        check_choice("direction", direction, DIRECTIONS)
        number = isinstance(aspect, (int, float)) and not isinstance(aspect, bool)
        if not (number and 0.05 <= aspect <= 20):
            raise OptionError(
                "bad-aspect", f"{aspect!r:.80} is not an aspect ratio.", "Pass width by height, such as 1.6."
            )
        if theme is not None:
            check_choice("theme", theme, THEMES)
        style = self._look(theme)
        return style.drawn(
            self._now.payload, depth=whole_depth(depth), direction=direction, aspect=float(aspect)
        )

    def _look(self, theme: str | None = None) -> PictureStyle:
        """Return the style for an image of the current state."""
        return PictureStyle.of(theme or self.theme, self.overlay, self.view.get("device"), self.direction)

    def _write(self, path: str | os.PathLike[str], kind: str, result: str | bytes, force: bool) -> Path:
        """Write a result atomically. Raises: OutputError."""
        target = check_output(path, kind, _files(self._source.model), force)
        target.write(result.encode("utf-8", "backslashreplace") if isinstance(result, str) else result)
        return target.path


def _files(model: Any) -> list[str]:
    """Return the file that a widget's model is read from, if there is one."""
    path = file_of(model)
    return [path] if path else []


def whole_depth(depth: object) -> int | None:
    """Return the number of levels. Raises: OptionError unless it is None or an integer of at least 0."""
    if depth is None or (isinstance(depth, int) and not isinstance(depth, bool) and depth >= 0):
        return depth
    raise OptionError(
        "bad-depth", f"{depth!r:.80} is not a depth.", "Pass a whole number, 0 or more, or None."
    )


def check_choice(label: str, value: object, known: tuple[str, ...]) -> None:
    """Raise an OptionError if ``value`` is not in ``known``."""
    if value not in known:
        raise OptionError(
            f"bad-{label}", f"{value!r:.80} is not a valid {label}.", f"Choose one of {', '.join(known)}."
        )
