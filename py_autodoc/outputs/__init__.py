"""Where results may go: one rule for every command, the server and the widget.

No input is written over, nor a file that its weights are in, whatever the names that lead to it; no file
that we did not write is replaced unless that was asked for; and a file is complete or not there. What a run
was killed at is removed by the next.
"""

from __future__ import annotations

from py_autodoc.outputs.placing import OutputPlace, OutputRequest, filling, output_failed, place, places
from py_autodoc.outputs.temporary import scratch

__all__ = ["OutputPlace", "OutputRequest", "filling", "output_failed", "place", "places", "scratch"]
