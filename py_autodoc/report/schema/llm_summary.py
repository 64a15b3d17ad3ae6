"""A summary that a language model wrote of a report."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire


class LlmSummary(Wire, frozen=True, kw_only=True):
    """Plain text from an external service, not to be interpreted as markup. Nothing in it was measured."""

    short: str
    """One or two sentences."""
    detailed: str
    """Paragraphs, separated by an empty line; may be empty."""
    model: str
    """The requested model."""
    service: str
    """Host of the service that answered."""
    names_redacted: bool
    """Whether names of the model were withheld."""
    unsupported_numbers: list[str]
    """Numbers in the text that are not in the report; the text marks them too."""
