"""Convert all errors to ``application/problem+json``."""

from __future__ import annotations

from http.client import responses
from typing import Any

import msgspec
from jupyter_server.base.handlers import APIHandler
from tornado import web

from py_autodoc.errors import AutodocError
from py_autodoc.jobs.errors import QueueFull, TooManyBodies
from py_autodoc.jobs.problems import TYPE_PREFIX, internal_problem, problem_of
from py_autodoc.report.schema import Problem

CONTENT_TYPE = "application/problem+json"

_HTTP_HINTS = {
    401: "Log in again.",
    403: "Log in again, or ask the administrator of this server for access.",
}


def problem_for(error: BaseException | None, status: int) -> Problem:
    """Return the problem for an error. Unexpected exceptions are reported without details."""
    if isinstance(error, AutodocError):
        return problem_of(error)
    if error is None or isinstance(error, web.HTTPError):
        # The text of the error can contain paths of the server: only the status is passed on.
        title = responses.get(status, "Error")
        return Problem(
            type=f"{TYPE_PREFIX}http-{status}",
            title=title,
            status=status,
            detail=f"The server responded: {title}.",
            code=f"http-{status}",
            hint=_HTTP_HINTS.get(status, ""),
        )
    return internal_problem()


class ProblemMixin:
    """Mixin of handlers that sends errors as problem+json. Must precede the classes of jupyter_server."""

    def write_error(self: Any, status_code: int, **kwargs: Any) -> None:
        """Send the problem for the exception that ended the request."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        problem = problem_for(error, status_code)
        self.set_status(problem.status)
        self.set_header("Content-Type", CONTENT_TYPE)
        self.set_header("Cache-Control", "no-store")
        if isinstance(error, (QueueFull, TooManyBodies)):
            self.set_header("Retry-After", str(error.retry_after_s))
        # ``APIHandler.finish`` would set the type to JSON; the handlers of sockets do not have this argument.
        options = {"set_content_type": CONTENT_TYPE} if isinstance(self, APIHandler) else {}
        self.finish(msgspec.json.encode(problem), **options)

    def log_exception(self: Any, kind: Any, error: Any, trace: Any) -> None:
        """Log errors that are reported to the user in one line, without a traceback."""
        if isinstance(error, AutodocError):
            text = str(error).encode("unicode_escape").decode("ascii")
            self.log.info("%s %s: %s", self.request.method, error.code, text)
        else:
            super().log_exception(kind, error, trace)  # type: ignore[misc]
