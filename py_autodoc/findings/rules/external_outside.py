"""Weights that the model reads from outside its own folder.

What it finds:
External data whose location is absolute or outside the folder of the model, also through links: `high`.
ONNX Autodoc never opens such a file, not even with `--read-weights`.

Why it matters:
The file breaks as soon as it is copied to another machine, and current onnx and ONNX Runtime refuse to load
it: a location like `../../etc/passwd` let older releases read any file (CVE-2024-27318).

Example:
`location: /data/exports/weights.bin`, written by a script that saved with an absolute path.

Instead:
Save the model and its data in one folder, with the data's plain file name as location: `onnx.save(model,
"m.onnx", save_as_external_data=True, location="m.onnx.data")`.

References:
[ONNX external data](https://onnx.ai/onnx/repo-docs/ExternalData.html);
[CVE-2024-27318](https://nvd.nist.gov/vuln/detail/CVE-2024-27318).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.units import plural

CODE = "external-outside"
"""Code of the diagnostic from loading: one per file (at most 20, and one that counts the others)."""


@rule("external-outside", "External data outside the model's folder", ("high",))
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report at most one finding."""
    notes = [note for note in ctx.diagnostics if note.code == CODE]
    files = [note.where for note in notes if note.where]
    if not notes:
        return
    more = len(files) < len(notes)
    count_text = f"more than {len(files):,} files" if more else plural(len(files), "file")
    yield Finding(
        "high",
        f"Weights are in {count_text} outside the model's folder; runtimes refuse to load them.",
        "Save the model again with its external data next to it, under a plain file name.",
        evidence={"files": len(files), "complete": not more, "names": files[:20]},
    )
