"""Plots of ``onnx-autodoc compare``: size, time and quality of the variants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from py_autodoc.cli import stderr
from py_autodoc.cli.assets import Assets, assets
from py_autodoc.errors import AutodocError, OptionError

if TYPE_CHECKING:
    from py_autodoc.compare.impact import Evaluations
    from py_autodoc.report.pipeline.analysis import Analysis


@dataclass
class Charts:
    """The requested plots, checked before the comparison, and their files. Created by ``requested``."""

    enabled: bool
    assets: Assets | None
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    """Figure → file name and data."""

    @classmethod
    def requested(
        cls, plots: bool, assets_dir: str | None, pdf: bool, inputs: Iterable[str], force: bool
    ) -> Charts:
        """Return the plots of a run. Raises: OptionError, OutputError."""
        if plots and assets_dir is None and not pdf:
            raise OptionError(
                "no-assets-dir", "--with-plots needs an output.", "Pass --assets-dir DIR or --out-pdf."
            )
        if assets_dir is None:
            return cls(plots, None)
        if not plots:
            raise OptionError("no-plots", "--assets-dir is for plots.", "Pass --with-plots too.")
        from py_autodoc.compare.tradeoff import NAMES
        from py_autodoc.render.plots import files_of

        return cls(plots, assets(assets_dir, files_of(NAMES), inputs, force))

    def draw(self, analyses: Sequence[Analysis], evaluations: Evaluations) -> None:
        """Draw the plots; report and skip those that cannot be drawn."""
        if not self.enabled:
            return
        from py_autodoc.compare.impact import impact, precisions
        from py_autodoc.compare.sections import model_names
        from py_autodoc.compare.tradeoff import tradeoffs, variant_labels
        from py_autodoc.render.plots import scatters

        names = variant_labels(model_names(analyses), precisions(analyses))
        plots = tradeoffs(impact(analyses, evaluations), names)
        if not plots:
            stderr.warning(
                "No plots: only the size of each model is known. Pass --eval-metrics for each, or --hardware."
            )
            return
        try:
            self.files = scatters(plots, png=self.assets is not None)
        except AutodocError as fault:
            stderr.warning(f"No plots: {fault.message} {fault.hint}".strip())

    def write(self) -> list[tuple[str, int]]:
        """Write the plots; return (name, bytes) of each. Raises: OutputError."""
        return [] if self.assets is None else self.assets.write(self.files)

    def links(self, folder: Path) -> dict[str, str]:
        """Return figure → path relative to a folder."""
        return {} if self.assets is None else self.assets.links(self.files, folder)

    def pictures(self) -> dict[str, str]:
        """Return figure → SVG for white paper."""
        from py_autodoc.cli.documents import charts

        return charts(self.files)
