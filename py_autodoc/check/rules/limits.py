"""Limits on figures: maximum parameters, MACs, bytes, milliseconds."""

from __future__ import annotations

from py_autodoc.check.amounts import amount, milliseconds
from py_autodoc.check.figures import LABELS, CheckedFigure, figure_text
from py_autodoc.check.outcomes import CheckOutcome, Status
from py_autodoc.check.policy import PolicyLimits
from py_autodoc.check.subject import CheckSubject, Rule
from py_autodoc.errors import OptionError
from py_autodoc.hardware.risk import TYPICAL, checked_risk
from py_autodoc.units import seconds_range

FIGURES = {
    "params": "params", "macs": "macs", "flops": "flops", "peak_memory": "peak", "weights": "weights",
    "size": "size", "latency": "latency",
}  # fmt: skip
"""Field of the policy → id of the figure."""
_HINTS = {
    "params": "",
    "size": "",
    "weights": "",
    "latency": "Set the dimensions with --bind, or --assume.",
}
_BY_SIZES = "Set the dimensions with --bind or --batch-size, or use typical values with --assume."


def limit_rules(limits: PolicyLimits, hardware: str, risk: str = "") -> list[Rule]:
    """Return a rule per limit; ``risk`` says what of a latency it applies to. Raises: OptionError."""
    rules, judged_by = [], checked_risk(risk)
    for field, figure in FIGURES.items():
        setting = getattr(limits, field)
        if setting is None:
            continue
        name = f"max-{field.replace('_', '-')}"
        if figure == "latency" and not hardware:
            raise OptionError("hardware-missing", "A latency limit needs a device.", "Add --hardware ID.")
        limit = (milliseconds if figure == "latency" else amount)(setting, f"--{name}")
        rules.append(_rule(name, figure, limit, judged_by))
    return rules


def _rule(name: str, figure: str, limit: float, risk: str) -> Rule:
    def check(subject: CheckSubject) -> list[CheckOutcome]:
        return [limit_outcome(name, figure, limit, subject.figures[figure], risk=risk)]

    return check


def limit_outcome(
    name: str,
    figure: str,
    limit: float,
    measured: CheckedFigure,
    nodes_text: str = "",
    risk: str = TYPICAL,
) -> CheckOutcome:
    """Return the outcome of a limit. ``nodes_text`` names the nodes it applies to; empty means the model.

    With the ``risk`` high, an estimate is judged by the upper end of its likely range.
    """
    label = f"{LABELS[figure]}{nodes_text}"
    title = f"{label} ≤ {figure_text(figure, limit)}"
    if measured.value is not None:
        judged = measured.value if measured.likely is None or risk == TYPICAL else measured.likely[1]
        value_text, limit_text = _distinct_texts(figure, measured.value, limit)
        if measured.likely is not None:
            low, high = measured.likely
            value_text += f", likely {seconds_range(low / 1e3, high / 1e3)}"
        if judged <= limit:
            return CheckOutcome(
                name, title, Status.PASSED, f"{label}: {value_text}; the limit is {limit_text}."
            )
        return CheckOutcome(
            name, title, Status.FAILED, f"{label}: {value_text}, above the limit of {limit_text}."
        )
    if measured.least is not None and measured.least > limit:
        value_text, limit_text = _distinct_texts(figure, measured.least, limit)
        return CheckOutcome(
            name, title, Status.FAILED, f"{label}: at least {value_text}, above the limit of {limit_text}."
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
