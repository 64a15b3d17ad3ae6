"""Talking to the server in tests."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tornado.httpclient import HTTPResponse

API = ("autodoc", "api")


@dataclass
class Answer:
    status: int
    headers: Any
    raw: bytes
    json: Any = field(default=None)


@dataclass
class Client:
    """Requests with the right token; errors are answers too."""

    fetch: Any
    root: Path

    async def ask(self, method: str, *parts: str, body: Any = None, **options: Any) -> Answer:
        if method == "POST":
            options["body"] = body if isinstance(body, (bytes, str)) else json.dumps(body)
        response: HTTPResponse = await self.fetch(*API, *parts, method=method, raise_error=False, **options)
        text = response.body or b""
        is_json = "json" in response.headers.get("Content-Type", "")
        return Answer(response.code, response.headers, text, json.loads(text) if text and is_json else None)

    async def start(self, path: str, **options: Any) -> Answer:
        return await self.ask("POST", "jobs", body={"path": path, **options})

    async def run(self, path: str, **options: Any) -> dict[str, Any]:
        """Starts a job and polls it to its end."""
        started = await self.start(path, **options)
        assert started.status in (200, 202), started.raw
        return await self.end(started.json["id"])

    async def end(self, job_id: str) -> dict[str, Any]:
        last: dict[str, Any] = {}

        async def over() -> bool:
            nonlocal last
            last = (await self.ask("GET", "jobs", job_id)).json
            return last["state"] in ("done", "failed", "cancelled")

        while not await over():
            pass
        return last

    def file(self, name: str, text: str = "ok") -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name


def assert_problem(answer: Answer, status: int, code: str) -> None:
    assert answer.status == status, answer.raw
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert set(answer.json) == {"type", "title", "status", "detail", "code", "hint"}
    assert answer.json["status"] == status
    assert answer.json["code"] == code
    assert answer.json["title"]
    assert answer.json["detail"]
