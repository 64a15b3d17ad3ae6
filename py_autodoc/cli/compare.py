"""``onnx-autodoc compare``."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.fitting import fitting
from py_autodoc.cli.graph import DIRECTIONS
from py_autodoc.cli.options import force, hardware, preprocessing, seed_option, sizes
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.cli.run_limits import run_limits
from py_autodoc.cli.sample_data import samples_at
from py_autodoc.cli.verdict import report_verdict
from py_autodoc.errors import AutodocError, InputError, OptionError
from py_autodoc.render.output_target import STDOUT, targets
from py_autodoc.render.terminal_text import printable
from py_autodoc.units import plural

if TYPE_CHECKING:
    from py_autodoc.compare.run_difference import RunDifference
    from py_autodoc.compare.tags import TagChange, TagComparison
    from py_autodoc.compare.topology import Difference
    from py_autodoc.render.output_target import Target
    from py_autodoc.report.document.report import Report
    from py_autodoc.report.pipeline.analysis import Analysis

DIFFERENT, TROUBLE = 1, 2
"""Exit statuses, as those of ``cmp`` and ``diff``."""
_PARTIAL = ("the page is partial", "See `analyze` for its diagnostics.")


class _Compare(click.Command):
    """A command whose exit status 1 means "different"; invalid files or options give 2."""

    trouble = TROUBLE

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except AutodocError as fault:
            if fault.exit_status == DIFFERENT:
                fault.exit_status = TROUBLE
            raise


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The options as given."""

    bind: tuple[str, ...]
    input_shape: tuple[str, ...]
    batch_size: int | None
    resize: tuple[str, ...]
    assume: bool


