"""Extract nodes of a model to a new file next to it.

The child process with the analysis must not write files. It sends the extracted model to the server, which
writes it piece by piece in a thread.
"""

from __future__ import annotations

import msgspec
from tornado import web

from py_autodoc.errors import OptionError
from py_autodoc.jobs.ipc_frames import BrokenStream
from py_autodoc.report.schema import Extracted, ExtractRequest
from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler
from py_autodoc.server.incoming_file import IncomingFile
from py_autodoc.server.paths import require_model

RESOURCE = "contents"
"""The same permission as for saving files."""
_SUMMARY = msgspec.json.Decoder(Extracted)


class ExtractHandler(Handler):
    """Extracts nodes of an analysed model."""

    @web.authenticated
    @authorized("write", RESOURCE)
    async def post(self, job_id: str) -> None:
        """Write the selected nodes as a model; respond with its path, inputs and outputs."""
        request = self.read_body(ExtractRequest)
        if not request.nodes:
            raise OptionError("nothing-selected", "No node is selected.", "Select the nodes to extract.")
        file = await self.resolve(request.path)
        require_model(file)
        output = IncomingFile(file.os_path, request, self.writing_root)
        if request.name:
            await self.resolve_output(file, request.name)
        summaries: list[Extracted] = []

        async def receive(piece: bytes) -> None:
            data = memoryview(piece)
            if not summaries:
                # The first line always fits into one piece; anything else violates the protocol.
                line, end, _ = piece.partition(b"\n")
                if not end:
                    raise BrokenStream
                summaries.append(_SUMMARY.decode(line))
                data = data[len(line) + 1 :]
            await output.write(data)

        try:
            await output.open()
            await self.jobs.extract(job_id, file.os_path, request.nodes, receive, output.replaced)
            name = await output.finish()
        finally:
            await output.discard()
        folder = file.path.rpartition("/")[0]
        path = f"{folder}/{name}" if folder else name
        self.reply(msgspec.structs.replace(summaries[0], path=path), 201)
