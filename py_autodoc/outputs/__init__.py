"""Where results may be written: one rule for all commands, the server and the widget.

Inputs and their weight files are never overwritten, whatever names lead to them; files that ONNX Autodoc did
not write are only replaced on request; and a file is either complete or absent. The next run removes what a
killed run left behind.
"""

from __future__ import annotations

from py_autodoc.outputs.output_files import (
    OutputFile,
    OutputRequest,
    check_output,
    check_outputs,
    confine,
    filling,
    output_failed,
)
from py_autodoc.temporary import scratch

__all__ = [
    "OutputFile",
    "OutputRequest",
    "check_output",
    "check_outputs",
    "confine",
    "filling",
    "output_failed",
    "scratch",
]
