"""The service for summaries: its address, API, model and key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from py_autodoc.errors import OptionError
from py_autodoc.optional_packages import optional_module

Api = Literal["messages", "chat"]
URL, MODEL, API, KEY = (f"ONNX_AUTODOC_LLM_{name}" for name in ("URL", "MODEL", "API", "KEY"))
"""Environment variables."""
_HOSTED: dict[str, tuple[Api, str]] = {
    "ANTHROPIC_API_KEY": ("messages", "https://api.anthropic.com"),
    "OPENAI_API_KEY": ("chat", "https://api.openai.com"),
}
"""A vendor's own variable → API and address. Its key is only sent there."""
UNCONFIGURED = frozenset({"llm-url-missing", "llm-model-missing"})
"""Codes of errors for what nobody has set, as opposed to what was set wrongly."""
PATHS: dict[Api, str] = {"messages": "/v1/messages", "chat": "/v1/chat/completions"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A service for summaries."""

    api: Api
    base: str
    model: str
    key: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """The request URL."""
        base = self.base.rstrip("/").removesuffix("/v1")
        return base + PATHS[self.api]

    @property
    def host(self) -> str:
        """Host and port, for display."""
        return urlsplit(self.base).netloc.rpartition("@")[2]


def endpoint(
    environment: Mapping[str, str], url: str | None = None, model: str | None = None, api: str | None = None
) -> Endpoint:
    """Return the service from options and environment; options take precedence.

    Without an address, the vendor of the only key that is set is used.

    Raises: OptionError: something is missing or the address may not be used. RequirementError: httpx is
    not installed.
    """
    optional_module(
        "httpx", "httpx", "httpx-missing", "--llm-summary needs", "pip install 'onnx-autodoc[llm]'"
    )
    url = url or environment.get(URL, "").strip()
    api = api or environment.get(API, "").strip() or None
    model = model or environment.get(MODEL, "").strip()
    if api is not None and api not in PATHS:
        raise OptionError("bad-llm-api", f"Unknown request shape {api[:40]!r}.", f"Use {' or '.join(PATHS)}.")
    if not url:
        api, url = _hosted_service(environment, api)
    _safe(url)
    host = urlsplit(url).hostname or ""
    if api is None:
        api = next((shape for shape, base in _HOSTED.values() if urlsplit(base).hostname == host), "chat")
    if not model:
        raise OptionError(
            "llm-model-missing",
            "--llm-summary does not know which model to ask.",
            f"Pass --llm-model NAME or set {MODEL}.",
        )
    shape: Api = "messages" if api == "messages" else "chat"
    return Endpoint(shape, url, model, _key(environment, host))


def _hosted_service(environment: Mapping[str, str], api: str | None) -> tuple[Api, str]:
    for name, (shape, base) in _HOSTED.items():
        if environment.get(name, "").strip() and api in (None, shape):
            return shape, base
    raise OptionError(
        "llm-url-missing",
        "--llm-summary does not know which service to ask.",
        f"Pass --llm-url URL (or set {URL}), and set the key in {KEY}.",
    )


def _key(environment: Mapping[str, str], host: str) -> str:
    key = environment.get(KEY, "").strip()
    if key:
        return key
    for name, (_, base) in _HOSTED.items():
        if urlsplit(base).hostname == host:
            return environment.get(name, "").strip()
    return ""


def _safe(url: str) -> None:
    """Raises: OptionError: the URL is invalid, or would send a key or facts unencrypted."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise OptionError("bad-llm-url", f"--llm-url: {url[:80]!r} is not a URL.", "Use https://HOST[:PORT].")
    if parts.username or parts.password:
        raise OptionError("bad-llm-url", "--llm-url contains a password.", f"Set {KEY} instead.")
    if parts.scheme == "http" and not _loopback(host):
        raise OptionError(
            "bad-llm-url", f"--llm-url: {host[:80]} would be reached without encryption.", "Use https://."
        )


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
