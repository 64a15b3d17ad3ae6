"""``onnx-autodoc check``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from py_autodoc.cli import completion, stderr, stdout
from py_autodoc.cli.logs import set_level
from py_autodoc.cli.options import force, hardware, progress_options, risk_option, sizes

if TYPE_CHECKING:
    from py_autodoc.check import CheckResult
    from py_autodoc.render.output_target import Target

_ACTIONS = "GITHUB_ACTIONS"
"""Set to ``true`` by GitHub runners."""


@click.command("check", short_help="Check models against limits and rules, for CI.")
@click.argument("models", metavar="MODEL…", type=click.Path(path_type=str), nargs=-1)
@click.option("--max-params", metavar="N", help="Maximum parameters, such as 100M.")
@click.option("--max-macs", metavar="N", help="Maximum MACs per inference, such as 5G.")
@click.option("--max-flops", metavar="N", help="Maximum FLOPs per inference, such as 10G.")
@click.option(
    "--max-peak-memory", metavar="SIZE", help="Maximum memory for live activations, such as 512MiB."
)
@click.option("--max-weights", metavar="SIZE", help="Maximum size of all weights, such as 100MB.")
@click.option("--max-size", metavar="SIZE", help="Maximum size of the file, including external weights.")
@click.option("--max-latency", metavar="TIME", help="Maximum estimated latency on --hardware, such as 10ms.")
@risk_option()
@click.option(
    "--fail-on",
    metavar="SEVERITY|CONDITION",
    multiple=True,
    help="Fail on findings of this severity or worse (info, low, medium, high); with --baseline also on "
    "new-findings or a condition of `compare`, such as architecture or 'macs>+5%'. Repeatable.",
)
@click.option(
    "--ignore",
    metavar="RULE",
    multiple=True,
    shell_complete=completion.rules,
    help="Accept the findings of a rule. Repeatable.",
)
@click.option(
    "--forbid-op",
    metavar="OP",
    multiple=True,
    help="Fail on this operator: Loop, 'com.microsoft::*', '*Norm*'. Repeatable.",
)
@click.option(
    "--allow-op", metavar="OP", multiple=True, help="Fail on operators that no --allow-op names. Repeatable."
)
@click.option(
    "--require",
    metavar="FACT",
    multiple=True,
    help="Fail unless this holds: 'opset>=17', 'precision=int8', runs, fits, static. Repeatable.",
)
@click.option(
    "--where",
    metavar="QUERY",
    help="Apply --max-params, --max-macs, --max-flops, --max-weights, --forbid-op, --allow-op and --fail-on "
    "only to the nodes that match: 'op=Conv & macs>1e8'.",
)
@click.option("--baseline", metavar="REPORT.json|MODEL", help="Fail if the model is worse than this one.")
@click.option(
    "--tolerance",
    metavar="N%|NAME=N%",
    multiple=True,
    help="Accepted growth over the baseline, for all figures or for one: 5%, macs=2%. Repeatable.",
)
@click.option(
    "--policy",
    metavar="FILE",
    shell_complete=completion.files,
    help="Read the rules from a policy file (default: autodoc.toml in the current folder).",
)
@click.option("--no-policy", is_flag=True, help="Do not read autodoc.toml.")
@click.option(
    "--unknown",
    type=click.Choice(["fail", "warn"]),
    help="What to do if a figure is unknown: fail (default) or warn.",
)
@click.option("--junit", metavar="PATH", help="Write the result as JUnit XML (- for stdout).")
@click.option("--sarif", metavar="PATH", help="Write the result as SARIF 2.1.0 (- for stdout).")
@click.option("--out-json", metavar="PATH", help="Write the result as JSON (- for stdout).")
@click.option(
    "--annotations/--no-annotations",
    default=None,
    help="Print annotations for GitHub Actions (default: if GITHUB_ACTIONS is true).",
)
@click.option("--all", "every", is_flag=True, help="Also list the checks that pass.")
@sizes("result")
@hardware
@force
@progress_options
def command(models: tuple[str, ...], log_level: str, progress: bool | None, **options: Any) -> int:
    """Check MODEL, a file, a folder or a pattern such as 'models/**/*.onnx', against limits and rules.

    \b
        onnx-autodoc check model.onnx --max-macs 5G --max-weights 100MB --fail-on high
        onnx-autodoc check model.onnx --max-latency 10ms --hardware l4 --require 'opset>=17'
        onnx-autodoc check 'models/*.onnx' --forbid-op Loop,'com.microsoft::*' --sarif check.sarif
        onnx-autodoc check model.onnx --baseline report.json --tolerance 5% --fail-on new-findings

    A limit is not met if its figure is unknown.

    \b
    Exit status: 0 every model passes, 1 invalid input, 2 the analysis failed, 3 a result could not be
    written, 5 a model does not pass. Several models: the highest status.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    set_level(log_level)
    from py_autodoc.check.run import highest_status, plan, read_baseline
    from py_autodoc.cli.checking import Analyser, given_policy, models_of
    from py_autodoc.render.output_target import targets

    policy, source = given_policy(options)
    checks = plan(policy)
    files = models_of(models, policy)
    base = policy.baseline
    kinds = {"--junit": "junit", "--sarif": "sarif", "--out-json": "check"}
    requested = {
        option: (options[option.strip("-").replace("-", "_")], kind) for option, kind in kinds.items()
    }
    inputs = [*files, source or "", base.file if base is not None else "", policy.hardware]
    outputs = targets(requested, inputs, options["force"])
    if source and not options["policy"]:
        stderr.note(f"Policy: {source}")
    analyse = Analyser(checks.options, progress)
    checks = checks.with_baseline(None if base is None else read_baseline(base.file, analyse.run))
    results = _checked(files, checks, analyse.run, outputs, options["every"])
    analyse.warn_unused()
    _write(results, outputs)
    _annotate(results, outputs, options["annotations"])
    return highest_status(results)


