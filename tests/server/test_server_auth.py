"""Nobody gets anywhere without being known and allowed: an audit of the whole table."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from jupyter_server.auth import Authorizer
from tornado.httpclient import HTTPClientError

from py_autodoc.report.openapi_spec.operations import OPERATIONS
from py_autodoc.server.routes import PREFIX, ROUTES, tornado_rules

HTTP = [route for route in ROUTES if route.operation.id != "watchJob"]
ids = [route.operation.id for route in HTTP]


class Recorder(Authorizer):
    """Denies everything and remembers what was asked."""

    asked: ClassVar[list[tuple[str, str]]] = []

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        self.asked.append((action, resource))
        return False


@pytest.fixture
def denying(monkeypatch: pytest.MonkeyPatch, jp_server_config: dict[str, Any]) -> list[tuple[str, str]]:
    jp_server_config["ServerApp"]["authorizer_class"] = Recorder
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(Recorder, "asked", asked)
    return asked


def parts(route: Any) -> list[str]:
    return [
        part.replace("{id}", "x").replace("{node_id}", "1")
        for part in route.operation.path.strip("/").split("/")
    ]


def test_the_table_has_every_documented_operation() -> None:
    assert [route.operation for route in ROUTES] == list(OPERATIONS)
    assert all(pattern.startswith(PREFIX) for pattern, _ in tornado_rules())
    by_pattern: dict[str, set[type]] = {}
    for route in ROUTES:
        by_pattern.setdefault(route.pattern, set()).add(route.handler)
    assert all(len(handlers) == 1 for handlers in by_pattern.values())


def test_no_handler_has_a_method_that_the_table_does_not_name() -> None:
    for handler in {route.handler for route in ROUTES}:
        written = {
            name.upper()
            for name in ("get", "post", "put", "patch", "delete", "head")
            if name in vars(handler)
        }
        assert written == {route.operation.method for route in ROUTES if route.handler is handler}


@pytest.mark.parametrize("route", HTTP, ids=ids)
@pytest.mark.parametrize("token", ["", "token wrong"])
async def test_unknown_users_are_refused(route: Any, token: str, client: Any) -> None:
    answer = await client.ask(
        route.operation.method, *parts(route), body={}, headers={"Authorization": token}
    )
    assert answer.status == 403
    assert answer.json["code"] == "http-403"


@pytest.mark.parametrize("route", HTTP, ids=ids)
async def test_each_method_asks_for_its_own_permission(
    route: Any, denying: list[tuple[str, str]], client: Any
) -> None:
    answer = await client.ask(route.operation.method, *parts(route), body={})
    assert answer.status == 403
    assert answer.json["code"] == "http-403"
    assert denying == [(route.action, route.resource)]


async def test_the_socket_asks_too(denying: list[tuple[str, str]], client: Any, jp_ws_fetch: Any) -> None:
    (route,) = [route for route in ROUTES if route.operation.id == "watchJob"]
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("autodoc", "api", "jobs", "x", "ws")
    assert refused.value.code == 403
    assert denying == [(route.action, route.resource)]


@pytest.mark.parametrize("token", ["", "token wrong"])
async def test_the_socket_refuses_unknown_users(token: str, client: Any, jp_ws_fetch: Any) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("autodoc", "api", "jobs", "x", "ws", headers={"Authorization": token})
    assert refused.value.code == 403


async def test_the_socket_refuses_other_sites(client: Any, jp_serverapp: Any, jp_ws_fetch: Any) -> None:
    cookie = await log_in(client, jp_serverapp)
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch(
            "autodoc",
            "api",
            "jobs",
            "x",
            "ws",
            headers={"Authorization": "", "Cookie": cookie, "Origin": "http://evil.example"},
        )
    assert refused.value.code == 403


async def test_cookies_need_the_xsrf_token_and_the_right_origin(client: Any, jp_serverapp: Any) -> None:
    cookie = await log_in(client, jp_serverapp)
    own = {"Authorization": "", "Cookie": cookie}
    path = client.file("m.onnx")
    seen = await client.ask("GET", "files", params={"path": path}, headers=dict(own))
    assert seen.status == 200
    foreign = {**own, "Origin": "http://evil.example", "Referer": "http://evil.example/"}
    assert (await client.ask("GET", "files", params={"path": path}, headers=foreign)).status in (403, 404)
    posted = await client.ask("POST", "jobs", body={"path": path}, headers=dict(own))
    assert posted.status == 403
    assert posted.json["code"] == "http-403"
    assert (await client.ask("DELETE", "jobs", "x", headers=dict(own))).status == 403


async def log_in(client: Any, jp_serverapp: Any) -> str:
    """The cookie a browser has after it came with the token in its address."""
    response = await client.fetch(
        "autodoc",
        "api",
        "files",
        params={"token": jp_serverapp.identity_provider.token, "path": "x"},
        headers={"Authorization": ""},
        raise_error=False,
    )
    return "; ".join(line.split(";")[0] for line in response.headers.get_list("Set-Cookie"))


@pytest.mark.parametrize("headers", [{"Authorization": ""}, {"Authorization": "token wrong"}])
async def test_a_refused_socket_is_one_line_of_the_log(
    headers: dict[str, str], client: Any, jp_ws_fetch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"), pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("autodoc", "api", "jobs", "x", "ws", headers=headers)
    assert refused.value.code == 403
    assert refused.value.response.headers["Content-Type"] == "application/problem+json"
    assert not [record.getMessage() for record in caplog.records if record.exc_info]


async def test_a_request_for_a_socket_that_is_none_is_no_fault(
    client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        answer = await client.ask("GET", "jobs", "x", "ws")
    assert answer.status == 400
    assert not [record.getMessage() for record in caplog.records if record.exc_info]
