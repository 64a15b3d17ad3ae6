"""Pictures without a browser: QuickJS inside Python against Node, the same bytes from both.

    python benchmarks/pictures.py [MODEL …]

Seconds of CPU, the child's included; the median of ``--repeats`` runs. Ratio is Node's by QuickJS's.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from pathlib import Path

import msgspec

from py_autodoc.render import engine
from py_autodoc.render.nodejs import find_nodejs
from py_autodoc.report.pipeline.analysis import run_analysis
from py_autodoc.report.viewer_payload.build_payload import build_payload

MODELS = [
    "tests/data/stripped/resnet50.stripped.onnx",
    "tests/data/stripped/bert_base.stripped.onnx",
    "tests/data/stripped/swin_t.stripped.onnx",
]


def cpu() -> float:
    """Seconds of CPU of this process and of its children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def timed(draw, repeats: int) -> tuple[str, float]:
    """The picture, and the median of the seconds."""
    taken = []
    for _ in range(repeats):
        before = cpu()
        svg = draw()
        taken.append(cpu() - before)
    return svg, statistics.median(taken)


def request(model: str, depth: int | None) -> bytes:
    """What the engine is asked for."""
    payload = msgspec.structs.replace(build_payload(run_analysis(model)), expressions=None, timeline=None)
    options = {"dark": False, "overlay": "auto", "depth": depth, "budget": 40, "most": 4000}
    return msgspec.json.encode({"payload": payload, "options": options})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    program = find_nodejs()
    print(f"{'model':32} {'depth':>5} {'bytes':>9} {'QuickJS s':>9} {'Node s':>7} {'ratio':>6}  same bytes")
    for model in given.models:
        for depth in (None, 20):
            asked = request(model, depth)
            ours, fast = timed(lambda asked=asked: engine._in_thread(engine._bundle(), asked), given.repeats)
            theirs, slow = timed(lambda asked=asked: engine._in_node(program, asked), given.repeats)
            print(
                f"{Path(model).name[:32]:32} {'first' if depth is None else 'all':>5} {len(ours):9,} "
                f"{fast:9.3f} {slow:7.3f} {slow / fast:6.2f}  {'yes' if ours == theirs else 'NO'}"
            )


if __name__ == "__main__":
    main()
