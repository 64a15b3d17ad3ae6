"""Server for the UI tests. Never use it elsewhere: it has no authentication."""

import os

from jupyterlab.galata import configure_jupyter_server

configure_jupyter_server(c)
c.ServerApp.port = int(os.environ.get("AUTODOC_UI_PORT", "18888"))
c.ServerApp.allow_root = True
c.LabApp.news_url = None
