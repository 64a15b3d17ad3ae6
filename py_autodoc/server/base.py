"""The base class of all handlers."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from typing import Any, TypeVar, cast

import msgspec
from jupyter_server.base.handlers import APIHandler
from jupyter_server.extension.handler import ExtensionHandlerMixin
from tornado.iostream import StreamClosedError

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.errors import LimitError, OptionError
from py_autodoc.jobs.isolated_analysis import EncodedBody
from py_autodoc.jobs.job_queue import JobQueue
from py_autodoc.limits import REQUEST
from py_autodoc.server.paths import ServedFile, output_beside, resolve
from py_autodoc.server.problems import ProblemMixin
from py_autodoc.server.services import Services

MAX_REQUEST_BYTES = 1 << 20
JSON = "application/json"
T = TypeVar("T")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs. Raises: OptionError: a key occurs twice."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise OptionError("bad-request", f"{key!r:.80} occurs twice in the request.", "Pass it once.")
        result[key] = value
    return result


class Handler(ProblemMixin, ExtensionHandlerMixin, APIHandler):
    """Base class of the JSON handlers. Every method of a handler declares its own permission."""

    _etag: str | None = None

    @property
    def services(self) -> Services:
        """The queues and settings of the extension."""
        return cast("Services", self.extensionapp)

    @property
    def jobs(self) -> JobQueue:
        """The queue of analyses."""
        return self.services.jobs

    def set_default_headers(self) -> None:
        """Forbid caching: all responses contain information about the user's models."""
        super().set_default_headers()
        self.set_header("Cache-Control", "no-store")

    def compute_etag(self) -> str | None:
        """Return the digest of a body. Tornado would hash the whole response instead."""
        return self._etag

    def read_body(self, kind: type[T]) -> T:
        """Decode the JSON of the request.

        Raises: OptionError, which names the path of the invalid value; LimitError: the request is too large.
        """
        size = len(self.request.body)
        if size > MAX_REQUEST_BYTES:
            message = f"The request has {size:,} bytes; the maximum is {MAX_REQUEST_BYTES:,}."
            raise LimitError("request_bytes", size, MAX_REQUEST_BYTES, message)
        try:
            check_json(self.request.body, REQUEST)
            result = msgspec.json.decode(self.request.body, type=kind)
            json.loads(self.request.body, object_pairs_hook=_unique_keys)
            return result
        except TooMuch as fault:
            message = f"The request {fault}."
            raise LimitError("request", size, REQUEST.values, message) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise OptionError("bad-request", f"The request is invalid: {error}.") from error

    async def resolve(self, path: str) -> ServedFile:
        """Return the file at a path of the contents API. Raises: as ``paths.resolve``."""
        return await resolve(self.contents_manager, path, self.services.allow_outside_links)

    async def resolve_output(self, file: ServedFile, name: str) -> str:
        """Return the path of an output next to a file. Raises: as ``paths.output_beside``."""
        return await output_beside(self.contents_manager, file, name, self.services.allow_outside_links)

    @property
    def writing_root(self) -> str:
        """The folder that outputs must not leave through links; empty: any."""
        return "" if self.services.allow_outside_links else os.path.abspath(self.contents_manager.root_dir)

    def reply(self, value: msgspec.Struct, status: int = 200) -> None:
        """Send a small struct as JSON."""
        self.set_status(status)
        self.finish(msgspec.json.encode(value))

    async def send(self, body: EncodedBody) -> None:
        """Send a large body piece by piece, at the speed of the client."""
        compressed = body.gzip and self._accepts_gzip()
        self._etag = f'"{body.digest}-gzip"' if compressed else f'"{body.digest}"'
        self.set_header("Vary", "Accept-Encoding")
        self.set_etag_header()
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
            return
        self.set_header("Content-Type", JSON)
        self.set_header("Content-Length", str(body.size if compressed else body.raw_size))
        if compressed:
            self.set_header("Content-Encoding", "gzip")
        await self.stream(body.pieces if compressed else body.unpacked())

    async def stream(self, pieces: Iterable[bytes]) -> None:
        """Send the body piece by piece, at the speed of the client, and finish."""
        with contextlib.suppress(StreamClosedError):
            for piece in pieces:
                self.write(piece)
                await self.flush()
            self.finish()

    def _accepts_gzip(self) -> bool:
        for item in self.request.headers.get("Accept-Encoding", "").split(","):
            name, _, quality = item.replace(" ", "").lower().partition(";")
            if name == "gzip":
                return quality not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
        return False
