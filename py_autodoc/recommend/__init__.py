"""Which device to take for a model: the least, the right and the fastest one, and why."""

from __future__ import annotations

from py_autodoc.recommend.run import RecommendOptions, recommend
from py_autodoc.recommend.schema import DeviceCandidate, Recommendation

__all__ = ["DeviceCandidate", "RecommendOptions", "Recommendation", "recommend"]
