"""Device recommendations for a model: the minimum, the recommended and the fastest, with reasons."""

from __future__ import annotations

from py_autodoc.recommend.run import RecommendOptions, recommend
from py_autodoc.recommend.schema import DeviceCandidate, Recommendation

__all__ = ["DeviceCandidate", "RecommendOptions", "Recommendation", "recommend"]
