"""Parts of a model as models of their own, written beside it.

The child that holds the analysis may write no file: it cuts out the part and sends it, and the server
writes it piece by piece, in a thread.
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
"""Whoever may save files may do this, and nobody else."""
_FACTS = msgspec.json.Decoder(Extracted)


class ExtractHandler(Handler):
    """Parts of an analysed model."""

    @web.authenticated
    @authorized("write", RESOURCE)
    async def post(self, job_id: str) -> None:
        """Writes the nodes as a model; answers with where it is and what goes in and out."""
        request = self.read(ExtractRequest)
        if not request.nodes:
            raise OptionError("nothing-selected", "No node is selected.", "Select what to extract.")
        file = await self.file(request.path)
        require_model(file)
        arriving = IncomingFile(file.os_path, request, self.jobs.data_files(job_id))
        facts: list[Extracted] = []

        async def take(piece: bytes) -> None:
            data = memoryview(piece)
            if not facts:
                # The line of facts is shorter than a piece, except from a child that is up to no good.
                line, end, _ = piece.partition(b"\n")
                if not end:
                    raise BrokenStream
                facts.append(_FACTS.decode(line))
                data = data[len(line) + 1 :]
            await arriving.write(data)

        try:
            await arriving.open()
            await self.jobs.extract(job_id, file.os_path, request.nodes, take)
            name = await arriving.finish()
        finally:
            await arriving.discard()
        folder = file.path.rpartition("/")[0]
        path = f"{folder}/{name}" if folder else name
        self.reply(msgspec.structs.replace(facts[0], path=path), 201)
