"""Interpreters that read what is not trusted: the launch folder, tokens and keys stay out of them.

Both kinds are started here: the server's, one a job (``jobs``), and the one that reads HDF5 (``keras``).
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
"""What a child may know of our environment: no token, no key."""


def command(code: str, search: Sequence[str] = ()) -> list[str]:
    """An interpreter that runs ``code`` and imports nothing from the folder that we were started in.

    A folder with untrusted models may hold an ``onnx.py``. ``python -m`` puts that folder first on our
    path, so the child has the path of an interpreter of its own (its packages, also those installed
    for editing), and what else we have comes last, where it can stand before nothing.
    """
    here = _launched_in()
    others = [entry for entry in sys.path if os.path.isabs(entry) and os.path.realpath(entry) not in here]
    # Wherever this package is, it is what shall run.
    others.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    boot = (
        "import sys; sys.path[:] = [entry for entry in sys.path if entry]; "
        f"sys.path[:0] = {[*search, *python_path()]!a}; "
        f"sys.path += [entry for entry in {others!a} if entry not in sys.path]; {code}"
    )
    return [sys.executable, "-c", boot]


def popen(command: list[str], **options: object) -> subprocess.Popen[bytes]:
    """Starts it in the root folder, in a session of its own, with one thread for numbers."""
    variables = {name: value for name, value in os.environ.items() if _KEPT_VARIABLES.fullmatch(name)}
    # Threads of numerical libraries would make fork unsafe and eat address space; nothing here needs them.
    variables |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    settings = {"env": variables, "cwd": os.path.abspath(os.sep), "start_new_session": True, **options}
    return subprocess.Popen(command, **settings)  # type: ignore[call-overload,no-any-return]  # noqa: S603


def python_path() -> list[str]:
    """The user's own additions to the path, without those that mean the working folder."""
    here = _launched_in()
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [entry for entry in entries if os.path.isabs(entry) and os.path.realpath(entry) not in here]


def _launched_in() -> set[str]:
    """The working folder, and the one that the shell was in."""
    found = {os.path.realpath(os.sep), os.path.realpath(os.environ.get("PWD") or os.sep)}
    with contextlib.suppress(OSError):  # it may be gone
        found.add(os.path.realpath(os.getcwd()))
    return found
