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


# ------------------------------------------------------------ the whole table
#
# One server answers each table: what was let through is listed, so that a new route cannot be without a rule.

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SAFE = ("GET", "HEAD")
PATHS = sorted({tuple(parts(route)) for route in ROUTES})
DECLARED = {(tuple(parts(route)), route.operation.method) for route in ROUTES}


async def statuses(client: Any, methods: Any, headers: dict[str, str]) -> dict[Any, int]:
    """Return the status of each (path, method)."""
    found = {}
    for path in PATHS:
        for method in methods:
            body = {"body": {}} if method == "POST" else {}
            answer = await client.ask(
                method, *path, headers=dict(headers), allow_nonstandard_methods=True, **body
            )
            found[path, method] = answer.status
    return found


def test_nothing_is_served_beside_the_table(autodoc: Any, jp_serverapp: Any) -> None:
    """Every rule of the application below our prefix is of the table, and every handler is of ours."""
    found = set()
    pending = [*jp_serverapp.web_app.wildcard_router.rules, *jp_serverapp.web_app.default_router.rules]
    while pending:
        rule = pending.pop()
        pending += getattr(rule.target, "rules", [])
        pattern = getattr(getattr(rule.matcher, "regex", None), "pattern", "")
        module = getattr(rule.target, "__module__", "")
        if PREFIX in pattern or module.startswith("py_autodoc"):
            found.add((pattern.rpartition(PREFIX)[2].rstrip("$"), rule.target))
    assert found == {(route.pattern.removeprefix(PREFIX), route.handler) for route in ROUTES}


@pytest.mark.parametrize("headers", [{"Authorization": ""}, {"Authorization": "token wrong"}])
async def test_no_method_of_any_path_answers_unknown_users(headers: dict[str, str], client: Any) -> None:
    found = await statuses(client, METHODS, headers)
    assert {key: status for key, status in found.items() if key in DECLARED and status != 403} == {}
    # Methods that do not exist say so, or nothing at all; none does anything.
    assert {key: status for key, status in found.items() if status not in (403, 405)} == {}


async def test_asking_for_the_options_tells_and_does_nothing(client: Any) -> None:
    """Jupyter answers it to everybody, for the preflight of other sites, to which it grants nothing."""
    for path in PATHS:
        headers = {"Authorization": "", "Origin": "http://evil.example"}
        answer = await client.ask("OPTIONS", *path, headers=headers, allow_nonstandard_methods=True)
        assert not answer.raw or answer.status in (403, 405)
        assert "Access-Control-Allow-Origin" not in answer.headers


async def test_no_method_is_hidden_from_the_table(client: Any) -> None:
    """With every right, what the table does not name does not exist."""
    found = await statuses(client, METHODS, {})
    others = {key: status for key, status in found.items() if key not in DECLARED}
    assert {key: status for key, status in others.items() if status != 405} == {}
    assert 403 not in found.values()


class ReadOnly(Authorizer):
    """Lets users look, as an administrator may configure."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return action == "read"


@pytest.fixture
def read_only(jp_server_config: dict[str, Any]) -> None:
    jp_server_config["ServerApp"]["authorizer_class"] = ReadOnly


@pytest.mark.usefixtures("read_only")
async def test_who_may_only_read_starts_and_writes_nothing(client: Any) -> None:
    path = client.file("m.onnx")
    before = sorted(path.name for path in client.root.iterdir())
    wrong = {}
    for route in HTTP:
        answer = await client.ask(route.operation.method, *parts(route), body={"path": path})
        reads = route.action == "read"
        if (answer.status == 403) is reads or (not reads and route.operation.method == "GET"):
            wrong[route.operation.id] = answer.status
    assert wrong == {}
    assert {route.operation.method for route in HTTP if route.action == "read"} == {"GET"}
    assert sorted(path.name for path in client.root.iterdir()) == before


FOREIGN = [
    "http://evil.example",
    "https://evil.example",
    "null",
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example",
    "http://evil.example/127.0.0.1",
    "http://127.0.0.1:1",
    "file://",
]


async def test_cookies_alone_do_nothing(client: Any, jp_serverapp: Any) -> None:
    """Without the XSRF token, with a wrong one, and with that of the cookie under another name."""
    cookie = await log_in(client, jp_serverapp)
    page = await client.fetch("login", headers={"Authorization": ""}, follow_redirects=False)
    lines = [line.split(";")[0] for line in page.headers.get_list("Set-Cookie")]
    (xsrf,) = [line for line in lines if line.startswith("_xsrf=")]
    cookie, token = f"{cookie}; {xsrf}", xsrf.removeprefix("_xsrf=")
    unsafe = [method for method in METHODS if method not in SAFE]
    variants: list[dict[str, str]] = [
        {},
        {"X-XSRFToken": ""},
        {"X-XSRFToken": "wrong"},
        {"X-XSRFToken": "|".join(["2", "0" * 8, *token.split("|")[2:]])},
        {"X-XSRFToken": token.partition("|")[2]},
        {"X-Other": token},
        {"X-XSRFToken": "wrong", "Origin": "http://evil.example"},
        {"Origin": "http://evil.example"},
    ]
    for more in variants:
        found = await statuses(client, unsafe, {"Authorization": "", "Cookie": cookie, **more})
        # Jupyter tells other sites that there is nothing.
        refused = 404 if "Origin" in more else 403
        assert {key: status for key, status in found.items() if status not in (refused, 405)} == {}, more
        assert {found[key] for key in DECLARED if key[1] in unsafe} == {refused}, more
    right = {"Authorization": "", "Cookie": cookie, "X-XSRFToken": token}
    found = await statuses(client, unsafe, right)
    assert all(found[key] not in (403, 405) for key in DECLARED if key[1] in unsafe)


async def test_other_sites_read_nothing(client: Any, jp_serverapp: Any) -> None:
    cookie = await log_in(client, jp_serverapp)
    path = client.file("m.onnx")
    for origin in FOREIGN:
        headers = {"Authorization": "", "Cookie": cookie, "Origin": origin, "Referer": f"{origin}/"}
        for route in HTTP:
            if route.operation.method == "GET":
                answer = await client.ask("GET", *parts(route), headers=dict(headers), params={"path": path})
                assert answer.status in (403, 404), (origin, route.operation.id)
                assert "Access-Control-Allow-Origin" not in answer.headers
                assert answer.json is None or answer.json["code"] in ("http-403", "http-404"), origin


@pytest.mark.parametrize("origin", FOREIGN)
async def test_no_other_site_opens_a_socket(
    origin: str, client: Any, jp_serverapp: Any, jp_ws_fetch: Any
) -> None:
    cookie = await log_in(client, jp_serverapp)
    for token in ("", "token wrong"):
        headers = {"Authorization": token, "Cookie": cookie, "Origin": origin}
        with pytest.raises(HTTPClientError) as refused:
            await jp_ws_fetch("autodoc", "api", "jobs", "x", "ws", headers=headers)
        assert refused.value.code == 403
