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
        covered = f"{sums.nodes_known:,} of {plural(sums.nodes_total, 'node')}"
        ranked = sorted(sums.reasons.items(), key=lambda item: -item[1])
        why = "; ".join(f"{plural(count, 'node')}: {reason}" for reason, count in ranked[:_REASONS])
        free = [symbol for symbol in analysis.dims.symbols if symbol.value is None]
        hint = _bind_hint(free) if free else ""
        percent = share(sums.nodes_known, sums.nodes_total)
        yield f"{name}: costs are known for {covered} ({percent}); {why}.{hint}"
    missing = [note for note in analysis.diagnostics if note.code == MISSING]
    if missing:
        locations = list(dict.fromkeys(note.where for note in missing if note.where))
        more = f" and {len(locations) - 1:,} more" if len(locations) > 1 else ""
        files = f" ({locations[0]}{more})" if locations else ""
        yield f"{name}: weights are missing{files}; shapes and costs do not need them."


def _bind_hint(free: Sequence[Symbol]) -> str:
    """Return the options that set the symbolic dimensions; only values that fit the model are suggested."""
    if any(symbol.suggested is None for symbol in free):
        names = ", ".join(symbol.name for symbol in free[:_FREE])
        return f" Set dimensions with --bind: {names}{' …' if len(free) > _FREE else ''}."
    flags = " ".join(f"--bind {quote(f'{symbol.name}={symbol.suggested}')}" for symbol in free[:_FREE])
    return f" Set dimensions: {flags}{' …' if len(free) > _FREE else ''} (or --assume)."
