"""What all handlers share."""

from __future__ import annotations

import contextlib
import json
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
from py_autodoc.server.paths import ServedFile, resolve
from py_autodoc.server.problems import ProblemMixin
from py_autodoc.server.services import Services

MAX_REQUEST_BYTES = 1 << 20
JSON = "application/json"
T = TypeVar("T")


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a request. Raises: OptionError for a key that stands twice: one value would be lost."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise OptionError("bad-request", f"{key!r:.80} occurs twice in the request.", "Pass it once.")
        found[key] = value
    return found


class Handler(ProblemMixin, ExtensionHandlerMixin, APIHandler):
    """Base of the JSON handlers. Each method of each handler names its own permissions."""

    _etag: str | None = None

    @property
    def services(self) -> Services:
        """The extension."""
        return cast("Services", self.extensionapp)

    @property
    def jobs(self) -> JobQueue:
        """The queue."""
        return self.services.jobs

    def set_default_headers(self) -> None:
        """Nothing we answer may be kept by anybody: it tells what is in a user's model."""
        super().set_default_headers()
        self.set_header("Cache-Control", "no-store")

    def compute_etag(self) -> str | None:
        """Only bodies have one; tornado's own would hash what we send."""
        return self._etag

    def read(self, kind: type[T]) -> T:
        """The request's body. Raises ``OptionError`` with the place of the fault, ``LimitError``."""
        size = len(self.request.body)
        if size > MAX_REQUEST_BYTES:
            raise LimitError("request_bytes", size, MAX_REQUEST_BYTES, f"The request has {size:,} bytes.")
        try:
            check_json(self.request.body, REQUEST)
            found = msgspec.json.decode(self.request.body, type=kind)
            json.loads(self.request.body, object_pairs_hook=_single)
            return found
        except TooMuch as fault:
            message = f"The request {fault}."
            raise LimitError("request", size, REQUEST.values, message) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise OptionError("bad-request", f"The request cannot be read: {error}.") from error

    async def file(self, path: str) -> ServedFile:
        """The file a client means. Raises like ``paths.resolve``."""
        return await resolve(self.contents_manager, path, self.services.allow_outside_links)

    def reply(self, value: msgspec.Struct, status: int = 200) -> None:
        """Answers with a small struct."""
        self.set_status(status)
        self.finish(msgspec.json.encode(value))

    async def send(self, body: EncodedBody) -> None:
        """Answers with a large body, piece by piece, as fast as the client takes it."""
        packed = body.gzip and self._takes_gzip()
        self._etag = f'"{body.digest}-gzip"' if packed else f'"{body.digest}"'
        self.set_header("Vary", "Accept-Encoding")
        self.set_etag_header()
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
            return
        self.set_header("Content-Type", JSON)
        self.set_header("Content-Length", str(body.size if packed else body.raw_size))
        if packed:
            self.set_header("Content-Encoding", "gzip")
        with contextlib.suppress(StreamClosedError):
            for piece in body.pieces if packed else body.unpacked():
                self.write(piece)
                await self.flush()
            self.finish()

    def _takes_gzip(self) -> bool:
        for item in self.request.headers.get("Accept-Encoding", "").split(","):
            name, _, quality = item.replace(" ", "").lower().partition(";")
            if name == "gzip":
                return quality not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
        return False
