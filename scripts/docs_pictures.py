#!/usr/bin/env python3
"""Draws the pictures of the documentation with the commands that the pages show.

Needs the built front end in ``py_autodoc/static``, and matplotlib for the plots.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs/images"
MODELS = ROOT / "tests/data/models"
LATENCY = ("examples/resnet_tiny.onnx", "--overlay", "latency", "--hardware", "l4")
GRAPHS: dict[str, tuple[str, ...]] = {
    "graph": ("graph", "examples/bert_tiny.onnx", "--assume"),
    "latency": ("graph", *LATENCY),
}
"""Name of a picture → command, without its output and theme."""
CHANGES = (
    "compare", "tests/data/models/resnet_tiny.onnx", "tests/data/models/resnet_tiny_qdq_int8.onnx",
    "--out-svg",
)  # fmt: skip
PLOTS = ("analyze", "examples/swift_f0.onnx", "--assume", "--hardware", "l4", "--with-plots", "--assets-dir")
PLOTTED = ("roofline", "memory")


def files() -> list[str]:
    """Names of all files that this script writes."""
    themed = [name + theme for name in (*GRAPHS, *PLOTTED) for theme in ("", "-dark")]
    return sorted(f"{name}.svg" for name in [*themed, "changes"])


def main() -> int:
    IMAGES.mkdir(exist_ok=True)
    for name, command in GRAPHS.items():
        for theme, suffix in (("light", ""), ("dark", "-dark")):
            out = str(IMAGES / f"{name}{suffix}.svg")
            run(*command, "--theme", theme, "--out", out, "--force")
    run(*CHANGES, str(IMAGES / "changes.svg"), "--force", allowed=(0, 1))
    with tempfile.TemporaryDirectory() as folder:
        run(*PLOTS, folder, "--out-md", str(Path(folder, "card.md")))
        for name in PLOTTED:
            for suffix in ("", "-dark"):
                shutil.copyfile(Path(folder, f"{name}{suffix}.svg"), IMAGES / f"{name}{suffix}.svg")
    for name in files():
        print((IMAGES / name).relative_to(ROOT))
    return 0


def run(*args: str, allowed: tuple[int, ...] = (0,)) -> None:
    """Runs a command of the product at the root of the repository."""
    done = subprocess.run([sys.executable, "-m", "py_autodoc", *args], cwd=ROOT, stdout=subprocess.DEVNULL)
    if done.returncode not in allowed:
        sys.exit(f"onnx-autodoc {' '.join(args)}: exit status {done.returncode}")


if __name__ == "__main__":
    sys.exit(main())