@click.command("compare", cls=_Compare, short_help="Compare models: architecture, precision, metrics.")
@click.argument("a", type=click.Path(path_type=str))
@click.argument("b", type=click.Path(path_type=str))
@click.argument("others", nargs=-1, type=click.Path(path_type=str))
@click.option(
    "--eval-metrics",
    metavar="FILE.json",
    multiple=True,
    help="Measurements: a file of `run --out-json`, or files in the order of the models: docs/compare.md.",
)
@click.option(
    "--baseline-precision",
    metavar="P",
    help="Compare with the model in this precision (fp32 …) instead of the first.",
)
@click.option("--weights", is_flag=True, help="Also compare the values of weights; reads all weights.")
@click.option("--out-json", metavar="PATH", help="Write the comparison as JSON (- for stdout).")
@click.option("--out-md", metavar="PATH", help="Write the comparison as Markdown (- for stdout).")
@click.option("--out-pdf", metavar="PATH", help="Write the comparison as PDF; needs onnx-autodoc[pdf].")
@click.option(
    "--with-plots",
    is_flag=True,
    help="Plot size, time and quality for --assets-dir and --out-pdf; needs onnx-autodoc[plots].",
)
@click.option("--assets-dir", metavar="DIR", help="Folder for plots, which the Markdown shows.")
@click.option("--out-svg", metavar="PATH", help="Draw both as one graph with the differences, as SVG.")
@click.option("--out-png", metavar="PATH", help="The same as PNG; needs onnx-autodoc[pictures].")
@click.option(
    "--fail-on",
    metavar="CONDITION",
    multiple=True,
    help="Exit with 5 if this holds: 'macs>+5%', 'size>100M', architecture, removed … Repeatable.",
)
@click.option(
    "--topology", is_flag=True, help="Compare only nodes, edges, attributes and weights, byte by byte."
)
@click.option("--structure", is_flag=True, help="The same without weights, which may be missing.")
@click.option("--tags", is_flag=True, help="Compare only the modules: their tags and the nodes of each.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--beside",
    metavar="PATH.html",
    help="Write an offline page with both models side by side. Without other options, writes nothing else.",
)
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default="auto",
    show_default=True,
    help="Layout of the graphs in the page or image.",
)
@click.option("--run", is_flag=True, help="Also run both once on the same input in ONNX Runtime.")
@click.option(
    "--data",
    metavar="PATH",
    shell_complete=completion.files,
    help="Input of --run: .npz, .npy, or a folder of them or of images (default: synthetic).",
)
@preprocessing
@seed_option("the synthetic input of --run")
@run_limits
@sizes("page")
@hardware
@force
def command(
    a: str,
    b: str,
    others: tuple[str, ...],
    topology: bool,
    structure: bool,
    tags: bool,
    as_json: bool,
    beside: str | None,
    direction: str,
    force: bool,
    run: bool,
    data: str | None,
    preprocessing: str | None,
    seed: int,
    weights: bool,
    out_json: str | None,
    out_md: str | None,
    out_pdf: str | None,
    out_svg: str | None,
    out_png: str | None,
    fail_on: tuple[str, ...],
    eval_metrics: tuple[str, ...],
    baseline_precision: str | None,
    with_plots: bool,
    assets_dir: str | None,
    hardware: str,
    precision: str,
    runtime: str,
    **size_options: Any,
) -> int:
    """Compare model B with model A: whether the architecture is the same, and what changed.

    \b
        onnx-autodoc compare resnet.onnx resnet-int8.onnx
        onnx-autodoc compare old.onnx new.onnx --fail-on architecture --fail-on 'macs>+5%'
        onnx-autodoc compare fp32.onnx fp16.onnx int8.onnx --out-md variants.md

    A stored report (analyze --out-json) can stand for a model.

    Models are aligned by structure, whatever the names of their nodes: a float model shares all core
    operators with its quantized, converted or fused variants. Further models are also compared with A.
    Dimensions without a value get a typical value.

    \b
    Exit status: 0 if the models are the same, 1 if they differ, 2 on errors, 3 if a result could not be
    written. With --fail-on: 0 if no condition holds, 5 if one does.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    chosen = _Sizes(**size_options)
    if eval_metrics:
        (a, b, *more), eval_metrics = _evaluations_apart((a, b, *others), eval_metrics)
        others = tuple(more)
    if topology and structure:
        raise OptionError("two-comparisons", "Pass --topology or --structure, not both.")
    by_bytes = topology or structure or tags
    values: dict[str, object] = {"--weights": weights}
    values |= {} if by_bytes else {"--out-json": out_json, "--out-md": out_md}
    values |= {"--eval-metrics": eval_metrics, "--baseline-precision": baseline_precision}
    values |= {"--run": run, "--data": data, "--preprocessing": preprocessing}
    values |= {"--with-plots": with_plots, "--assets-dir": assets_dir}
    values |= {"--out-pdf": out_pdf, "--out-svg": out_svg, "--out-png": out_png, "--fail-on": fail_on}
    used = [name for name, value in values.items() if value]
    if by_bytes and (used or others):
        what = used[0] if used else "More than two models"
        message = f"{what} cannot be combined with --topology, --structure or --tags."
        raise OptionError("two-comparisons", message, "Run compare separately for those.")
    needing = {"--weights": weights, "--topology": topology, "--structure": structure, "--tags": tags}
    needing["--run"] = run
    needing["--beside"] = beside is not None
    for option in (name for name, value in needing.items() if value):
        _refuse_reports((a, b, *others), option)
    samples = samples_at(data, preprocessing)
    if data is not None and not run:
        raise OptionError("data-without-run", "--data is the input of --run.", "Pass --run too.")
    drawn = out_svg is not None or out_png is not None
    if others and drawn:
        raise OptionError("two-comparisons", "An image shows two models.", "Pass two models.")
    if others and beside is not None:
        raise OptionError("two-comparisons", "--beside shows two models.", "Pass two models.")
    if by_bytes and beside is None and chosen != _Sizes((), (), None, (), False):
        raise OptionError(
            "sizes-without-page", "Options for dimensions apply to a page.", "Pass --beside PATH.html too."
        )
    if direction != "auto" and beside is None and not drawn:
        message = "--direction applies to a page or an image."
        raise OptionError("direction-without-page", message, "Pass --beside or --out-svg too.")
    status = (
        _page(a, b, beside, chosen, direction, force, [*filter(None, [hardware]), *eval_metrics])
        if beside is not None
        else 0
    )
    if by_bytes or (beside is not None and not used):
        if not by_bytes and not as_json:
            return status
        if by_bytes:
            graph = "structure" if structure else "topology" if topology else ""
            written = {"--out-json": (out_json, "comparison"), "--out-md": (out_md, "markdown")}
            files = targets(written, [a, b], force)
            return max(status, _compare(a, b, graph, tags, as_json, files))
    from py_autodoc.cli.comparing import compare, evaluations_of

    if as_json and out_json is None:
        out_json = STDOUT
    evaluations_of(eval_metrics, (a, b, *others))  # before the models, which take longer
    analyses = _analyses((a, b, *others), chosen, (hardware, precision, runtime))
    outputs = {"--out-json": out_json, "--out-md": out_md, "--out-pdf": out_pdf}
    outputs |= {"--out-svg": out_svg, "--out-png": out_png}
    return max(
        status,
        compare(
            (a, b, *others),
            analyses,
            outputs,
            fail_on,
            weights,
            force,
            direction,
            eval_metrics,
            baseline_precision,
            with_plots,
            assets_dir,
            [path for path in (hardware, data, preprocessing) if path],
            functools.partial(_run_both, samples, seed, chosen) if run else None,
        ),
    )


def _run_both(data: Any, seed: int, chosen: _Sizes, left: str, right: str) -> RunDifference:
    """Run two models once on the same input."""
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.runner.output_difference import run_both

    bindings, shapes = parse_bindings(chosen.bind), parse_input_shapes(chosen.input_shape)
    return run_both(left, right, data, seed=seed, bindings=bindings, input_shapes=shapes)


def _evaluations_apart(
    paths: tuple[str, ...], evaluated: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (models, evaluations): several files may follow one --eval-metrics.

    Raises: OptionError: fewer than two models remain.
    """
    from py_autodoc.compare.run_results import is_evaluation

    models = tuple(path for path in paths if not is_evaluation(path))
    if len(models) < 2:
        message = f"{plural(len(models), 'model')} to compare: the other files are evaluations."
        raise OptionError("too-few-models", message, "Pass at least two models.")
    return models, (*evaluated, *(path for path in paths if path not in models))


