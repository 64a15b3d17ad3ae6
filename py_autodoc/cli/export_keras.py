"""``onnx-autodoc export`` for Keras files, which are read directly, without tracing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, cast

from py_autodoc.cli.progress import ProgressLine
from py_autodoc.errors import OptionError
from py_autodoc.render.output_target import Target
from py_autodoc.render.terminal_text import printable

STAGES = ("load", "export", "tag", "save", "sidecar")
_TRACING = {
    "inputs": "--inputs",
    "input_text": "--input-text",
    "batch_size": "--batch-size",
    "sequence_length": "--sequence-length",
    "dynamic": "--dynamic",
    "random_weights": "--random-weights",
    "keep": "--keep",
    "generation": "--generation",
    "quantize": "--quantize",
    "task": "--task",
    "jit_graph": "--jit-graph",
    "fx_graph": "--fx-graph",
}
"""Options that only apply if a model is traced in torch."""


def run(request: Mapping[str, Any], outputs: Mapping[str, Target]) -> int:
    """Convert the file and print a report; return the exit status.

    Raises:
        OptionError: an option only applies to traced models.
        AutodocError: as ``py_autodoc.keras.convert``.
    """
    for key, option in _TRACING.items():
        if request[key]:
            raise OptionError(
                "option-for-tracing",
                f"{option} does not apply to Keras files, which keep their symbolic dimensions.",
                "--input-shape fixes them; --exporter dynamo lets Keras run the model.",
            )
    from py_autodoc.cli.export_output import delivered
    from py_autodoc.keras import convert
    from py_autodoc.outputs.marks import sealed_text
    from py_autodoc.torch.input_options import parse_shapes
    from py_autodoc.torch.report import markdown, report_of

    with ProgressLine(printable(os.path.basename(request["source"])), request["progress"]) as progress:

        def stage(name: str, share: float, /) -> None:
            if name in STAGES:
                progress.update(name, STAGES.index(name), len(STAGES))

        result = convert(
            request["source"],
            request["out"],
            opset=request["opset"],
            input_shapes=parse_shapes(request["input_shape"]),
            external_data=request["external_data"],
            sidecar=request["sidecar"],
            progress=stage,
            force=request["force"],
        )
    report = report_of(cast(Any, result), result.source, {}, None, (), {})
    makers = {
        "--report-json": lambda: json.dumps(report, indent=2, ensure_ascii=False) + "\n",
        "--report-md": lambda: sealed_text(markdown(report), "markdown"),
    }
    return delivered(report, (), outputs, makers)
