"""Parts of the widget's model as models of their own, cut out in the kernel.

A message ``{"type": "autodoc:extract", "id": …, "nodes": […], "part": …}`` is answered with the same ``type``
and ``id`` and either ``value`` (``Extracted``) or ``problem``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from py_autodoc.errors import AutodocError, InputError
from py_autodoc.jobs.problems import problem_of
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.schema import Problem, Report
from py_autodoc.report.source import open_model, plain_source
from py_autodoc.report.weights import same_model

if TYPE_CHECKING:
    from py_autodoc.extract import Extraction

TYPE = "autodoc:extract"
_MAX_ID = 200
State = Callable[[], tuple[Any, Analysis | None]]
"""(what the widget was made of, its analysis)."""


def answer_extract(widget: Any, state: State) -> None:
    """Answer the viewers of ``widget`` from now on."""

    def hear(_widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and content.get("type") == TYPE:
            widget.send(_answer(content, state))

    widget.on_msg(hear)


def extract_nodes(
    source: Any, analysis: Analysis | None, nodes: Iterable[int], out: str | os.PathLike[str]
) -> Extraction:
    """Write nodes of a widget's model. Raises: as ``py_autodoc.extract``, and InputError when it changed."""
    from py_autodoc.extract import extract

    with _on_disk(source, analysis) as path:
        return extract(path, out, nodes=nodes)


def _free(source: Any, name: str, part: str) -> Path:
    """A new file beside the model, or in the current folder for a model that is no file."""
    from py_autodoc.extract.place import part_name, reserve

    path = _path(source)
    return reserve(Path(path).parent if path else Path(), part_name(name, part))


def _path(source: Any) -> str:
    """The file of a model; empty when there is none."""
    if isinstance(source, Report):
        from py_autodoc.report.origin import origin_of

        origin = origin_of(source)
        source = origin.path if origin is not None and origin.path else ""
    return os.path.abspath(os.fsdecode(source)) if isinstance(source, (str, os.PathLike)) and source else ""


@contextmanager
def _on_disk(source: Any, analysis: Analysis | None) -> Iterator[str]:
    """The model as a file: its own, or one for as long as it is needed."""
    path = _path(source)
    if path:
        known = source.model.identity if isinstance(source, Report) else None
        if known is None and analysis is not None:
            known = analysis.model.file.identity
        if known is not None:
            same_model(open_model(path, ""), known)
        yield path
        return
    if source is None or isinstance(source, Report):
        hint = "Make the widget of the model's file."
        raise InputError("model-not-at-hand", "The model is not at hand.", hint)
    data, name = plain_source(source)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, os.path.basename(name) or "model.onnx")
        file.write_bytes(data if isinstance(data, bytes) else Path(data).read_bytes())
        yield str(file)


def _answer(content: dict[str, Any], state: State) -> dict[str, Any]:
    from py_autodoc.report.extracted import extracted

    number = content.get("id")
    answer: dict[str, Any] = {"type": TYPE, "id": number[:_MAX_ID] if isinstance(number, str) else ""}
    source, analysis = state()
    target: Path | None = None
    try:
        nodes, part = content.get("nodes"), content.get("part")
        if not isinstance(nodes, list) or not all(type(one) is int for one in nodes):
            raise InputError("bad-request", "The message names no nodes.")
        name = _path(source) or (analysis.model.file.name if analysis is not None else "")
        target = _free(source, os.path.basename(name), part if isinstance(part, str) else "")
        found = extract_nodes(source, analysis, nodes, target)
        size = sum(path.stat().st_size for path in found.paths)
        answer["value"] = msgspec.to_builtins(extracted(found, size, target.name))
        target = None
    except AutodocError as error:
        answer["problem"] = msgspec.to_builtins(problem_of(error, _path(source) or None))
    except KeyboardInterrupt:
        answer["problem"] = msgspec.to_builtins(_INTERRUPTED)
    finally:
        if target is not None:
            # Nothing was written over what held the name.
            target.unlink(missing_ok=True)
    return answer


_INTERRUPTED = Problem(
    type="urn:onnx-autodoc:problem:interrupted",
    title="Interrupted",
    status=499,
    detail="The kernel was interrupted while it cut out the part.",
    code="interrupted",
    hint="Ask again.",
)
