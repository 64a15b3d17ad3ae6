"""Settings of a layer, read with type checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from py_autodoc.keras.conversion_errors import Unsupported, broken

MAX_SIZE = 1 << 31
FORMATS = ("channels_last", "channels_first")


class LayerSettings:
    """The ``config`` of one layer."""

    def __init__(self, values: dict[str, Any], label: str, file: str) -> None:
        self.values = values
        self._label = label
        self._file = file

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a boolean; 0 and 1 are accepted."""
        value = self.values.get(key)
        if value is None:
            return default
        if value in (0, 1):
            return bool(value)
        raise self.wrong(key, "a switch")

    def text(self, key: str, choices: Sequence[str], default: str) -> str:
        """Return a word from ``choices``."""
        value = self.values.get(key)
        if value is None:
            return default
        if isinstance(value, str) and value in choices:
            return value
        if isinstance(value, str):
            raise Unsupported(self._label, f"with {key}={value[:40]!r}")
        raise self.wrong(key, "a word")

    def integer(self, key: str, default: int | None = None, low: int = 1) -> int:
        """Return an integer of at least ``low``."""
        value = self.values.get(key, default)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value < MAX_SIZE:
            raise self.wrong(key, f"a whole number from {low}")
        return value

    def integers(self, key: str, count: int, default: int | None = None, low: int = 1) -> tuple[int, ...]:
        """Return ``count`` integers; a single one is repeated."""
        value = self.values.get(key)
        value = default if value is None else value
        if isinstance(value, int):
            value = [value] * count
        return self.int_tuple(value, key, count, low)

    def int_tuple(self, value: Any, key: str, count: int, low: int) -> tuple[int, ...]:
        """Return a list of integers."""
        good = isinstance(value, (list, tuple)) and len(value) == count
        if not good or not all(
            isinstance(item, int) and not isinstance(item, bool) and low <= item < MAX_SIZE for item in value
        ):
            raise self.wrong(key, f"{count} whole numbers from {low}")
        return tuple(value)

    def axes(self, key: str, rank: int, default: Any = -1) -> tuple[int, ...]:
        """Return one or several axes, counted from the front, in the given order."""
        value = self.values.get(key, default)
        value = [value] if isinstance(value, int) else value
        if not isinstance(value, (list, tuple)) or not value:
            raise self.wrong(key, "axes")
        if not all(isinstance(axis, int) and -rank <= axis < rank for axis in value):
            raise self.wrong(key, f"axes of a tensor of {rank}")
        return tuple(axis % rank for axis in value)

    def axis(self, key: str, rank: int) -> int:
        """Return one axis, counted from the front."""
        axes = self.axes(key, rank)
        if len(axes) != 1:
            raise self.wrong(key, "one axis")
        return axes[0]

    def number(self, key: str, default: float | None = None) -> float:
        """Return a number; Keras also writes ``{"class_name": "__numpy__", …}`` or a list of one."""
        value = self.values.get(key)
        value = default if value is None else unwrapped(value)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.wrong(key, "a number")
        return float(value)

    def channels_first(self) -> bool:
        """True if ``data_format`` puts channels before the spatial axes."""
        return self.text("data_format", FORMATS, FORMATS[0]) == FORMATS[1]

    def wrong(self, key: str, needed: str) -> Exception:
        """Return the error for an invalid setting."""
        value = repr(self.values.get(key))
        return broken(self._file, f"{self._label}: {key} is {value[:60]}, it needs {needed}.")

    def refuse(self, why: str) -> Unsupported:
        """Return the error for a setting without an ONNX equivalent."""
        return Unsupported(self._label, why)


def unwrapped(value: Any) -> Any:
    """Return the values of an array in JSON."""
    if isinstance(value, dict) and isinstance(value.get("config"), dict) and "value" in value["config"]:
        return value["config"]["value"]
    return value
