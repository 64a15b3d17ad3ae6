"""Control-flow operators have no cost of their own; the engine sums subgraphs (``costs.control_flow``)."""

from __future__ import annotations

from py_autodoc.costs.registry import VIEW
from py_autodoc.costs.rules._make import register

register("", "If Loop Scan SequenceMap", lambda v: VIEW)
