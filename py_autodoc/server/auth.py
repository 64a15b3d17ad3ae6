"""Check permissions with the authorizer of Jupyter Server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from jupyter_server.auth import decorator

F = TypeVar("F", bound=Callable[..., Any])


def authorized(action: str, resource: str) -> Callable[[F], F]:
    """Return Jupyter's ``authorized`` decorator. Both arguments are required.

    Without a resource, the first handler that uses an inherited method would determine it for all of them.
    """
    return cast(Callable[[F], F], decorator.authorized(action, resource))
