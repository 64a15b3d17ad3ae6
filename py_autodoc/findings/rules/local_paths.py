r"""Paths of the exporting machine and stack traces in the model's text.

What it finds:
Paths below a home folder (`/home/…`, `/Users/…`, `C:\Users\…`) and `/root/…` in doc strings and in the
metadata of the model and of its nodes: `low` where the user may be a person, `info` for generic accounts
(`ubuntu`, `runner`, `root`). The user name is never repeated. Also, as `info`, the stack traces that
torch.onnx stores in nodes, from `min_trace_bytes` in total.

Why it matters:
A published model reveals who made it, on which machine and with which source files; a stack trace quotes
lines of the source. The traces are also read and parsed on every load.

Example:
`pkg.torch.onnx.stack_trace: File "/home/<user>/secret-project/net.py", line 41, in forward …` on each of
371 nodes.

Instead:
Clear the text before publishing: `del node.metadata_props[:]`, `node.doc_string = ""` for every node, and
the same for `model.metadata_props`. Keep `pkg.torch.onnx.name_scopes` and `class_hierarchy` when the module
tree should stay visible.

References:
[ONNX metadata properties](https://onnx.ai/onnx/repo-docs/MetadataProps.html); [onnx.proto: doc_string,
metadata_props](https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
"""

from __future__ import annotations

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule
from py_autodoc.graph.ir.model import LocalPaths
from py_autodoc.units import plural, size

MAX_PLACES = 20


@rule("local-paths", "Local paths and stack traces", ("low", "info"), min_trace_bytes=65_536)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """Report one finding on personal paths, one on other paths and one on stack traces."""
    texts = ctx.model.texts
    personal = [entry for entry in texts.paths if entry.person]
    impersonal = [entry for entry in texts.paths if not entry.person]
    if personal:
        yield _paths("low", personal, "with the name of a user")
    if impersonal:
        yield _paths("info", impersonal, "of the machine that made it")
    if texts.stack_traces and texts.stack_trace_bytes >= ctx.thresholds["local-paths"]["min_trace_bytes"]:
        yield Finding(
            "info",
            f"{plural(texts.stack_traces, 'node')} carry the exporter's stack trace, "
            f"{size(texts.stack_trace_bytes)} of text that quotes source code.",
            "Delete the stack traces before publishing the model.",
            evidence={
                "trace_nodes": texts.stack_traces,
                "trace_bytes": texts.stack_trace_bytes,
                "structure_bytes": ctx.model.file.structure_bytes,
            },
        )


def _paths(severity: str, entries: list[LocalPaths], subject: str) -> Finding:
    count = sum(entry.count for entry in entries)
    locations = sorted({entry.place for entry in entries})
    named = ", ".join(locations[:3]) + (" …" if len(locations) > 3 else "")
    verb = "holds a path" if count == 1 else "hold paths"
    return Finding(
        severity,
        f"{plural(count, 'text')} of the model {verb} {subject} (in {named}).",
        "Clear or rewrite these texts before publishing the model.",
        evidence={
            "texts": count,
            "places": locations[:MAX_PLACES],
            "forms": sorted({entry.form for entry in entries})[:MAX_PLACES],
        },
    )
