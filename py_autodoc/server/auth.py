"""Permission to call a method, asked of Jupyter's authorizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from jupyter_server.auth import decorator

F = TypeVar("F", bound=Callable[..., Any])


def authorized(action: str, resource: str) -> Callable[[F], F]:
    """Jupyter's decorator with both arguments required.

    Left out, the first handler that uses a shared method would decide the resource for all of them.
    """
    return cast(Callable[[F], F], decorator.authorized(action, resource))
