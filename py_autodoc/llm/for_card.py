"""Text generation on the chosen device, for a card."""

from __future__ import annotations

from py_autodoc.errors import AutodocError
from py_autodoc.limits import LIBRARY, Limits
from py_autodoc.llm.plan_options import PlanOptions
from py_autodoc.llm.run import plan_sized
from py_autodoc.llm.serving import decodes
from py_autodoc.llm.sizes import SizedModel
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import ServingSummary


def serving_summary(
    analysis: Analysis, limits: Limits = LIBRARY, price: float | None = None
) -> ServingSummary | None:
    """Return what the chosen device serves; None without a device, or if the model generates no text.

    Prices are those of the cloud profiles, or ``price`` in dollars per hour.
    """
    chosen = analysis.hardware
    if chosen is None or not decodes(analysis) or analysis.contradiction is not None:
        return None
    bindings = {
        symbol.name: symbol.value
        for symbol in analysis.dims.symbols
        if symbol.value is not None and symbol.follows is None and not symbol.assumed
    }
    precision = (chosen.precision,) if chosen.precision else ()
    options = PlanOptions([chosen], (1,), (), precision, provider="all", price=price)
    try:
        sized = SizedModel(analysis.loaded.proto, limits, bindings, chosen.runtime)
        plans = plan_sized(sized, options, chosen.runtime)
    except AutodocError:
        return None  # no decoder after all: the other sections say what it is
    plan = plans.plans[0] if plans.plans else None
    if plan is None:
        return None
    first = plan.points[0] if plan.points else None
    return ServingSummary(
        device_name=plan.device_name,
        input_tokens=plans.input_tokens,
        output_tokens=plans.output_tokens,
        decode_tokens_per_s=None if first is None else first.tokens_per_s,
        prefill_ms=None if first is None else first.prefill_ms,
        service=plan.service,
        assumptions=plans.assumptions,
    )
