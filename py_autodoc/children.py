"""Child interpreters that read untrusted data, isolated from the launch folder, tokens and keys.

Both kinds are started here: the server's, one per job (``jobs``), and the one that reads HDF5 (``keras``).
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence

_KEPT_VARIABLES = re.compile(
    r"PATH|HOME|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR|LD_LIBRARY_PATH|DYLD_\w+"
    r"|VIRTUAL_ENV|CONDA_PREFIX|PYTHON(HOME|UTF8|NOUSERSITE)"
)
"""Environment variables passed to children: no tokens, no keys."""


def command(code: str, search: Sequence[str] = ()) -> list[str]:
    """Return the command of an interpreter that runs ``code`` and imports nothing from the launch folder.

    A folder with untrusted models may contain an ``onnx.py``, and ``python -m`` puts that folder first on the
    path. The child therefore uses the path of its own interpreter (its packages, including editable
    installs), followed by the rest of our path, where it cannot shadow anything.
    """
    here = _launched_in()
    others = [entry for entry in sys.path if os.path.isabs(entry) and os.path.realpath(entry) not in here]
    # This package must be importable wherever it is.
    others.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    boot = (
        "import sys; sys.path[:] = [entry for entry in sys.path if entry]; "
        f"sys.path[:0] = {[*search, *python_path()]!a}; "
        f"sys.path += [entry for entry in {others!a} if entry not in sys.path]; {code}"
    )
    return [sys.executable, "-c", boot]


def popen(command: list[str], **options: object) -> subprocess.Popen[bytes]:
    """Start it in the root folder, in its own session, with single-threaded numerical libraries."""
    variables = {name: value for name, value in os.environ.items() if _KEPT_VARIABLES.fullmatch(name)}
    # Threads of numerical libraries make fork unsafe and use address space; nothing here needs them.
    variables |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    settings = {"env": variables, "cwd": os.path.abspath(os.sep), "start_new_session": True, **options}
    return subprocess.Popen(command, **settings)  # type: ignore[call-overload,no-any-return]  # noqa: S603


def python_path() -> list[str]:
    """Return the user's additions to the path, without entries for the working folder."""
    here = _launched_in()
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [entry for entry in entries if os.path.isabs(entry) and os.path.realpath(entry) not in here]


def _launched_in() -> set[str]:
    """Return the working folder, and that of the shell."""
    found = {os.path.realpath(os.sep), os.path.realpath(os.environ.get("PWD") or os.sep)}
    with contextlib.suppress(OSError):  # it may no longer exist
        found.add(os.path.realpath(os.getcwd()))
    return found
