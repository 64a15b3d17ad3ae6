"""``onnx-autodoc validate``."""

from __future__ import annotations

from dataclasses import asdict

import click

from py_autodoc.cli import stdout

_MARKS = {"passed": "ok     ", "failed": "FAILED ", "skipped": "skipped"}


@click.command("validate", short_help="Check a model with its tags, or a JSON report.")
@click.argument("model", type=click.Path(path_type=str))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--require-tags",
    is_flag=True,
    help="Fail without tags, or if over 5 % of the nodes have an unknown module.",
)
def command(model: str, as_json: bool, require_tags: bool) -> int:
    """Check MODEL against ONNX's rules, its tags for consistency, and its sidecar for agreement.

    For a JSON report: check its schema, and that totals match their parts.

    \b
    Exit status: 0 when nothing failed, 1 otherwise.
    """  # noqa: D301 - click's mark for a paragraph that keeps its lines
    from py_autodoc.report.document.validation import is_report, validate_report
    from py_autodoc.tags.validate import FAILED, validate

    checks = validate_report(model) if is_report(model) else validate(model, require_tags=require_tags)
    if as_json:
        stdout.as_json([asdict(check) for check in checks])
    else:
        lines = []
        for check in checks:
            lines.append(f"{_MARKS[check.status]}  {check.name}  {check.detail}".rstrip())
            lines += [f"           {fault}" for fault in check.faults]
            if check.count > len(check.faults):
                lines.append(f"           and {check.count - len(check.faults):,} more")
        stdout.lines(lines)
    return int(any(check.status == FAILED for check in checks))
