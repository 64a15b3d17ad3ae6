"""``onnx-autodoc analyze``."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import click

from py_autodoc.cli import stderr, stdout
from py_autodoc.cli.completion import files
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, hardware, progress_options, sizes
from py_autodoc.cli.progress import ProgressLine
from py_autodoc.cli.verdict import report_verdict
from py_autodoc.errors import AutodocError, OptionError, OutputError, RequirementError, ServiceError
from py_autodoc.render.output_target import Target, pieces_to_stdout, targets, to_stdout
from py_autodoc.render.terminal_text import printable

if TYPE_CHECKING:
    from py_autodoc.cli.documents import Documents
    from py_autodoc.cli.many import ModelOutcome
    from py_autodoc.llm_summary import Endpoint
    from py_autodoc.report.document.report import Report
    from py_autodoc.report.pipeline.analysis import Analysis, Options
    from py_autodoc.report.schema import CardFacts, LlmSummary, SystemRequirements

PARTIAL = 2
"""Exit status if a stage failed; the report says so."""
NOT_WRITTEN = 3
"""Exit status if a document could not be made; all else is written."""
NO_SUMMARY = 4
"""Exit status if the language model returned no summary."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _AnalyzeRequest:
    """The options as given."""

    models: tuple[str, ...]
    out_json: str | None
    out_csv: str | None
    out_html: str | None
    out_md: str | None
    out_pdf: str | None
    sensitivity: str | None
    requirements: str | None
    card: str | None
    owner: str | None
    intended_use: str | None
    limitation: tuple[str, ...]
    evaluation: tuple[str, ...]
    price_per_hour: float | None
    llm_summary: bool
    llm_url: str | None
    llm_model: str | None
    llm_api: str | None
    redact_names: bool
    update: str | None
    assets_dir: str | None
    with_plots: bool
    bind: tuple[str, ...]
    input_shape: tuple[str, ...]
    batch_size: int | None
    resize: tuple[str, ...]
    assume: bool
    pretty: bool
    max_layers: int | None
    thresholds: str | None
    read_weights: bool
    hash: bool
    findings: bool
    hardware: str
    precision: str
    runtime: str
    force: bool
    progress: bool | None


@dataclass(frozen=True)
class _Result:
    """The results; the report is built on demand, because a page does not need it."""

    analysis: Analysis
    max_layers: int | None
    written: LlmSummary | None = None
    """Summary by a language model."""

    @cached_property
    def report(self) -> Report:
        """Return the requested report."""
        from py_autodoc.report.document.build_report import build_report

        report = build_report(self.analysis, self.max_layers)
        if self.written is None:
            return report
        from msgspec.structs import replace

        return replace(report, llm_summary=self.written)


