"""The graph as a standalone SVG file, laid out and drawn by the viewer's own code in Node.

No browser is needed; Node 18 or later must be on the path.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib import resources

import msgspec

from py_autodoc.errors import AnalysisError, LimitError, RequirementError
from py_autodoc.report.analysis import Analysis
from py_autodoc.report.payload import build_payload

OVERLAYS = ("auto", "none", "macs", "flops", "params", "weight_bytes", "activation_bytes", "intensity")
"""Heatmaps of a picture; ``auto`` is MACs where they are known, else parameters."""
THEMES = ("light", "dark")
BUDGET = 40
"""Boxes of a picture whose depth nobody gave, as in a new view."""
MAX_BOXES = 4000
_OLDEST_NODE = 18
_SECONDS = 300
_TOO_MANY = re.compile(r"TooManyBoxes: .*?(\d+)")
_ALTERNATIVE = "Put it on the path, or use --out FILE.html and save the picture from the viewer."


def svg_picture(
    analysis: Analysis, *, theme: str = "light", overlay: str = "auto", depth: int | None = None
) -> str:
    """The graph of an analysed model as the text of an SVG file.

    ``depth`` is how many levels of modules are open; None opens what a new view opens.

    Raises:
        RequirementError: Node is missing or too old, or the viewer was not built.
        LimitError: ``depth`` opens more than ``MAX_BOXES`` boxes.
        AnalysisError: the picture could not be drawn.
    """
    options = {"dark": theme == "dark", "overlay": overlay, "depth": depth}
    options |= {"budget": BUDGET, "most": MAX_BOXES}
    node = _node()
    request = msgspec.json.encode({"payload": build_payload(analysis), "options": options})
    script = resources.files("py_autodoc").joinpath("static").joinpath("svg.js")
    with resources.as_file(script) as path:
        if not path.is_file():
            raise RequirementError(
                "viewer-not-built",
                "This installation has no built viewer (svg.js is missing).",
                "Install the wheel, or run `make lab` once in a checkout.",
            )
        try:
            done = subprocess.run(  # noqa: S603 - our own script, the model goes in as data
                [node, str(path)], input=request, capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as fault:
            raise AnalysisError("svg-failed", f"Node did not draw the picture: {fault}.", "") from None
    if done.returncode:
        raise _failure(done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode("utf-8")


def _failure(stderr: str) -> LimitError | AnalysisError:
    found = _TOO_MANY.search(stderr)
    if found:
        boxes = int(found[1])
        return LimitError(
            "svg-boxes", boxes, MAX_BOXES,
            f"The picture would have {boxes:,} boxes; {MAX_BOXES:,} is the most.", "Give a smaller --depth.",
        )  # fmt: skip
    last = (stderr.strip().splitlines() or ["no reason given"])[-1]
    return AnalysisError("svg-failed", f"The picture could not be drawn: {last[:200]}.", "")


def _node() -> str:
    """Path of a Node that is new enough. Raises: RequirementError."""
    path = shutil.which("node")
    if path is None:
        raise RequirementError(
            "node-missing", f"SVG needs Node (version {_OLDEST_NODE} or later).", _ALTERNATIVE
        )
    try:
        told = subprocess.run(  # noqa: S603 - found on the user's path
            [path, "--version"], capture_output=True, text=True, timeout=30, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        told = ""
    number = re.match(r"v(\d+)", told)
    if number is None or int(number[1]) < _OLDEST_NODE:
        raise RequirementError(
            "node-too-old",
            f"SVG needs Node {_OLDEST_NODE} or later; {path} is {told.strip() or 'no Node'}.",
            _ALTERNATIVE,
        )
    return path