def _page(a: str, b: str, out: str, chosen: _Sizes, direction: str, force: bool, read: Sequence[str]) -> int:
    """Write a page with both models. Return the exit status."""
    from py_autodoc.compare.align import align
    from py_autodoc.compare.columns import comparison_columns
    from py_autodoc.render.html import html_page

    if out == STDOUT:
        raise OptionError("beside-to-stdout", "--beside cannot write to stdout.", "Pass a file name.")
    target = targets({"--beside": (out, "html")}, [a, b, *read], force)["--beside"]
    analyses = _analyses((a, b), chosen)
    status = max(
        report_verdict(p, analysis, True, _PARTIAL) for p, analysis in zip((a, b), analyses, strict=True)
    )
    columns = comparison_columns(align(analyses[0], analyses[1]))
    written = target.write(html_page(*analyses, direction=direction, comparison=columns))
    if sys.stderr.isatty():
        stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")
    return status


def _analyses(
    paths: tuple[str, ...], chosen: _Sizes, on: tuple[str, str, str] = ("", "", "")
) -> list[Analysis]:
    """Analyse the models with these dimensions; each gets those that it has.

    Raises: OptionError: no model has one of them.
    """
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.report.pipeline.analysis import Options, run_analysis

    bindings, shapes = parse_bindings(chosen.bind), parse_input_shapes(chosen.input_shape)
    resize = parse_input_shapes(chosen.resize)
    requested = Options(
        bindings,
        shapes,
        chosen.batch_size,
        resize,
        assume=True,
        hardware=on[0],
        precision=on[1],
        runtime=on[2],
    )
    reports = _reports(paths)
    if reports:
        from py_autodoc.compare.stored_report import as_report, restored_analysis, sizes_of

        stored: dict[str, int] = {}
        for report in reports.values():
            stored |= sizes_of(report)
        bindings = {**stored, **bindings}
        requested = replace(requested, bindings=bindings)
    analyses, unused = [], []
    for path in paths:
        if path in reports:
            analyses.append(restored_analysis(reports[path], os.path.basename(path)))
            continue
        with ProgressLine(printable(os.path.basename(path)), None) as line:
            options, ignored = (
                fitting(path, requested) if bindings or shapes or resize else (requested, set())
            )
            analysis = run_analysis(path, options, line.update)
            analyses.append(as_report(analysis) if reports else analysis)
        unused.append(ignored - stored.keys() if reports else ignored)
    unused_by_all = sorted(set.intersection(*unused)) if unused else []
    if unused_by_all:
        names = ", ".join(map(repr, unused_by_all))
        which = "Neither model has" if len(paths) == 2 else "No model has"
        raise OptionError("unknown-symbol", f"{which} {names}.", "Run `analyze` to list the dimensions.")
    return analyses


