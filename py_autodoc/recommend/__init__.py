"""Which device to take for a model: the least, the right and the fastest one, and why."""

from __future__ import annotations

from py_autodoc.recommend.run import RecommendOptions, recommend
from py_autodoc.recommend.schema import Candidate, Recommendation

__all__ = ["Candidate", "RecommendOptions", "Recommendation", "recommend"]
