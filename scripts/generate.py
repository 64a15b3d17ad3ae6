#!/usr/bin/env python3
"""Writes every generated file of the repository, or (``--check``) fails when one of them is stale.

py_autodoc/report/report.schema.json   JSON Schema of the report, shipped in the wheel
py_autodoc/compare/comparison.schema.json   JSON Schema of a comparison, shipped in the wheel
py_autodoc/opdocs/operations.schema.json   JSON Schema of an operation reference, shipped in the wheel
src/schema/openapi.json                OpenAPI 3.1: routes and wire types
src/schema/api.d.ts                    TypeScript of the above, by openapi-typescript
src/schema/metrics.ts                  the table of metrics, for the viewer
schema/plugin.json                     the heatmaps among JupyterLab's settings
docs/report.md                         field reference
docs/metrics.md                        every metric and where it is shown
docs/rules/*.md                        one page a rule, and their list
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from metrics_docs import metrics_page  # noqa: E402
from metrics_ts import metrics_module, plugin_settings  # noqa: E402
from report_docs import report_page  # noqa: E402
from rule_docs import rule_pages  # noqa: E402

from py_autodoc.compare.contract import comparison_schema  # noqa: E402
from py_autodoc.opdocs.contract import operations_schema  # noqa: E402
from py_autodoc.report.openapi_spec.openapi import openapi_document, report_schema  # noqa: E402
from py_autodoc.report.openapi_spec.operations import OPERATIONS  # noqa: E402

OPENAPI = ROOT / "src/schema/openapi.json"
METRICS = ROOT / "src/schema/metrics.ts"
PLUGIN = ROOT / "schema/plugin.json"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is stale")
    check = parser.parse_args().check
    openapi = prettier("src/schema/openapi.json", pretty(openapi_document(OPERATIONS)))
    outputs: list[tuple[Path, Callable[[], str]]] = [
        (ROOT / "py_autodoc/report/report.schema.json", lambda: pretty(report_schema())),
        (ROOT / "py_autodoc/compare/comparison.schema.json", lambda: pretty(comparison_schema())),
        (ROOT / "py_autodoc/opdocs/operations.schema.json", lambda: pretty(operations_schema())),
        (OPENAPI, lambda: openapi),
        (ROOT / "src/schema/api.d.ts", lambda: typescript(openapi)),
        (METRICS, lambda: prettier("src/schema/metrics.ts", metrics_module())),
        (PLUGIN, lambda: prettier("schema/plugin.json", plugin_settings(PLUGIN.read_text(encoding="utf-8")))),
        (ROOT / "docs/report.md", report_page),
        (ROOT / "docs/metrics.md", metrics_page),
    ]
    pages = rule_pages()
    outputs += [(ROOT / "docs/rules" / name, lambda text=text: text) for name, text in pages.items()]
    stale = [path for path, make in outputs if not refresh(path, make(), check)]
    stale += orphans(ROOT / "docs/rules", set(pages), check)
    for path in stale:
        print(f"{'stale' if check else 'wrote'} {path.relative_to(ROOT)}")
    if check and stale:
        print("run scripts/generate.py and commit the result", file=sys.stderr)
        return 1
    return 0


def pretty(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def refresh(path: Path, text: str, check: bool) -> bool:
    """True when the file already says ``text``; writes it otherwise unless ``check``."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return True
    if not check:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return False


def orphans(folder: Path, names: set[str], check: bool) -> list[Path]:
    """Pages of things that are no more; deleted unless ``check``."""
    found = [path for path in sorted(folder.glob("*.md")) if path.name not in names]
    if not check:
        for path in found:
            path.unlink()
    return found


def typescript(openapi: str) -> str:
    """The declarations of an OpenAPI document, formatted like the rest of ``src``."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "openapi.json"), Path(folder, "api.d.ts")
        source.write_text(openapi, encoding="utf-8")
        run("openapi-typescript", str(source), "-o", str(target))
        return prettier("src/schema/api.d.ts", target.read_text(encoding="utf-8"))


def prettier(name: str, text: str) -> str:
    """``text`` formatted as the repository formats a file of that name."""
    return run("prettier", "--stdin-filepath", name, stdin=text)


def run(tool: str, *args: str, stdin: str | None = None) -> str:
    binary = ROOT / "node_modules/.bin" / tool
    if not binary.exists():
        sys.exit(f"{tool} is missing: run `jlpm install` first")
    done = subprocess.run([binary, *args], cwd=ROOT, input=stdin, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{tool} failed:\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
