"""A model as rules see it: its analysis, its figures, and queries on its nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from py_autodoc.check.figures import Figures, figures
from py_autodoc.check.outcomes import Outcome
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.matcher import Matcher
from py_autodoc.report.payload import build_payload


@dataclass(frozen=True)
class Subject:
    """One analysed model."""

    analysis: Analysis

    @cached_property
    def figures(self) -> Figures:
        """Figures of the whole model."""
        return figures(self.analysis)

    @cached_property
    def matcher(self) -> Matcher:
        """Answers queries; its columns are costs of one inference by node."""
        return Matcher(build_payload(self.analysis))


Rule = Callable[[Subject], list[Outcome]]
"""A rule gives at least one outcome."""
