"""Requests to a language model, against a service on this machine."""

from __future__ import annotations

import json

import pytest
from stub import serving

from py_autodoc.errors import OptionError, ServiceError
from py_autodoc.llm_summary import Endpoint, endpoint
from py_autodoc.llm_summary.client import MAX_ANSWER, request_text


def asked(service, api="chat", **more):
    waits = []
    made = Endpoint(api, service.url, "small", "s3cret")
    return request_text(made, "be brief", "{}", sleep=waits.append, **more), waits


@pytest.mark.parametrize("api", ["messages", "chat"])
def test_both_shapes(api):
    with serving(text="Hello.") as service:
        assert asked(service, api)[0] == "Hello."
    path, headers, body = service.heard[0]
    sent = json.loads(body)
    assert sent["model"] == "small"
    if api == "messages":
        assert path == "/v1/messages"
        assert (headers["x-api-key"], sent["system"]) == ("s3cret", "be brief")
        assert headers["anthropic-version"]
        assert "authorization" not in headers
    else:
        assert path == "/v1/chat/completions"
        assert headers["authorization"] == "Bearer s3cret"
        assert sent["messages"][0] == {"role": "system", "content": "be brief"}
        assert "x-api-key" not in headers


@pytest.mark.parametrize("status", [400, 401, 403, 404, 301, 307, 418])
def test_what_will_not_change_is_asked_once(status):
    headers = {"location": "http://127.0.0.1:1/elsewhere"} if status < 400 else {}
    with serving(failures=[(status, headers)] * 3) as service, pytest.raises(ServiceError) as fault:
        asked(service)
    assert len(service.heard) == 1
    assert str(status) in fault.value.message
    assert "s3cret" not in str(fault.value)
    assert "secret detail" not in str(fault.value)


@pytest.mark.parametrize(
    ("failures", "waits"),
    [
        ([(529, {})], [1]),
        ([(429, {"retry-after": "7"})], [7]),
        ([(503, {}), (500, {})], [1, 2]),
        ([(429, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})], [0]),
    ],
)
def test_a_busy_service_is_asked_again(failures, waits):
    with serving(text="At last.", failures=list(failures)) as service:
        assert asked(service) == ("At last.", waits)


@pytest.mark.parametrize("headers", [{}, {"retry-after": "3600"}])
def test_patience_ends(headers):
    with serving(failures=[(429, headers)] * 9) as service, pytest.raises(ServiceError, match="too many"):
        asked(service)
    assert len(service.heard) == (1 if headers else 3)


def test_time_is_limited():
    with serving(delay=1.0) as service, pytest.raises(ServiceError, match=r"no answer in 0\.1 s"):
        asked(service, timeout=0.1)


def test_nobody_there():
    with serving() as service:
        pass
    with pytest.raises(ServiceError, match=r"No summary from 127\.0\.0\.1"):
        asked(service)


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"no json", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": null}]}', b"\xff\xfe",
        b'{"choices": [{"message": {"content": "   "}}]}', b'{"choices": [{"message": {"content": 3}}]}',
        b"[" * 100_000, b"null",
    ],
)  # fmt: skip
@pytest.mark.parametrize("api", ["messages", "chat"])
def test_garbage(raw, api):
    with serving(raw=raw) as service, pytest.raises(ServiceError):
        asked(service, api)


def test_an_endless_answer_is_not_read():
    with serving(raw=b" " * (10 * MAX_ANSWER)) as service, pytest.raises(ServiceError, match="larger"):
        asked(service)


def test_proxies_of_the_environment_are_not_used(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with serving() as service:
        assert asked(service)[0]


VENDORS = {"ANTHROPIC_API_KEY": "a-key", "OPENAI_API_KEY": "o-key"}
CHAT = "/v1/chat/completions"
OPENAI, ANTHROPIC = "https://api.openai.com", "https://api.anthropic.com"
OWN = {"ONNX_AUTODOC_LLM_KEY": "own"}
LOCAL = {"ONNX_AUTODOC_LLM_URL": "http://localhost:8080", "ONNX_AUTODOC_LLM_API": "messages"}


@pytest.mark.parametrize(
    ("environment", "given", "expected"),
    [
        (VENDORS, {}, ("messages", f"{ANTHROPIC}/v1/messages", "a-key")),
        (VENDORS, {"api": "chat"}, ("chat", OPENAI + CHAT, "o-key")),
        ({"OPENAI_API_KEY": "o-key"}, {}, ("chat", OPENAI + CHAT, "o-key")),
        (VENDORS, {"url": f"{OPENAI}/v1"}, ("chat", OPENAI + CHAT, "o-key")),
        # A vendor's key goes to that vendor alone.
        (VENDORS, {"url": "https://llm.example"}, ("chat", f"https://llm.example{CHAT}", "")),
        (VENDORS, {"url": f"{OPENAI}.example"}, ("chat", f"{OPENAI}.example{CHAT}", "")),
        (
            {**VENDORS, **OWN},
            {"url": "https://llm.example/", "api": "messages"},
            ("messages", "https://llm.example/v1/messages", "own"),
        ),
        (LOCAL, {}, ("messages", "http://localhost:8080/v1/messages", "")),
        ({}, {"url": "http://[::1]:8080"}, ("chat", f"http://[::1]:8080{CHAT}", "")),
    ],
)
def test_which_service_is_asked(environment, given, expected):
    made = endpoint(environment, model="m", **given)
    assert (made.api, made.url, made.key) == expected
    assert not made.key or made.key not in repr(made)


@pytest.mark.parametrize(
    ("environment", "given", "code"),
    [
        ({}, {"model": "m"}, "llm-url-missing"),
        ({}, {"url": "https://a.example"}, "llm-model-missing"),
        ({}, {"url": "http://a.example", "model": "m"}, "bad-llm-url"),
        ({}, {"url": "http://127.0.0.1.example", "model": "m"}, "bad-llm-url"),
        ({}, {"url": "http://localhost@a.example", "model": "m"}, "bad-llm-url"),
        ({}, {"url": "https://user:word@a.example", "model": "m"}, "bad-llm-url"),
        ({}, {"url": "file:///etc/passwd", "model": "m"}, "bad-llm-url"),
        ({}, {"url": "https://a.example:port", "model": "m"}, "bad-llm-url"),
        ({}, {"url": "https://[", "model": "m"}, "bad-llm-url"),
        ({"ONNX_AUTODOC_LLM_API": "soap"}, {"url": "https://a.example", "model": "m"}, "bad-llm-api"),
    ],
)
def test_what_cannot_be_asked(environment, given, code):
    with pytest.raises(OptionError) as fault:
        endpoint(environment, **given)
    assert fault.value.code == code
    assert "user:word" not in str(fault.value)
