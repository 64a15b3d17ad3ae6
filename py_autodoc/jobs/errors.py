"""Errors of jobs rather than of the library; see ``py_autodoc.errors`` for the hierarchy."""

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


class JobStopped(AutodocError):
    """The requester has gone. Never shown to users."""

    http_status = 499

    def __init__(self) -> None:
        super().__init__("stopped", "Nobody waits for this any longer.")


class JobNotDone(AutodocError):
    """The result was requested before it was available."""

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
    """Too many analyses are queued."""

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


CRASHES = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGSYS", "SIGTRAP"})
"""Signals that indicate a crash of the process itself."""


class WorkerGone(AnalysisError):
    """The child exited without a response.

    ``by_model`` if its own computation was the cause, ``lost`` if its parent process ended.
    """

    def __init__(self, message: str, hint: str, *, by_model: bool = False, lost: bool = False) -> None:
        super().__init__("worker-died", message, hint)
        self.by_model = by_model
        self.lost = lost

    @classmethod
    def dismissed(cls) -> WorkerGone:
        """The server ended it."""
        return cls("The server has ended the process that holds this analysis.", "Try again.")

    @classmethod
    def silent(cls, lost: bool) -> WorkerGone:
        """It exited by itself, or for an unknown reason."""
        message = "The process that holds this analysis ended without an answer."
        return cls(message, "Try again; if it happens each time, please report it.", lost=lost)

    @classmethod
    def babbling(cls) -> WorkerGone:
        """It sent an invalid message."""
        message = "The process that holds this analysis sent an invalid response and was stopped."
        return cls(message, "Nothing else was harmed. Please report the model.", by_model=True)

    @classmethod
    def by_signal(cls, name: str) -> WorkerGone:
        """A signal ended it: a crash, or from outside."""
        if name in CRASHES:
            message = f"A library crashed while it worked on this model ({name})."
            return cls(message, "Nothing else was harmed. Please report the model.", by_model=True)
        message = f"The process that holds this analysis was ended from outside ({name})."
        return cls(message, "The machine may be short of memory. Try again.")


def out_of_memory(limit_bytes: int) -> LimitError:
    """The child reached its memory limit."""
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
