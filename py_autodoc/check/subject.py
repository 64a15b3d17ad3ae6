"""A model for rules: its analysis, its figures, and queries on its nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from py_autodoc.check.figures import Figures, figures
from py_autodoc.check.outcomes import CheckOutcome
from py_autodoc.report.node_query.node_matcher import NodeMatcher
from py_autodoc.report.pipeline.analysis import Analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload


@dataclass(frozen=True)
class CheckSubject:
    """One analysed model."""

    analysis: Analysis

    @cached_property
    def figures(self) -> Figures:
        """Figures of the whole model."""
        return figures(self.analysis)

    @cached_property
    def matcher(self) -> NodeMatcher:
        """Evaluates queries; its columns are costs per inference by node."""
        return NodeMatcher(build_payload(self.analysis))


Rule = Callable[[CheckSubject], list[CheckOutcome]]
"""A rule returns at least one outcome."""
