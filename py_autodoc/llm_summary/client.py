"""One request to a service with the API ``/v1/messages`` or ``/v1/chat/completions``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from py_autodoc.bounded import TooMuch, check_json
from py_autodoc.errors import ServiceError
from py_autodoc.limits import Bounds
from py_autodoc.llm_summary.endpoint import Endpoint

if TYPE_CHECKING:
    import httpx

MAX_ANSWER = 1 << 20
"""Maximum bytes of a response."""
MAX_TOKENS = 1500
ATTEMPTS = 3
MAX_WAIT_S = 30.0
"""Maximum seconds that a service may ask to wait before a retry."""
_RETRY_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
_SHAPE = Bounds(values=10_000, depth=32)
_PROBLEMS = {
    400: "it does not understand the request; the name of the model may be wrong",
    401: "it refuses the key",
    403: "it refuses the key",
    404: "it has no such address or model",
    413: "the request is too large for it",
    429: "too many requests",
    529: "it is overloaded",
}


def request_text(
    service: Endpoint,
    system: str,
    text: str,
    timeout: float = 60.0,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Return the response text. A busy service is retried at most twice.

    ``timeout`` is in seconds, for one whole attempt.

    Raises: ServiceError.
    """
    import httpx

    # Ignore proxies and password files of the environment; a redirect could leak the key.
    client = httpx.Client(trust_env=False, follow_redirects=False, timeout=httpx.Timeout(timeout, connect=10))
    with client:
        for attempt in range(ATTEMPTS):
            try:
                status, headers, data = _attempt(client, service, system, text, timeout)
            except httpx.TimeoutException:
                raise _error(service, f"no answer in {timeout:g} s", "llm-timeout") from None
            except (httpx.HTTPError, httpx.InvalidURL) as fault:
                raise _error(service, type(fault).__name__, "llm-unreachable") from None
            if status == 200:
                return _text(service, data)
            wait = _wait(headers, attempt)
            if status not in _RETRY_STATUSES or attempt == ATTEMPTS - 1 or wait > MAX_WAIT_S:
                break
            sleep(wait)
    problem = _PROBLEMS.get(status, "it redirects" if 300 <= status < 400 else "it failed")
    raise _error(service, f"{problem} (HTTP {status})", "llm-refused")


def _attempt(
    client: httpx.Client, service: Endpoint, system: str, text: str, timeout: float
) -> tuple[int, httpx.Headers, bytes]:
    end = time.monotonic() + timeout
    body, headers = _request(service, system, text)
    data = bytearray()
    with client.stream("POST", service.url, json=body, headers=headers) as answer:
        for piece in answer.iter_bytes():
            data += piece
            if len(data) > MAX_ANSWER:
                raise _error(service, "its answer is larger than 1 MiB", "llm-too-large")
            if time.monotonic() > end:
                # Data that arrives byte by byte would never hit the read timeout.
                raise _error(service, f"no whole answer in {timeout:g} s", "llm-timeout")
        return answer.status_code, answer.headers, bytes(data)


def _request(service: Endpoint, system: str, text: str) -> tuple[dict[str, Any], dict[str, str]]:
    headers = {"accept": "application/json"}
    body: dict[str, Any] = {"model": service.model, "max_tokens": MAX_TOKENS}
    message = {"role": "user", "content": text}
    if service.api == "messages":
        headers["anthropic-version"] = "2023-06-01"
        if service.key:
            headers["x-api-key"] = service.key
        return {**body, "system": system, "messages": [message]}, headers
    if service.key:
        headers["authorization"] = f"Bearer {service.key}"
    return {**body, "messages": [{"role": "system", "content": system}, message]}, headers


def _text(service: Endpoint, data: bytes) -> str:
    """Return the text of the response. Raises: ServiceError: it has none."""
    try:
        check_json(data, _SHAPE)
        answer = json.loads(data)
        if service.api == "messages":
            parts = [block["text"] for block in answer["content"] if block.get("type") == "text"]
        else:
            parts = [answer["choices"][0]["message"]["content"]]
        text = "".join(parts)
    except (TooMuch, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise _error(service, "its answer is not of the expected form", "llm-garbage") from None
    if not text.strip():
        raise _error(service, "its answer is empty", "llm-garbage")
    return text


def _wait(headers: httpx.Headers, attempt: int) -> float:
    """Return the seconds until the next attempt."""
    retry_after = headers.get("retry-after", "").strip()
    if retry_after.isdecimal():
        return float(retry_after)
    if retry_after:
        try:
            return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
        except (TypeError, ValueError, OverflowError):
            pass
    return float(2**attempt)


def _error(service: Endpoint, problem: str, code: str) -> ServiceError:
    return ServiceError(
        code, f"No summary from {service.host}: {problem}.", "The summary by rules is complete."
    )
