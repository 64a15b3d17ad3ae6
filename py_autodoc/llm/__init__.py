"""Text generation by decoders: prefill and decode, memory with the KV cache, several devices, costs."""

from __future__ import annotations

from py_autodoc.llm.plan_options import PlanOptions
from py_autodoc.llm.run import plan
from py_autodoc.report.schema.generation import Plan, Plans

__all__ = ["Plan", "PlanOptions", "Plans", "plan"]
