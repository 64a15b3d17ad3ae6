"""Costs at other batch sizes for the viewer: computed on request, or in advance for one-file pages."""

from __future__ import annotations

from py_autodoc.graph.ir.model import Shape
from py_autodoc.report.builders.batch_offer import MAX_EMBEDDED, MAX_REQUESTED, NAME, Offer, batch_offer
from py_autodoc.report.builders.expression_pool import expression_pool
from py_autodoc.report.encode.labels import shorten_middle, wire_shape
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.schema import BatchAnswer, BatchOffer, DimInfo

TOO_LARGE = "an expression is too long, or a size too large, for the viewer"


def batch_answer(analysis: Analysis) -> BatchAnswer:
    """Return the costs at other batch sizes of a model with a fixed batch, or why there are none."""
    offer = batch_offer(analysis, MAX_REQUESTED)
    section = _offer_section(analysis, offer) if isinstance(offer, Offer) else None
    if section is not None:
        return BatchAnswer(offer=section, reason="")
    return BatchAnswer(offer=None, reason=shorten_middle(offer if isinstance(offer, str) else TOO_LARGE, 400))


def embedded_offer(analysis: Analysis) -> BatchOffer | None:
    """Return the expressions that a one-file page includes; None if there are none or they take too long."""
    offer = batch_offer(analysis, MAX_EMBEDDED)
    return _offer_section(analysis, offer) if isinstance(offer, Offer) else None


def _offer_section(analysis: Analysis, offer: Offer) -> BatchOffer | None:
    pool: dict[tuple[Shape | None, Shape | None], int] = {}
    pairs = zip(analysis.types.shapes, offer.costs.shapes, strict=True)
    # A shape may contain the batch in different dimensions; each distinct pair is stored once.
    index = [pool.setdefault(pair, len(pool)) for pair in pairs]
    expressions = expression_pool(offer.costs, [written for _, written in pool])
    if expressions is None:
        return None
    dim = DimInfo(
        name=NAME,
        value=offer.fixed,
        assumed=False,
        suggested=offer.fixed,
        where=[shorten_middle(f"{name}[{axis}]") for name, axis in offer.inputs.items()],
    )
    shapes = [wire_shape(shape) for shape, _ in pool]
    return BatchOffer(dim=dim, expressions=expressions, shapes=shapes, shape=index)
