"""Limitations of the results, one line each on stderr, for readers of a file or a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import quote

from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.pipeline.dim_bindings import Symbol
from py_autodoc.units import plural, share

_REASONS = 2
"""Maximum number of reasons named."""
_FREE = 3
"""Maximum number of dimensions named."""
MISSING = "external-missing"


def remarks(analysis: Analysis) -> Iterator[str]:
    """Yield incomplete coverage with its main reasons and a remedy, and missing weight files."""
    if analysis.partial:
        return  # the totals are missing entirely, which is reported already
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
    """Return the options that set the symbolic dimensions; only values that fit the model are suggested."""
    if any(one.suggested is None for one in free):
        names = ", ".join(one.name for one in free[:_FREE])
        return f" Give sizes with --bind: {names}{' …' if len(free) > _FREE else ''}."
    flags = " ".join(f"--bind {quote(f'{one.name}={one.suggested}')}" for one in free[:_FREE])
    return f" Give sizes: {flags}{' …' if len(free) > _FREE else ''} (or --assume)."
