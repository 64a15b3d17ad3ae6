"""A cheap look at a file, to notice that it changed."""

from __future__ import annotations

from tornado import web

from py_autodoc.report.schema import FileStamp
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler

RESOURCE = "autodoc:files"


class FilesHandler(Handler):
    """Files under the server's root."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self) -> None:
        """Size and time of one file."""
        file = await self.file(self.get_query_argument("path"))
        self.reply(
            FileStamp(
                path=file.path,
                bytes=file.stamp.bytes,
                mtime_ns=str(file.stamp.mtime_ns),
                kind="onnx" if file.is_model else "other",
            )
        )
