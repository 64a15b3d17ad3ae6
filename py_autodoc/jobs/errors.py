"""What can go wrong with a job rather than with the library; see ``py_autodoc.errors`` for the tree."""

from __future__ import annotations

from py_autodoc.errors import AnalysisError, AutodocError, LimitError, PathError, ServiceError
from py_autodoc.report.schema import Problem


class UnknownJob(PathError):
    """No job has this id, or its result was dropped from the cache."""

    def __init__(self) -> None:
        super().__init__("unknown-job", "The server has no analysis with this id.", "Start it again.")


class UnknownNode(PathError):
    """The model has no node with this id."""

    def __init__(self, node: str) -> None:
        super().__init__("unknown-node", f"The model has no node with the id {node[:20]}.")


class Stopped(AutodocError):
    """The one who asked went away. Never shown to anybody."""

    http_status = 499

    def __init__(self) -> None:
        super().__init__("stopped", "Nobody waits for this any longer.")


class JobNotDone(AutodocError):
    """The result was asked for before it is there."""

    http_status = 409

    def __init__(self, state: str) -> None:
        super().__init__("job-not-done", f"The analysis is {state}.", "Wait until its state is done.")


class FileChanged(AutodocError):
    """The file is no longer the one that was analysed."""

    http_status = 409

    def __init__(self, name: str) -> None:
        super().__init__(
            "file-changed", f"{name} changed on disk since it was analysed.", "Reload the model."
        )


class QueueFull(ServiceError):
    """Too many analyses wait already."""

    http_status = 429
    retry_after_s = 5

    def __init__(self, waiting: int) -> None:
        super().__init__(
            "queue-full",
            f"{waiting} analyses are waiting already.",
            f"Try again in {self.retry_after_s} seconds.",
        )


class JobFailed(AutodocError):
    """The job ended with this problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code, problem.detail, problem.hint)
        self.http_status = problem.status
        self.problem = problem


def out_of_memory(limit_bytes: int) -> LimitError:
    """The child hit its memory limit."""
    return LimitError(
        "memory_bytes",
        limit_bytes,
        limit_bytes,
        f"The analysis needs more than {limit_bytes / 2**30:.3g} GiB of memory.",
        "Raise AutodocApp.memory_bytes in the server's configuration.",
    )


def out_of_time(limit_s: float) -> LimitError:
    """The child ran longer than allowed."""
    return LimitError(
        "seconds",
        int(limit_s),
        int(limit_s),
        f"The analysis took longer than {limit_s:g} seconds.",
        "Raise AutodocApp.seconds in the server's configuration.",
    )


def worker_died(signal_name: str) -> AnalysisError:
    """The child ended without an answer, for no reason of ours."""
    return AnalysisError(
        "worker-died",
        f"The process that analysed the model ended unexpectedly ({signal_name}).",
        "Nothing else was harmed. Try again; if it happens each time, please report the model.",
    )
