"""Errors become problem+json here and nowhere else."""

from __future__ import annotations

from http.client import responses
from typing import Any

import msgspec
from jupyter_server.base.handlers import APIHandler
from tornado import web

from py_autodoc.errors import AutodocError
from py_autodoc.jobs.errors import QueueFull
from py_autodoc.jobs.problems import TYPE_PREFIX, problem_of, internal_problem
from py_autodoc.report.schema import Problem

CONTENT_TYPE = "application/problem+json"

_HTTP_HINTS = {
    401: "Log in again.",
    403: "Log in again, or ask who runs this server for access.",
}


def problem_for(error: BaseException | None, status: int) -> Problem:
    """The problem that tells of ``error``; of faults of ours it tells nothing but that they happened."""
    if isinstance(error, AutodocError):
        return problem_of(error)
    if error is None or isinstance(error, web.HTTPError):
        # The error's own text may name server paths: only its status is passed on.
        title = responses.get(status, "Error")
        return Problem(
            type=f"{TYPE_PREFIX}http-{status}",
            title=title,
            status=status,
            detail=f"The server answered: {title}.",
            code=f"http-{status}",
            hint=_HTTP_HINTS.get(status, ""),
        )
    return internal_problem()


class ProblemMixin:
    """For handlers: every error answer is problem+json. Stands before jupyter_server's classes."""

    def write_error(self: Any, status_code: int, **kwargs: Any) -> None:
        """Answers with the problem of the exception that ended the request."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        problem = problem_for(error, status_code)
        self.set_status(problem.status)
        self.set_header("Content-Type", CONTENT_TYPE)
        self.set_header("Cache-Control", "no-store")
        if isinstance(error, QueueFull):
            self.set_header("Retry-After", str(error.retry_after_s))
        # Jupyter's handlers of its API would say that it is plain JSON; those of sockets know no such thing.
        kept = {"set_content_type": CONTENT_TYPE} if isinstance(self, APIHandler) else {}
        self.finish(msgspec.json.encode(problem), **kept)

    def log_exception(self: Any, kind: Any, error: Any, trace: Any) -> None:
        """An error that the user sees is not a fault of the server: one line, no traceback."""
        if isinstance(error, AutodocError):
            text = str(error).encode("unicode_escape").decode("ascii")
            self.log.info("%s %s: %s", self.request.method, error.code, text)
        else:
            super().log_exception(kind, error, trace)  # type: ignore[misc]
