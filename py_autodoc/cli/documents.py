"""Documents written by ``analyze``: a Markdown card, a PDF, and their images."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from py_autodoc.cli import stderr
from py_autodoc.cli.assets import Assets, Files, assets
from py_autodoc.errors import AutodocError, OptionError, RequirementError
from py_autodoc.limits import DOCUMENT_FILE
from py_autodoc.option_files import read_text
from py_autodoc.outputs import OutputFile, check_output

if TYPE_CHECKING:
    from py_autodoc.render.output_target import Target
    from py_autodoc.report.document.report import Report
    from py_autodoc.report.pipeline.analysis import Analysis
    from py_autodoc.report.sections.section_model import SectionContext

log = logging.getLogger(__name__)
GRAPH = {"graph": ("light", "graph.svg"), "graph-dark": ("dark", "graph-dark.svg")}
"""Figure → theme and file name of the graph."""
"""Maximum size in bytes of a file to update."""


@dataclass
class Documents:
    """The requested documents, checked before the analysis. Created by ``requested_documents``."""

    card: Target | None
    pdf: Target | None
    update: OutputFile | None
    assets: Assets | None
    plots: bool
    before: str = ""
    """Current text of the file to update."""
    failed: list[AutodocError] = field(default_factory=list)
    """Why requested documents were not made, although all else was."""

    def __bool__(self) -> bool:
        return bool(self.failed) or any(
            output is not None for output in (self.card, self.pdf, self.update, self.assets)
        )

    def write(
        self, analysis: Analysis, report: Report, max_layers: int | None = None
    ) -> list[tuple[str, int]]:
        """Write all documents; return (name, bytes) of each. Raises: AutodocError."""
        from py_autodoc.render.document import context

        section_context = context(analysis, report, max_layers)
        texts: list[tuple[OutputFile | Target, str | bytes]] = []
        files = self._pictures(analysis, section_context)
        if self.pdf is not None:
            from py_autodoc.render.pdf import pdf

            try:
                texts.append((self.pdf, pdf(section_context, analysis, charts(files))))
            except AutodocError as fault:
                self.failed.append(fault)
        if self.card is not None:
            from py_autodoc.outputs.marks import sealed_text
            from py_autodoc.render.markdown import card

            folder = Path.cwd() if self.card.to_stdout else self.card.path.parent
            texts.append(
                (self.card, sealed_text(card(section_context, self._links(files, folder)), "markdown"))
            )
        if self.update is not None:
            from py_autodoc.render.markdown import body, replace_between_markers

            text = body(section_context, self._links(files, self.update.path.parent))
            texts.append((self.update, replace_between_markers(self.before, text, self.update.display_name)))
        written = [] if self.assets is None else self.assets.write(files)
        for target, result in texts:
            data = result.encode("utf-8") if isinstance(result, str) else result
            # On a terminal, a card is sanitised as text.
            target.write(result if not isinstance(target, OutputFile) else data)  # type: ignore[arg-type]
            written.append((target.display_name, len(data)))
        return written

    def _pictures(self, analysis: Analysis, section_context: SectionContext) -> dict[str, tuple[str, bytes]]:
        """Return figure → file name and data; report and skip images that cannot be drawn."""
        files: dict[str, tuple[str, bytes]] = {}
        try:
            files |= _graph(analysis) if self.assets is not None else {}
        except AutodocError as fault:
            stderr.warning(f"No image of the graph: {fault.message} {fault.hint}".strip())
        if self.plots:
            from py_autodoc.render.plots import plots

            try:
                files |= plots(section_context.report, analysis, png=self.assets is not None)
            except AutodocError as fault:
                stderr.warning(f"No plots: {fault.message} {fault.hint}".strip())
            except Exception as fault:
                log.debug("plots failed", exc_info=True)
                stderr.warning(f"No plots: matplotlib failed ({type(fault).__name__}).")
        return files

    def _links(self, files: Files, folder: Path) -> dict[str, str]:
        """Return figure → path relative to a folder."""
        return {} if self.assets is None else self.assets.links(files, folder)


def requested_documents(
    outputs: dict[str, Target],
    update: str | None,
    assets_dir: str | None,
    plots: bool,
    inputs: Iterable[str],
    force: bool,
) -> Documents:
    """Return the documents of a run, and remove them from ``outputs``. Raises: OutputError, InputError."""
    card, pdf = outputs.pop("--out-md", None), outputs.pop("--out-pdf", None)
    failed: list[AutodocError] = []
    if pdf is not None:
        from py_autodoc.render.pdf import typst

        try:
            typst()
        except RequirementError as fault:
            if not (outputs or card or update or assets_dir):
                raise
            failed.append(fault)
            pdf = None
    if plots and assets_dir is None and pdf is None and not failed:
        raise OptionError(
            "no-assets-dir", "--with-plots needs an output.", "Pass --assets-dir DIR or --out-pdf."
        )
    input_files = tuple(inputs)
    folder = None if assets_dir is None else _folder(assets_dir, plots, input_files, force)
    target, before = (None, "") if update is None else _to_update(update, input_files)
    return Documents(card, pdf, target, folder, plots and bool(pdf or folder), before, failed)


def _folder(path: str, plots: bool, inputs: tuple[str, ...], force: bool) -> Assets:
    """Return the folder for images. Raises: OutputError."""
    from py_autodoc.render.plots import FILES

    names = [name for _, name in GRAPH.values()] + (list(FILES) if plots else [])
    return assets(path, names, inputs, force)


def _to_update(path: str, inputs: tuple[str, ...]) -> tuple[OutputFile, str]:
    """Return the file and its text. Raises: InputError if it is missing, not text, or has no markers."""
    from py_autodoc.render.markdown import replace_between_markers

    target = check_output(path, "markdown", inputs, force=True)
    text = read_text(path, DOCUMENT_FILE)
    replace_between_markers(text, "", path)
    return target, text


def charts(files: Files) -> dict[str, str]:
    """Return the plots for white paper, with the graph laid out in rows."""
    return {
        figure: data.decode("utf-8")
        for figure, (name, data) in files.items()
        if name.endswith(".svg") and not figure.endswith("-dark") and figure not in GRAPH
    }


def _graph(analysis: Analysis) -> dict[str, tuple[str, bytes]]:
    """Return the image of the graph in both themes."""
    from py_autodoc.render.svg import svg_picture
    from py_autodoc.report.viewer_payload.build_payload import build_payload

    payload = build_payload(analysis)
    return {
        figure: (name, svg_picture(payload, theme=theme).encode("utf-8"))
        for figure, (theme, name) in GRAPH.items()
    }
