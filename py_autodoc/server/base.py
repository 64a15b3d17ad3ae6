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
from tornado import web
from tornado.iostream import StreamClosedError

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.errors import LimitError, OptionError
from py_autodoc.jobs.errors import TooManyBodies
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


@web.stream_request_body
class Handler(ProblemMixin, ExtensionHandlerMixin, APIHandler):
    """Base class of the JSON handlers. Every method of a handler declares its own permission.

    Bodies are received in pieces, and what exceeds a limit is read but not kept.
    """

    max_body_bytes = MAX_REQUEST_BYTES
    _etag: str | None = None

    def initialize(self, *args: Any, **kwargs: Any) -> None:
        """Begin without a body."""
        super().initialize(*args, **kwargs)
        self._pieces: list[bytes] = []
        self._held = self._received = 0
        self._crowded = False

    def data_received(self, chunk: bytes) -> None:
        """Keep a piece of the body, of users only, as long as it and all bodies together are small enough."""
        self._received += len(chunk)
        fits = self._received <= self.max_body_bytes and self.current_user is not None
        if fits and not self._crowded and self.services.bodies.take(len(chunk), self._held):
            self._pieces.append(chunk)
            self._held += len(chunk)
            return
        self._crowded = self._crowded or fits
        self._drop_body()

    def on_finish(self) -> None:
        """Give the memory of the body back."""
        self._drop_body()
        super().on_finish()

    def on_connection_close(self) -> None:
        """Give the memory back also if the client ends in the middle."""
        self._drop_body()
        super().on_connection_close()

    def _drop_body(self) -> None:
        self._pieces.clear()
        self.services.bodies.give(self._held)
        self._held = 0

    def body(self) -> bytes:
        """Return the body of the request. Raises: LimitError, TooManyBodies: it is, or all are, too large."""
        size = self._received
        if size > self.max_body_bytes:
            message = f"The request has {size:,} bytes; the maximum is {self.max_body_bytes:,}."
            raise LimitError("request_bytes", size, self.max_body_bytes, message)
        if self._crowded:
            raise TooManyBodies
        return b"".join(self._pieces)

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
        body = self.body()
        try:
            check_json(body, REQUEST)
            result = msgspec.json.decode(body, type=kind)
            json.loads(body, object_pairs_hook=_unique_keys)
            return result
        except TooMuch as fault:
            message = f"The request {fault}."
            raise LimitError("request", len(body), REQUEST.values, message) from None
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
