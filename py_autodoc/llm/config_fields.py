"""Typed access to the fields of a config.json; errors name the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST = 1 << 32


class Fields:
    """The fields of a configuration. Methods raise ValueError for a wrong type or a value out of range."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def with_defaults(self, defaults: Mapping[str, Any]) -> Fields:
        """Return the fields, with defaults for those that are missing (null is not missing)."""
        return Fields({**defaults, **self._values})

    def alike(self, names: Sequence[str]) -> Fields:
        """Return the fields, with the value of the first of these names for all of them that are missing."""
        found = list(self.some(*names).values())
        return self.with_defaults(dict.fromkeys(names, found[0])) if found else self

    def some(self, *names: str) -> dict[str, Any]:
        """Return those of the fields that are there."""
        return {name: self._values[name] for name in names if name in self._values}

    def has(self, name: str) -> bool:
        """Return True if the field is there, also as null."""
        return name in self._values

    def raw(self, name: str) -> Any:
        """Return the value as it is; None if it is missing."""
        return self._values.get(name)

    def optional(self, name: str) -> int | None:
        """Return a positive number; None if it is null or missing."""
        value = self._values.get(name)
        if value is None:
            return None
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise ValueError(f"{name} is no whole number")
        if not 1 <= value <= MOST:
            raise ValueError(f"{name} is {str(value)[:24]}")
        return value

    def size(self, name: str, default: int | None = None) -> int:
        """Return a positive number."""
        value = self.optional(name)
        if value is None:
            value = default
        if value is None:
            raise ValueError(f"it has no {name}")
        return value

    def count(self, name: str, default: int | None = None) -> int:
        """Return a number that may be 0."""
        value = self._values.get(name)
        return 0 if type(value) is int and value == 0 else self.size(name, default)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a truth value; null is the default."""
        value = self._values.get(name)
        if value is None:
            return default
        if type(value) is not bool:
            raise ValueError(f"{name} is neither true nor false")
        return value

    def text(self, name: str) -> str:
        """Return a text; empty if it is null or missing."""
        value = self._values.get(name)
        if value is None:
            return ""
        if type(value) is not str:
            raise ValueError(f"{name} is no text")
        return value

    def numbers(self, name: str) -> list[int]:
        """Return a list of whole numbers; empty if it is null or missing."""
        return self._items(name, int)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts; empty if it is null or missing."""
        return self._items(name, str)

    def inner(self, name: str) -> Fields | None:
        """Return the fields of an object; None if it is null or missing."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ValueError(f"{name} is no object")
        return Fields(value)

    def inner_of_each(self, name: str) -> list[Fields]:
        """Return the objects in an object."""
        inner = self.inner(name)
        return (
            []
            if inner is None
            else [Fields(value) for value in inner._values.values() if isinstance(value, dict)]
        )

    def _items(self, name: str, kind: type) -> list[Any]:
        value = self._values.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or any(type(item) is not kind for item in value):
            raise ValueError(f"{name} is no list of {'numbers' if kind is int else 'texts'}")
        return value
