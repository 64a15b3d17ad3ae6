"""A folder of models may hold a ``click.py``: no way of starting the commands imports it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import py_autodoc

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "tests" / "data" / "models" / "mnist_cntk.onnx"
OTHERS = {
    "click", "rich", "onnx", "numpy", "msgspec", "google", "onnx_ir", "ml_dtypes", "sympy", "markdown_it",
    "tornado", "colorama", "pygments", "sitecustomize", "usercustomize",
}  # fmt: skip
CONTROL = "import sys; print(*[name.partition('.')[0] for name in sys.modules])"
WAYS = {
    "command": ["-c", "import sys; sys.path.remove(''); from py_autodoc.cli import main; main()"],
    "module": ["-m", "py_autodoc"],
    "module in one word": ["-mpy_autodoc"],
    "main of the module": ["-m", "py_autodoc.__main__"],
    "safe": ["-P", "-m", "py_autodoc"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model among files that are named as modules; each notes that it was imported.

    Python itself imports some modules before any program of ``-m``: it has no chance against these.
    """
    control = tmp_path_factory.mktemp("control")
    (control / "control.py").write_text(CONTROL)
    own = subprocess.run(
        [sys.executable, "-m", "control"], cwd=control, capture_output=True, text=True, check=True
    ).stdout.split()
    path = tmp_path_factory.mktemp("models")
    shutil.copy(MODEL, path / "m.onnx")
    for name in (set(sys.stdlib_module_names) | OTHERS) - set(own):
        noted = f"open({str(path / 'imported')!r}, 'a').write({name!r} + '\\n')"
        (path / f"{name}.py").write_text(f"{noted}\nraise ImportError('a trap')\n")
    return path


@pytest.mark.parametrize(
    "arguments", [("--version",), ("analyze", "m.onnx"), ("graph", "m.onnx", "--out", "-")]
)
@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_the_working_folder_is_imported(
    way: str, arguments: tuple[str, ...], folder: Path
) -> None:
    if way == "safe" and sys.version_info < (3, 11):
        pytest.skip("Python 3.11 has the option")
    if way not in ("module", "command") and arguments != ("--version",):
        pytest.skip("as for the version")
    done = subprocess.run(
        [sys.executable, *WAYS[way], *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONSAFEPATH": "", "PWD": str(folder)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    imported = folder / "imported"
    assert not imported.exists(), imported.read_text()
    assert b"a trap" not in done.stderr
    if arguments[0] != "graph":
        assert (done.returncode, done.stderr) == (0, b"")


def test_importing_the_package_leaves_the_path_alone(tmp_path: Path) -> None:
    """In scripts, notebooks and other modules the path is the user's."""
    (tmp_path / "mine.py").write_text(
        "import sys; before = [*sys.path]; import py_autodoc; print(before == sys.path)"
    )
    (tmp_path / "py_autodoc_tools.py").write_text("import mine")
    for start in (["mine.py"], ["-m", "mine"], ["-c", "import mine"], ["-m", "py_autodoc_tools"]):
        done = subprocess.run(
            [sys.executable, *start], cwd=tmp_path, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONPATH": str(Path(py_autodoc.__file__).parents[1])},
        )  # fmt: skip
        assert done.stdout.strip() == "True", start


def test_nothing_that_we_ship_starts_python_in_the_working_folder() -> None:
    """``python -m`` in a folder of strangers imports from it: the action and the hooks do without."""
    for name in ("action.yml", ".pre-commit-hooks.yaml"):
        text = (ROOT / name).read_text("utf-8")
        lines = [line for line in text.splitlines() if "python" in line and " -m " in line]
        assert all(" -I " in line for line in lines), lines
