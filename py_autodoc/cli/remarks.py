"""What a reader of a file or a pipe does not see: what the numbers leave out, a line each on stderr."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.dim_bindings import Symbol
from py_autodoc.units import plural, share

_REASONS = 2
"""Reasons that are named."""
_FREE = 3
"""Dimensions that are named."""
MISSING = "external-missing"


def remarks(analysis: Analysis) -> Iterator[str]:
    """Coverage below 100 %, its largest reasons and the way out; files with weights that are missing."""
    if analysis.partial:
        return  # that much more is missing, and said
    name, sums = analysis.model.file.name, analysis.totals
    if sums.nodes_known < sums.nodes_total:
        known = f"{sums.nodes_known:,} of {plural(sums.nodes_total, 'node')}"
        ranked = sorted(sums.reasons.items(), key=lambda item: -item[1])
        why = "; ".join(f"{plural(count, 'node')}: {reason}" for reason, count in ranked[:_REASONS])
        free = [one for one in analysis.dims.symbols if one.value is None]
        way = _way_out(free) if free else ""
        shown = share(sums.nodes_known, sums.nodes_total)
        yield f"{name}: costs are known for {known} ({shown}); {why}.{way}"
    missing = [note for note in analysis.diagnostics if note.code == MISSING]
    if missing:
        where = list(dict.fromkeys(note.where for note in missing if note.where))
        more = f" and {len(where) - 1:,} more" if len(where) > 1 else ""
        files = f" ({where[0]}{more})" if where else ""
        yield f"{name}: weights are missing{files}; shapes and costs do not need them."


def _way_out(free: Sequence[Symbol]) -> str:
    """The options that give the free dimensions a size; only sizes that were found to fit are named."""
    if any(one.suggested is None for one in free):
        names = ", ".join(one.name for one in free[:_FREE])
        return f" Give sizes with --bind: {names}{' …' if len(free) > _FREE else ''}."
    flags = " ".join(f"--bind {quote(f'{one.name}={one.suggested}')}" for one in free[:_FREE])
    return f" Give sizes: {flags}{' …' if len(free) > _FREE else ''} (or --assume)."
