"""A service on this machine that speaks both request shapes, keeps what it was sent and fails as told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Service:
    """What it says, and what it heard."""

    text: str = "A small network."
    failures: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """(status, headers) of the next answers."""
    raw: bytes | None = None
    """The body of an answer, as it is."""
    delay: float = 0.0
    url: str = ""
    heard: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    def body(self, path: str) -> bytes:
        if self.raw is not None:
            return self.raw
        if path == "/v1/messages":
            return json.dumps({"type": "message", "content": [{"type": "text", "text": self.text}]}).encode()
        answer = {"choices": [{"message": {"role": "assistant", "content": self.text}}]}
        return json.dumps(answer).encode()

    def facts(self) -> Any:
        sent = json.loads(self.heard[-1][2])
        return json.loads(sent["messages"][-1]["content"])


@contextmanager
def serving(**settings: Any) -> Iterator[Service]:
    service = Service(**settings)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            service.heard.append((self.path, {k.lower(): v for k, v in self.headers.items()}, data))
            time.sleep(service.delay)
            status, headers = service.failures.pop(0) if service.failures else (200, {})
            body = service.body(self.path) if status == 200 else b'{"error": {"message": "secret detail"}}'
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    service.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