@click.command("analyze", short_help="Analyse a model: architecture, parameters, MACs, memory, findings.")
@click.argument("models", metavar="MODEL…", type=click.Path(path_type=str), nargs=-1, required=True)
@click.option("--out-json", metavar="PATH", help="Write the report as JSON (- for stdout).")
@click.option("--out-csv", metavar="PATH", help="Write the table of layers as CSV (- for stdout).")
@click.option(
    "--out-html",
    metavar="PATH",
    help="Write the viewer and the model to one offline HTML file (- for stdout).",
)
@click.option("--out-md", metavar="PATH", help="Write the report as a model card in Markdown (- for stdout).")
@click.option("--out-pdf", metavar="PATH", help="Write the report as PDF; needs onnx-autodoc[pdf].")
@click.option(
    "--update",
    metavar="FILE",
    shell_complete=files,
    help="Insert the report between the marker lines of a Markdown file, such as a README.",
)
@click.option("--assets-dir", metavar="DIR", help="Folder for images of the graph, which the Markdown shows.")
@click.option(
    "--with-plots",
    is_flag=True,
    help="Draw plots for --assets-dir and --out-pdf; needs onnx-autodoc[plots].",
)
@click.option(
    "--llm-summary",
    is_flag=True,
    help="Ask a language model for a summary of the report; needs onnx-autodoc[llm].",
)
@click.option(
    "--llm-url", metavar="URL", help="URL of the service, https://HOST (default: ONNX_AUTODOC_LLM_URL)."
)
@click.option("--llm-model", metavar="NAME", help="Language model to use (default: ONNX_AUTODOC_LLM_MODEL).")
@click.option(
    "--llm-api",
    type=click.Choice(["messages", "chat"]),
    help="API of the service: /v1/messages or /v1/chat/completions.",
)
@click.option("--redact-names", is_flag=True, help="With --llm-summary, send no names or texts of the model.")
@click.option("--pretty", is_flag=True, help="Indent the JSON.")
@sizes("report")
@click.option(
    "--max-layers",
    metavar="N",
    type=click.IntRange(min=0),
    help="List only the N layers with the most FLOPs; totals stay complete.",
)
@click.option(
    "--thresholds",
    metavar="FILE",
    shell_complete=files,
    help="TOML or JSON file that changes the rules' thresholds and severities, or disables rules.",
)
@click.option(
    "--read-weights",
    is_flag=True,
    help="Read all weights, for the rules about their values (NaN, all zero, duplicates).",
)
@click.option(
    "--sensitivity",
    metavar="FILE",
    shell_complete=files,
    help="Add recommendations for quantization from the JSON of `sensitivity`.",
)
@click.option(
    "--requirements",
    metavar="FILE",
    shell_complete=files,
    help="Add the system requirements from the JSON of `recommend`.",
)
@click.option(
    "--card",
    metavar="FILE",
    shell_complete=files,
    help="Add what its owner states in [card] of a TOML file (default: autodoc.toml, if it has one).",
)
@click.option("--owner", metavar="TEXT", help="Owner of the model, for the card.")
@click.option("--intended-use", metavar="TEXT", help="Intended use of the model, for the card.")
@click.option("--limitation", metavar="TEXT", multiple=True, help="A known limit. Repeatable.")
@click.option(
    "--evaluation",
    metavar="METRIC[@DATA]=VALUE",
    multiple=True,
    help="A result of the model, for the card. Repeatable.",
)
@click.option(
    "--price-per-hour",
    metavar="USD",
    type=float,
    help="Price of the device (default: the cheapest cloud instance with one).",
)
@click.option(
    "--hash", is_flag=True, help="Report the SHA-256 of the file, and of the files with its weights."
)
@click.option("--findings", is_flag=True, help="List all findings with their nodes instead of counting them.")
@hardware
@force
@progress_options
def command(log_level: str, **options: object) -> int:
    """Describe MODEL and its costs from its structure; its weights are read only on request.

    Without an output option, prints a summary on a terminal, and the JSON report otherwise.

    Several models, or folders of .onnx files, are printed as one line each on a terminal, and as one JSON
    object per line otherwise; --out-json and --out-csv contain all of them.

    \b
    Exit status: 0 success, 1 invalid input, 2 the model cannot run with these dimensions or part of the
    analysis failed (the report is partial), 3 a result could not be written, 4 the language model returned
    no summary (all else is complete). Several models: the worst status.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    return _run(_AnalyzeRequest(**options))  # type: ignore[arg-type]


def _run(request: _AnalyzeRequest) -> int:
    first = request.models[0]
    if len(request.models) > 1 or os.path.isdir(first):
        return _run_all(request)
    outputs = _targets(request, [first])
    documents = _documents(request, outputs)
    service = _service(request)
    measured = None
    if request.sensitivity is not None:
        from py_autodoc.sensitivity.advice import read_sensitivity, with_advice

        measured = read_sensitivity(request.sensitivity)
    stated = _stated(request)
    analysis = _analyze(request, first)
    if measured is not None:
        analysis = with_advice(analysis, measured)
    analysis = stated.added(analysis, with_serving=documents is not None)
    status = _verdict(request, first, analysis)
    written = _written(request, analysis, service)
    result = _Result(analysis, request.max_layers, written)
    if documents:
        for path, size in documents.write(result.analysis, result.report, request.max_layers):
            _note_written(path, size)
    if outputs or request.findings or not documents:
        _output(request, result, outputs, remark=status == 0)
    elif status == 0:
        _remarks(result.analysis)
    if documents is not None and documents.failed:
        for fault in documents.failed:
            stderr.error(fault.message, fault.hint)
        status = max(status, NOT_WRITTEN)
    if service is not None and written is None:
        status = max(status, NO_SUMMARY)
    return status


@dataclass(frozen=True)
class _Stated:
    """Facts about a model that its file lacks: card, requirements and price, read before the analysis."""

    card: CardFacts | None
    requirements: SystemRequirements | None
    price: float | None

    def added(self, analysis: Analysis, with_serving: bool) -> Analysis:
        """Return the analysis with these statements, and with text generation for documents."""
        from dataclasses import replace

        if self.price is not None and analysis.hardware is not None:
            analysis = replace(analysis, hardware=replace(analysis.hardware, usd_per_hour=self.price))
        serving = None
        if with_serving and analysis.hardware is not None:
            from py_autodoc.llm.for_card import serving_summary

            serving = serving_summary(analysis, price=self.price)
        return replace(analysis, card=self.card, requirements=self.requirements, serving=serving)


def _stated(request: _AnalyzeRequest) -> _Stated:
    """Return the statements. Raises: PathError, OptionError."""
    from py_autodoc.cli.axes import positive
    from py_autodoc.report.pipeline.card_facts import card_facts

    price = positive(request.price_per_hour, "--price-per-hour")
    if price is not None and not request.hardware:
        raise OptionError("hardware-missing", "A price needs a device.", "Add --hardware ID.")
    texts = {"owner": request.owner or "", "intended_use": request.intended_use or ""}
    facts = card_facts(request.card, texts, request.limitation, request.evaluation)
    requirements = None
    if request.requirements is not None:
        from py_autodoc.recommend.for_card import read_requirements

        requirements = read_requirements(request.requirements)
    return _Stated(facts, requirements, price)


def _service(request: _AnalyzeRequest) -> Endpoint | AutodocError | None:
    """Return the language model to ask, or why there is none, if one is requested.

    A model that is not configured loses only the summary. Raises: OptionError: an option is invalid.
    """
    if not request.llm_summary:
        values = {
            "--llm-url": request.llm_url,
            "--llm-model": request.llm_model,
            "--llm-api": request.llm_api,
            "--redact-names": request.redact_names,
        }
        for option in (option for option, value in values.items() if value):
            raise OptionError("no-llm-summary", f"{option} is for --llm-summary.", "Add --llm-summary.")
        return None
    from py_autodoc.llm_summary import UNCONFIGURED, endpoint

    try:
        return endpoint(os.environ, request.llm_url, request.llm_model, request.llm_api)
    except RequirementError as fault:
        return fault
    except OptionError as fault:
        if fault.code not in UNCONFIGURED:
            raise
        return fault


def _written(
    request: _AnalyzeRequest, analysis: Analysis, service: Endpoint | AutodocError | None
) -> LlmSummary | None:
    """Return the summary of the language model; if it fails, report the error and return None."""
    if service is None:
        return None
    if isinstance(service, AutodocError):
        stderr.error(service.message, service.hint)
        return None
    from py_autodoc.llm_summary import summarize
    from py_autodoc.report.document.build_report import build_report

    try:
        with ProgressLine(service.host, request.progress) as line:
            line.update("summary", 0, 1)
            return summarize(build_report(analysis), service, request.redact_names)
    except ServiceError as fault:
        stderr.error(fault.message, fault.hint)
        return None


def _documents(request: _AnalyzeRequest, outputs: dict[str, Target]) -> Documents | None:
    """Return the requested documents, if any."""
    if not any((request.out_md, request.out_pdf, request.update, request.assets_dir, request.with_plots)):
        return None
    from py_autodoc.cli.documents import requested_documents

    inputs = [request.models[0], request.thresholds or "", request.sensitivity or "", request.hardware]
    inputs += [request.requirements or "", request.card or ""]
    return requested_documents(
        outputs, request.update, request.assets_dir, request.with_plots, inputs, request.force
    )


def _verdict(request: _AnalyzeRequest, model: str, analysis: Analysis) -> int:
    """Return the exit status if the model cannot run or the analysis is incomplete, and report the reason."""
    sized = bool(
        request.bind
        or request.input_shape
        or request.batch_size is not None
        or request.resize
        or request.assume
    )
    return report_verdict(model, analysis, sized)


def _output(request: _AnalyzeRequest, result: _Result, outputs: dict[str, Target], remark: bool) -> None:
    """Output the results of one model; mention what they omit if no summary does."""
    _write(result, outputs, request.pretty)
    if not outputs and sys.stdout.isatty():
        from py_autodoc.cli.summary import print_summary

        print_summary(result.report, findings=request.findings)
        return
    if request.findings and not any(target.to_stdout for target in outputs.values()):
        from py_autodoc.cli.findings_lines import findings_text

        stdout.lines(findings_text(result.report))
    elif not outputs:
        pieces_to_stdout(_pieces(result, request.pretty), json=True)
    if remark:
        _remarks(result.analysis)


def _remarks(analysis: Analysis) -> None:
    from py_autodoc.cli.remarks import remarks

    for line in remarks(analysis):
        stderr.warning(line)


def _run_all(request: _AnalyzeRequest) -> int:
    """Analyse several models independently, and output results as they become available."""
    from py_autodoc.cli.many import OutcomeLines, json_line, model_files, table_csv

    alone = {
        "--out-html": request.out_html,
        "--out-md": request.out_md,
        "--out-pdf": request.out_pdf,
        "--llm-summary": request.llm_summary,
        "--sensitivity": request.sensitivity,
        "--requirements": request.requirements,
        "--card": request.card,
        "--owner": request.owner,
        "--intended-use": request.intended_use,
        "--limitation": request.limitation,
        "--evaluation": request.evaluation,
        "--price-per-hour": request.price_per_hour,
        "--update": request.update,
        "--assets-dir": request.assets_dir,
        "--with-plots": request.with_plots,
        "--findings": request.findings,
    }
    for option in (option for option, value in alone.items() if value):
        raise OptionError("one-model-only", f"{option} is for one model.", "Pass only one model.")
    _options(request)  # invalid options are invalid for every model
    files = model_files(request.models)
    outputs, outcomes = _targets(request, files), []
    terminal = not outputs and sys.stdout.isatty()
    lines = OutcomeLines(files)
    if terminal:
        stdout.lines([lines.head()])
    for outcome in _outcomes(request, files):
        if terminal:
            stdout.lines([lines.of(outcome)])
        elif not outputs:
            to_stdout(json_line(outcome), json=True)
        outcomes.append(outcome)
    for option, target in outputs.items():
        target.write(table_csv(outcomes) if option == "--out-csv" else "".join(map(json_line, outcomes)))
    return max(outcome.status for outcome in outcomes)


def _outcomes(request: _AnalyzeRequest, files: list[str]) -> Iterator[ModelOutcome]:
    """Yield the outcome of each file; an invalid one does not stop the others."""
    from py_autodoc.cli.many import ModelOutcome

    for file in files:
        try:
            result = _Result(_analyze(request, file), request.max_layers)
            status = _verdict(request, file, result.analysis)
            yield ModelOutcome(file, status, result.report)
        except OutputError:
            raise
        except AutodocError as error:
            stderr.error(_named(file, error.message), error.hint)
            yield ModelOutcome(file, error.exit_status, None, error.code, error.message)
        except MemoryError:
            message = f"{file}: the analysis ran out of memory."
            stderr.error(message)
            yield ModelOutcome(file, PARTIAL, None, "memory", message)
        except Exception as fault:
            log.debug("%s failed", file, exc_info=True)
            message = f"{file}: the analysis failed because of an internal error ({type(fault).__name__})."
            stderr.error(message, "Analyse it alone with --log-level debug, and please report it.")
            yield ModelOutcome(file, PARTIAL, None, "internal", message)


def _named(file: str, message: str) -> str:
    """Add the file's path to the message: with several files the base name may be ambiguous."""
    return message if file in message else f"{file}: {message.removeprefix(f'{os.path.basename(file)}: ')}"


