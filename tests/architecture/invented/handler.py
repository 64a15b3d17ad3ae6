"""An endpoint without an answer."""

from tornado import web

from py_autodoc.server.auth import authorized
from py_autodoc.server.base import Handler

RESOURCE = "autodoc:invented"


class InventedHandler(Handler):
    """Answers with nothing."""

    @web.authenticated
    @authorized("read", RESOURCE)
    async def get(self) -> None:
        """Nothing."""
        self.set_status(204)