def _checked(
    files: list[str], checks: Any, run: Any, outputs: dict[str, Target], show_passed: bool
) -> list[CheckResult]:
    """Check all models; print each result at once unless a document goes to stdout."""
    from py_autodoc.check.formats.text import lines, summary
    from py_autodoc.check.run import checked

    printed = any(target.to_stdout for target in outputs.values())
    results = []
    for file in files:
        result = checked(file, checks, run)
        if result.fault is not None and printed:
            stderr.error(result.fault.message, result.fault.hint)
        if not printed:
            stdout.lines(lines(result, show_passed))
        results.append(result)
    if not printed and len(results) > 1:
        stdout.lines([summary(results)])
    return results


def _write(results: list[CheckResult], outputs: dict[str, Target]) -> None:
    for option, target in outputs.items():
        written = target.write(_document(option, results, target.to_stdout))
        if not target.to_stdout and sys.stderr.isatty():
            stderr.note(f"Wrote {target.display_name} ({written:,} bytes).")


def _document(option: str, results: list[CheckResult], printed: bool) -> str:
    if option == "--junit":
        from py_autodoc.check.formats.junit import junit

        return junit(results)
    if option == "--sarif":
        from py_autodoc.check.formats.sarif import sarif

        return sarif(results)
    from py_autodoc.check.formats.document import document

    return document(results, printed)


def _annotate(results: list[CheckResult], outputs: dict[str, Target], enabled: bool | None) -> None:
    """Print annotations on stdout, or on stderr (which runners also read) if a document goes to stdout."""
    if not (os.environ.get(_ACTIONS) == "true" if enabled is None else enabled):
        return
    from py_autodoc.check.formats.github import workflow_commands

    annotations = workflow_commands(results)
    if any(target.to_stdout for target in outputs.values()):
        for line in annotations:
            stderr.command(line)
    else:
        stdout.commands(annotations)