def _targets(request: _AnalyzeRequest, files: list[str]) -> dict[str, Target]:
    """Return the outputs by option, checked."""
    return targets(
        {
            "--out-json": (request.out_json, "report"),
            "--out-csv": (request.out_csv, "csv"),
            "--out-html": (request.out_html, "html"),
            "--out-md": (request.out_md, "markdown"),
            "--out-pdf": (request.out_pdf, "pdf"),
        },
        [*files, request.thresholds or "", request.hardware],
        request.force,
    )


def _options(request: _AnalyzeRequest) -> Options:
    from py_autodoc.findings.thresholds import settings
    from py_autodoc.graph.symbolic_dims.dim_names import parse_bindings, parse_input_shapes
    from py_autodoc.report.pipeline.analysis import Options

    return Options(
        bindings=parse_bindings(request.bind),
        input_shapes=parse_input_shapes(request.input_shape),
        batch_size=request.batch_size,
        resize=parse_input_shapes(request.resize),
        assume=request.assume,
        thresholds=settings(request.thresholds),
        read_weights=request.read_weights,
        hash=request.hash,
        hardware=request.hardware,
        precision=request.precision,
        runtime=request.runtime,
    )


def _analyze(request: _AnalyzeRequest, model: str) -> Analysis:
    from py_autodoc.report.pipeline.analysis import run_analysis

    options = _options(request)
    with ProgressLine(printable(os.path.basename(model)), request.progress) as progress:
        return run_analysis(model, options, progress.update)


def _pieces(result: _Result, pretty: bool) -> Iterator[bytes]:
    """Yield the report as JSON in pieces, to limit memory use."""
    from py_autodoc.report.document.report_stream import report_pieces

    return report_pieces(result.analysis, result.max_layers, pretty, result.written)


def _write(result: _Result, outputs: dict[str, Target], pretty: bool) -> None:
    for option, target in outputs.items():
        if option == "--out-json":
            written = target.write_pieces(_pieces(result, pretty))
        else:
            written = target.write(_text(option.removeprefix("--out-"), result))
        if not target.to_stdout:
            _note_written(target.display_name, written)


def _note_written(path: str, size: int) -> None:
    if sys.stderr.isatty():
        stderr.note(f"Wrote {path} ({size:,} bytes).")


def _text(kind: str, result: _Result) -> str:
    """Return the content for an output of this kind."""
    if kind == "csv":
        from py_autodoc.render.csv import layers_csv

        return layers_csv(result.report)
    from py_autodoc.render.html import html_page

    return html_page(result.analysis)
