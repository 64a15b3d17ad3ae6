"""The one starter of processes: none sees the launch folder, tokens or keys.

Interpreters that read untrusted data or run models (analyses, tasks, the reader of HDF5, the measurement of
memory) and programs (Node.js) are started here. A test checks that no other module starts a process.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence

_KEPT_VARIABLES = re.compile(
    r"PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR|LD_LIBRARY_PATH|DYLD_\w+"
    r"|VIRTUAL_ENV|CONDA_PREFIX|PYTHON(HOME|UTF8|NOUSERSITE)"
)
"""Environment variables passed to children: no tokens, no keys."""
_SEARCHED = re.compile(r"PATH|LD_LIBRARY_PATH|DYLD_\w+_PATH")
"""Those that list folders in which programs and libraries are searched."""
_NUMERICAL_LIBRARIES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def command(code: str, search: Sequence[str] = ()) -> list[str]:
    """Return the command of an interpreter that runs ``code`` and imports nothing from the launch folder.

    A folder with untrusted models may contain an ``onnx.py``, and ``python -m`` puts that folder first on the
    path. The child therefore uses the path of its own interpreter (its packages, including editable
    installs), followed by the rest of our path, where it cannot shadow anything.
    """
    others = elsewhere(sys.path)
    # This package must be importable wherever it is.
    others.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    boot = (
        "import sys; sys.path[:] = [entry for entry in sys.path if entry]; "
        f"sys.path[:0] = {[*search, *python_path()]!a}; "
        f"sys.path += [entry for entry in {others!a} if entry not in sys.path]; {code}"
    )
    return [sys.executable, "-c", boot]


def popen(command: Sequence[str], *, threads: bool = False, **options: object) -> subprocess.Popen[bytes]:
    """Start it in the root folder, in its own session.

    Numerical libraries are single-threaded unless ``threads``: their threads make fork unsafe and use address
    space. ``options`` are those of ``subprocess.Popen``.
    """
    return subprocess.Popen(list(command), **_settings(threads, options))  # type: ignore[call-overload,no-any-return]  # noqa: S603


def run(command: Sequence[str], *, input: bytes = b"", timeout: float) -> subprocess.CompletedProcess[bytes]:
    """Start it as ``popen`` does, and return its status and output when it ends.

    Raises: OSError: it cannot be started; subprocess.TimeoutExpired: it was killed after ``timeout`` seconds.
    """
    pipe = subprocess.PIPE
    with popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            output, errors = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(list(command), process.returncode, output, errors)


def program(name: str) -> str | None:
    """Return the path of a program on the user's path; entries for the working folder do not count."""
    entries = _absolute(os.environ.get("PATH", os.defpath))
    path = shutil.which(name, path=os.pathsep.join(entries))
    # Windows looks into the working folder first.
    return path if path and os.path.dirname(path) in {os.path.normpath(entry) for entry in entries} else None


def python_path() -> list[str]:
    """Return the user's additions to the path, without entries for the working folder."""
    return elsewhere(os.environ.get("PYTHONPATH", "").split(os.pathsep))


def elsewhere(folders: Iterable[str]) -> list[str]:
    """Return the folders other than the one in which we were launched."""
    here = _launched_in()
    return [folder for folder in folders if os.path.isabs(folder) and os.path.realpath(folder) not in here]


def _settings(threads: bool, options: dict[str, object]) -> dict[str, object]:
    return {
        "env": _environment(threads),
        "cwd": os.path.abspath(os.sep),
        "start_new_session": True,
        **options,
    }


def _environment(threads: bool) -> dict[str, str]:
    variables = {
        name: os.pathsep.join(_absolute(value)) if _SEARCHED.fullmatch(name) else value
        for name, value in os.environ.items()
        if _KEPT_VARIABLES.fullmatch(name)
    }
    return variables if threads else variables | dict.fromkeys(_NUMERICAL_LIBRARIES, "1")


def _absolute(path: str) -> list[str]:
    """Return the entries of a search path that do not depend on the working folder."""
    return [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]


def _launched_in() -> set[str]:
    """Return the working folder, and that of the shell."""
    found = {os.path.realpath(os.sep), os.path.realpath(os.environ.get("PWD") or os.sep)}
    with contextlib.suppress(OSError):  # it may no longer exist
        found.add(os.path.realpath(os.getcwd()))
    return found
