"""``onnx-autodoc compare`` by structure: output, files, and ``--fail-on`` conditions."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from py_autodoc.cli import stderr, stdout
from py_autodoc.cli.compare_charts import Charts
from py_autodoc.cli.verdict import report_verdict
from py_autodoc.errors import OptionError
from py_autodoc.render.output_target import targets
from py_autodoc.render.terminal_text import shorten

if TYPE_CHECKING:
    from py_autodoc.compare.align import Alignment
    from py_autodoc.compare.evaluation import Evaluation
    from py_autodoc.compare.gate import GateCondition
    from py_autodoc.compare.impact import Evaluations
    from py_autodoc.compare.run_difference import RunDifference
    from py_autodoc.render.output_target import Target
    from py_autodoc.report.pipeline.analysis import Analysis

T = TypeVar("T")
SAME, DIFFERENT, FAILS = 0, 1, 5
_PARTIAL = ("the comparison is partial", "See `analyze` for its diagnostics.")
_LONGEST = 200
PICTURES = ("--out-svg", "--out-png")
_SCALE = 2.0
"""PNG pixels per unit of the SVG."""
_KINDS = {
    "--out-json": "report",
    "--out-md": "markdown",
    "--out-pdf": "pdf",
    "--out-svg": "svg",
    "--out-png": "png",
}


def compare(
    paths: Sequence[str],
    analyses: Sequence[Analysis],
    paths_by_option: Mapping[str, str | None],
    fail_on: Sequence[str],
    weights: bool,
    force: bool,
    direction: str = "auto",
    evaluated: Sequence[str] = (),
    baseline: str | None = None,
    plots: bool = False,
    assets_dir: str | None = None,
    read: Sequence[str] = (),
    run: Callable[[str, str], RunDifference] | None = None,
) -> int:
    """Compare the first model with the others. Return the exit status.

    ``run`` runs two models on the same input. ``paths_by_option`` maps options to paths; ``evaluated`` lists
    evaluation files, one per model;
    ``baseline`` is the precision of the model to compare with; ``plots`` are written to ``assets_dir`` and
    shown in Markdown and PDF; ``read`` are other files that the run reads.

    Raises: OptionError, OutputError, PathError, RequirementError.
    """
    from py_autodoc.compare.gate import condition, failing

    conditions = [condition(text) for text in fail_on]
    inputs = [*paths, *evaluated, *read]
    outputs = targets(
        {option: (paths_by_option.get(option), kind) for option, kind in _KINDS.items()}, inputs, force
    )
    charts = Charts.requested(plots, assets_dir, "--out-pdf" in outputs, inputs, force)
    if "--out-pdf" in outputs:
        from py_autodoc.render.pdf import typst

        typst()
    if "--out-png" in outputs:
        from py_autodoc.render.png import resvg

        resvg()
    status = max(
        report_verdict(p, analysis, True, _PARTIAL) for p, analysis in zip(paths, analyses, strict=True)
    )
    evaluations: Evaluations = evaluations_of(evaluated, paths)
    if baseline is not None:
        index = _of_precision(analyses, baseline)
        paths, analyses = first(paths, index), first(analyses, index)
        evaluations = first(evaluations, index) if evaluations else ()
    alignments = _aligned(paths, analyses, weights)
    if run is not None:
        alignments = [
            replace(alignment, run=run(paths[0], path))
            for alignment, path in zip(alignments, paths[1:], strict=True)
        ]
    failed = failing(conditions, alignments)
    charts.draw(analyses, evaluations)
    for name, written in charts.write():
        if sys.stderr.isatty():
            stderr.note(f"Wrote {name} ({written:,} bytes).")
    svg = ""
    if not outputs.keys().isdisjoint(PICTURES):
        from py_autodoc.compare.picture import picture

        svg = picture(alignments[0], direction=direction)
    for option, target in outputs.items():
        if option in PICTURES:
            drawn: str | bytes = svg
            if option == "--out-png":
                from py_autodoc.render.png import png_picture

                drawn = png_picture(svg, _SCALE)
            _note_written(target, target.write(drawn))
            continue
        text = _document(option, analyses, alignments, failed, target, evaluations, charts)
        _note_written(target, target.write(text))
    if not any(target.to_stdout for target in outputs.values()):
        from py_autodoc.compare.text import text as lines_of

        stdout.lines(lines_of(analyses, alignments, evaluations))
    for gate, index, why in failed:
        name = analyses[index + 1].model.file.name
        stderr.error(f"{shorten(name, _LONGEST)}: {gate.text}: {why}.", "")
    if failed:
        return FAILS
    if conditions:
        return status
    return status or (SAME if all(alignment.same for alignment in alignments) else DIFFERENT)


def _note_written(target: Target, written: int) -> None:
    if not target.to_stdout and sys.stderr.isatty():
        stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")


def evaluations_of(evaluated: Sequence[str], paths: Sequence[str]) -> list[Evaluation]:
    """Read the evaluations: one per model, or none. Raises: OptionError, PathError."""
    from py_autodoc.compare.run_results import evaluations_of_models

    return evaluations_of_models(evaluated, [os.path.basename(path) for path in paths])


def _of_precision(analyses: Sequence[Analysis], precision: str) -> int:
    """Return the index of the model with this precision. Raises: OptionError unless there is exactly one."""
    from py_autodoc.compare.impact import precisions

    available = precisions(analyses)
    indexes = [index for index, name in enumerate(available) if name == precision.strip().lower()]
    if len(indexes) != 1:
        many = "no model is" if not indexes else f"{len(indexes)} models are"
        raise OptionError(
            "no-baseline",
            f"--baseline-precision: {many} in {precision[:40]!r}.",
            f"They are {', '.join(available)}; without the option the first is the baseline.",
        )
    return indexes[0]


def first(items: Sequence[T], index: int) -> list[T]:
    """Return the items with the given one moved to the front."""
    return [items[index], *items[:index], *items[index + 1 :]]


def _aligned(paths: Sequence[str], analyses: Sequence[Analysis], weights: bool) -> list[Alignment]:
    from py_autodoc.compare.align import align

    if not weights:
        return [align(analyses[0], other) for other in analyses[1:]]
    from py_autodoc.compare.weights import align_with_weights

    return [
        align_with_weights((analyses[0], paths[0]), (other, path))
        for other, path in zip(analyses[1:], paths[1:], strict=True)
    ]


def _document(
    option: str,
    analyses: Sequence[Analysis],
    alignments: Sequence[Alignment],
    failed: Sequence[tuple[GateCondition, int, str]],
    target: Target,
    evaluations: Evaluations,
    charts: Charts,
) -> str | bytes:
    if option == "--out-json":
        from py_autodoc.compare.document import FailedCondition, comparison

        conditions = [
            FailedCondition(
                condition=condition.text, model_path=analyses[index + 1].model.file.name, reason=why
            )
            for condition, index, why in failed
        ]
        return comparison(analyses, alignments, conditions, evaluations).to_json(target.to_stdout) + "\n"
    failures = [
        f"{analyses[index + 1].model.file.name}: {condition.text}: {why}" for condition, index, why in failed
    ]
    if option == "--out-pdf":
        from py_autodoc.compare.pdf import pdf

        return pdf(analyses, alignments, failures, evaluations=evaluations, plots=charts.pictures())
    from py_autodoc.compare.markdown import markdown
    from py_autodoc.outputs.marks import sealed_text

    folder = Path.cwd() if target.to_stdout else target.path.parent
    text = markdown(analyses, alignments, failures, evaluations, charts.links(folder))
    return text if target.to_stdout else sealed_text(text, "markdown")
