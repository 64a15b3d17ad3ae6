"""Output of an export: one file, or a folder whose files appear together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from py_autodoc.cli import stderr
from py_autodoc.errors import AnalysisError, InputError
from py_autodoc.render.output_target import Target

if TYPE_CHECKING:
    from py_autodoc.torch.loaded_source import LoadedSource
    from py_autodoc.torch.result import ExportResult


PARTIAL = 2
"""Exit status if the model was written, but a requested dump was not."""


def exported(loaded: LoadedSource, out: str, generation: bool, options: dict[str, Any]) -> ExportResult:
    """Export. Raises: as ``py_autodoc.torch.export``; in that case no files are left behind."""
    from py_autodoc.torch.exporting import export

    if options["exporter"] == "hf" and loaded.facts["kind"] != "transformers":
        raise InputError("hf-model", "--exporter hf takes Hugging Face folders.", "Use dynamo.")
    if options["exporter"] == "hf" and options["dynamic"]:
        from py_autodoc.torch.inputs import as_dims

        options["dynamic"] = as_dims(options["dynamic"])
    return export(loaded.model, loaded.example, out, generation=generation, **options)


def delivered(
    report: Mapping[str, Any],
    notes: Sequence[str],
    targets: Mapping[str, Target],
    makers: Mapping[str, Callable[[], str]],
) -> int:
    """Print the summary and write the additional outputs; return the exit status."""
    from py_autodoc.cli.export_summary import print_export

    failed: list[AnalysisError] = []
    with ExitStack() as stack:
        stack.callback(print_export, report, notes)
        for option, target in targets.items():
            try:
                target.write(makers[option]())
            except AnalysisError as fault:
                failed.append(fault)
    for failure in failed:
        stderr.error(failure.message, failure.hint)
    return PARTIAL if failed else 0
