"""Bodies of requests are bounded alone and together, before they are complete."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from py_autodoc.jobs.memory_budget import MemoryBudget
from py_autodoc.jobs.request_bodies import LEAST, RequestBodies
from py_autodoc.server.base import MAX_REQUEST_BYTES


def test_a_body_alone_may_exceed_the_budget_and_all_give_it_back() -> None:
    bodies = RequestBodies(MemoryBudget(0))
    assert bodies.take(2 * LEAST, 0)
    assert bodies.take(1, 2 * LEAST)
    assert not bodies.take(1, 0)
    bodies.give(2 * LEAST + 1)
    assert bodies.take(LEAST, 0)
    assert bodies.take(0, 0)
    assert not bodies.take(1, 0)


def test_results_are_dropped_for_bodies() -> None:
    class Results:
        bytes = LEAST
        dropped = 0

        def kept(self) -> list[Any]:
            from py_autodoc.jobs.memory_budget import Kept

            return [Kept(float(at), LEAST // 2, self._drop) for at in range(2)]

        def _drop(self) -> None:
            self.dropped += 1

    budget, results = MemoryBudget(LEAST), Results()
    budget.add(results)
    assert RequestBodies(budget).take(LEAST // 4, 0)
    assert results.dropped == 1


class Sender:
    """A client that sends a body in parts."""

    def __init__(self, port: int, path: str, headers: dict[str, str], size: int) -> None:
        lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {size}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._port, self._head = port, "\r\n".join([*lines, "", ""]).encode()

    async def begin(self, part: bytes) -> None:
        self._in, self._out = await asyncio.open_connection("localhost", self._port)
        self._out.write(self._head + part)
        await self._out.drain()

    async def end(self, part: bytes) -> tuple[int, dict[str, Any]]:
        self._out.write(part)
        head = (await self._in.readuntil(b"\r\n\r\n")).decode()
        size = next(int(line.split()[1]) for line in head.splitlines() if line.startswith("Content-Length"))
        body = json.loads(await self._in.readexactly(size))
        self.close()
        return int(head.split()[1]), body

    def close(self) -> None:
        self._out.close()


async def settled(condition: Any) -> None:
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


@pytest.mark.usefixtures("client")  # the server listens
@pytest.mark.parametrize("extension_config", [{"cache_bytes": 0}])
async def test_all_bodies_together(
    autodoc: Any, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]
) -> None:
    path, part = f"{jp_base_url}autodoc/api/jobs", b" " * (MAX_REQUEST_BYTES - 100)
    count = LEAST // len(part)
    senders = [Sender(jp_http_port, path, jp_auth_header, len(part) + 1) for _ in range(count + 1)]
    for sender in senders[:count]:
        await sender.begin(part)
    await settled(lambda: autodoc.bodies.bytes == count * len(part))
    await senders[count].begin(part)
    status, problem = await senders[count].end(b" ")
    assert (status, problem["code"]) == (429, "bodies-too-large")
    senders[0].close()  # in the middle
    await settled(lambda: autodoc.bodies.bytes == (count - 1) * len(part))
    status, problem = await senders[1].end(b" ")
    assert (status, problem["code"]) == (422, "bad-request")
    for sender in senders[2:count]:
        sender.close()
    await settled(lambda: autodoc.bodies.bytes == 0)


@pytest.mark.usefixtures("client")
async def test_what_is_too_large_or_a_strangers_is_not_kept(
    autodoc: Any, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]
) -> None:
    path, size = f"{jp_base_url}autodoc/api/jobs", 3 * MAX_REQUEST_BYTES
    large = Sender(jp_http_port, path, jp_auth_header, size)
    await large.begin(b" " * (size - 1))
    await settled(lambda: autodoc.bodies.bytes == 0)
    status, problem = await large.end(b" ")
    assert (status, problem["code"]) == (413, "limit-request-bytes")
    stranger = Sender(jp_http_port, path, {}, 20)
    await stranger.begin(b" " * 10)
    await asyncio.sleep(0.05)
    assert autodoc.bodies.bytes == 0
    status, problem = await stranger.end(b" " * 10)
    assert (status, problem["code"]) == (403, "http-403")
