"""State of a file, to detect changes without reading it."""

from __future__ import annotations

from tornado import web

from py_autodoc.report.schema import FileStamp
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler

RESOURCE = "autodoc:files"


class FilesHandler(Handler):
    """Files under the root folder of the server."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self) -> None:
        """Send the size and modification time of a file."""
        file = await self.resolve(self.get_query_argument("path"))
        self.reply(
            FileStamp(
                path=file.path,
                bytes=file.stamp.bytes,
                mtime_ns=str(file.stamp.mtime_ns),
                kind="onnx" if file.is_model else "other",
            )
        )
