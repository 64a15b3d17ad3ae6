"""A summary of a report by a language model: only on request, from facts only, with its numbers checked."""

from py_autodoc.llm_summary.endpoint import API, KEY, MODEL, UNCONFIGURED, URL, Endpoint, endpoint
from py_autodoc.llm_summary.summarize import summarize

__all__ = ["API", "KEY", "MODEL", "UNCONFIGURED", "URL", "Endpoint", "endpoint", "summarize"]
