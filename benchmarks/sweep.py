"""Seconds of a sweep of 10 batches × 10 sequence lengths, against an analysis a point.

    python benchmarks/sweep.py [MODEL …]

Baseline: ``py_autodoc.report.pipeline.analysis.run_analysis`` at every point in the same process. Prints the
ratio.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from py_autodoc.report.pipeline.analysis import Options, run_analysis
from py_autodoc.sweep import Axes, sweep

DATA = Path(__file__).parent.parent / "tests" / "data" / "stripped"
USUAL = (
    (DATA / "bert_base_dyn.stripped.onnx", 10),
    (DATA / "resnet50_dyn.stripped.onnx", 1),
    (DATA / "resnet50.stripped.onnx", 1),
)
BATCHES = [1, 2, 4, 8, 16, 24, 32, 48, 64, 128]


def main() -> None:
    """One line a model."""
    given = [(Path(path), 10) for path in sys.argv[1:]] or list(USUAL)
    for path, lengths in given:
        base = run_analysis(str(path), Options(assume=True))
        others = [one.name for one in base.dims.symbols if "batch" not in one.name.lower()]
        bindings = {others[0]: [16 * (at + 1) for at in range(lengths)]} if others and lengths > 1 else {}
        axes = Axes(batch=BATCHES, bindings=bindings, hardware=["l4"], precision=["fp16"])
        began = time.process_time()
        found = sweep(str(path), axes)
        swept = time.process_time() - began
        began = time.process_time()
        for point in found.points:
            sizes = {"bindings": point.bindings} if point.bindings else {"batch_size": point.batch}
            run_analysis(str(path), Options(**sizes, hardware="l4", precision="fp16"))  # type: ignore[arg-type]
        fresh = time.process_time() - began
        print(
            f"{path.stem}: {len(found.points)} points in {swept:.2f} CPU s, an analysis each "
            f"{fresh:.2f} CPU s: {fresh / swept:.1f} times as fast"
        )


if __name__ == "__main__":
    main()