def _reports(paths: tuple[str, ...]) -> dict[str, Report]:
    """Read the stored reports among the files. Raises: InputError, LimitError, PathError."""
    from py_autodoc.compare.stored_report import is_stored, stored_report

    return {path: stored_report(path) for path in paths if path.lower().endswith(".json") and is_stored(path)}


def _refuse_reports(paths: tuple[str, ...], option: str) -> None:
    """Raise OptionError if one of the files is a report and the option needs models."""
    stored = next(iter(_reports(paths)), None)
    if stored is not None:
        message = f"{option} needs the models; {os.path.basename(stored)} is a report."
        raise OptionError("report-compared", message, "Pass models, or omit the option.")


def _compare(a: str, b: str, graph: str, tags: bool, as_json: bool, outputs: Mapping[str, Target]) -> int:
    """Print or write the differences. Return the exit status."""
    from py_autodoc.compare.tags import compare_tags
    from py_autodoc.tags import load_tags

    differences, left_out = _differences(a, b, graph) if graph else (None, None)
    modules = compare_tags(load_tags(a)[1], load_tags(b)[1]) if tags else None
    weights = graph == "topology" and left_out is None
    document: dict[str, object] = {}
    if differences is not None:
        document |= {"topology": [asdict(difference) for difference in differences], "weights": weights}
    if modules is not None:
        document["tags"] = modules.to_dict()
    lines = _topology(differences, weights) if differences is not None else []
    for option, target in outputs.items():
        if option == "--out-json":
            target.write(json.dumps(document) + "\n")
            continue
        from py_autodoc.compare.module_report import module_sections
        from py_autodoc.outputs.marks import sealed_text
        from py_autodoc.render.markdown import render_sections
        from py_autodoc.render.markdown_text import escape

        names = os.path.basename(a), os.path.basename(b)
        title = f"# {escape(' and '.join(names))}"
        sections = render_sections(module_sections(names, lines, modules))
        target.write(sealed_text(f"{title}\n\n{sections}", "markdown"))
    if as_json and not outputs:
        stdout.as_json(document)
    elif not outputs:
        stdout.lines(lines + (_tags(modules) if modules is not None else []))
    if left_out is not None:
        stderr.error(f"Weights were not compared: {left_out.message}", "Use --structure to ignore weights.")
    if differences or (modules is not None and not modules.equal):
        return DIFFERENT
    return TROUBLE if left_out is not None else 0


def _differences(a: str, b: str, graph: str) -> tuple[list[Difference], InputError | None]:
    """Return the differences, and why requested weights were not compared.

    Raises: InputError: a file cannot be read.
    """
    from py_autodoc.compare.topology import same_topology

    if graph == "structure":
        return same_topology(a, b, weights=False), None
    try:
        return same_topology(a, b), None
    except InputError as fault:
        if not fault.code.startswith("external-"):
            raise
        return same_topology(a, b, weights=False), fault


def _topology(differences: list[Difference], weights: bool) -> list[str]:
    if not differences:
        what = "The graphs are the same: nodes, edges, attributes"
        return [f"{what} and weights." if weights else f"{what}. Weights were not compared."]
    from py_autodoc.compare.topology import LIMIT

    listed = plural(len(differences), "difference")
    if len(differences) >= LIMIT:
        listed = f"the first {listed}"
    return [f"The graphs differ ({listed} listed):", *(f"  {difference}" for difference in differences)]


def _tags(comparison: TagComparison) -> list[str]:
    if comparison.equal:
        return [f"The modules are the same: {comparison.same:,} tags."]
    lines = [f"Tags that are the same: {comparison.same:,}"]
    for title, changes in (
        ("Changed", comparison.changed),
        ("Only in the first", comparison.only_a),
        ("Only in the second", comparison.only_b),
    ):
        if changes:
            lines += [f"{title}: {len(changes):,}", *map(_change, changes)]
    return lines


def _change(change: TagChange) -> str:
    counts = " → ".join("–" if count is None else f"{count:,}" for count in (change.a, change.b))
    operators = ", ".join(f"{name} {count:+,}" for name, count in list(change.operators.items())[:6])
    return f"  {change.tag}  {counts} nodes ({operators})"
