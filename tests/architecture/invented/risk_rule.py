"""A layer that wobbles.

What it finds:
Nodes called Wobble.

Why it matters:
Nobody else has them.

Example:
The model of this test.

Instead:
Take a sine.

References:
None.
"""

from collections.abc import Iterator

from py_autodoc.findings.registry import Finding, RuleContext, rule


@rule("invented-wobble", "A layer that wobbles", ("low",), most=0)
def check(ctx: RuleContext) -> Iterator[Finding]:
    """One finding for all."""
    found = [node.id for node in ctx.model.nodes if node.op_type == "Wobble"]
    if len(found) > ctx.thresholds["invented-wobble"]["most"]:
        count = len(found)
        yield Finding("low", f"{count} nodes wobble.", "Take a sine.", tuple(found), {"count": count})
