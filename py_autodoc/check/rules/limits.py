"""Limits on figures: maximum parameters, MACs, bytes, milliseconds."""

from __future__ import annotations

from py_autodoc.check.amounts import amount, milliseconds
from py_autodoc.check.figures import LABELS, CheckedFigure, figure_text
from py_autodoc.check.outcomes import CheckOutcome, Status
from py_autodoc.check.policy import PolicyLimits
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.errors import OptionError

FIGURES = {
    "params": "params", "macs": "macs", "flops": "flops", "peak_memory": "peak", "weights": "weights",
    "size": "size", "latency": "latency",
}  # fmt: skip
"""Field of the policy → id of the figure."""
_HINTS = {
    "params": "", "size": "", "weights": "",
    "latency": "Set the dimensions with --bind, or --assume.",
}  # fmt: skip
_BY_SIZES = "Set the dimensions with --bind or --batch-size, or use typical values with --assume."


def limit_rules(limits: PolicyLimits, hardware: str) -> list[Rule]:
    """Return a rule per limit. Raises: OptionError."""
    rules = []
    for field, figure in FIGURES.items():
        limit = getattr(limits, field)
        if limit is None:
            continue
        name = f"max-{field.replace('_', '-')}"
        if figure == "latency" and not hardware:
            raise OptionError("hardware-missing", "A latency limit needs a device.", "Add --hardware ID.")
        most = (milliseconds if figure == "latency" else amount)(limit, f"--{name}")
        rules.append(_rule(name, figure, most))
    return rules


def _rule(name: str, figure: str, most: float) -> Rule:
    def check(subject: CheckSubject) -> list[CheckOutcome]:
        return [limit_outcome(name, figure, most, subject.figures[figure])]

    return check


def limit_outcome(name: str, figure: str, most: float, measured: CheckedFigure, of: str = "") -> CheckOutcome:
    """Return the outcome of a limit. ``of`` names the nodes it applies to, empty for the model."""
    label = f"{LABELS[figure]}{of}"
    title = f"{label} ≤ {figure_text(figure, most)}"
    if measured.value is not None:
        value, limit = _distinct_texts(figure, measured.value, most)
        if measured.value <= most:
            return CheckOutcome(name, title, Status.PASSED, f"{label}: {value}; the limit is {limit}.")
        return CheckOutcome(name, title, Status.FAILED, f"{label}: {value}, above the limit of {limit}.")
    if measured.least is not None and measured.least > most:
        value, limit = _distinct_texts(figure, measured.least, most)
        return CheckOutcome(
            name, title, Status.FAILED, f"{label}: at least {value}, above the limit of {limit}."
        )
    least = f", at least {figure_text(figure, measured.least)}" if measured.least else ""
    message = f"{label}: unknown{least}; {measured.reason or 'the value could not be computed'}."
    hint = (
        _HINTS.get(figure, _BY_SIZES) if "dimension" in measured.reason or "size" in measured.reason else ""
    )
    return CheckOutcome(name, title, Status.UNKNOWN, message, hint)


def _distinct_texts(figure: str, value: float, limit: float) -> tuple[str, str]:
    """Return both as text, with all digits if rounding would make them equal."""
    texts = figure_text(figure, value), figure_text(figure, limit)
    if texts[0] != texts[1] or value == limit:
        return texts
    unit = {"latency": " ms", "params": "", "macs": "", "flops": "", "nodes": ""}.get(figure, " B")
    return f"{value:,.10g}{unit}", f"{limit:,.10g}{unit}"
