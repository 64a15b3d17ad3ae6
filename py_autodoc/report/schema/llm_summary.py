"""A summary that a language model wrote of a report."""

from __future__ import annotations

from py_autodoc.report.schema.wire import Wire


class LlmSummary(Wire, frozen=True, kw_only=True):
    """Plain text from outside: no reader may take it for markup, and none of it was measured."""

    short: str
    """One or two sentences."""
    detailed: str
    """Paragraphs, apart by an empty line; may be empty."""
    model: str
    """The model that was asked for."""
    service: str
    """Host of the service that answered."""
    names_redacted: bool
    """Whether names of the model were kept back."""
    unsupported_numbers: list[str]
    """Numbers of the text that the report does not have; they are marked in it, too."""
