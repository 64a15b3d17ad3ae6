"""Errors of jobs. See ``py_autodoc.errors`` for the base classes."""

from __future__ import annotations

from py_autodoc.errors import AnalysisError, AutodocError, LimitError, PathError, ServiceError
from py_autodoc.report.schema import Problem


class UnknownJob(PathError):
    """There is no job with this id, or its result was removed from the cache."""

    def __init__(self) -> None:
        super().__init__(
            "unknown-job", "The server has no analysis with this id.", "Start the analysis again."
        )


class UnknownNode(PathError):
    """The model has no node with this id."""

    def __init__(self, node: str) -> None:
        super().__init__("unknown-node", f"The model has no node with the id {node[:20]}.")


class JobStopped(AutodocError):
    """The request was cancelled. Never shown to users."""

    http_status = 499

    def __init__(self) -> None:
        super().__init__("stopped", "The request was cancelled.")


class JobNotDone(AutodocError):
    """The result was requested before it was available."""

    http_status = 409

    def __init__(self, state: str) -> None:
        super().__init__("job-not-done", f"The analysis is {state}.", "Wait until its state is done.")


class FileChanged(AutodocError):
    """The file has changed since it was analysed."""

    http_status = 409

    def __init__(self, name: str) -> None:
        super().__init__(
            "file-changed", f"{name} has changed on disk since it was analysed.", "Reload the model."
        )


class TooManyBodies(ServiceError):
    """The requests that are being received take the memory of the server."""

    http_status = 429
    retry_after_s = 5

    def __init__(self) -> None:
        super().__init__(
            "bodies-too-large",
            "Other requests that are being sent take all memory for them.",
            f"Try again in {self.retry_after_s} seconds.",
        )


class QueueFull(ServiceError):
    """Too many analyses are queued."""

    http_status = 429
    retry_after_s = 5

    def __init__(self, waiting: int) -> None:
        super().__init__(
            "queue-full",
            f"{waiting} analyses are already waiting.",
            f"Try again in {self.retry_after_s} seconds.",
        )


class JobFailed(AutodocError):
    """The job failed with this problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code, problem.detail, problem.hint)
        self.http_status = problem.status
        self.problem = problem


CRASHES = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS", "SIGTRAP"})
"""Signals of a process that crashed, as opposed to one that was killed."""


_REPORT_MODEL = "Other analyses are not affected. Please report the model."


class WorkerGone(AnalysisError):
    """The child process ended without a response.

    Args:
        message: what happened.
        hint: what to do about it.
        by_model: the analysis itself is the cause.
        lost: the exit status is unknown, because the process that started the child has ended, too.
    """

    def __init__(self, message: str, hint: str, *, by_model: bool = False, lost: bool = False) -> None:
        super().__init__("worker-died", message, hint)
        self.by_model = by_model
        self.lost = lost

    @classmethod
    def stopped_by_server(cls) -> WorkerGone:
        """The server stopped the child."""
        return cls("The server stopped the process of this analysis.", "Try again.")

    @classmethod
    def no_response(cls, lost: bool) -> WorkerGone:
        """The child exited by itself, or for an unknown reason."""
        message = "The process of this analysis ended without a response."
        return cls(message, "Try again. If it happens again, please report it.", lost=lost)

    @classmethod
    def invalid_response(cls) -> WorkerGone:
        """The child sent an invalid message."""
        message = "The process of this analysis sent an invalid response and was stopped."
        return cls(message, _REPORT_MODEL, by_model=True)

    @classmethod
    def killed_by(cls, name: str) -> WorkerGone:
        """A signal ended the child: it crashed, or another process killed it."""
        if name in CRASHES:
            message = f"A library crashed during the analysis of this model ({name})."
            return cls(message, _REPORT_MODEL, by_model=True)
        message = f"The process of this analysis was killed ({name})."
        return cls(message, "The machine may have run out of memory. Try again.")


def out_of_memory(
    limit_bytes: int, work: str = "analysis", setting: str = "AutodocApp.memory_bytes"
) -> LimitError:
    """Return the error for a child that reached its memory limit, which ``setting`` sets."""
    return LimitError(
        "memory_bytes",
        limit_bytes,
        limit_bytes,
        f"The {work} needs more than {limit_bytes / 2**30:.3g} GiB of memory.",
        f"Raise {setting} in the server's configuration.",
    )


def out_of_time(limit_s: float) -> LimitError:
    """Return the error for a child that exceeded its time limit."""
    return LimitError(
        "seconds",
        int(limit_s),
        int(limit_s),
        f"The analysis took longer than {limit_s:g} seconds.",
        "Raise AutodocApp.seconds in the server's configuration.",
    )
