"""Limits that a child process sets on itself before it reads an untrusted model.

On platforms without ``resource`` (Windows), only the server's wall-clock limit applies.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import signal
import sys
import threading

if sys.platform != "win32":
    import resource

_PR_SET_PDEATHSIG = 1
_OPEN_FILES = 64
_CPU_RESERVE = 4
"""Hard CPU limit as a multiple of the soft one: a child that answers many requests renews the soft one."""


def die_with_parent(parent: int) -> None:
    """Make Linux kill this process when its parent ends. Elsewhere, the closed channel has that effect.

    ``parent`` is the process that forked this one: if it ended before the request, no signal would come, so
    this process exits at once.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def end_at_eof(descriptor: int) -> None:
    """Kill this process, and those in its session that it started, when ``descriptor`` is at its end.

    The other end is held by the parent: the channel closes however the parent ends, on every platform.
    """

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(descriptor, 1 << 12):
                pass
        with contextlib.suppress(OSError, AttributeError):
            if os.getpgrp() == os.getpid():
                os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def limit_memory(memory_bytes: int) -> None:
    """Limit address space and core dumps only: the process runs a model, and writes its result itself."""
    if sys.platform != "win32":
        _limit(resource.RLIMIT_CORE, 0, 0)
        _limit(resource.RLIMIT_AS, memory_bytes, memory_bytes)


def limit_process(memory_bytes: int, seconds: float) -> None:
    """Limit address space, CPU time, open files and core dumps; forbid writing files.

    Never raises: limits that are already tighter are kept.
    """
    sys.dont_write_bytecode = True
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        # When memory runs out, the kernel kills this process rather than a notebook's.
        score.write("1000")
    if sys.platform == "win32":
        return
    # Exceeding the file size limit must raise an error, not a signal.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    cpu = max(1, math.ceil(seconds))
    _limit(resource.RLIMIT_AS, memory_bytes, memory_bytes)
    _limit(resource.RLIMIT_CPU, cpu, cpu * _CPU_RESERVE)
    _limit(resource.RLIMIT_CORE, 0, 0)
    _limit(resource.RLIMIT_FSIZE, 0, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES)


def limit_run(memory_bytes: int) -> None:
    """Limit the memory that this process takes from now on; write no core dump.

    Unlike the address space, data is what is really used: threads and allocators reserve far more than that.
    """
    if sys.platform == "win32":
        return
    _limit(resource.RLIMIT_CORE, 0, 0)
    if sys.platform == "linux":
        most = data_bytes() + memory_bytes
        _limit(resource.RLIMIT_DATA, most, most)


def data_bytes() -> int:
    """Return the bytes of private writable memory of this process, of which Linux keeps count; else 0."""
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def renew_cpu(seconds: float) -> None:
    """Allow ``seconds`` of CPU time from now on, within the hard limit."""
    if sys.platform == "win32":
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(used.ru_utime + used.ru_stime + seconds)
    _limit(resource.RLIMIT_CPU, soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard)


def _limit(which: int, soft: int, hard: int) -> None:
    if sys.platform == "win32":
        return
    _, ceiling = resource.getrlimit(which)
    if ceiling != resource.RLIM_INFINITY:
        hard = ceiling if hard == resource.RLIM_INFINITY else min(hard, ceiling)
        soft = min(soft, hard)
    # macOS rejects some limits (RLIMIT_AS).
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(which, (soft, hard))


def silence() -> None:
    """Discard the output of C libraries, which may quote the model."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    if null > 2:
        os.close(null)
