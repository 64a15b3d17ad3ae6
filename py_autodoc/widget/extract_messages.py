"""Extract parts of the widget's model as separate models in the kernel.

The message lists ``nodes`` and names them ``part``; the answer is an ``Extracted``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_autodoc.errors import InputError
from py_autodoc.outputs import scratch
from py_autodoc.report.document.report import Report
from py_autodoc.report.document.weights import same_model
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.model_source import normalise_source, open_model
from py_autodoc.report.schema import Extracted
from py_autodoc.widget.message_handlers import State, file_of, on_message, text

if TYPE_CHECKING:
    from py_autodoc.extract import Extraction

TYPE = "autodoc:extract"


def answer_extract(widget: Any, state: State) -> None:
    """Register the message handler for the viewers of ``widget``."""
    on_message(widget, TYPE, state, _part, doing="extracted the part")


def extract_nodes(
    source: Any,
    analysis: Analysis,
    nodes: Iterable[int],
    out: str | os.PathLike[str],
    force: bool = False,
) -> Extraction:
    """Write nodes of a widget's model. Raises: as ``py_autodoc.extract``, or InputError if it changed."""
    from py_autodoc.extract import extract

    with _on_disk(source, analysis) as path:
        return extract(path, out, nodes=nodes, force=force)


def _free(source: Any, name: str, part: str) -> Path:
    """Return an unused file name next to the model, or in the current folder for a model in memory."""
    from py_autodoc.extract.output_name import part_name, reserve_file

    path = file_of(source)
    return reserve_file(Path(path).parent if path else Path(), part_name(name, part))


@contextmanager
def _on_disk(source: Any, analysis: Analysis) -> Iterator[str]:
    """Yield the path of the model, or of a temporary file for a model in memory."""
    path = file_of(source)
    if path:
        report = isinstance(source, Report)
        same_model(open_model(path, ""), source.model.identity if report else analysis.model.file.identity)
        yield path
        return
    if source is None or isinstance(source, Report):
        hint = "Create the widget from the model's file."
        raise InputError("model-not-at-hand", "The model is not available.", hint)
    data, name = normalise_source(source)
    with scratch() as folder:
        file = folder / Path(os.path.basename(name) or "model.onnx")
        file.write_bytes(data if isinstance(data, bytes) else Path(data).read_bytes())
        yield str(file)


def _part(content: Mapping[str, Any], source: Any, analysis: Analysis) -> Extracted:
    """Write the part next to the model, or to the current folder; no file is left on failure."""
    from py_autodoc.report.builders.extraction_summary import summarise_extraction

    nodes = content.get("nodes")
    if not isinstance(nodes, list) or not all(type(one) is int for one in nodes):
        raise InputError("bad-request", "The message names no nodes.")
    name = file_of(source) or analysis.model.file.name
    target = _free(source, os.path.basename(name), text(content, "part"))
    try:
        extracted = extract_nodes(source, analysis, nodes, target)
        size = sum(path.stat().st_size for path in extracted.paths)
        return summarise_extraction(extracted, size, target.name)
    except BaseException:
        # The name was new, so no other file is lost.
        target.unlink(missing_ok=True)
        raise
