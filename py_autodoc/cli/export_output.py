"""Where an export goes: one file, or a folder whose files appear together."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_autodoc.cli import stderr
from py_autodoc.errors import AnalysisError, InputError, OutputError
from py_autodoc.render.output import Target

if TYPE_CHECKING:
    from py_autodoc.torch.result import ExportResult
    from py_autodoc.torch.sources import Loaded


PARTIAL = 2
"""Exit status when the model is written and a dump that was asked for is not."""


def checked_out(out: str, folder: bool) -> None:
    """Raises: OutputError, before anything is loaded."""
    from py_autodoc.tags.files import checked

    if not folder:
        checked(out)
        return
    target = Path(os.path.realpath(out))
    shown = target.name
    if target.exists() and not target.is_dir():
        raise OutputError("output-not-a-folder", f"{shown}: is a file.", "--generation writes a folder.")
    if target.is_dir() and any(target.iterdir()):
        raise OutputError("output-not-empty", f"{shown}: the folder is not empty.", "Name a new one.")
    checked(target.parent / f".{shown}.tmp")


def exported(loaded: Loaded, out: str, generation: bool, options: dict[str, Any]) -> ExportResult:
    """Export. Raises: as ``py_autodoc.torch.export``; then nothing is left behind."""
    from py_autodoc.torch.exporting import export

    if options["exporter"] == "hf" and loaded.facts["kind"] != "transformers":
        raise InputError("hf-model", "--exporter hf takes Hugging Face folders.", "Use dynamo.")
    if options["exporter"] == "hf" and options["dynamic"]:
        options["dynamic"] = as_dims(options["dynamic"])
    if not generation:
        return export(loaded.model, loaded.example, out, **options)
    target = Path(os.path.realpath(out))
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name[:60]}.", suffix=".tmp", dir=target.parent))
    try:
        result = export(loaded.model, loaded.example, folder, generation=True, **options)
        folder.chmod(0o777 & ~_umask())
        try:
            os.replace(folder, target)
        except OSError as fault:
            raise OutputError(
                "output-failed", f"Could not write {target.name}: {fault.strerror or fault}."
            ) from fault
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result.path = target
    for part in result.components.values():
        part.path = target / part.path.name
        part.sidecar_path = part.sidecar_path and target / part.sidecar_path.name
    return result


def delivered(
    report: Mapping[str, Any],
    notes: Sequence[str],
    targets: Mapping[str, Target],
    makers: Mapping[str, Callable[[], str]],
) -> int:
    """Print the summary and write what was asked for beside the model; the exit status."""
    from py_autodoc.cli.export_summary import print_export

    failed: list[AnalysisError] = []
    with ExitStack() as stack:
        stack.callback(print_export, report, notes)
        for option, target in targets.items():
            try:
                target.write(makers[option]())
            except AnalysisError as fault:
                failed.append(fault)
    for one in failed:
        stderr.error(one.message, one.hint)
    return PARTIAL if failed else 0


def as_dims(axes: dict[str, dict[int, str]]) -> dict[str, dict[int, Any]]:
    """Names as ``torch.export`` has them; one object for each name."""
    import torch

    made: dict[str, Any] = {}
    for symbols in axes.values():
        for symbol in symbols.values():
            made.setdefault(symbol, torch.export.Dim(symbol))
    return {name: {at: made[symbol] for at, symbol in symbols.items()} for name, symbols in axes.items()}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
